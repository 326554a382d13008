//! Devices and their primary contexts.

use std::ffi::c_char;

use super::api;
use crate::core::{device, driver::Driver};
use crate::error::invalid;
use crate::raw::{Handle, Out, put, wanted};

api! {
    /// The device of an index.
    fn cuDeviceGet(device: Out<'_, i32>, index: i32) {
        Driver::get()?.index_of(index)?;
        put(device, index)
    }

    /// How many devices there are.
    fn cuDeviceGetCount(count: Out<'_, i32>) {
        put(count, Driver::get()?.devices.len() as i32)
    }

    /// The name of a device, cut to `length` bytes with the NUL.
    fn cuDeviceGetName(name: *mut c_char, length: i32, device: i32) {
        Driver::get()?.index_of(device)?;
        let room = usize::try_from(length).ok().filter(|&room| room > 0 && !name.is_null());
        let room = room.ok_or_else(|| invalid!("no room for a name"))?;
        let text = &device::NAME.as_bytes()[..device::NAME.len().min(room - 1)];
        // SAFETY: `name` has room for `length` bytes by the caller's promise, and the text with its NUL has no more.
        unsafe {
            std::ptr::copy_nonoverlapping(text.as_ptr(), name.cast(), text.len());
            name.add(text.len()).write(0);
        }
        Ok(())
    }

    /// The UUID of a device.
    fn cuDeviceGetUuid(uuid: Out<'_, [u8; 16]>, device: i32) {
        put(uuid, device::uuid(Driver::get()?.index_of(device)?))
    }

    /// An attribute of a device.
    fn cuDeviceGetAttribute(value: Out<'_, i32>, attribute: i32, device: i32) {
        Driver::get()?.index_of(device)?;
        put(value, device::attribute(attribute)?)
    }

    /// The memory of a device in bytes.
    fn cuDeviceTotalMem_v2(bytes: Out<'_, usize>, device: i32) {
        Driver::get()?.index_of(device)?;
        put(bytes, device::MEMORY_BYTES as usize)
    }

    /// One user more of the primary context.
    fn cuDevicePrimaryCtxRetain(context: Out<'_, Handle>, device: i32) {
        let out = wanted(context)?;
        out.write(Driver::get()?.retain_primary(device)?);
        Ok(())
    }

    /// One user less of the primary context.
    fn cuDevicePrimaryCtxRelease_v2(device: i32) {
        Driver::get()?.release_primary(device)
    }

    /// Destroys the primary context.
    fn cuDevicePrimaryCtxReset_v2(device: i32) {
        Driver::get()?.reset_primary(device)
    }

    /// Sets the flags of the primary context.
    fn cuDevicePrimaryCtxSetFlags_v2(device: i32, flags: u32) {
        Driver::get()?.set_primary_flags(device, flags)
    }

    /// Flags of the primary context, and 1 if it lives.
    fn cuDevicePrimaryCtxGetState(device: i32, flags: Out<'_, u32>, active: Out<'_, i32>) {
        let (flags_out, active_out) = (wanted(flags)?, wanted(active)?);
        let (flags, active) = Driver::get()?.primary_state(device)?;
        flags_out.write(flags);
        active_out.write(active.into());
        Ok(())
    }
}
