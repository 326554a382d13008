//! What all tests of kernels need: typed buffers on a device, and launches that pack their parameters.
#![allow(dead_code, unreachable_pub)]

pub mod eval;

use std::num::NonZero;

use cuda_emu::{Checks, Counters, Device, Fault, Grid, LaunchError, Module, Options};

/// A module with a device of its own.
pub struct Bench {
    pub module: Module,
    pub device: Device,
    pub options: Options,
}

impl Bench {
    /// Loads PTX whose header is left out.
    pub fn new(body: &str) -> Self {
        Self::load(&format!(".version 8.7\n.target sm_90\n.address_size 64\n{body}"))
    }

    pub fn load(ptx: &str) -> Self {
        let module = Module::load(ptx).unwrap_or_else(|error| panic!("{error}"));
        Self { module, device: Device::new(), options: Options::default() }
    }

    pub fn checks(mut self, checks: Checks) -> Self {
        self.options.checks = checks;
        self
    }

    pub fn seed(mut self, seed: u64) -> Self {
        self.options.seed = Some(seed);
        self
    }

    pub fn threads(mut self, threads: usize) -> Self {
        self.options.threads = NonZero::new(threads);
        self
    }

    pub fn steps(mut self, steps: u64) -> Self {
        self.options.step_limit = Some(steps);
        self
    }

    /// A buffer with these contents.
    pub fn buffer<T: Plain>(&self, values: &[T]) -> u64 {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.bytes()).collect();
        let address = self.device.allocate(bytes.len() as u64).unwrap();
        self.device.write(address, &bytes).unwrap();
        address
    }

    pub fn read<T: Plain>(&self, address: u64, count: usize) -> Vec<T> {
        let mut bytes = vec![0; count * size_of::<T>()];
        self.device.read(address, &mut bytes).unwrap();
        bytes.chunks_exact(size_of::<T>()).map(T::from_bytes).collect()
    }

    pub fn try_run(&self, kernel: &str, grid: &Grid, parameters: &[Arg]) -> Result<Counters, LaunchError> {
        let mut packed = Vec::new();
        for parameter in parameters {
            let bytes = match *parameter {
                Arg::U32(value) => value.to_le_bytes().to_vec(),
                Arg::U64(value) => value.to_le_bytes().to_vec(),
            };
            packed.resize(packed.len().next_multiple_of(bytes.len()), 0);
            packed.extend(bytes);
        }
        self.device.launch(&self.module, kernel, grid, &packed, &self.options)
    }

    pub fn run(&self, kernel: &str, grid: &Grid, parameters: &[Arg]) -> Counters {
        self.try_run(kernel, grid, parameters).unwrap_or_else(|error| panic!("{error}"))
    }

    /// The fault that the launch must end with.
    pub fn fault(&self, kernel: &str, grid: &Grid, parameters: &[Arg]) -> Fault {
        match self.try_run(kernel, grid, parameters) {
            Err(LaunchError::Fault(fault)) => *fault,
            other => panic!("expected a fault, got {other:?}"),
        }
    }
}

/// A kernel's parameter.
#[derive(Clone, Copy, Debug)]
pub enum Arg {
    U32(u32),
    U64(u64),
}

/// Values that can be copied to a device.
pub trait Plain: Copy {
    fn bytes(self) -> Vec<u8>;
    fn from_bytes(bytes: &[u8]) -> Self;
}

macro_rules! plain {
    ($($t:ty),*) => {$(
        impl Plain for $t {
            fn bytes(self) -> Vec<u8> {
                self.to_le_bytes().to_vec()
            }
            fn from_bytes(bytes: &[u8]) -> Self {
                Self::from_le_bytes(bytes.try_into().unwrap())
            }
        }
    )*};
}
plain!(u8, u16, i16, u32, i32, u64, i64, f32, f64);
