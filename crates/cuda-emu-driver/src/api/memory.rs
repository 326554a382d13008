//! Memory, copied and filled on the legacy stream.

use std::ffi::c_void;
use std::sync::Arc;

use super::api;
use crate::core::driver::Driver;
use crate::core::stream::Stream;
use crate::error::{Error, Result, invalid};
use crate::raw::{HostRange, Out, wanted};

/// The legacy stream of the current context.
fn legacy(driver: &Driver) -> Result<Arc<Stream>> {
    driver.stream(0)
}

api! {
    /// Allocates bytes on the device.
    fn cuMemAlloc_v2(address: Out<'_, u64>, bytes: usize) {
        let out = wanted(address)?;
        out.write(Driver::get()?.allocate(bytes)?);
        Ok(())
    }

    /// Allocates rows on the device.
    fn cuMemAllocPitch_v2(
        address: Out<'_, u64>, pitch: Out<'_, usize>, width: usize, height: usize, element_bytes: u32,
    ) {
        let (address_out, pitch_out) = (wanted(address)?, wanted(pitch)?);
        let (address, pitch) = Driver::get()?.allocate_pitch(width, height, element_bytes)?;
        address_out.write(address);
        pitch_out.write(pitch);
        Ok(())
    }

    /// Frees memory of the device after all work.
    fn cuMemFree_v2(address: u64) {
        Driver::get()?.free_after_all(address)
    }

    /// Free and total memory in bytes.
    fn cuMemGetInfo_v2(free: Out<'_, usize>, total: Out<'_, usize>) {
        let (free_out, total_out) = (wanted(free)?, wanted(total)?);
        let (free, total) = Driver::get()?.memory_info()?;
        free_out.write(free as usize);
        total_out.write(total as usize);
        Ok(())
    }

    /// Allocates pinned host memory.
    fn cuMemAllocHost_v2(address: Out<'_, *mut c_void>, bytes: usize) {
        let out = wanted(address)?;
        let driver = Driver::get()?;
        driver.current()?;
        out.write(std::ptr::with_exposed_provenance_mut(driver.host.allocate(bytes)?));
        Ok(())
    }

    /// Allocates pinned host memory. Memory that kernels can access isn't supported.
    fn cuMemHostAlloc(address: Out<'_, *mut c_void>, bytes: usize, flags: u32) {
        let out = wanted(address)?;
        let driver = Driver::get()?;
        driver.current()?;
        match flags {
            // Portable (1) and write-combined (4) memory is the same here.
            flags if flags & !7 != 0 => return Err(invalid!("there are no flags {flags:#x}")),
            flags if flags & 2 != 0 => return Err(Error::NotSupported("host memory that is mapped to the device")),
            _ => {}
        }
        out.write(std::ptr::with_exposed_provenance_mut(driver.host.allocate(bytes)?));
        Ok(())
    }

    /// Frees pinned host memory, after all work of the current context.
    fn cuMemFreeHost(address: *mut c_void) {
        let driver = Driver::get()?;
        driver.current()?.synchronize(driver)?;
        driver.host.free(address.addr())
    }

    /// Copies from the host, and waits.
    fn cuMemcpyHtoD_v2(to: u64, from: *const c_void, bytes: usize) {
        let driver = Driver::get()?;
        let stream = legacy(driver)?;
        // SAFETY: the caller's promise; the copy runs within this call.
        let from = unsafe { HostRange::new(from.cast_mut(), bytes) }?;
        driver.copy_in(to, from, &stream)?;
        stream.synchronize(driver)
    }

    /// Copies to the host, and waits.
    fn cuMemcpyDtoH_v2(to: *mut c_void, from: u64, bytes: usize) {
        let driver = Driver::get()?;
        let stream = legacy(driver)?;
        // SAFETY: the caller's promise; the copy runs within this call.
        let to = unsafe { HostRange::new(to, bytes) }?;
        driver.copy_out(to, from, &stream)?;
        stream.synchronize(driver)
    }

    /// Copies on the device.
    fn cuMemcpyDtoD_v2(to: u64, from: u64, bytes: usize) {
        let driver = Driver::get()?;
        driver.copy(to, from, bytes, &*legacy(driver)?)
    }

    /// Fills bytes.
    fn cuMemsetD8_v2(to: u64, value: u8, count: usize) {
        let driver = Driver::get()?;
        driver.fill(to, value.into(), 1, count, &*legacy(driver)?)
    }

    /// Fills words of 2 bytes.
    fn cuMemsetD16_v2(to: u64, value: u16, count: usize) {
        let driver = Driver::get()?;
        driver.fill(to, value.into(), 2, count, &*legacy(driver)?)
    }

    /// Fills words of 4 bytes.
    fn cuMemsetD32_v2(to: u64, value: u32, count: usize) {
        let driver = Driver::get()?;
        driver.fill(to, value, 4, count, &*legacy(driver)?)
    }
}
