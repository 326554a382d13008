//! Queues of a context's streams, and the order in which their work runs.
//!
//! All work of a context is numbered as it is submitted. An item may run when the items before it in its stream have
//! run and, besides:
//! - on the legacy stream, all items of blocking streams with lower numbers;
//! - on a blocking stream, all items of the legacy stream with lower numbers;
//! - for a wait, the recorded item that it names, whose number is lower.
//!
//! Everything that an item waits for has a lower number, so there are no cycles. Nothing runs on its own: whoever waits
//! runs what it waits for. What nobody has waited for hasn't run, which is how a missing wait is found.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

use super::command::Command;
use super::context::Context;
use super::driver::Driver;
use super::event::Event;
use super::lock;
use crate::error::Result;

/// Number of the legacy stream.
pub(crate) const LEGACY: u64 = 0;

/// What a stream does next.
#[derive(Clone, Debug)]
pub(crate) enum Work {
    /// Does something on the device or the host.
    Command(Command),
    /// Notes that an event has come to pass.
    Record(Arc<Event>),
    /// Waits for an item of a stream of this context.
    Wait(Ticket),
}

/// An item of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ticket {
    pub(crate) stream: u64,
    pub(crate) number: u64,
}

#[derive(Debug)]
struct Item {
    number: u64,
    work: Work,
}

#[derive(Debug)]
struct Queue {
    blocking: bool,
    items: VecDeque<Item>,
}

#[derive(Debug)]
struct Table {
    streams: BTreeMap<u64, Queue>,
    next: u64,
}

/// The queues of a context.
#[derive(Debug)]
pub(crate) struct Queues {
    table: Mutex<Table>,
    /// Held by the thread that runs work.
    running: Mutex<()>,
}

impl Default for Queues {
    fn default() -> Self {
        // The legacy stream is served by a rule of its own, so it doesn't count as blocking.
        let streams = BTreeMap::from([(LEGACY, Queue { blocking: false, items: VecDeque::new() })]);
        Self { table: Mutex::new(Table { streams, next: 1 }), running: Mutex::default() }
    }
}

/// What comes next in a stream.
enum Next {
    /// Nothing up to the item that was asked for.
    Nothing,
    /// Items of other streams have to run first.
    After(Vec<Ticket>),
    /// This can run.
    Run(Item),
}

impl Queues {
    /// Adds a stream; its number.
    pub(crate) fn add(&self, blocking: bool) -> u64 {
        let mut table = lock(&self.table);
        let number = table.next;
        table.next += 1;
        table.streams.insert(number, Queue { blocking, items: VecDeque::new() });
        number
    }

    /// Removes a stream, whose work has run.
    pub(crate) fn remove(&self, stream: u64) {
        lock(&self.table).streams.remove(&stream);
    }

    /// Whether a stream has work up to this number.
    pub(crate) fn has_work(&self, upto: Ticket) -> bool {
        lock(&self.table).has_work(upto)
    }

    fn push(&self, stream: u64, work: Work) -> Ticket {
        let mut table = lock(&self.table);
        let number = table.next;
        table.next += 1;
        if let Work::Record(event) = &work {
            event.expect(Ticket { stream, number });
        }
        if let Some(queue) = table.streams.get_mut(&stream) {
            queue.items.push_back(Item { number, work });
        }
        Ticket { stream, number }
    }

    fn clear(&self) {
        for queue in lock(&self.table).streams.values_mut() {
            queue.items.clear();
        }
    }
}

impl Table {
    fn has_work(&self, upto: Ticket) -> bool {
        let items = self.streams.get(&upto.stream).map(|queue| &queue.items);
        items.and_then(VecDeque::front).is_some_and(|item| item.number <= upto.number)
    }

    /// The head of a stream if it can run, or what has to run before.
    fn next(&mut self, upto: Ticket) -> Next {
        if !self.has_work(upto) {
            return Next::Nothing;
        }
        let Some(queue) = self.streams.get(&upto.stream) else { return Next::Nothing };
        let Some(head) = queue.items.front() else { return Next::Nothing };
        let before = |stream| Ticket { stream, number: head.number - 1 };
        let mut needed: Vec<Ticket> = Vec::new();
        if upto.stream == LEGACY {
            needed.extend(self.streams.iter().filter(|(_, queue)| queue.blocking).map(|(&stream, _)| before(stream)));
        } else if queue.blocking {
            needed.push(before(LEGACY));
        }
        if let Work::Wait(ticket) = head.work {
            needed.push(ticket);
        }
        needed.retain(|&ticket| self.has_work(ticket));
        if !needed.is_empty() {
            return Next::After(needed);
        }
        let head = self.streams.get_mut(&upto.stream).and_then(|queue| queue.items.pop_front());
        head.map_or(Next::Nothing, Next::Run)
    }
}

impl Context {
    /// Submits work. It runs at once, unless the environment delays it.
    pub(crate) fn submit(&self, driver: &Driver, stream: u64, work: Work) -> Result<()> {
        self.check()?;
        let ticket = self.queues.push(stream, work);
        if driver.settings.delayed { Ok(()) } else { self.advance(driver, ticket) }
    }

    /// Runs a stream up to this item, and what that needs.
    pub(crate) fn advance(&self, driver: &Driver, upto: Ticket) -> Result<()> {
        self.check()?;
        let _running = lock(&self.queues.running);
        // A stack instead of recursion: streams may wait for each other thousands of times.
        let mut stack = vec![upto];
        while let Some(&top) = stack.last() {
            let next = lock(&self.queues.table).next(top);
            match next {
                Next::Nothing => {
                    stack.pop();
                }
                Next::After(needed) => stack.extend(needed),
                Next::Run(item) => self.run(driver, item)?,
            }
        }
        self.check()
    }

    /// Runs one item of a stream and what that needs, so that a program that polls gets on.
    pub(crate) fn step(&self, driver: &Driver, stream: u64) -> Result<()> {
        let head = {
            let table = lock(&self.queues.table);
            table.streams.get(&stream).and_then(|queue| queue.items.front()).map(|item| item.number)
        };
        head.map_or(Ok(()), |number| self.advance(driver, Ticket { stream, number }))
    }

    /// Runs all work of all streams. The newest stream comes first, so that what relies on the order of streams
    /// without a wait fails.
    pub(crate) fn synchronize(&self, driver: &Driver) -> Result<()> {
        self.check()?;
        driver.check_no_captures(self)?;
        let streams: Vec<u64> = lock(&self.queues.table).streams.keys().rev().copied().collect();
        for stream in streams {
            self.advance(driver, Ticket { stream, number: u64::MAX })?;
        }
        Ok(())
    }

    fn run(&self, driver: &Driver, item: Item) -> Result<()> {
        match item.work {
            Work::Command(command) => command.run(driver, self).inspect_err(|error| {
                eprintln!("cuda-emu: {error}");
                self.fail(error.code());
                self.queues.clear();
            }),
            Work::Record(event) => {
                event.happen(item.number);
                Ok(())
            }
            Work::Wait(_) => Ok(()),
        }
    }
}
