//! The driver's library, looked for when it is needed first.

use super::functions::FORWARDED;
use libloading::Library;
use std::error::Error;
use std::ffi::{CStr, c_void};
use std::hint::black_box;
use std::sync::OnceLock;

/// The driver's soname. (`libcuda.so` is what programs are linked to: a stub may have that name.)
const NAME: &str = "libcuda.so.1";

/// The library of the driver; it stays loaded.
#[derive(Debug)]
pub(super) struct Driver(Library);

impl Driver {
    fn open() -> Result<Self, String> {
        black_box(FORWARDED);
        // SAFETY: the constructors of a driver ask nothing of the program.
        unsafe { Library::new(NAME) }.map(Self).map_err(|error| {
            // What the system's loader said is the cause of the error.
            error.source().map_or_else(|| error.to_string(), ToString::to_string)
        })
    }

    /// The address of a function, if this driver has it.
    pub(super) fn find(&self, name: &CStr) -> Option<*mut c_void> {
        // SAFETY: the address isn't followed here.
        let symbol = unsafe { self.0.get::<*mut c_void>(name) }.ok()?;
        Some(*symbol).filter(|address| !address.is_null())
    }
}

/// The driver, or why there is none.
pub(super) fn get() -> Result<&'static Driver, &'static str> {
    static DRIVER: OnceLock<Result<Driver, String>> = OnceLock::new();
    DRIVER.get_or_init(Driver::open).as_ref().map_err(String::as_str)
}
