//! Launches of kernels and host functions.

use std::ffi::c_void;
use std::sync::Arc;

use cuda_emu::Grid;

use super::api;
use crate::core::command::Command;
use crate::core::driver::Driver;
use crate::core::launch::{Launch, check};
use crate::core::module::Function;
use crate::error::{Error, Result, invalid};
use crate::raw::{Handle, HostCall, HostFunction, array, buffer};

/// Marks in `extra`: its end, the pointer to a buffer, the pointer to the buffer's size.
const END: usize = 0;
const BUFFER: usize = 1;
const BUFFER_SIZE: usize = 2;

/// Checks a launch and copies its parameters.
///
/// # Safety
/// `parameters` is null or has a pointer to a valid value for each parameter; `extra` is null or a list as
/// `cuLaunchKernel` describes it.
pub(super) unsafe fn launch(
    driver: &Driver,
    handle: Handle,
    grid: Grid,
    parameters: *const *const c_void,
    extra: *const *const c_void,
) -> Result<Command> {
    let function = driver.functions.get(handle)?;
    check(&function, &grid)?;
    let bytes = match (parameters.is_null(), extra.is_null()) {
        // SAFETY: the caller's promise.
        (false, true) => unsafe { by_pointers(&function, parameters) }?,
        // SAFETY: the caller's promise.
        (true, false) => unsafe { by_buffer(extra) }?,
        (true, true) => Vec::new(),
        (false, false) => return Err(invalid!("both parameters and extra")),
    };
    let needed = function.info.parameter_bytes;
    if bytes.len() as u64 != needed {
        return Err(invalid!("`{}`: {} bytes of parameters, {needed} are needed", function.info.name, bytes.len()));
    }
    Ok(Command::Launch(Arc::new(Launch { function, handle, grid, parameters: bytes.into() })))
}

/// # Safety
/// `parameters` has a pointer to a valid value for each parameter.
unsafe fn by_pointers(function: &Function, parameters: *const *const c_void) -> Result<Vec<u8>> {
    let info = &function.info;
    let mut bytes = buffer(info.parameter_bytes as usize)?;
    // SAFETY: as many pointers as parameters by the caller's promise.
    let pointers = unsafe { array(parameters, info.parameters.len()) }?;
    for (index, (&pointer, &(offset, size))) in pointers.iter().zip(&info.parameters).enumerate() {
        if pointer.is_null() {
            return Err(invalid!("`{}`: parameter {index} is null", info.name));
        }
        let target = &mut bytes[offset as usize..(offset + size) as usize];
        // SAFETY: 1. the pointer leads to a value of `size` bytes by the caller's promise; 2. `target` has as many
        // and is new.
        unsafe { std::ptr::copy_nonoverlapping(pointer.cast(), target.as_mut_ptr(), target.len()) };
    }
    Ok(bytes)
}

/// # Safety
/// `extra` is a list as `cuLaunchKernel` describes it.
unsafe fn by_buffer(extra: *const *const c_void) -> Result<Vec<u8>> {
    let (mut from, mut size) = (std::ptr::null::<u8>(), None);
    for index in 0.. {
        // SAFETY: the list hasn't ended, so that there is a mark, and a pointer after each but the end.
        let (mark, value) = unsafe {
            let mark = (*extra.add(2 * index)).addr();
            (mark, if mark == END { std::ptr::null() } else { *extra.add(2 * index + 1) })
        };
        match mark {
            END => break,
            BUFFER => from = value.cast(),
            BUFFER_SIZE if !value.is_null() => {
                // SAFETY: the value is a pointer to a size by the caller's promise.
                size = Some(unsafe { value.cast::<usize>().read_unaligned() });
            }
            _ => return Err(invalid!("entry {index} of extra is {mark}")),
        }
    }
    let size = size.ok_or_else(|| invalid!("extra has no size"))?;
    // SAFETY: the buffer has as many bytes by the caller's promise.
    Ok(unsafe { array(from, size) }?.to_vec())
}

api! {
    /// Launches a kernel.
    fn cuLaunchKernel(
        function: Handle, blocks_x: u32, blocks_y: u32, blocks_z: u32, threads_x: u32, threads_y: u32, threads_z: u32,
        shared_bytes: u32, stream: Handle, parameters: *const *const c_void, extra: *const *const c_void,
    ) {
        let driver = Driver::get()?;
        let stream = driver.stream(stream)?;
        stream.context.check()?;
        let grid = Grid {
            blocks: [blocks_x, blocks_y, blocks_z],
            threads: [threads_x, threads_y, threads_z],
            shared_bytes: shared_bytes.into(),
        };
        // SAFETY: the caller's promise.
        let command = unsafe { launch(driver, function, grid, parameters, extra) }?;
        if driver.functions.get(function)?.module.context.number != stream.context.number {
            return Err(Error::Handle { kind: "function of the stream's context", handle: function });
        }
        stream.command(driver, command)
    }

    /// Calls a host function when a stream comes to it.
    fn cuLaunchHostFunc(stream: Handle, function: HostFunction, data: *mut c_void) {
        let driver = Driver::get()?;
        // SAFETY: the caller's promise.
        let call = unsafe { HostCall::new(function, data) }?;
        driver.stream(stream)?.command(driver, Command::Call(call))
    }
}
