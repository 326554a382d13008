//! The embedded PTX, and what of it a device has loaded.

use crate::driver::{check, checked};
use crate::{Contract, Device, DriverError, Error, Limits, lock, read, write};
use cust::device::DeviceAttribute;
use cust::module::Module;
use cust::sys::{self, CUfunction, CUfunction_attribute as Attribute};
use std::collections::HashMap;
use std::sync::{Mutex, RwLock};

/// Modules of `kernels-gpu/ptx` by name. (`map` is for tests of the compiler.)
const PTX: [(&str, &str); 11] = [
    ("advantage", include_str!("../ptx/advantage.ptx")),
    ("cdf", include_str!("../ptx/cdf.ptx")),
    ("gemm", include_str!("../ptx/gemm.ptx")),
    ("loss", include_str!("../ptx/loss.ptx")),
    ("mingru", include_str!("../ptx/mingru.ptx")),
    ("optim", include_str!("../ptx/optim.ptx")),
    ("random", include_str!("../ptx/random.ptx")),
    ("resample", include_str!("../ptx/resample.ptx")),
    ("rollout", include_str!("../ptx/rollout.ptx")),
    ("sum", include_str!("../ptx/sum.ptx")),
    ("tree", include_str!("../ptx/tree.ptx")),
];

/// A module's PTX.
fn text(module: &str) -> Option<&'static str> {
    PTX.iter().find(|(name, _)| *name == module).map(|&(_, text)| text)
}

/// A kernel that is loaded, and what the device allows it. Valid as long as its device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Function {
    pub(crate) raw: CUfunction,
    pub(crate) limits: Limits,
}

// SAFETY: a handle of the driver, whose functions any thread may call.
unsafe impl Send for Function {}
// SAFETY: as above.
unsafe impl Sync for Function {}

/// Modules and kernels of a device, loaded when they are needed first.
#[derive(Debug, Default)]
pub(crate) struct Modules {
    functions: RwLock<HashMap<&'static str, Function>>,
    modules: Mutex<HashMap<&'static str, Module>>,
}

impl Modules {
    /// The kernel, loaded into the context of `device`.
    pub(crate) fn get(&self, device: &Device, contract: &'static Contract) -> Result<Function, Error> {
        let functions = read(&self.functions);
        if let Some(&function) = functions.get(contract.name) {
            return Ok(function);
        }
        drop(functions);
        let function = self.load(device, contract)?;
        write(&self.functions).insert(contract.name, function);
        Ok(function)
    }

    fn load(&self, device: &Device, contract: &'static Contract) -> Result<Function, Error> {
        device.bind()?;
        let mut modules = lock(&self.modules);
        let failed = |module, error| Error::Module { module, error };
        let module = match modules.entry(contract.module) {
            std::collections::hash_map::Entry::Occupied(entry) => entry.into_mut(),
            std::collections::hash_map::Entry::Vacant(entry) => {
                let text = text(contract.module).unwrap_or_default();
                let module = checked("cuModuleLoadDataEx", Module::from_ptx(text, &[]));
                entry.insert(module.map_err(|error| failed(contract.module, error))?)
            }
        };
        let function = checked("cuModuleGetFunction", module.get_function(contract.name));
        let raw = function.map_err(|error| failed(contract.name, error))?.to_raw();
        let of_function = |attribute| attribute_of(raw, attribute).map_err(|error| failed(contract.name, error));
        let of_device = |attribute| Ok::<_, Error>(unsigned(device.attribute(attribute)?));
        let limits = Limits {
            block: of_function(Attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
            grid: of_device(DeviceAttribute::MaxGridDimX)?,
            shared: device.shared_memory()?,
            declared: of_function(Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
        };
        allow_shared(raw, &limits).map_err(|error| failed(contract.name, error))?;
        Ok(Function { raw, limits })
    }
}

/// Lets launches have all the shared memory that the device has for a block: without asking it is 48 KiB.
fn allow_shared(function: CUfunction, limits: &Limits) -> Result<(), DriverError> {
    let attribute = Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    // It came from an i32.
    let bytes = limits.shared.saturating_sub(limits.declared) as i32;
    // SAFETY: the function is loaded.
    check("cuFuncSetAttribute", unsafe { sys::cuFuncSetAttribute(function, attribute, bytes) })
}

fn attribute_of(function: CUfunction, attribute: Attribute) -> Result<u32, DriverError> {
    let mut value = 0;
    // SAFETY: the function is loaded, and the value may be written.
    check("cuFuncGetAttribute", unsafe { sys::cuFuncGetAttribute(&raw mut value, attribute, function) })?;
    Ok(unsigned(value))
}

/// The driver's limits are positive numbers in signed ones.
fn unsigned(value: i32) -> u32 {
    u32::try_from(value).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_is_in_the_ptx_that_is_loaded_for_it() {
        for contract in crate::kernels::contracts() {
            let entry = format!(".entry {}(", contract.name);
            assert!(text(contract.module).is_some_and(|text| text.contains(&entry)), "{contract:?}");
        }
    }
}
