//! Prioritized experience replay: a ring buffer of transitions, drawn in proportion to their priorities.
//!
//! Schaul, Quan, Antonoglou, Silver: Prioritized Experience Replay, ICLR 2016 (arXiv 1511.05952), proportional variant.
//!
//! | Type | What it does |
//! |---|---|
//! | [`PrioritizedReplay`] | the ring: insert, draw, update priorities, remove, save and load |
//! | [`Config`] | its settings, with the choices [`Draws`], [`Weights`], [`NewItems`], [`AllZero`] and [`Episodes`], [`NStep`] |
//! | [`Columns`], [`Column`] | what an item consists of: rows of f32, bf16, u8, i32 |
//! | [`Batch`] | what a draw gives: indices, handles, weights, rows, n-step returns |
//! | [`Handle`] | names an item for ever; late updates of an item that is gone do nothing |
//! | [`BetaSchedule`] | the growth of beta |
//! | [`Inbox`], [`Writer`], [`Drained`] | several actors insert while a learner draws |
//! | [`Error`] | what can be wrong; the replay is then as it was |
//!
//! ```
//! use per_core::replay::{Columns, Config, PrioritizedReplay};
//!
//! let mut columns = Columns::new();
//! let observation = columns.add::<f32>("observation", 2)?;
//! let action = columns.add::<i32>("action", 1)?;
//! let mut replay = PrioritizedReplay::new(Config::new(1000), columns)?;
//!
//! // Rows may come in any order of the columns; a new item has the largest priority of those there, at first 1.
//! replay.insert(&[observation.rows(&[0.0, 1.0]), action.rows(&[7])])?;
//! replay.insert_batch(&[observation.rows(&[2.0, 3.0, 4.0, 5.0]), action.rows(&[8, 9])])?;
//!
//! let mut batch = replay.batch(32)?;
//! replay.sample_proportional(&mut batch, 0.4)?;
//! assert_eq!(batch.rows(observation)?.len(), 32 * 2);
//! assert_eq!(batch.weights(), [1.0; 32]);
//!
//! // The TD errors of the batch, whenever they are known: (|td| + epsilon)^alpha is applied here.
//! let td_errors = [0.5; 32];
//! let outcome = replay.update_priorities(batch.handles(), &td_errors)?;
//! assert_eq!(outcome.stale, 0);
//! # Ok::<(), per_core::replay::Error>(())
//! ```
//!
//! One rung a file: `insert` writes `records` and priorities (`priority`), `sample` draws from the tree of powers and
//! computes weights, `chain` follows an item to the next ones of its episode, `batch` gathers rows.

mod batch;
mod chain;
pub(crate) mod check;
pub(crate) mod column;
mod config;
mod error;
mod handle;
mod inbox;
mod insert;
#[cfg(feature = "cuda")]
mod parts;
mod power;
pub(crate) mod priority;
mod records;
mod sample;
mod save;
pub(crate) mod schedule;
mod weights;
mod window;

pub use batch::Batch;
pub use column::{At, Column, Columns, Dtype, Element, Rows};
pub use config::{AllZero, Config, Draws, Episodes, NStep, NewItems, Weights};
pub use error::Error;
pub use handle::{Handle, Handles};
pub use inbox::{Drained, Inbox, Writer};
pub use priority::Updated;
pub use schedule::BetaSchedule;

#[cfg(feature = "cuda")]
pub(crate) use parts::Parts;

use crate::memory::filled;
use crate::tree::{Ascending, Block, Descending, Extremes, FANOUT, SumTree};
use records::Records;
pub(crate) use window::Window;

/// The priority that an absent item has in `raw`: of a slot never filled, or whose item was removed.
pub(crate) const ABSENT: f32 = -1.0;

/// A ring buffer of items, drawn in proportion to `priority^alpha`.
///
/// # Priorities
/// An item's priority is kept as it was given (`|td| + epsilon`, or a number of the caller's), and beside it its power
/// `priority^alpha` ([`arith::powf`], at least the smallest f32 above zero where the priority is above zero), from which
/// draws are made; so [`set_alpha`](Self::set_alpha) has the same effect as having had that alpha from the beginning.
/// Priority 0 means never drawn, except with alpha 0, which makes all items equally likely: `0^0 = 1`.
///
/// # The same bits everywhere
/// What is drawn is a function of the priorities, the seed and the number of draws made so far: not of how priorities
/// came to be what they are, of the machine or its instruction set. Draw number k takes block k of the Philox stream of
/// [`Config::seed`] and [`Config::stream`].
///
/// # Costs
/// Insert, update and remove: O(log_16 capacity) an item, no allocation once a batch of that size has been seen. Draw:
/// O(log_16 capacity), and O(steps) for each step of a sequence and of its return; O(capacity) with allocation only for
/// [`AllZero::Uniform`] after a removal. [`set_alpha`](Self::set_alpha) and [`clear`](Self::clear): O(capacity).
/// [`total_priority`](Self::total_priority), [`min_priority`](Self::min_priority),
/// [`max_priority`](Self::max_priority): O(1). Memory: 9.1 bytes an item beside its rows (more in
/// rings below some thousand, whose blocks of 16 are filled up).
///
/// Concurrent use: all that draws or reads takes `&self` (with [`sample_proportional_at`](Self::sample_proportional_at)),
/// so that threads may draw from one replay at the same time.
#[derive(Clone, Debug)]
pub struct PrioritizedReplay {
    config: Config,
    columns: Columns,
    window: Window,
    records: Records,
    /// Priorities before alpha, [`ABSENT`] where there is no item.
    raw: Vec<Block>,
    /// Their powers, 0 where there is no item.
    powers: SumTree,
    /// Over the powers.
    smallest: Extremes<Ascending>,
    /// Over the priorities.
    largest: Extremes<Descending>,
    /// The largest priority that there ever was, or 0.
    largest_ever: f32,
    /// Number of items.
    present: usize,
    /// Draws made by [`sample_proportional`](Self::sample_proportional).
    draws_made: u64,
    scratch: priority::Scratch,
}

impl PrioritizedReplay {
    /// An empty replay for items with these columns. All memory is taken here (pages of rows that were never written
    /// are not resident).
    ///
    /// # Errors
    /// [`Error::Setting`] with the field that can't be, [`Error::ForeignColumn`] where an episode's or reward's column
    /// isn't one of `columns`, [`Error::OutOfMemory`].
    pub fn new(config: Config, columns: Columns) -> Result<Self, Error> {
        Self::starting_at(config, columns, 0)
    }

    /// [`new`](Self::new), with `next` as the number of the first item.
    #[doc(hidden)]
    pub fn starting_at(config: Config, columns: Columns, next: u64) -> Result<Self, Error> {
        check::config(&config, &columns)?;
        check::number(next)?;
        let capacity = config.capacity;
        check::memory(capacity, columns.item_bytes())?;
        let powers = SumTree::new(capacity)?;
        let records = Records::new(capacity, &columns)?;
        Ok(Self {
            window: Window::new(capacity, next),
            records,
            raw: filled(Block([ABSENT; FANOUT]), capacity.div_ceil(FANOUT)),
            powers,
            smallest: Extremes::new(capacity),
            largest: Extremes::new(capacity),
            largest_ever: 0.0,
            present: 0,
            draws_made: 0,
            scratch: priority::Scratch::default(),
            config,
            columns,
        })
    }

    /// The settings.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The columns.
    pub fn columns(&self) -> &Columns {
        &self.columns
    }

    /// Items that the ring holds.
    pub fn capacity(&self) -> usize {
        self.config.capacity
    }

    /// Number of items.
    pub fn len(&self) -> usize {
        self.present
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.present == 0
    }

    /// Number of items inserted so far, those included that are gone: the next item's [`Handle::number`].
    pub fn inserted(&self) -> u64 {
        self.window.next
    }

    /// Number of draws that [`sample_proportional`](Self::sample_proportional) has made: the next draw's address.
    pub fn draws_made(&self) -> u64 {
        self.draws_made
    }

    /// Sum of all powers `priority^alpha`, exact in fixed point and rounded once to f64.
    pub fn total_priority(&self) -> f64 {
        arith::fixed::to_f64(self.powers.total(), self.powers.scale())
    }

    /// The smallest power `priority^alpha` above zero. (The largest *priority* is [`max_priority`](Self::max_priority).)
    pub fn min_priority(&self) -> Option<f32> {
        self.smallest.first()
    }

    /// The largest priority above zero, before alpha.
    pub fn max_priority(&self) -> Option<f32> {
        self.largest.first()
    }

    /// The priorities' powers, slot by slot: an empty or removed slot has 0.
    pub fn powers(&self) -> &SumTree {
        &self.powers
    }

    /// Whether the item is still there.
    pub fn contains(&self, handle: Handle) -> bool {
        self.slot(handle).is_some()
    }

    /// The item's priority, before alpha, if it is still there.
    pub fn priority(&self, handle: Handle) -> Option<f32> {
        self.slot(handle).map(|slot| self.raw_at(slot))
    }

    /// The item's probability at the next draw, if it is still there and any item has a priority above zero.
    pub fn probability(&self, handle: Handle) -> Option<f32> {
        self.powers.probability(self.slot(handle)?).ok()
    }

    /// The slot of the item, if it is still there: `number % capacity`.
    pub fn slot(&self, handle: Handle) -> Option<usize> {
        self.window.slot(handle.0).filter(|&slot| self.raw_at(slot) >= 0.0)
    }

    /// The item in `slot`, if there is one.
    pub fn handle(&self, slot: usize) -> Option<Handle> {
        let there = slot < self.config.capacity && self.raw_at(slot) >= 0.0;
        there.then(|| Handle(self.window.number(slot)))
    }

    /// Copies the item's row of a column. `out`: (width). False if the item is gone; then nothing is written.
    ///
    /// # Errors
    /// [`Error::ForeignColumn`], [`Error::LengthMismatch`].
    pub fn read<T: Element>(&self, handle: Handle, column: Column<T>, out: &mut [T]) -> Result<bool, Error> {
        let bytes = self.columns.check(column)?.bytes();
        check::len("PrioritizedReplay::read", "out", column.width, out.len())?;
        let Some(slot) = self.slot(handle) else { return Ok(false) };
        bytemuck::cast_slice_mut(out).copy_from_slice(self.records.row(column.index, bytes, slot));
        Ok(true)
    }

    /// Memory that is taken for priorities and for rows, in bytes.
    pub fn memory(&self) -> Memory {
        let nodes = self.smallest.bytes() + self.largest.bytes();
        Memory {
            priorities: size_of_val(self.raw.as_slice()) + self.powers.bytes() + nodes,
            rows: self.records.bytes().len(),
        }
    }

    fn raw_at(&self, slot: usize) -> f32 {
        self.raw[slot / FANOUT].0[slot % FANOUT]
    }
}

/// Bytes that a replay takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// For priorities, their powers and the trees over them.
    pub priorities: usize,
    /// For the items' rows.
    pub rows: usize,
}
