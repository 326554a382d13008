//! Modules and their functions.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use cuda_emu::KernelInfo;

use super::context::Context;
use super::driver::Driver;
use super::{device, lock};
use crate::error::{Error, Result, invalid};

/// First bytes of an ELF file.
const ELF: &[u8] = b"\x7fELF";
/// First bytes of a fat binary.
const FAT: &[u8] = b"\x50\xed\x55\xba";

/// A loaded module.
#[derive(Debug)]
pub(crate) struct Module {
    pub(crate) context: Arc<Context>,
    pub(crate) code: cuda_emu::Module,
    /// Handles of the functions that have been asked for.
    functions: Mutex<BTreeMap<String, usize>>,
}

/// A kernel of a module.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) module: Arc<Module>,
    pub(crate) info: KernelInfo,
    /// Most dynamic shared memory in bytes.
    dynamic: AtomicU64,
}

impl Function {
    /// Most dynamic shared memory of a launch in bytes.
    pub(crate) fn dynamic_shared_bytes(&self) -> u64 {
        self.dynamic.load(Ordering::Relaxed)
    }

    /// Most threads of a block.
    pub(crate) fn threads(&self) -> u64 {
        let most = device::THREADS_PER_BLOCK as u64;
        self.info.max_threads.map_or(most, |threads| threads.min(most))
    }

    /// An attribute by its number in `CUfunction_attribute`.
    pub(crate) fn attribute(&self, number: i32) -> Result<i32> {
        let value = match number {
            0 => self.threads(),
            1 => self.info.shared_bytes,
            // Constant memory belongs to the module.
            2 => 0,
            3 => self.info.local_bytes,
            4 => u64::from(self.info.registers),
            // Versions of PTX and of the machine code: compute capability 9.0.
            5 | 6 => 90,
            // Whether global loads go through L1, preferred share of shared memory.
            7 => 0,
            8 => self.dynamic_shared_bytes(),
            9 => return Ok(-1),
            _ => return Err(invalid!("there is no function attribute {number}")),
        };
        i32::try_from(value).map_err(|_| invalid!("function attribute {number} is {value}"))
    }

    /// Sets an attribute: most dynamic shared memory (8) or the preferred share (9), which changes nothing.
    pub(crate) fn set_attribute(&self, number: i32, value: i32) -> Result<()> {
        match number {
            8 => {
                let most = (device::SHARED_PER_BLOCK as u64).saturating_sub(self.info.shared_bytes);
                let bytes = u64::try_from(value).ok().filter(|&bytes| bytes <= most);
                let bytes = bytes.ok_or_else(|| invalid!("{value} bytes of dynamic shared memory, {most} are left"))?;
                self.dynamic.store(bytes, Ordering::Relaxed);
                Ok(())
            }
            9 if (-1..=100).contains(&value) => Ok(()),
            _ => Err(invalid!("function attribute {number} can't become {value}")),
        }
    }
}

impl Driver {
    /// Loads PTX; the handle of its module.
    pub(crate) fn load(&self, image: &[u8]) -> Result<usize> {
        let context = self.current()?;
        if image.starts_with(ELF) || image.starts_with(FAT) {
            return Err(Error::Binary);
        }
        let text = std::str::from_utf8(image).map_err(|error| Error::Image(format!("no text: {error}")))?;
        let code = cuda_emu::Module::load(text)?;
        Ok(self.modules.insert(Module { context, code, functions: Mutex::default() }))
    }

    /// Loads a file of PTX; the handle of its module.
    pub(crate) fn load_file(&self, path: &str) -> Result<usize> {
        let image = std::fs::read(path).map_err(|error| Error::File { path: path.to_owned(), error })?;
        // Files may end with NUL, as images in memory do.
        let end = image.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        self.load(&image[..end])
    }

    /// Unloads a module after all work of its context.
    pub(crate) fn unload(&self, handle: usize) -> Result<()> {
        let module = self.modules.get(handle)?;
        module.context.synchronize(self)?;
        self.modules.remove(handle)?;
        for &function in lock(&module.functions).values() {
            // Gone already when the context was released meanwhile.
            let _ = self.functions.remove(function);
        }
        self.device_of(&module.context).unload(&module.code);
        Ok(())
    }

    /// The handle of a kernel, the same for each call.
    pub(crate) fn function(&self, module: usize, name: &str) -> Result<usize> {
        let module = self.modules.get(module)?;
        module.context.check()?;
        let mut functions = lock(&module.functions);
        if let Some(&handle) = functions.get(name) {
            return Ok(handle);
        }
        let info = module.code.kernel(name).ok_or_else(|| Error::NotFound(name.to_owned()))?;
        let dynamic = (device::SHARED_DEFAULT as u64).saturating_sub(info.shared_bytes);
        let handle =
            self.functions.insert(Function { module: Arc::clone(&module), info, dynamic: AtomicU64::new(dynamic) });
        functions.insert(name.to_owned(), handle);
        Ok(handle)
    }

    /// Address and size in bytes of a global or constant variable.
    pub(crate) fn global(&self, module: usize, name: &str) -> Result<(u64, u64)> {
        let module = self.modules.get(module)?;
        module.context.check()?;
        self.device_of(&module.context).symbol(&module.code, name)?.ok_or_else(|| Error::NotFound(name.to_owned()))
    }
}
