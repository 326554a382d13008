//! Events: when the work before them was done.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use super::context::Context;
use super::driver::Driver;
use super::lock;
use super::queue::{Ticket, Work};
use super::stream::Stream;
use crate::error::{Error, Result, invalid};

/// Flag of an event without times.
const NO_TIMES: u32 = 2;

/// An event.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) context: Arc<Context>,
    times: bool,
    last: Mutex<Option<Recorded>>,
}

/// The last record of an event.
#[derive(Clone, Copy, Debug)]
struct Recorded {
    ticket: Ticket,
    time: Option<Instant>,
}

impl Event {
    /// Notes that a record is on its way, which replaces earlier ones.
    pub(crate) fn expect(&self, ticket: Ticket) {
        *lock(&self.last) = Some(Recorded { ticket, time: None });
    }

    /// Notes that a record's turn has come, if it is still the last one.
    pub(crate) fn happen(&self, number: u64) {
        if let Some(last) = lock(&self.last).as_mut().filter(|last| last.ticket.number == number) {
            last.time = Some(Instant::now());
        }
    }

    /// The item that the last record is, while it hasn't happened.
    pub(crate) fn pending(&self) -> Option<Ticket> {
        lock(&self.last).filter(|last| last.time.is_none()).map(|last| last.ticket)
    }

    /// Waits for the last record; there is nothing to wait for without one.
    pub(crate) fn synchronize(&self, driver: &Driver) -> Result<()> {
        self.context.check()?;
        self.pending().map_or(Ok(()), |ticket| self.context.advance(driver, ticket))
    }

    /// Whether the last record has happened. A program that polls makes the stream get on.
    pub(crate) fn query(&self, driver: &Driver) -> Result<()> {
        self.context.check()?;
        if let Some(ticket) = self.pending() {
            self.context.step(driver, ticket.stream)?;
        }
        if self.pending().is_some() { Err(Error::NotReady) } else { Ok(()) }
    }

    /// Milliseconds from the record of this event to that of another one.
    pub(crate) fn elapsed(&self, end: &Self) -> Result<f32> {
        self.context.check()?;
        let time = |event: &Self| {
            let last = *lock(&event.last);
            match last {
                Some(last) if event.times => last.time.ok_or(Error::NotReady),
                _ => Err(Error::Handle { kind: "event that was recorded with its time", handle: 0 }),
            }
        };
        let (from, to) = (time(self)?, time(end)?);
        let forward = to.saturating_duration_since(from).as_secs_f64();
        let backward = from.saturating_duration_since(to).as_secs_f64();
        Ok(((forward - backward) * 1e3) as f32)
    }
}

impl Driver {
    /// Makes an event; its handle.
    pub(crate) fn create_event(&self, flags: u32) -> Result<usize> {
        if flags & !7 != 0 {
            return Err(invalid!("there are no event flags {flags:#x}"));
        }
        if flags & 4 != 0 {
            return Err(Error::NotSupported("an event between processes"));
        }
        let context = self.current()?;
        Ok(self.events.insert(Event { context, times: flags & NO_TIMES == 0, last: Mutex::new(None) }))
    }

    /// Records an event in a stream of its context.
    pub(crate) fn record(&self, event: usize, stream: &Stream) -> Result<()> {
        let object = self.events.get(event)?;
        if object.context.number != stream.context.number {
            return Err(Error::Handle { kind: "event of the stream's context", handle: event });
        }
        stream.submit(self, Work::Record(object))
    }

    /// Makes a stream wait for an event.
    pub(crate) fn wait(&self, stream: &Stream, event: usize) -> Result<()> {
        let event = self.events.get(event)?;
        let Some(ticket) = event.pending() else {
            return stream.context.check();
        };
        if event.context.number == stream.context.number {
            return stream.submit(self, Work::Wait(ticket));
        }
        // Numbers of another context don't compare: it catches up now.
        event.context.advance(self, ticket)
    }
}
