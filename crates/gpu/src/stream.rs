//! Streams.

use crate::driver::{DriverError, check, checked};
use crate::memory::Memory;
use crate::{Device, Error, Event, lock, read, write};
use cust::stream::{Stream as Handle, StreamFlags};
use cust::sys::{self, CUgraph, CUstream, CUstreamCaptureMode};
use std::ptr;
use std::sync::{Arc, Mutex, RwLock};

/// Work of a device in order. Any thread may add to it.
#[derive(Debug)]
pub struct Stream {
    handle: Handle,
    device: Device,
    /// Whoever submits or waits holds it to read: a capture neither begins nor ends meanwhile.
    capture: RwLock<Option<Mutex<Recording>>>,
}

/// What a capture has seen.
#[derive(Debug, Default)]
pub(crate) struct Recording {
    /// The memory that its operations use.
    pub(crate) memory: Vec<Arc<Memory>>,
}

impl Recording {
    fn keep(&mut self, memory: &Arc<Memory>) {
        if !self.memory.iter().any(|kept| Arc::ptr_eq(kept, memory)) {
            self.memory.push(memory.clone());
        }
    }
}

impl Stream {
    pub(crate) fn new(device: &Device) -> Result<Self, Error> {
        device.bind()?;
        let handle = checked("cuStreamCreateWithPriority", Handle::new(StreamFlags::DEFAULT, None))?;
        Ok(Self { handle, device: device.clone(), capture: RwLock::default() })
    }

    /// The device that does its work.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Waits for all work submitted so far.
    ///
    /// # Errors
    /// [`Error::Driver`], also for kernels that failed since; [`Error::Capturing`].
    pub fn synchronize(&self) -> Result<(), Error> {
        self.outside_capture("waiting for a stream", |_| self.finish())
    }

    /// An event that comes after all work submitted so far.
    ///
    /// # Errors
    /// [`Error::Driver`], [`Error::Capturing`].
    pub fn record(&self) -> Result<Event, Error> {
        self.outside_capture("an event", |_| Event::record(self))
    }

    /// Work submitted from here on runs after the event. The host doesn't wait.
    ///
    /// # Errors
    /// [`Error::Driver`], [`Error::Capturing`].
    pub fn wait(&self, event: &Event) -> Result<(), Error> {
        self.outside_capture("an event", |raw| {
            // SAFETY: both exist.
            Ok(check("cuStreamWaitEvent", unsafe { sys::cuStreamWaitEvent(raw, event.raw(), 0) })?)
        })
    }

    pub(crate) fn raw(&self) -> CUstream {
        self.handle.as_inner()
    }

    /// Does what would break a capture, or must not be part of one; no capture begins before it is done. `work` uses the
    /// driver alone, none of the stream's functions that look for a capture.
    pub(crate) fn outside_capture<R>(
        &self,
        operation: &'static str,
        work: impl FnOnce(CUstream) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let capture = read(&self.capture);
        if capture.is_some() {
            return Err(Error::Capturing { operation });
        }
        self.device.bind()?;
        work(self.raw())
    }

    /// Waits, outside of a capture.
    pub(crate) fn finish(&self) -> Result<(), Error> {
        Ok(checked("cuStreamSynchronize", self.handle.synchronize())?)
    }

    /// Submits an operation on some memory, all of this device.
    pub(crate) fn submit<'m>(
        &self,
        memory: impl IntoIterator<Item = &'m Arc<Memory>>,
        operation: impl FnOnce(CUstream) -> Result<(), DriverError>,
    ) -> Result<(), Error> {
        self.device.bind()?;
        let capture = read(&self.capture);
        operation(self.raw())?;
        if let Some(recording) = &*capture {
            let mut recording = lock(recording);
            memory.into_iter().for_each(|memory| recording.keep(memory));
        }
        Ok(())
    }

    pub(crate) fn begin_capture(&self) -> Result<(), Error> {
        let mut capture = write(&self.capture);
        if capture.is_some() {
            return Err(Error::Capturing { operation: "a capture" });
        }
        self.device.bind()?;
        // Relaxed: memory may be allocated and modules loaded meanwhile.
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        self.device.capture_begins();
        // SAFETY: the stream exists.
        if let Err(error) = check("cuStreamBeginCapture", unsafe { sys::cuStreamBeginCapture_v2(self.raw(), mode) }) {
            self.device.capture_ends();
            return Err(error.into());
        }
        *capture = Some(Mutex::default());
        Ok(())
    }

    /// Ends a capture that has begun: the graph, which the caller has to destroy, and the memory that it uses.
    pub(crate) fn end_capture(&self) -> Result<(CUgraph, Recording), Error> {
        let mut capture = write(&self.capture);
        let recording = capture.take().unwrap_or_default();
        let recording = recording.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut graph = ptr::null_mut();
        let ended = self.device.bind().and_then(|()| {
            // SAFETY: the stream exists, and the graph may be written.
            Ok(check("cuStreamEndCapture", unsafe { sys::cuStreamEndCapture(self.raw(), &raw mut graph) })?)
        });
        drop(capture);
        self.device.capture_ends();
        ended.map(|()| (graph, recording))
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // The handle is destroyed next, in the current context. If that is gone, so is the stream.
        let _ = self.device.bind();
    }
}
