//! An actor's side: items go into its ring.

use super::UNSET;
use crate::replay::check;
use crate::replay::column::{Columns, Rows};
use crate::replay::error::Error;
use crate::replay::priority::check_priorities;
use crate::replay::records::{Records, Run};
use ndarray::ArrayView1;
use rtrb::Producer;

/// Bytes of records that are packed before they go into the ring: they stay in the first cache.
const STAGED: usize = 1 << 13;

/// An actor's end of its ring: made by [`PrioritizedReplay::inbox`](super::PrioritizedReplay::inbox), to be moved to the
/// actor's thread.
///
/// Each push is checked, then done as a whole or not at all, wait-free and without an allocation.
#[derive(Debug)]
pub struct Writer {
    actor: usize,
    columns: Columns,
    /// Records that are being packed.
    staged: Records,
    /// Room for so many.
    stage: usize,
    /// The priorities of a push; room for the most items that it can have.
    raw: Vec<f32>,
    records: Producer<u8>,
    priorities: Producer<f32>,
}

impl Writer {
    pub(super) fn new(
        actor: usize,
        columns: &Columns,
        records: Producer<u8>,
        priorities: Producer<f32>,
    ) -> Result<Self, Error> {
        let room = priorities.buffer().capacity();
        let stage = (STAGED / columns.item_bytes().max(1)).clamp(1, room);
        let staged = Records::new(stage, columns)?;
        Ok(Self { actor, columns: columns.clone(), staged, stage, raw: Vec::with_capacity(room), records, priorities })
    }

    /// The actor's number, from 0.
    pub fn actor(&self) -> usize {
        self.actor
    }

    /// Items that may wait.
    pub fn room(&self) -> usize {
        self.priorities.buffer().capacity()
    }

    /// Items for which there is room now.
    pub fn free(&self) -> usize {
        self.priorities.slots()
    }

    /// Whether the inbox is gone: nobody will take the items.
    pub fn is_abandoned(&self) -> bool {
        self.priorities.is_abandoned()
    }

    /// Pushes one item. Its priority will be that of [`Config::new_items`](crate::replay::Config) when it is drained.
    ///
    /// `rows`: one row of each column, in any order.
    ///
    /// # Errors
    /// Those of [`PrioritizedReplay::insert`](super::PrioritizedReplay::insert); [`Error::InboxFull`],
    /// [`Error::InboxGone`]. Then nothing was pushed.
    pub fn push(&mut self, rows: &[Rows<'_>]) -> Result<(), Error> {
        self.begin(rows, Some(1))?;
        self.raw.push(UNSET);
        self.write(rows)
    }

    /// [`push`](Self::push) with a priority (before alpha).
    ///
    /// # Errors
    /// Those of [`push`](Self::push), and [`Error::InvalidPriority`].
    pub fn push_with_priority(&mut self, rows: &[Rows<'_>], priority: f32) -> Result<(), Error> {
        self.begin(rows, Some(1))?;
        self.raw.push(priority);
        check_priorities("Writer::push_with_priority", &self.raw)?;
        self.write(rows)
    }

    /// Pushes n items, which arrive together.
    ///
    /// `rows`: n rows of each column, the columns in any order. n may be 0.
    ///
    /// # Errors
    /// Those of [`push`](Self::push), and [`Error::InboxRoom`] where n is more than there can ever be room for.
    pub fn push_batch(&mut self, rows: &[Rows<'_>]) -> Result<(), Error> {
        let n = self.begin(rows, None)?;
        self.raw.resize(n, UNSET);
        self.write(rows)
    }

    /// [`push_batch`](Self::push_batch) with priorities (before alpha). `priorities`: (n), with any stride.
    ///
    /// # Errors
    /// Those of [`push_batch`](Self::push_batch), and [`Error::LengthMismatch`], [`Error::InvalidPriority`].
    pub fn push_batch_with_priorities<'a>(
        &mut self,
        rows: &[Rows<'_>],
        priorities: impl Into<ArrayView1<'a, f32>>,
    ) -> Result<(), Error> {
        const OPERATION: &str = "Writer::push_batch_with_priorities";
        let n = self.begin(rows, None)?;
        let priorities = priorities.into();
        check::len(OPERATION, "priorities", n, priorities.len())?;
        self.raw.extend(priorities);
        check_priorities(OPERATION, &self.raw)?;
        self.write(rows)
    }

    /// The number of rows, where there can be room for them. Then `raw` is empty.
    fn begin(&mut self, rows: &[Rows<'_>], expected: Option<usize>) -> Result<usize, Error> {
        let items = self.columns.check_rows(rows, expected)?;
        let (actor, room) = (self.actor, self.room());
        if self.is_abandoned() {
            return Err(Error::InboxGone { actor });
        }
        if items > room {
            return Err(Error::InboxRoom { actor, items, room });
        }
        self.raw.clear();
        Ok(items)
    }

    /// Writes items that were checked, if there is room. `raw` has their priorities.
    fn write(&mut self, rows: &[Rows<'_>]) -> Result<(), Error> {
        let Self { staged, stage, raw, records, priorities, .. } = self;
        let items = raw.len();
        // What the learner took is looked up only where what is known of it doesn't suffice.
        if items > priorities.cached_slots() && items > priorities.slots() {
            let (actor, free, room) = (self.actor, priorities.cached_slots(), priorities.buffer().capacity());
            return Err(Error::InboxFull { actor, items, free, room });
        }
        for row in (0..items).step_by(*stage) {
            let run = Run { row, slot: 0, len: (items - row).min(*stage) };
            for rows in rows {
                staged.scatter(rows, run);
            }
            push(records, staged.run_mut(run));
        }
        // Last: this tells the learner that the records are there.
        push(priorities, raw);
        Ok(())
    }
}

/// Pushes elements for which there is room: the learner frees records before it frees their priorities.
fn push<T: Copy>(ring: &mut Producer<T>, elements: &[T]) {
    if let Err(error) = ring.push_entire_slice(elements) {
        unreachable!("room was found before: {error}");
    }
}
