//! Streams.

use crate::driver::{DriverError, check, checked};
use crate::memory::Memory;
use crate::{Device, Error, Event, lock};
use cust::stream::{Stream as Handle, StreamFlags};
use cust::sys::{self, CUgraph, CUstream, CUstreamCaptureMode};
use std::ptr;
use std::sync::{Arc, Mutex};

/// Work of a device in order. Any thread may add to it.
#[derive(Debug)]
pub struct Stream {
    handle: Handle,
    device: Device,
    capture: Mutex<Option<Recording>>,
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
        Ok(Self { handle, device: device.clone(), capture: Mutex::default() })
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
        self.refuse_in_capture("waiting for a stream")?;
        self.device.bind()?;
        Ok(checked("cuStreamSynchronize", self.handle.synchronize())?)
    }

    /// An event that comes after all work submitted so far.
    ///
    /// # Errors
    /// [`Error::Driver`], [`Error::Capturing`].
    pub fn record(&self) -> Result<Event, Error> {
        self.refuse_in_capture("an event")?;
        Event::record(self)
    }

    /// Work submitted from here on runs after the event. The host doesn't wait.
    ///
    /// # Errors
    /// [`Error::Driver`], [`Error::Capturing`].
    pub fn wait(&self, event: &Event) -> Result<(), Error> {
        self.refuse_in_capture("an event")?;
        self.device.bind()?;
        // SAFETY: both exist.
        Ok(check("cuStreamWaitEvent", unsafe { sys::cuStreamWaitEvent(self.raw(), event.raw(), 0) })?)
    }

    pub(crate) fn raw(&self) -> CUstream {
        self.handle.as_inner()
    }

    /// Refuses what would break a capture.
    pub(crate) fn refuse_in_capture(&self, operation: &'static str) -> Result<(), Error> {
        if lock(&self.capture).is_some() { Err(Error::Capturing { operation }) } else { Ok(()) }
    }

    /// Submits an operation on some memory, all of this device.
    pub(crate) fn submit<'m>(
        &self,
        memory: impl IntoIterator<Item = &'m Arc<Memory>>,
        operation: impl FnOnce(CUstream) -> Result<(), DriverError>,
    ) -> Result<(), Error> {
        self.device.bind()?;
        let mut capture = lock(&self.capture);
        operation(self.raw())?;
        if let Some(recording) = &mut *capture {
            memory.into_iter().for_each(|memory| recording.keep(memory));
        }
        Ok(())
    }

    pub(crate) fn begin_capture(&self) -> Result<(), Error> {
        let mut capture = lock(&self.capture);
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
        *capture = Some(Recording::default());
        Ok(())
    }

    /// Ends a capture that has begun: the graph, which the caller has to destroy, and the memory that it uses.
    pub(crate) fn end_capture(&self) -> Result<(CUgraph, Recording), Error> {
        let recording = lock(&self.capture).take().unwrap_or_default();
        let mut graph = ptr::null_mut();
        let ended = self.device.bind().and_then(|()| {
            // SAFETY: the stream exists, and the graph may be written.
            Ok(check("cuStreamEndCapture", unsafe { sys::cuStreamEndCapture(self.raw(), &raw mut graph) })?)
        });
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
