//! Streams.

use std::sync::{Arc, Mutex};

use super::command::Command;
use super::context::Context;
use super::driver::Driver;
use super::graph::Graph;
use super::lock;
use super::queue::{LEGACY, Ticket, Work};
use crate::error::{Error, Result, invalid};

/// Flag of a stream that doesn't wait for the legacy stream.
const NON_BLOCKING: u32 = 1;
/// `CU_STREAM_LEGACY`.
const LEGACY_HANDLE: usize = 1;
/// `CU_STREAM_PER_THREAD`.
const PER_THREAD_HANDLE: usize = 2;

/// A stream.
#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) context: Arc<Context>,
    pub(crate) flags: u32,
    number: u64,
    /// The capture that is going on.
    capture: Mutex<Option<Capture>>,
}

/// What a capture has seen.
#[derive(Debug, Default)]
struct Capture {
    commands: Vec<Command>,
    /// Whether something was asked for that a capture doesn't allow: then there is no graph in the end.
    broken: bool,
}

/// What `cuStreamIsCapturing` tells, by its number in `CUstreamCaptureStatus`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CaptureStatus {
    None = 0,
    Active = 1,
    Invalidated = 2,
}

impl Stream {
    fn is_legacy(&self) -> bool {
        self.number == LEGACY
    }

    /// Whether a capture is going on.
    pub(crate) fn captures(&self) -> bool {
        lock(&self.capture).is_some()
    }

    /// Whether a capture is going on, and can still end well.
    pub(crate) fn capture_status(&self) -> CaptureStatus {
        match &*lock(&self.capture) {
            None => CaptureStatus::None,
            Some(capture) if capture.broken => CaptureStatus::Invalidated,
            Some(_) => CaptureStatus::Active,
        }
    }

    /// Breaks the capture, if one is going on.
    fn break_capture(&self) -> bool {
        let mut capture = lock(&self.capture);
        if let Some(capture) = &mut *capture {
            capture.broken = true;
        }
        capture.is_some()
    }

    /// Refuses what can't be captured. To ask for it breaks the capture.
    pub(crate) fn check_no_capture(&self, what: &'static str) -> Result<()> {
        if self.break_capture() { Err(Error::Captures(what)) } else { Ok(()) }
    }

    /// Submits work, or adds it to the capture.
    pub(crate) fn submit(&self, driver: &Driver, work: Work) -> Result<()> {
        self.context.check()?;
        if let Some(capture) = lock(&self.capture).as_mut() {
            let Work::Command(command) = work else {
                capture.broken = true;
                return Err(Error::Captures("an event"));
            };
            capture.commands.push(command);
            return Ok(());
        }
        let of_this_context = |other: &Self| other.context.number == self.context.number;
        let captures = |other: &Self| of_this_context(other) && other.flags & NON_BLOCKING == 0 && other.captures();
        if self.is_legacy() && driver.streams.any(captures) {
            return Err(Error::CaptureImplicit);
        }
        self.context.submit(driver, self.number, work)
    }

    /// Submits a command.
    pub(crate) fn command(&self, driver: &Driver, command: Command) -> Result<()> {
        self.submit(driver, Work::Command(command))
    }

    fn all(&self) -> Ticket {
        Ticket { stream: self.number, number: u64::MAX }
    }

    /// Waits for all work.
    pub(crate) fn synchronize(&self, driver: &Driver) -> Result<()> {
        self.check_no_capture("a wait for the stream")?;
        self.context.advance(driver, self.all())
    }

    /// Whether all work has run. A program that polls makes the stream get on.
    pub(crate) fn query(&self, driver: &Driver) -> Result<()> {
        self.check_no_capture("a query of the stream")?;
        self.context.check()?;
        self.context.step(driver, self.number)?;
        if self.context.queues.has_work(self.all()) { Err(Error::NotReady) } else { Ok(()) }
    }

    /// Begins a capture.
    pub(crate) fn begin_capture(&self, mode: i32) -> Result<()> {
        if !(0..=2).contains(&mode) {
            return Err(invalid!("there is no mode of capture {mode}"));
        }
        if self.is_legacy() {
            return Err(Error::Captures("a capture of the legacy stream"));
        }
        self.context.check()?;
        let mut capture = lock(&self.capture);
        if capture.is_some() {
            return Err(Error::State("the stream captures already"));
        }
        *capture = Some(Capture::default());
        Ok(())
    }

    /// Ends the capture; the handle of its graph, a chain.
    pub(crate) fn end_capture(&self, driver: &Driver) -> Result<usize> {
        let capture = lock(&self.capture).take().ok_or(Error::State("the stream doesn't capture"))?;
        if capture.broken {
            return Err(Error::CaptureInvalidated);
        }
        let graph = driver.graphs.insert(Graph::default());
        let mut last = Vec::new();
        for command in capture.commands {
            last = vec![driver.add_node(graph, &last, command)?];
        }
        Ok(graph)
    }
}

impl Driver {
    /// Makes a stream; its handle. Priorities are all the same here.
    pub(crate) fn create_stream(&self, flags: u32) -> Result<usize> {
        if flags & !NON_BLOCKING != 0 {
            return Err(invalid!("there are no stream flags {flags:#x}"));
        }
        let context = self.current()?;
        let number = context.queues.add(flags & NON_BLOCKING == 0);
        Ok(self.streams.insert(Stream { context, flags, number, capture: Mutex::new(None) }))
    }

    /// Refuses what waits for all streams of a context while one of them captures, which that breaks.
    pub(crate) fn check_no_captures(&self, context: &Context) -> Result<()> {
        let of_context = |stream: &Stream| stream.context.number == context.number;
        match self.streams.count(|stream| of_context(stream) && stream.break_capture()) {
            0 => Ok(()),
            _ => Err(Error::Captures("a wait for the context")),
        }
    }

    /// A stream by handle.
    pub(crate) fn stream(&self, handle: usize) -> Result<Arc<Stream>> {
        match handle {
            0 | LEGACY_HANDLE => Ok(Arc::new(self.legacy(self.current()?))),
            PER_THREAD_HANDLE => Err(Error::NotSupported("the default stream of a thread")),
            _ => self.streams.get(handle),
        }
    }

    /// The legacy stream of a context.
    pub(crate) fn legacy(&self, context: Arc<Context>) -> Stream {
        Stream { context, flags: 0, number: LEGACY, capture: Mutex::new(None) }
    }

    /// Destroys a stream after its work. A capture that is going on is dropped.
    pub(crate) fn destroy_stream(&self, handle: usize) -> Result<()> {
        if handle <= PER_THREAD_HANDLE {
            return Err(Error::Handle { kind: "stream that can be destroyed", handle });
        }
        let stream = self.streams.remove(handle)?;
        let result = stream.context.advance(self, stream.all());
        stream.context.queues.remove(stream.number);
        result
    }
}
