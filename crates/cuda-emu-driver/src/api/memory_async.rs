//! Memory in order of a stream.

use std::ffi::c_void;

use super::api;
use crate::core::driver::Driver;
use crate::raw::{Handle, HostRange, Out, wanted};

api! {
    /// Allocates bytes on the device. They are there at once, for all streams.
    fn cuMemAllocAsync(address: Out<'_, u64>, bytes: usize, stream: Handle) {
        let out = wanted(address)?;
        let driver = Driver::get()?;
        driver.stream(stream)?.check_no_capture("an allocation")?;
        out.write(driver.allocate(bytes)?);
        Ok(())
    }

    /// Frees memory when the stream comes to it.
    fn cuMemFreeAsync(address: u64, stream: Handle) {
        let driver = Driver::get()?;
        driver.free_in_order(address, &*driver.stream(stream)?)
    }

    /// Copies from the host.
    fn cuMemcpyHtoDAsync_v2(to: u64, from: *const c_void, bytes: usize, stream: Handle) {
        let driver = Driver::get()?;
        // SAFETY: the caller's promise.
        let from = unsafe { HostRange::new(from.cast_mut(), bytes) }?;
        driver.copy_in(to, from, &*driver.stream(stream)?)
    }

    /// Copies to the host.
    fn cuMemcpyDtoHAsync_v2(to: *mut c_void, from: u64, bytes: usize, stream: Handle) {
        let driver = Driver::get()?;
        // SAFETY: the caller's promise.
        let to = unsafe { HostRange::new(to, bytes) }?;
        driver.copy_out(to, from, &*driver.stream(stream)?)
    }

    /// Copies on the device.
    fn cuMemcpyDtoDAsync_v2(to: u64, from: u64, bytes: usize, stream: Handle) {
        let driver = Driver::get()?;
        driver.copy(to, from, bytes, &*driver.stream(stream)?)
    }

    /// Fills bytes.
    fn cuMemsetD8Async(to: u64, value: u8, count: usize, stream: Handle) {
        let driver = Driver::get()?;
        driver.fill(to, value.into(), 1, count, &*driver.stream(stream)?)
    }

    /// Fills words of 2 bytes.
    fn cuMemsetD16Async(to: u64, value: u16, count: usize, stream: Handle) {
        let driver = Driver::get()?;
        driver.fill(to, value.into(), 2, count, &*driver.stream(stream)?)
    }

    /// Fills words of 4 bytes.
    fn cuMemsetD32Async(to: u64, value: u32, count: usize, stream: Handle) {
        let driver = Driver::get()?;
        driver.fill(to, value, 4, count, &*driver.stream(stream)?)
    }
}
