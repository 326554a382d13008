//! Prioritized experience replay on a device: the CPU's ([`crate::replay`]) over device memory, and the CPU's bits.
//!
//! One rung a file: `look` tells what there is, `insert` writes `rows` and priorities, `sample` draws and weighs, `update` sets priorities, `change`
//! changes all of them, `copy` goes to the CPU and back, `batch` is what a draw gives.
//!
//! ```no_run
//! use gpu::{Buffer, Device, Graph};
//! use per_core::cuda::replay::{PrioritizedReplay, Rows};
//! use per_core::replay::{Columns, Config};
//!
//! let stream = Device::new(0)?.stream()?;
//! let mut columns = Columns::new();
//! let observation = columns.add::<f32>("observation", 4)?;
//! let mut replay = PrioritizedReplay::new(&stream, Config::new(1000), columns)?;
//! let observations = Buffer::<f32>::zeroed(&stream, 100 * 4)?;
//! replay.insert_batch(&stream, &[Rows::new(observation, observations.view())])?;
//!
//! // A learner's step, recorded once. A replay of it draws anew.
//! let mut batch = replay.batch(&stream, 32)?;
//! let td_errors = Buffer::<f32>::zeroed(&stream, 32)?;
//! replay.set_beta(&stream, 0.4)?;
//! let step = Graph::capture(&stream, |stream| {
//!     replay.sample_proportional(stream, &mut batch)?;
//!     // Here the learner reads batch.rows(observation), batch.weights(), and writes td_errors.
//!     replay.update_priorities(stream, batch.handles(), td_errors.view())
//! })?;
//! for _ in 0..10 {
//!     step.launch(&stream)?;
//! }
//! replay.check(&stream)?;
//! # Ok::<(), per_core::cuda::replay::Error>(())
//! ```

mod batch;
mod change;
mod copy;
mod error;
mod insert;
mod look;
mod rows;
mod sample;
mod update;

pub use batch::Batch;
pub use error::Error;
pub use rows::Rows;

use super::draws::Draws;
use super::extremes::{MaxTree, MinTree};
use super::staging::{Staging, filled};
use super::status::{Fault, Status};
use super::sum_tree::SumTree;
use crate::replay::{ABSENT, Columns, Config, check};
use gpu::kernels::items::Ring;
use gpu::{Buffer, Stream, View};
use rows::Records;

/// [`PrioritizedReplay`](crate::PrioritizedReplay) on a device: the same items, priorities, draws and weights, bit for bit.
///
/// Which items there are, how many were inserted and drawn, lies in the device's memory, so that insertions, draws and
/// updates can be replayed in a graph; to ask for it waits.
///
/// # Launches
/// A draw is one, with weights, rows and returns; without replacement it is two, since the draws themselves are made in rounds
/// by a single block of threads, of which no other can know when they are done. An update is two: priorities, and what follows
/// from them, once all have been set (the sums, where they must be made anew; the trees of the smallest and the largest). An
/// insertion is these and one for every 8 columns. Batches of more than 8,192 handles or priorities take one more, which looks
/// for faults first.
///
/// Memory: 17 bytes an item beside its rows.
#[derive(Debug)]
pub struct PrioritizedReplay {
    config: Config,
    columns: Columns,
    powers: SumTree,
    /// Priorities before alpha, [`ABSENT`] where there is no item.
    raw: Buffer<f32>,
    /// Over the powers.
    smallest: MinTree,
    /// Over the priorities.
    largest: MaxTree,
    records: Records,
    /// The settings, for kernels.
    ring: Buffer<Ring>,
    /// Items so far: the next one's number.
    inserted: Buffer<u64>,
    /// Handles so far whose items were gone.
    stale: Buffer<u64>,
    /// Of removals, and of new items; that of updates is the tree's.
    remove_status: Status,
    insert_status: Status,
    draws: Draws,
    beta: Buffer<f32>,
    priorities: Staging<f32>,
    handles: Staging<u64>,
    /// Rows of the host, of each column.
    rows: Vec<Staging<u8>>,
}

impl PrioritizedReplay {
    /// An empty replay for items with these columns. Waits.
    ///
    /// # Errors
    /// As [`PrioritizedReplay::new`](crate::PrioritizedReplay::new); [`Error::Device`].
    pub fn new(stream: &Stream, config: Config, columns: Columns) -> Result<Self, Error> {
        check::config(&config, &columns)?;
        let capacity = config.capacity;
        let records = Records::new(stream, capacity, &columns)?;
        Ok(Self {
            ring: Buffer::from_slice(stream, &[sample::ring(&config, &records)])?,
            powers: SumTree::new(stream, capacity)?,
            raw: filled(stream, capacity, ABSENT)?,
            smallest: MinTree::new(stream, capacity)?,
            largest: MaxTree::new(stream, capacity)?,
            records,
            inserted: Buffer::zeroed(stream, 1)?,
            stale: Buffer::zeroed(stream, 1)?,
            remove_status: Status::new(stream)?,
            insert_status: Status::new(stream)?,
            draws: Draws::new(stream, config.seed, config.stream, 0)?,
            beta: Buffer::from_slice(stream, &[1.0])?,
            priorities: Staging::default(),
            handles: Staging::default(),
            rows: (0..columns.len()).map(|_| Staging::default()).collect(),
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

    /// The priorities' powers, slot by slot.
    pub fn powers(&self) -> &SumTree {
        &self.powers
    }

    /// The priorities before alpha, slot by slot, (capacity); below zero where there is no item.
    pub fn priorities(&self) -> View<'_, f32> {
        self.raw.view()
    }

    /// What was wrong with what the device has been given since the last call, which has changed nothing: first with new items'
    /// priorities, then with removals, then with updates; of each what the CPU would say first of all batches together. Until it
    /// is `Ok` a further call tells more. Waits.
    ///
    /// # Errors
    /// [`Error::UnknownHandle`]; [`InvalidPriority`](crate::replay::Error::InvalidPriority),
    /// [`InvalidTdError`](crate::replay::Error::InvalidTdError),
    /// [`PriorityOverflow`](crate::replay::Error::PriorityOverflow); [`Error::Device`].
    pub fn check(&mut self, stream: &Stream) -> Result<(), Error> {
        use crate::replay::Error::{InvalidPriority, InvalidTdError, PriorityOverflow};
        let Config { alpha, epsilon, .. } = self.config;
        let operation = "PrioritizedReplay::insert_batch_with_priorities";
        match self.insert_status.take(stream)? {
            None => {}
            // What is no weight, and comes first.
            Some(Fault::OutOfRange { position, index }) => {
                return Err(InvalidPriority { operation, position, value: f32::from_bits(index) }.into());
            }
            Some(Fault::Invalid { position, value }) => {
                return Err(PriorityOverflow { operation, position, value, alpha }.into());
            }
        }
        // What is removed has no priority.
        if let Some(Fault::OutOfRange { position, .. } | Fault::Invalid { position, .. }) =
            self.remove_status.take(stream)?
        {
            return Err(Error::UnknownHandle { operation: "PrioritizedReplay::remove", position });
        }
        let operation = "PrioritizedReplay::update_priorities";
        match self.powers.take_fault(stream)? {
            None => Ok(()),
            Some(Fault::OutOfRange { position, .. }) => Err(Error::UnknownHandle { operation, position }),
            Some(Fault::Invalid { position, value }) if value.is_finite() => {
                let value = value.abs() + epsilon;
                Err(PriorityOverflow { operation, position, value, alpha }.into())
            }
            Some(Fault::Invalid { position, value }) => Err(InvalidTdError { operation, position, value }.into()),
        }
    }
}
