//! Loaded modules.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::exec::shared_layout;
use crate::program::{Function, Program, Slot};
use crate::{LoadError, lower, ptx};

/// PTX that has been parsed, checked and lowered. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Module {
    pub(crate) id: u64,
    pub(crate) program: Arc<Program>,
}

/// What a caller may want to know of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelInfo {
    /// Its name.
    pub name: String,
    /// Offset and size of each parameter in bytes.
    pub parameters: Vec<(u64, u64)>,
    /// Size of all parameters in bytes.
    pub parameter_bytes: u64,
    /// Static shared memory in bytes.
    pub shared_bytes: u64,
    /// Local memory of a thread in bytes, without that of functions that it calls.
    pub local_bytes: u64,
    /// Most threads of a block, when the kernel limits them.
    pub max_threads: Option<u64>,
    /// Registers of 32 bits that its values take here.
    pub registers: u32,
}

impl Module {
    /// Parses and lowers the text of a module.
    ///
    /// # Errors
    /// [`LoadError`], with the line: text that is no PTX, a name that isn't declared, an instruction or a modifier
    /// that is unknown, operands that don't fit.
    pub fn load(ptx: &str) -> Result<Self, LoadError> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let program = lower::lower(&ptx::parse(ptx)?)?;
        Ok(Self { id: NEXT.fetch_add(1, Ordering::Relaxed), program: Arc::new(program) })
    }

    /// The kernel of this name.
    pub fn kernel(&self, name: &str) -> Option<KernelInfo> {
        let index = self.find_kernel(name)?;
        Some(self.info(index, &self.program.functions[index]))
    }

    /// All kernels, in order of the text.
    pub fn kernels(&self) -> Vec<KernelInfo> {
        let functions = self.program.functions.iter().enumerate();
        functions.filter(|(_, function)| function.entry).map(|(index, function)| self.info(index, function)).collect()
    }

    pub(crate) fn find_kernel(&self, name: &str) -> Option<usize> {
        self.program.functions.iter().position(|function| function.entry && !function.external && function.name == name)
    }

    fn info(&self, index: usize, function: &Function) -> KernelInfo {
        let parameters = function
            .parameters
            .iter()
            .filter_map(|slot| match slot {
                Slot::Frame { offset, bytes } => Some((*offset, *bytes)),
                Slot::Register { .. } => None,
            })
            .collect();
        KernelInfo {
            name: function.name.clone(),
            parameters,
            parameter_bytes: function.parameter_bytes,
            shared_bytes: shared_layout(&self.program, index).1,
            local_bytes: function.frame,
            max_threads: function.max_threads,
            registers: function.words / crate::lanes::NARROW,
        }
    }
}
