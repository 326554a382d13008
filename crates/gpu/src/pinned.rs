//! Copies to and from the host that run beside its work.

use crate::device::Allocation;
use crate::driver::check;
use crate::{Device, DriverError, Error, Event, Pod, Stream, View, ViewMut};
use cust::sys::{self, CUstream};
use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::ptr::{self, NonNull};

/// Host memory that stays where it is, which the device reads and writes by itself.
#[derive(Debug)]
pub struct Pinned<T: Pod> {
    elements: NonNull<T>,
    len: usize,
    device: Device,
}

// SAFETY: it owns its elements, which are plain numbers.
unsafe impl<T: Pod + Send> Send for Pinned<T> {}
// SAFETY: as above.
unsafe impl<T: Pod + Sync> Sync for Pinned<T> {}

impl<T: Pod> Pinned<T> {
    /// `len` zeros.
    ///
    /// # Errors
    /// [`Error::TooLarge`], [`Error::Driver`].
    pub fn zeroed(device: &Device, len: usize) -> Result<Self, Error> {
        let too_large = Error::TooLarge { elements: len, bytes: size_of::<T>() };
        // A slice has at most isize::MAX bytes.
        let bytes = len.checked_mul(size_of::<T>()).filter(|&bytes| isize::try_from(bytes).is_ok());
        let bytes = bytes.ok_or(too_large)?;
        let mut elements = NonNull::dangling();
        if bytes > 0 {
            device.bind()?;
            let mut address: *mut c_void = ptr::null_mut();
            // SAFETY: the address may be written.
            check("cuMemAllocHost", unsafe { sys::cuMemAllocHost_v2(&raw mut address, bytes) })?;
            if let Some(found) = NonNull::new(address.cast::<T>()) {
                elements = found;
            }
            // SAFETY: so many bytes were allocated, aligned to a page.
            unsafe { ptr::write_bytes(elements.as_ptr().cast::<u8>(), 0, bytes) };
        }
        Ok(Self { elements, len, device: device.clone() })
    }

    fn bytes(&self) -> usize {
        self.len * size_of::<T>()
    }
}

impl<T: Pod> Deref for Pinned<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: the elements exist and have been written.
        unsafe { std::slice::from_raw_parts(self.elements.as_ptr(), self.len) }
    }
}

impl<T: Pod> DerefMut for Pinned<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: the elements exist and have been written, and nothing else refers to them.
        unsafe { std::slice::from_raw_parts_mut(self.elements.as_ptr(), self.len) }
    }
}

impl<T: Pod> Drop for Pinned<T> {
    fn drop(&mut self) {
        if self.bytes() > 0 {
            // SAFETY: it was allocated here, and no transfer has it.
            unsafe { self.device.free(Allocation::Pinned(self.elements.cast())) };
        }
    }
}

/// A copy that is under way. It has the host's memory until it ends; dropping it waits.
#[derive(Debug)]
#[must_use = "dropping a transfer waits for it"]
pub struct Transfer<T: Pod> {
    pinned: ManuallyDrop<Pinned<T>>,
    end: Event,
}

impl<T: Pod> Transfer<T> {
    /// Submits a copy of all elements of `pinned`, from or to its address.
    fn submit(
        stream: &Stream,
        part: &View<'_, T>,
        pinned: Pinned<T>,
        copy: impl FnOnce(*mut c_void, CUstream) -> Result<(), DriverError>,
    ) -> Result<Self, Error> {
        const OPERATION: &str = "an asynchronous copy";
        part.check(OPERATION, stream, pinned.len())?;
        stream.outside_capture(OPERATION, |raw| {
            if !pinned.is_empty() {
                copy(pinned.elements.as_ptr().cast(), raw)?;
            }
            // From here on the device uses the memory: if there is no event to wait for, it is never freed.
            let pinned = ManuallyDrop::new(pinned);
            Ok(Self { end: Event::record(stream)?, pinned })
        })
    }

    /// Waits for the copy: the memory, with what was copied.
    ///
    /// # Errors
    /// [`Error::Driver`], also for kernels that failed before. The memory is never freed then: the device may still use it.
    pub fn wait(self) -> Result<Pinned<T>, Error> {
        self.end.synchronize()?;
        let mut this = ManuallyDrop::new(self);
        // SAFETY: neither is used again, since `this` is never dropped.
        unsafe {
            ptr::drop_in_place(&raw mut this.end);
            Ok(ManuallyDrop::take(&mut this.pinned))
        }
    }
}

impl<T: Pod> Drop for Transfer<T> {
    fn drop(&mut self) {
        if self.end.synchronize().is_ok() {
            // SAFETY: the copy has ended, and this is not used again.
            unsafe { ManuallyDrop::drop(&mut self.pinned) };
        }
    }
}

impl<T: Pod> ViewMut<'_, T> {
    /// Copies from the host, in the order of the stream; the host goes on.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::OtherDevice`], [`Error::Capturing`], [`Error::Driver`].
    pub fn write_async(&mut self, stream: &Stream, from: Pinned<T>) -> Result<Transfer<T>, Error> {
        let (address, bytes) = (self.view().address(), from.bytes());
        Transfer::submit(stream, &self.view(), from, |from, raw| {
            // SAFETY: both have so many bytes, and the transfer keeps the host's.
            check("cuMemcpyHtoDAsync", unsafe { sys::cuMemcpyHtoDAsync_v2(address, from, bytes, raw) })
        })
    }
}

impl<T: Pod> View<'_, T> {
    /// Copies to the host, in the order of the stream; the host goes on.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::OtherDevice`], [`Error::Capturing`], [`Error::Driver`].
    pub fn read_async(self, stream: &Stream, to: Pinned<T>) -> Result<Transfer<T>, Error> {
        let bytes = to.bytes();
        Transfer::submit(stream, &self, to, |to, raw| {
            // SAFETY: both have so many bytes, and the transfer keeps the host's.
            check("cuMemcpyDtoHAsync", unsafe { sys::cuMemcpyDtoHAsync_v2(to, self.address(), bytes, raw) })
        })
    }
}
