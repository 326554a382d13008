//! `cuInit`, the version, names of codes.

use std::ffi::c_char;

use super::api;
use crate::core::{device, driver::Driver};
use crate::error::{Code, Result, invalid};
use crate::raw::{Out, put};

fn find(code: i32) -> Result<Code> {
    let code_of = |known: &&Code| **known as i32 == code;
    Code::ALL.iter().find(code_of).copied().ok_or_else(|| invalid!("there is no code {code}"))
}

api! {
    /// Starts the driver; flags must be 0.
    fn cuInit(flags: u32) {
        if flags != 0 {
            return Err(invalid!("there are no flags {flags:#x}"));
        }
        Driver::init()
    }

    /// The version of the API: 1000 x major + 10 x minor.
    fn cuDriverGetVersion(version: Out<'_, i32>) {
        put(version, device::VERSION)
    }

    /// The text of a code.
    fn cuGetErrorString(code: i32, text: Out<'_, *const c_char>) {
        put(text, find(code)?.text().as_ptr())
    }

    /// The name of a code.
    fn cuGetErrorName(code: i32, name: Out<'_, *const c_char>) {
        put(name, find(code)?.name().as_ptr())
    }
}
