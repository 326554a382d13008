//! Several threads that insert while one draws.
//!
//! Each actor has a [`Writer`], the learner the [`Inbox`]. An actor pushes items into a ring of its own; the learner
//! drains the rings into the replay when it likes, between two draws.
//!
//! ```
//! use per_core::replay::{Columns, Config, Error, PrioritizedReplay};
//!
//! let mut columns = Columns::new();
//! let step = columns.add::<i32>("step", 2)?;
//! let mut replay = PrioritizedReplay::new(Config::new(1000), columns)?;
//! let (inbox, writers) = replay.inbox(3, 16)?;
//!
//! std::thread::scope(|threads| {
//!     for (actor, mut writer) in (0..).zip(writers) {
//!         threads.spawn(move || {
//!             for t in 0..100 {
//!                 // Nothing is lost where there is no room: the actor decides what to do.
//!                 while let Err(Error::InboxFull { .. }) = writer.push(&[step.rows(&[actor, t])]) {
//!                     std::thread::yield_now();
//!                 }
//!             }
//!         });
//!     }
//!     // Dropped with an early return, which the actors then see.
//!     let mut inbox = inbox;
//!     // One item of each actor by turns, ten at a time: the content doesn't depend on who is faster.
//!     for _ in 0..10 {
//!         while replay.drain_rounds(&mut inbox, 10)?.is_none() {
//!             std::thread::yield_now();
//!         }
//!         let mut batch = replay.batch(8)?;
//!         replay.sample_proportional(&mut batch, 0.4)?;
//!     }
//!     Ok::<(), Error>(())
//! })?;
//!
//! let mut row = [0; 2];
//! let item = replay.handle(31).ok_or(Error::NoItems)?;
//! replay.read(item, step, &mut row)?;
//! assert_eq!(row, [1, 10], "item 31 is the second one of round 10");
//! # Ok::<(), Error>(())
//! ```
//!
//! # What holds
//! - An item arrives whole, once, and after those that its actor pushed before. A batch arrives together.
//! - The replay changes in a drain alone, as if each item had been inserted by itself, in the order of the drain. An
//!   item without a priority gets that of [`Config::new_items`](super::Config) at that point.
//! - [`drain_rounds`](super::PrioritizedReplay::drain_rounds) fixes that order: content and draws are then a function of
//!   what each actor pushed and of the learner's calls, not of time. With
//!   [`drain`](super::PrioritizedReplay::drain) they also depend on what had been pushed when it was called.
//! - All that can be wrong with rows is told to the actor that pushes them.
//! - An actor that ends, or panics, leaves its items; the learner sees that it is gone ([`Inbox::abandoned`]).
//!
//! # Why a ring for each actor
//! A push is wait-free: an actor waits neither for the learner nor for another actor, and writes no memory that another
//! actor reads. Draws and updates need no lock, because the replay has one owner. One ring for all would put every push in
//! an order that time decides.
//!
//! # Costs
//! An item is copied from the caller's rows into its record in the writer's cache, from there to the ring, and from the
//! ring to its slot. Memory: `actors * room` records and 16 bytes for each, resident once touched. Push: O(bytes of the
//! item). Drain: as [`insert_batch`](super::PrioritizedReplay::insert_batch); faster where items with and without priorities
//! aren't mixed. A push never allocates; a drain does no more once the replay has seen one of its size.
//!
//! `writer` fills the rings, `drain` empties them.

mod drain;
mod writer;

pub use drain::Drained;
pub use writer::Writer;

use super::PrioritizedReplay;
use super::column::Columns;
use super::error::Error;
use rtrb::{Consumer, RingBuffer};

/// The most actors.
const MAX_ACTORS: usize = 1 << 16;
/// In the ring: an item that came without a priority. Others are `>= 0`.
const UNSET: f32 = -1.0;

/// The learner's end of the rings of all actors: see [`PrioritizedReplay::inbox`].
#[derive(Debug)]
pub struct Inbox {
    columns: Columns,
    room: usize,
    turn: usize,
    rings: Vec<Ring>,
    /// Of each actor, the items to take.
    counts: Vec<usize>,
    /// The priorities of the items to take, in their order; room for all.
    raw: Vec<f32>,
    /// Their powers.
    powers: Vec<f32>,
}

/// What one actor pushed.
///
/// The priority is written after the record and released after it: an item is there when its priority is. So the ring of
/// priorities counts the items, for both sides.
#[derive(Debug)]
struct Ring {
    records: Consumer<u8>,
    priorities: Consumer<f32>,
}

impl Inbox {
    /// An inbox, and a writer for each of `actors` actors, for a replay with these columns. `room`: items of an actor that
    /// may wait.
    ///
    /// # Errors
    /// [`Error::Setting`] unless `1 <= actors <= 65536` and `1 <= room`; [`Error::OutOfMemory`].
    pub fn new(columns: &Columns, actors: usize, room: usize) -> Result<(Self, Vec<Writer>), Error> {
        if !(1..=MAX_ACTORS).contains(&actors) {
            return Err(Error::Setting { name: "actors", value: actors as f64, reason: "must be in 1..=65536" });
        }
        if room == 0 {
            return Err(Error::Setting { name: "room", value: 0.0, reason: "must be at least 1" });
        }
        let item_bytes = columns.item_bytes();
        let no_memory = Error::OutOfMemory { items: actors.saturating_mul(room), item_bytes };
        let Some(items) = reservable(actors, room, item_bytes) else { return Err(no_memory) };
        let mut rings = Vec::with_capacity(actors);
        let mut writers = Vec::with_capacity(actors);
        for actor in 0..actors {
            let (to_records, records) = RingBuffer::new(room * item_bytes);
            let (to_priorities, priorities) = RingBuffer::new(room);
            writers.push(Writer::new(actor, columns, to_records, to_priorities)?);
            rings.push(Ring { records, priorities });
        }
        let inbox = Self {
            columns: columns.clone(),
            room,
            turn: 1,
            rings,
            counts: vec![0; actors],
            raw: Vec::with_capacity(items),
            powers: Vec::with_capacity(items),
        };
        Ok((inbox, writers))
    }

    /// Sets how many items an actor has in a round, one after the other: the environments that it steps together. 1 at
    /// first.
    ///
    /// # Errors
    /// [`Error::Setting`] unless `1 <= turn <= room`.
    pub fn set_turn(&mut self, turn: usize) -> Result<(), Error> {
        if !(1..=self.room).contains(&turn) {
            let reason = "must be at least 1 and at most the room of an actor";
            return Err(Error::Setting { name: "turn", value: turn as f64, reason });
        }
        self.turn = turn;
        Ok(())
    }

    /// Drops all items that wait, and says how many: the way out where a drain is refused for what one of them has, or
    /// where an actor that has left keeps rounds from filling.
    pub fn discard(&mut self) -> usize {
        let item_bytes = self.columns.item_bytes();
        let mut items = 0;
        for ring in &mut self.rings {
            let count = ring.priorities.slots();
            // As many as there are: they were counted, and records are there before their priorities.
            if let Ok(records) = ring.records.read_chunk(count * item_bytes) {
                records.commit_all();
            }
            if let Ok(priorities) = ring.priorities.read_chunk(count) {
                priorities.commit_all();
            }
            items += count;
        }
        items
    }

    /// Number of actors.
    pub fn actors(&self) -> usize {
        self.rings.len()
    }

    /// Items of an actor that may wait.
    pub fn room(&self) -> usize {
        self.room
    }

    /// Items of an actor in a round.
    pub fn turn(&self) -> usize {
        self.turn
    }

    /// Items that wait now, of each actor.
    pub fn waiting(&self) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.rings.iter().map(|ring| ring.priorities.slots())
    }

    /// Whole rounds that wait now: of each actor there are as many.
    pub fn rounds(&self) -> usize {
        self.waiting().min().unwrap_or(0) / self.turn
    }

    /// The actors whose writers are gone: they push no more. What they pushed may still wait.
    pub fn abandoned(&self) -> impl Iterator<Item = usize> + '_ {
        (0..).zip(&self.rings).filter(|(_, ring)| ring.priorities.is_abandoned()).map(|(actor, _)| actor)
    }
}

/// The number of items of all actors, if there is memory for them. A ring that finds none would abort the process.
fn reservable(actors: usize, room: usize, item_bytes: usize) -> Option<usize> {
    let items = actors.checked_mul(room)?;
    // A ring counts to twice its size.
    room.checked_mul(item_bytes)?.checked_mul(2)?;
    // Its priority in the ring, in the writer's stage, and with its power in the inbox.
    let bytes = items.checked_mul(item_bytes.checked_add(4 * size_of::<f32>())?)?;
    Vec::<u8>::new().try_reserve_exact(bytes).ok()?;
    Some(items)
}

impl PrioritizedReplay {
    /// An inbox for this replay, and a writer for each of `actors` actors: see [`Inbox`]. `room`: items of an actor that
    /// may wait.
    ///
    /// # Errors
    /// Those of [`Inbox::new`].
    pub fn inbox(&self, actors: usize, room: usize) -> Result<(Inbox, Vec<Writer>), Error> {
        Inbox::new(&self.columns, actors, room)
    }
}
