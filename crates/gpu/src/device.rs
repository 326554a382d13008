//! A device and its context.

use crate::driver::{self, check, checked};
use crate::modules::{Function, Modules};
use crate::{Contract, Error, Stream, lock};
use cust::context::{Context, CurrentContext};
use cust::device::{Device as Handle, DeviceAttribute};
use cust::sys::{self, CUdeviceptr};
use std::sync::{Arc, Mutex};

/// A GPU: its primary context, which this process's other users of CUDA share, and the kernels that were loaded into it.
///
/// Clones are the same device. Any thread may use it: whatever is done with a device, a stream or a buffer makes the
/// context the thread's current one.
#[derive(Clone, Debug)]
pub struct Device(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    modules: Modules,
    captures: Mutex<Captures>,
    handle: Handle,
    ordinal: u32,
    context: Context,
}

/// Streams that are being captured, and memory to be freed after them: freeing waits, which a capture doesn't allow.
#[derive(Debug, Default)]
struct Captures {
    active: usize,
    deferred: Vec<CUdeviceptr>,
}

impl Device {
    /// The number of devices.
    ///
    /// # Errors
    /// [`Error::NoDriver`], [`Error::Driver`].
    pub fn count() -> Result<u32, Error> {
        if let Some(reason) = driver::absent() {
            return Err(Error::NoDriver { reason: reason.to_owned() });
        }
        match cust::init(cust::CudaFlags::empty()) {
            // A driver without devices refuses to start.
            Err(cust::error::CudaError::NoDevice) => Ok(0),
            result => {
                checked("cuInit", result)?;
                Ok(checked("cuDeviceGetCount", Handle::num_devices())?)
            }
        }
    }

    /// Device number `ordinal`, from 0.
    ///
    /// # Errors
    /// [`Error::NoDriver`], [`Error::NoDevice`], [`Error::Driver`].
    pub fn new(ordinal: u32) -> Result<Self, Error> {
        let count = Self::count()?;
        if ordinal >= count {
            return Err(Error::NoDevice { ordinal, count });
        }
        let handle = checked("cuDeviceGet", Handle::get_device(ordinal))?;
        let context = checked("cuDevicePrimaryCtxRetain", Context::new(handle))?;
        let (modules, captures) = (Modules::default(), Mutex::default());
        Ok(Self(Arc::new(Inner { modules, captures, handle, ordinal, context })))
    }

    /// Its number.
    pub fn ordinal(&self) -> u32 {
        self.0.ordinal
    }

    /// Its name, as the driver has it.
    ///
    /// # Errors
    /// [`Error::Driver`].
    pub fn name(&self) -> Result<String, Error> {
        Ok(checked("cuDeviceGetName", self.0.handle.name())?)
    }

    /// Bytes of its memory.
    ///
    /// # Errors
    /// [`Error::Driver`].
    pub fn memory(&self) -> Result<usize, Error> {
        Ok(checked("cuDeviceTotalMem", self.0.handle.total_memory())?)
    }

    /// An attribute, in the unit that the driver has for it.
    ///
    /// # Errors
    /// [`Error::Driver`].
    pub fn attribute(&self, attribute: DeviceAttribute) -> Result<i32, Error> {
        Ok(checked("cuDeviceGetAttribute", self.0.handle.get_attribute(attribute))?)
    }

    /// A new stream.
    ///
    /// # Errors
    /// [`Error::Driver`].
    pub fn stream(&self) -> Result<Stream, Error> {
        Stream::new(self)
    }

    /// Waits for all work on the device.
    ///
    /// # Errors
    /// [`Error::Driver`], also for kernels that failed since; [`Error::Capturing`].
    pub fn synchronize(&self) -> Result<(), Error> {
        let captures = lock(&self.0.captures);
        if captures.active > 0 {
            return Err(Error::Capturing { operation: "waiting for a device" });
        }
        self.bind()?;
        Ok(checked("cuCtxSynchronize", CurrentContext::synchronize())?)
    }

    /// Makes the context the thread's current one.
    pub(crate) fn bind(&self) -> Result<(), Error> {
        Ok(checked("cuCtxSetCurrent", CurrentContext::set_current(&self.0.context))?)
    }

    /// Whether both are the same device. (Contexts are the device's primary ones.)
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.0.ordinal == other.0.ordinal
    }

    /// The kernel of a contract, loaded.
    pub(crate) fn function(&self, contract: &'static Contract) -> Result<Function, Error> {
        self.0.modules.get(self, contract)
    }

    /// A capture begins: nothing may wait for the device until it ends.
    pub(crate) fn capture_begins(&self) {
        lock(&self.0.captures).active += 1;
    }

    pub(crate) fn capture_ends(&self) {
        let mut captures = lock(&self.0.captures);
        captures.active -= 1;
        if captures.active == 0 {
            for address in std::mem::take(&mut captures.deferred) {
                self.free_now(address);
            }
        }
    }

    /// Frees memory after all work that may use it.
    pub(crate) fn free(&self, address: CUdeviceptr) {
        let mut captures = lock(&self.0.captures);
        if captures.active > 0 {
            captures.deferred.push(address);
        } else {
            self.free_now(address);
        }
    }

    /// Errors are those of work before, which the next call on the device reports as well.
    fn free_now(&self, address: CUdeviceptr) {
        let _ = self.bind();
        let _ = CurrentContext::synchronize();
        // SAFETY: the address comes from an allocation that nothing refers to any longer, and the work has ended.
        let _ = check("cuMemFree", unsafe { sys::cuMemFree_v2(address) });
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // Modules are unloaded from the current context. If it is gone, so are they.
        let _ = CurrentContext::set_current(&self.context);
    }
}
