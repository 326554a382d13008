//! The driver: functions with its names, its results, its absence.

mod codes;
mod functions;
mod library;

use cust::error::CudaResult;
use cust::sys::{self, CUresult};
use std::ffi::CStr;
use std::fmt;

/// What the driver returned instead of success. An error of a kernel comes from a later call, often a synchronization.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DriverError {
    /// The function that returned it, or `cust`'s that called it.
    pub call: &'static str,
    /// The driver's name and number for it.
    pub code: CUresult,
}

impl fmt::Display for DriverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {:?}", self.call, self.code)?;
        let mut text = std::ptr::null();
        // SAFETY: `text` may be written.
        let found = unsafe { sys::cuGetErrorString(self.code, &raw mut text) } == CUresult::CUDA_SUCCESS;
        if !found || text.is_null() {
            return Ok(());
        }
        // SAFETY: a string of the driver, which stays.
        write!(f, " ({})", unsafe { CStr::from_ptr(text) }.to_string_lossy())
    }
}

impl std::error::Error for DriverError {}

/// What `call` returned.
pub(crate) fn check(call: &'static str, code: CUresult) -> Result<(), DriverError> {
    if code == CUresult::CUDA_SUCCESS { Ok(()) } else { Err(DriverError { call, code }) }
}

/// What `call` returned, which `cust` has made just now.
pub(crate) fn checked<T>(call: &'static str, result: CudaResult<T>) -> Result<T, DriverError> {
    result.map_err(|_| DriverError { call, code: codes::last() })
}

/// Why there is no driver, if there is none.
pub(crate) fn absent() -> Option<&'static str> {
    library::get().err()
}

/// Names of the functions that this crate has for the linker, in the order of the alphabet.
pub fn forwarded() -> impl ExactSizeIterator<Item = &'static str> {
    functions::FORWARDED.iter().map(|&(name, _)| name)
}
