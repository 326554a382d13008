//! A device: memory, the variables of modules, launches.

use std::collections::HashMap;
use std::num::NonZero;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::count::Counters;
use crate::exec::{self, Job};
use crate::fault::Fault;
use crate::memory::layout::{FUNCTIONS, SHARED};
use crate::memory::{HEAP, Heap, Memory, MemoryError};
use crate::module::Module;
use crate::program::Constant;
use crate::types::Space;

/// Most threads of a block.
const THREADS: u32 = 1024;
/// Most shared memory of a block in bytes: that of the largest devices.
const SHARED_BYTES: u64 = 227 << 10;
/// Bytes that are filled at a time.
const CHUNK: usize = 1 << 16;

/// The shape of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Blocks along x, y and z.
    pub blocks: [u32; 3],
    /// Threads of a block along x, y and z.
    pub threads: [u32; 3],
    /// Dynamic shared memory in bytes.
    pub shared_bytes: u64,
}

impl Grid {
    /// Blocks and threads along x alone, without dynamic shared memory.
    pub fn linear(blocks: u32, threads: u32) -> Self {
        Self { blocks: [blocks, 1, 1], threads: [threads, 1, 1], shared_bytes: 0 }
    }
}

/// Checks that cost time. Bounds, alignment, freed memory, barriers and deadlocks are always checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checks {
    /// Races on shared and global memory.
    pub races: bool,
    /// Reads of shared and global memory that nothing has written. Of local memory, where compilers read more than the
    /// program says, only what decides a branch or an address.
    pub uninitialised: bool,
}

impl Checks {
    /// All of them.
    pub const ALL: Self = Self { races: true, uninitialised: true };
    /// None of them.
    pub const NONE: Self = Self { races: false, uninitialised: false };
}

/// How long instructions are, and how they come one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chains {
    /// Whether a warp's basic blocks come one after the other: all instructions of one start, one a cycle, before any of the
    /// next. Hardware starts them in the order that the compiler gave them, which knows no bounds but these.
    pub in_order: bool,
    /// From the start of an instruction to that of one that needs it; also from one access to the next that needs it through
    /// memory, on its way.
    pub operation: u32,
    /// From the start of an access to shared memory to that of an instruction that needs it.
    pub shared: u32,
    /// The same for global and local memory.
    pub global: u32,
}

impl Chains {
    /// Instructions that need each other, whatever their order: what no processor can do side by side.
    pub const NEEDS: Self = Self { in_order: false, operation: 1, shared: 1, global: 1 };
    /// Cycles of a GPU, roughly, where no cache has anything.
    pub const CYCLES: Self = Self { in_order: true, operation: 4, shared: 30, global: 500 };
}

/// How a kernel is run.
#[derive(Clone, Debug)]
pub struct Options {
    /// What is checked.
    pub checks: Checks,
    /// Whether anything is counted. Checks count as well.
    pub counters: bool,
    /// How long instructions are for [`Counters::longest_chain`]. With `None` chains aren't followed; to follow them takes
    /// longer than all checks.
    pub chains: Option<Chains>,
    /// Decides the order of blocks, and which warp runs when and for how long. Without one blocks run in order and
    /// warps in long turns.
    pub seed: Option<u64>,
    /// Threads of the host; all of the pool without a number. With one thread, everything is deterministic.
    pub threads: Option<NonZero<usize>>,
    /// Most instructions that a warp may run.
    pub step_limit: Option<u64>,
    /// Most local memory of a thread in bytes.
    pub stack_bytes: u64,
}

impl Default for Options {
    /// All checks, counters, no seed, all threads, no limit of steps, 512 KiB of local memory.
    fn default() -> Self {
        Self {
            checks: Checks::ALL,
            counters: true,
            chains: None,
            seed: None,
            threads: None,
            step_limit: None,
            stack_bytes: 512 << 10,
        }
    }
}

/// Why a kernel wasn't launched, or didn't end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// The module has no such kernel.
    #[error("there is no kernel `{name}`")]
    NoKernel {
        /// The name.
        name: String,
    },
    /// Blocks, threads or shared memory beyond what is possible.
    #[error("grid {grid:?}: {what}")]
    Grid {
        /// The grid.
        grid: Grid,
        /// What is wrong with it.
        what: String,
    },
    /// Parameters of another size.
    #[error("{given} bytes of parameters, {needed} are needed")]
    Parameters {
        /// How many there are.
        given: u64,
        /// How many there have to be.
        needed: u64,
    },
    /// There is no memory for the module's variables.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The kernel failed.
    #[error(transparent)]
    Fault(#[from] Box<Fault>),
}

/// The variables of a module on a device: name, address and size of each.
#[derive(Debug)]
struct Instance {
    addresses: Vec<u64>,
    symbols: HashMap<String, (u64, u64)>,
}

/// An emulated device.
#[derive(Debug, Default)]
pub struct Device {
    memory: Memory,
    instances: Mutex<HashMap<u64, Arc<Instance>>>,
    launches: AtomicU64,
    output: Mutex<String>,
    heap: OnceLock<Heap>,
}

impl Device {
    /// A device without allocations.
    pub fn new() -> Self {
        Self::default()
    }

    /// One of several devices: those of other numbers have other addresses. [`new`](Self::new) gives number 0.
    pub fn numbered(number: u16) -> Self {
        Self { memory: Memory::numbered(number), ..Self::default() }
    }

    /// Whether the address is of this device, allocated or not, rather than of one with another number.
    pub fn has(&self, address: u64) -> bool {
        self.memory.addresses().contains(&address)
    }

    /// Allocates so many bytes; the address of the first one. Their contents are zero, but count as unwritten.
    pub fn allocate(&self, bytes: u64) -> Result<u64, MemoryError> {
        Ok(self.memory.allocate(bytes, None, false)?.base)
    }

    /// Frees the allocation that begins at this address. The address is never used again.
    pub fn free(&self, address: u64) -> Result<(), MemoryError> {
        self.memory.free(address)
    }

    /// The allocation that holds this address: its first address and its size in bytes.
    pub fn allocation(&self, address: u64) -> Result<(u64, u64), MemoryError> {
        let (region, _) = self.memory.find(address, 1)?;
        Ok((region.base, region.bytes))
    }

    /// Copies to the device.
    pub fn write(&self, address: u64, from: &[u8]) -> Result<(), MemoryError> {
        if from.is_empty() {
            return Ok(());
        }
        let (region, at) = self.memory.find(address, from.len() as u64)?;
        region.write(at, from);
        Ok(())
    }

    /// Copies from the device.
    pub fn read(&self, address: u64, into: &mut [u8]) -> Result<(), MemoryError> {
        if into.is_empty() {
            return Ok(());
        }
        let (region, at) = self.memory.find(address, into.len() as u64)?;
        region.read(at, into);
        Ok(())
    }

    /// Copies inside the device; the ranges may overlap.
    pub fn copy(&self, to: u64, from: u64, bytes: u64) -> Result<(), MemoryError> {
        if bytes == 0 {
            return Ok(());
        }
        let (source, _) = self.memory.find(from, bytes)?;
        self.memory.find(to, bytes)?;
        let length = usize::try_from(bytes).map_err(|_| MemoryError::OutOfMemory { bytes })?;
        let mut buffer = vec![0; length];
        source.read(from - source.base, &mut buffer);
        self.write(to, &buffer)
    }

    /// Fills `count` elements with a pattern of 1, 2, 4 or more bytes.
    pub fn fill(&self, address: u64, pattern: &[u8], count: u64) -> Result<(), MemoryError> {
        let bytes =
            (pattern.len() as u64).checked_mul(count).ok_or(MemoryError::OutOfBounds { address, bytes: u64::MAX })?;
        if bytes == 0 {
            return Ok(());
        }
        let (region, mut at) = self.memory.find(address, bytes)?;
        let chunk = pattern.repeat((CHUNK / pattern.len()).max(1));
        let end = at + bytes;
        while at < end {
            let length = (end - at).min(chunk.len() as u64);
            region.write(at, &chunk[..length as usize]);
            at += length;
        }
        Ok(())
    }

    /// Address and size in bytes of a global or constant variable of a module; `None` when there is none.
    pub fn symbol(&self, module: &Module, name: &str) -> Result<Option<(u64, u64)>, MemoryError> {
        Ok(self.instance(module)?.symbols.get(name).copied())
    }

    /// Frees the variables of a module.
    pub fn unload(&self, module: &Module) {
        let instance = self.instances.lock().unwrap_or_else(PoisonError::into_inner).remove(&module.id);
        for &address in instance.iter().flat_map(|instance| &instance.addresses) {
            // Shared variables have no address.
            let _ = self.memory.free(address);
        }
    }

    /// What kernels have printed since the last call.
    pub fn take_output(&self) -> String {
        std::mem::take(&mut *self.output.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Runs a kernel to its end. `parameters` are laid out as the kernel declares them.
    ///
    /// # Errors
    /// [`LaunchError`]; memory is changed only by what the kernel did before a [`Fault`].
    pub fn launch(
        &self,
        module: &Module,
        kernel: &str,
        grid: &Grid,
        parameters: &[u8],
        options: &Options,
    ) -> Result<Counters, LaunchError> {
        let info = module.kernel(kernel);
        let (Some(index), Some(info)) = (module.find_kernel(kernel), info) else {
            return Err(LaunchError::NoKernel { name: kernel.to_owned() });
        };
        let refuse = |what: String| Err(LaunchError::Grid { grid: *grid, what });
        if grid.blocks.contains(&0) || grid.threads.contains(&0) {
            return refuse("a dimension is 0".into());
        }
        if grid.blocks[0] > i32::MAX as u32 || grid.blocks[1] > 65_535 || grid.blocks[2] > 65_535 {
            return refuse("more blocks than 2^31 - 1, 65535 and 65535".into());
        }
        if grid.blocks.iter().map(|&n| u128::from(n)).product::<u128>() > 1 << 32 {
            return refuse("more than 2^32 blocks".into());
        }
        let threads = grid.threads.iter().fold(1_u64, |product, &n| product.saturating_mul(n.into()));
        if threads > u64::from(THREADS) || grid.threads[2] > 64 {
            return refuse(format!("{threads} threads, at most {THREADS} and 64 along z are possible"));
        }
        if info.max_threads.is_some_and(|most| threads > most) {
            return refuse(format!("{threads} threads, the kernel allows {}", info.max_threads.unwrap_or(0)));
        }
        if info.shared_bytes.saturating_add(grid.shared_bytes) > SHARED_BYTES {
            return refuse(format!("more than {SHARED_BYTES} bytes of shared memory"));
        }
        if parameters.len() as u64 != info.parameter_bytes {
            return Err(LaunchError::Parameters { given: parameters.len() as u64, needed: info.parameter_bytes });
        }
        let instance = self.instance(module)?;
        let heap = if module.program.allocates() { Some(self.heap()?) } else { None };
        let job = Job {
            program: &module.program,
            kernel: index,
            addresses: &instance.addresses,
            memory: self.memory.snapshot(),
            grid,
            parameters,
            options,
            number: self.launches.fetch_add(1, Ordering::Relaxed),
            output: &self.output,
            heap,
        };
        let counters = exec::launch(job)?;
        if let Some(heap) = heap {
            heap.settle(&self.memory.find(heap.base, 1)?.0);
        }
        Ok(counters)
    }

    /// The heap of kernels, which is made when it is first needed.
    fn heap(&self) -> Result<&Heap, MemoryError> {
        if let Some(heap) = self.heap.get() {
            return Ok(heap);
        }
        let region = self.memory.allocate(HEAP, Some("heap".into()), false)?;
        // Another thread may have been first.
        let heap = self.heap.get_or_init(|| Heap::new(region.base));
        if heap.base != region.base {
            self.memory.free(region.base)?;
        }
        Ok(heap)
    }

    /// The module's variables, which are made when they are first needed.
    fn instance(&self, module: &Module) -> Result<Arc<Instance>, MemoryError> {
        let mut instances = self.instances.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(instance) = instances.get(&module.id) {
            return Ok(Arc::clone(instance));
        }
        let variables = &module.program.variables;
        let mut addresses = vec![0; variables.len()];
        let mut symbols = HashMap::new();
        let mut regions = Vec::new();
        for (index, variable) in variables.iter().enumerate() {
            if variable.space == Space::Shared {
                continue;
            }
            let constant = variable.space == Space::Const;
            let region = self.memory.allocate(variable.bytes.max(1), Some(variable.name.clone()), constant);
            let region = match region {
                Ok(region) => region,
                Err(error) => {
                    for &address in &addresses[..index] {
                        let _ = self.memory.free(address);
                    }
                    return Err(error);
                }
            };
            addresses[index] = region.base;
            symbols.entry(variable.name.clone()).or_insert((region.base, variable.bytes));
            regions.push((index, region));
        }
        for (index, region) in regions {
            // What isn't given is zero.
            region.mark(0, region.bytes);
            for initial in &variables[index].initial {
                let value = match initial.value {
                    Constant::Bits(bits) => bits,
                    Constant::Function(function) => FUNCTIONS + 16 * function as u64,
                    Constant::Variable { index, offset, generic } => {
                        let base =
                            if variables[index].space == Space::Shared && generic { SHARED } else { addresses[index] };
                        base.wrapping_add_signed(offset)
                    }
                    Constant::Frame { .. } => 0,
                };
                region.write(initial.offset, &value.to_le_bytes()[..initial.bytes as usize]);
            }
        }
        let instance = Arc::new(Instance { addresses, symbols });
        instances.insert(module.id, Arc::clone(&instance));
        Ok(instance)
    }
}
