//! A device and its context.

use crate::driver::{self, check, checked};
use crate::modules::{Function, Modules};
use crate::{Contract, Error, Stream, lock};
use cust::context::{Context, CurrentContext};
use cust::device::{Device as Handle, DeviceAttribute};
use cust::sys::{self, CUdevice_attribute, CUdeviceptr};
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::fmt;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, Weak};

/// A GPU: its primary context, which this process's other users of CUDA share, and the kernels that were loaded into it.
///
/// Clones are the same device. Any thread may use it: whatever is done with a device, a stream or a buffer makes the
/// context the thread's current one.
#[derive(Clone, Debug)]
pub struct Device(Arc<Inner>);

struct Inner {
    modules: Modules,
    captures: Mutex<Captures>,
    handle: Handle,
    ordinal: u32,
    context: Context,
}

/// Short: buffers and all that has them show their device.
impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.ordinal)
    }
}

/// Devices in use: there is one context of each, so there is one of these.
static DEVICES: Mutex<BTreeMap<u32, Weak<Inner>>> = Mutex::new(BTreeMap::new());

/// Streams that are being captured, and memory to be freed after them: freeing waits, which a capture doesn't allow.
#[derive(Debug, Default)]
struct Captures {
    active: usize,
    deferred: Vec<Allocation>,
}

/// Memory of the driver's.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Allocation {
    /// A device's.
    Device(CUdeviceptr),
    /// The host's, which the device knows.
    Pinned(NonNull<c_void>),
}

// SAFETY: an address, which any thread may hand back to the driver.
unsafe impl Send for Allocation {}

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

    /// Device number `ordinal`, from 0. Asked for again, it is the same one.
    ///
    /// # Errors
    /// [`Error::NoDriver`], [`Error::NoDevice`], [`Error::Driver`].
    pub fn new(ordinal: u32) -> Result<Self, Error> {
        let count = Self::count()?;
        if ordinal >= count {
            return Err(Error::NoDevice { ordinal, count });
        }
        let mut devices = lock(&DEVICES);
        if let Some(inner) = devices.get(&ordinal).and_then(Weak::upgrade) {
            return Ok(Self(inner));
        }
        let handle = checked("cuDeviceGet", Handle::get_device(ordinal))?;
        let context = checked("cuDevicePrimaryCtxRetain", Context::new(handle))?;
        let (modules, captures) = (Modules::default(), Mutex::default());
        let inner = Arc::new(Inner { modules, captures, handle, ordinal, context });
        devices.insert(ordinal, Arc::downgrade(&inner));
        Ok(Self(inner))
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

    /// Bytes of shared memory that a block may have, if its kernel asks for it.
    pub(crate) fn shared_memory(&self) -> Result<u32, Error> {
        // cust has no name for it.
        let attribute = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;
        let mut bytes = 0;
        // SAFETY: the device exists, and the value may be written.
        let code = unsafe { sys::cuDeviceGetAttribute(&raw mut bytes, attribute, self.0.handle.as_raw()) };
        check("cuDeviceGetAttribute", code)?;
        Ok(u32::try_from(bytes).unwrap_or(0))
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
            for allocation in std::mem::take(&mut captures.deferred) {
                self.free_now(allocation);
            }
        }
    }

    /// Frees memory after all work that may use it.
    ///
    /// # Safety
    /// It was allocated by the driver for this device, and nothing refers to it any longer.
    pub(crate) unsafe fn free(&self, allocation: Allocation) {
        let mut captures = lock(&self.0.captures);
        if captures.active > 0 {
            captures.deferred.push(allocation);
        } else {
            self.free_now(allocation);
        }
    }

    /// Errors are those of work before, which the next call on the device reports as well.
    fn free_now(&self, allocation: Allocation) {
        let _ = self.bind();
        let _ = CurrentContext::synchronize();
        // SAFETY: by the promise of `free`, and the work has ended.
        let _ = unsafe {
            match allocation {
                Allocation::Device(address) => sys::cuMemFree_v2(address),
                Allocation::Pinned(address) => sys::cuMemFreeHost(address.as_ptr()),
            }
        };
    }
}

impl PartialEq for Device {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Device {}

impl Drop for Inner {
    fn drop(&mut self) {
        // Modules are unloaded from the current context. If it is gone, so are they.
        let _ = CurrentContext::set_current(&self.context);
    }
}
