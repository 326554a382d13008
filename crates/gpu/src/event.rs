//! Events.

use crate::driver::check;
use crate::{Device, Error, Stream};
use cust::sys::{self, CUevent, CUresult};
use std::ptr;

/// A point in the work of a stream, from [`Stream::record`].
#[derive(Debug)]
pub struct Event {
    raw: CUevent,
    device: Device,
}

// SAFETY: a handle of the driver, whose functions any thread may call.
unsafe impl Send for Event {}
// SAFETY: as above.
unsafe impl Sync for Event {}

/// `CU_EVENT_DISABLE_TIMING`: only order matters.
const WITHOUT_TIMING: u32 = 2;

impl Event {
    pub(crate) fn record(stream: &Stream) -> Result<Self, Error> {
        stream.device().bind()?;
        let mut event = Self { raw: ptr::null_mut(), device: stream.device().clone() };
        // SAFETY: the handle may be written.
        check("cuEventCreate", unsafe { sys::cuEventCreate(&raw mut event.raw, WITHOUT_TIMING) })?;
        // SAFETY: both exist.
        check("cuEventRecord", unsafe { sys::cuEventRecord(event.raw, stream.raw()) })?;
        Ok(event)
    }

    /// Whether the work before it has ended.
    ///
    /// # Errors
    /// [`Error::Driver`], also for kernels that failed since.
    pub fn is_over(&self) -> Result<bool, Error> {
        self.device.bind()?;
        // SAFETY: the event exists.
        match unsafe { sys::cuEventQuery(self.raw) } {
            CUresult::CUDA_ERROR_NOT_READY => Ok(false),
            code => Ok(check("cuEventQuery", code).map(|()| true)?),
        }
    }

    /// Waits for the work before it.
    ///
    /// # Errors
    /// [`Error::Driver`], also for kernels that failed since.
    pub fn synchronize(&self) -> Result<(), Error> {
        self.device.bind()?;
        // SAFETY: the event exists.
        Ok(check("cuEventSynchronize", unsafe { sys::cuEventSynchronize(self.raw) })?)
    }

    pub(crate) fn raw(&self) -> CUevent {
        self.raw
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if !self.raw.is_null() && self.device.bind().is_ok() {
            // SAFETY: the event exists; the driver keeps it as long as work needs it. An error would be of work before.
            let _ = unsafe { sys::cuEventDestroy_v2(self.raw) };
        }
    }
}
