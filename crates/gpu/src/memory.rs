//! Allocations of device memory.

use crate::device::Allocation;
use crate::driver::check;
use crate::{Device, Error};
use cust::sys::{self, CUdeviceptr};

/// An allocation; freed after all work on its device when nothing refers to it any longer.
#[derive(Debug)]
pub(crate) struct Memory {
    pub(crate) device: Device,
    /// 0 for an allocation without bytes.
    pub(crate) address: CUdeviceptr,
}

impl Memory {
    pub(crate) fn new(device: &Device, bytes: usize) -> Result<Self, Error> {
        device.bind()?;
        let mut address = 0;
        if bytes > 0 {
            // SAFETY: the address may be written.
            check("cuMemAlloc", unsafe { sys::cuMemAlloc_v2(&raw mut address, bytes) })?;
        }
        Ok(Self { device: device.clone(), address })
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.address != 0 {
            // SAFETY: it was allocated here, and this was the last that refers to it.
            unsafe { self.device.free(Allocation::Device(self.address)) };
        }
    }
}
