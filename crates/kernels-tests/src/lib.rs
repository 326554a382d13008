//! Runs kernels of the committed PTX in the emulator, with all of its checks: bounds, alignment, barriers, races, and reads
//! of memory that nothing has written. The tests compare the bits with those of the crates for the CPU.

mod cdf;
mod extremes;
mod items;
mod replay;
pub mod table;
mod tree;

pub use cdf::{CdfHead, DeviceCdf};
pub use extremes::Extremes;
pub use items::{DeviceItems, NewItems};
pub use replay::DeviceReplay;
pub use tree::{DeviceTree, Head, levels};

use bytemuck::Pod;
use cuda_emu::{Chains, Counters, Device, Grid, LaunchError, Module, Options};
use std::marker::PhantomData;
use std::num::NonZero;
use std::path::Path;

/// Modules on a device of their own. Everything panics that goes wrong: this is for tests.
#[derive(Debug)]
pub struct Bench {
    modules: Vec<Module>,
    device: Device,
    /// How kernels are run.
    pub options: Options,
    /// Dynamic shared memory of a block, in bytes.
    pub shared_bytes: u64,
}

/// An array on a device.
#[derive(Debug)]
pub struct Buffer<T> {
    address: u64,
    count: usize,
    elements: PhantomData<T>,
}

/// A parameter of a kernel.
#[derive(Clone, Copy, Debug)]
pub enum Arg {
    /// An address or a number of 64 bits.
    U64(u64),
    /// A number of 32 bits.
    U32(u32),
    /// A float.
    F32(f32),
}

impl From<u64> for Arg {
    fn from(value: u64) -> Self {
        Self::U64(value)
    }
}

impl From<u32> for Arg {
    fn from(value: u32) -> Self {
        Self::U32(value)
    }
}

impl From<f32> for Arg {
    fn from(value: f32) -> Self {
        Self::F32(value)
    }
}

impl<T> Buffer<T> {
    /// The address of element `i`, which may be the end.
    pub fn at(&self, i: usize) -> Arg {
        Arg::U64(self.address + (i * size_of::<T>()) as u64)
    }
}

impl<T> From<&Buffer<T>> for Arg {
    fn from(buffer: &Buffer<T>) -> Self {
        Self::U64(buffer.address)
    }
}

impl Bench {
    /// Module `name` of `kernels-gpu/ptx`.
    ///
    /// # Panics
    /// If it can't be read or loaded.
    pub fn new(name: &str) -> Self {
        Self { modules: Vec::new(), device: Device::new(), options: Options::default(), shared_bytes: 0 }.with(name)
    }

    /// And another one.
    ///
    /// # Panics
    /// If it can't be read or loaded.
    #[must_use]
    pub fn with(mut self, name: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels-gpu/ptx").join(name).with_extension("ptx");
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        self.modules.push(Module::load(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display())));
        self
    }

    /// Counts chains too, and runs blocks one after the other, so that they are the same each time.
    pub fn count(&mut self) {
        (self.options.threads, self.options.chains) = (NonZero::new(1), Some(Chains::CYCLES));
    }

    /// [`new`](Self::new), and [`count`](Self::count).
    ///
    /// # Panics
    /// If it can't be read or loaded.
    pub fn counting(name: &str) -> Self {
        let mut bench = Self::new(name);
        bench.count();
        bench
    }

    /// An array with these elements.
    ///
    /// # Panics
    /// If there is no memory.
    pub fn buffer<T: Pod>(&self, elements: &[T]) -> Buffer<T> {
        let buffer = self.room(elements.len());
        if !elements.is_empty() {
            self.device.write(buffer.address, bytemuck::cast_slice(elements)).unwrap_or_else(|error| panic!("{error}"));
        }
        buffer
    }

    /// An array whose elements nothing has written yet.
    ///
    /// # Panics
    /// If there is no memory.
    pub fn room<T: Pod>(&self, count: usize) -> Buffer<T> {
        // An array without elements has an address too.
        let bytes = (count * size_of::<T>()).max(1) as u64;
        let address = self.device.allocate(bytes).unwrap_or_else(|error| panic!("{error}"));
        Buffer { address, count, elements: PhantomData }
    }

    /// Replaces the elements of an array.
    ///
    /// # Panics
    /// If there are more of them, or it isn't of this device.
    pub fn write<T: Pod>(&self, buffer: &Buffer<T>, elements: &[T]) {
        assert!(elements.len() <= buffer.count, "{} elements for {}", elements.len(), buffer.count);
        if !elements.is_empty() {
            self.device.write(buffer.address, bytemuck::cast_slice(elements)).unwrap_or_else(|error| panic!("{error}"));
        }
    }

    /// The elements of an array.
    ///
    /// # Panics
    /// If it isn't of this device.
    pub fn read<T: Pod>(&self, buffer: &Buffer<T>) -> Vec<T> {
        self.read_part(buffer, 0, buffer.count)
    }

    /// `count` elements of an array from `first` on.
    ///
    /// # Panics
    /// If it isn't of this device, or has none there.
    pub fn read_part<T: Pod>(&self, buffer: &Buffer<T>, first: usize, count: usize) -> Vec<T> {
        assert!(first + count <= buffer.count, "{first} + {count} of {}", buffer.count);
        let mut elements = vec![T::zeroed(); count];
        if !elements.is_empty() {
            let address = buffer.address + (first * size_of::<T>()) as u64;
            let bytes = bytemuck::cast_slice_mut(&mut elements);
            self.device.read(address, bytes).unwrap_or_else(|error| panic!("{error}"));
        }
        elements
    }

    /// Launches `kernel` with at least `threads` threads in blocks of `width`, and at least one block.
    ///
    /// # Errors
    /// What the emulator reports.
    pub fn try_run(&self, kernel: &str, threads: usize, width: u32, args: &[Arg]) -> Result<Counters, LaunchError> {
        let mut packed = Vec::new();
        let mut push = |bytes: &[u8]| {
            packed.resize(packed.len().next_multiple_of(bytes.len()), 0);
            packed.extend_from_slice(bytes);
        };
        for arg in args {
            match *arg {
                Arg::U64(value) => push(&value.to_le_bytes()),
                Arg::U32(value) => push(&value.to_le_bytes()),
                Arg::F32(value) => push(&value.to_le_bytes()),
            }
        }
        let blocks = u32::try_from(threads.div_ceil(width as usize).max(1)).unwrap_or(u32::MAX);
        // A kernel that none has is the last one's error.
        let last = self.modules.len() - 1;
        let module = self.modules.iter().position(|module| module.kernel(kernel).is_some()).unwrap_or(last);
        let grid = Grid { shared_bytes: self.shared_bytes, ..Grid::linear(blocks, width) };
        self.device.launch(&self.modules[module], kernel, &grid, &packed, &self.options)
    }

    /// [`try_run`](Self::try_run).
    ///
    /// # Panics
    /// With what the emulator reports.
    pub fn run(&self, kernel: &str, threads: usize, width: u32, args: &[Arg]) -> Counters {
        self.try_run(kernel, threads, width, args).unwrap_or_else(|error| panic!("{kernel}: {error}"))
    }
}

/// What a status word tells: the first faulty position, and the index, number's or threshold's low half (`Err`) or bits of a
/// float (`Ok`) there.
pub fn fault(status: u64) -> Option<(u32, Result<u32, u32>)> {
    let (position, value) = (i32::MAX as u32 - ((status >> 32) as u32 & i32::MAX as u32), status as u32);
    (status != 0).then_some((position, if status >> 63 == 1 { Err(value) } else { Ok(value) }))
}

/// Panics unless the floats have the same bits; a NaN equals a NaN.
///
/// # Panics
/// With the first that differ.
pub fn assert_bits(what: &str, got: &[f32], expected: &[f32]) {
    assert_eq!(got.len(), expected.len(), "{what}");
    for (i, (got, expected)) in got.iter().zip(expected).enumerate() {
        let same = got.to_bits() == expected.to_bits() || got.is_nan() && expected.is_nan();
        assert!(
            same,
            "{what}, element {i}: {got:e} ({:08x}), expected {expected:e} ({:08x})",
            got.to_bits(),
            expected.to_bits()
        );
    }
}
