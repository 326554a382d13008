//! Launches: a kernel's arguments against its contract, then to the driver.

use crate::contract::{Contract, Geometry, LaunchError, Work};
use crate::driver::check;
use crate::memory::Memory;
use crate::{Device, Error, Stream, View, ViewMut};
use cust::sys;
use std::ffi::c_void;
use std::ops::RangeInclusive;
use std::ptr;
use std::sync::Arc;

/// Counts of elements are below 2^31, so that no index of a kernel overflows.
pub(crate) const MAX_SIZE: u128 = (1 << 31) - 1;

/// Most parameters of a kernel.
const MAX_PARAMETERS: usize = 32;

/// A kernel with its arguments: those of [`kernels`](crate::kernels).
///
/// # Safety
/// `describe` pushes the arguments of the contract's parameters, in order, and refuses arrays that are shorter than what the
/// kernel reads and writes.
pub unsafe trait Kernel {
    /// What the kernel asks of a launch.
    const CONTRACT: &'static Contract;

    /// Checks and pushes the arguments.
    ///
    /// # Errors
    /// [`LaunchError`].
    fn describe<'k>(&'k self, call: &mut Call<'k>) -> Result<Work, LaunchError>;
}

/// A kernel that stays within its arrays whatever they hold.
///
/// # Safety
/// So it is.
pub unsafe trait Checked: Kernel {}

/// The arguments of a launch.
#[derive(Debug)]
pub struct Call<'k> {
    contract: &'static Contract,
    device: &'k Device,
    /// The values, each in the first bytes of a word.
    words: [u64; MAX_PARAMETERS],
    memory: [Option<&'k Arc<Memory>>; MAX_PARAMETERS],
    count: usize,
}

impl<'k> Call<'k> {
    fn new(contract: &'static Contract, device: &'k Device) -> Self {
        Self { contract, device, words: [0; MAX_PARAMETERS], memory: [None; MAX_PARAMETERS], count: 0 }
    }

    fn push(&mut self, word: u64, memory: Option<&'k Arc<Memory>>) {
        self.words[self.count] = word;
        self.memory[self.count] = memory;
        self.count += 1;
    }

    /// An array that is read.
    pub(crate) fn read<T>(
        &mut self,
        argument: &'static str,
        view: &'k View<'_, T>,
        expected: u128,
    ) -> Result<(), LaunchError> {
        let kernel = self.contract.name;
        if view.len() as u128 != expected {
            return Err(LaunchError::Length { kernel, argument, expected, got: view.len() });
        }
        if view.device() != self.device {
            return Err(LaunchError::Device { kernel, argument });
        }
        self.push(view.address(), Some(view.memory()));
        Ok(())
    }

    /// An array that is overwritten.
    pub(crate) fn write<T>(
        &mut self,
        argument: &'static str,
        view: &'k ViewMut<'_, T>,
        expected: u128,
    ) -> Result<(), LaunchError> {
        self.read(argument, view.part(), expected)
    }

    /// An array that is changed.
    pub(crate) fn update<T>(
        &mut self,
        argument: &'static str,
        view: &'k ViewMut<'_, T>,
        expected: u128,
    ) -> Result<(), LaunchError> {
        self.read(argument, view.part(), expected)
    }

    /// An array that is read, if there is one.
    pub(crate) fn maybe_read<T>(
        &mut self,
        argument: &'static str,
        view: &'k Option<View<'_, T>>,
        expected: u128,
    ) -> Result<(), LaunchError> {
        self.maybe(argument, view.as_ref(), expected)
    }

    /// An array that is changed, if there is one.
    pub(crate) fn maybe_update<T>(
        &mut self,
        argument: &'static str,
        view: &'k Option<ViewMut<'_, T>>,
        expected: u128,
    ) -> Result<(), LaunchError> {
        self.maybe(argument, view.as_ref().map(ViewMut::part), expected)
    }

    fn maybe<T>(
        &mut self,
        argument: &'static str,
        view: Option<&'k View<'_, T>>,
        expected: u128,
    ) -> Result<(), LaunchError> {
        match view {
            Some(view) => self.read(argument, view, expected),
            None => {
                self.push(0, None);
                Ok(())
            }
        }
    }

    /// A count, which `limit` has checked.
    pub(crate) fn size(&mut self, _: &'static str, value: &usize) -> Result<(), LaunchError> {
        self.push(*value as u64, None);
        Ok(())
    }

    pub(crate) fn u64(&mut self, _: &'static str, value: &u64) -> Result<(), LaunchError> {
        self.push(*value, None);
        Ok(())
    }

    pub(crate) fn f32(&mut self, _: &'static str, value: &f32) -> Result<(), LaunchError> {
        self.push(value.to_bits().into(), None);
        Ok(())
    }

    /// Refuses what isn't in a range.
    pub(crate) fn limit(
        &self,
        argument: &'static str,
        got: u128,
        range: RangeInclusive<u128>,
    ) -> Result<u128, LaunchError> {
        if range.contains(&got) {
            return Ok(got);
        }
        let (least, most) = range.into_inner();
        Err(LaunchError::Range { kernel: self.contract.name, argument, least, most, got })
    }

    /// To the driver.
    fn submit(&self, stream: &Stream, function: sys::CUfunction, geometry: Geometry) -> Result<(), Error> {
        let mut pointers = [ptr::null_mut::<c_void>(); MAX_PARAMETERS];
        for (pointer, word) in pointers.iter_mut().zip(&self.words[..self.count]) {
            // The driver reads as many bytes as the parameter has: the first ones, on hosts that a GPU can have.
            *pointer = (&raw const *word).cast_mut().cast();
        }
        let Geometry { blocks, threads, shared } = geometry;
        let pointers = pointers.as_mut_ptr();
        stream.submit(self.memory[..self.count].iter().copied().flatten(), |raw| {
            // SAFETY: the arguments are those that the kernel declares, and their arrays exist and are long enough: by
            // the promise of `Kernel`. The driver copies them before it returns.
            let code = unsafe {
                sys::cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, shared, raw, pointers, ptr::null_mut())
            };
            check("cuLaunchKernel", code)
        })
    }
}

impl Stream {
    /// Launches a kernel, in the order of the stream. Without work nothing is launched.
    ///
    /// # Errors
    /// [`Error::Launch`] if the contract doesn't allow it; [`Error::Module`], [`Error::Driver`].
    pub fn launch<K: Checked>(&self, kernel: &K) -> Result<(), Error> {
        // SAFETY: the promise of `Checked`.
        unsafe { self.launch_trusted(kernel, None) }
    }

    /// As [`launch`](Self::launch), in blocks of `threads` threads.
    ///
    /// # Errors
    /// As [`launch`](Self::launch).
    pub fn launch_in_blocks<K: Checked>(&self, kernel: &K, threads: u32) -> Result<(), Error> {
        // SAFETY: the promise of `Checked`.
        unsafe { self.launch_trusted(kernel, Some(threads)) }
    }

    /// As [`launch`](Self::launch), for kernels that follow what their arrays hold; in blocks of `threads` threads, if given.
    ///
    /// # Errors
    /// As [`launch`](Self::launch).
    ///
    /// # Safety
    /// The arrays hold what the kernel's text asks for.
    pub unsafe fn launch_trusted<K: Kernel>(&self, kernel: &K, threads: Option<u32>) -> Result<(), Error> {
        const { assert!(K::CONTRACT.parameters.len() <= MAX_PARAMETERS) };
        let mut call = Call::new(K::CONTRACT, self.device());
        let work = kernel.describe(&mut call)?;
        let function = self.device().function(K::CONTRACT)?;
        match K::CONTRACT.geometry(&work, threads, &function.limits)? {
            Some(geometry) => call.submit(self, function.raw, geometry),
            None => Ok(()),
        }
    }
}
