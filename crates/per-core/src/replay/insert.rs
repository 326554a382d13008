//! New items.

use super::column::{Columns, Counted, Rows};
use super::config::{Config, NewItems};
use super::error::Error;
use super::handle::{Handle, Handles};
use super::power::power;
use super::priority::check_priorities;
use super::records::{Records, Run};
use super::{ABSENT, PrioritizedReplay, check};
use crate::tree::{FANOUT, MAX_CAPACITY};
use ndarray::ArrayView1;

/// Where the priorities of new items are.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Priorities {
    /// In the scratch, with their powers.
    Staged,
    /// All are that of [`Config::new_items`].
    Default,
}

impl Columns {
    /// The number of rows, if there are as many of each column.
    pub(crate) fn check_rows(&self, rows: &[impl Counted], expected: Option<usize>) -> Result<usize, Error> {
        let name = |column: usize| self.specs[column].name.clone();
        let mut expected = expected;
        let mut seen = [0_u64; 4];
        for rows in rows {
            let got = rows.count(self)?;
            let column = rows.column();
            let (word, bit) = (column / 64, 1 << (column % 64));
            if seen[word] & bit != 0 {
                return Err(Error::ColumnTwice { name: name(column) });
            }
            seen[word] |= bit;
            let expected = *expected.get_or_insert(got);
            if got != expected {
                return Err(Error::RowCount { name: name(column), expected, got });
            }
        }
        if let Some(missing) = (0..self.len()).find(|c| seen[c / 64] & 1 << (c % 64) == 0) {
            return Err(Error::ColumnMissing { name: name(missing) });
        }
        Ok(expected.unwrap_or(0))
    }
}

impl PrioritizedReplay {
    /// Inserts one item, in place of the oldest one if the ring is full. Its priority is that of [`Config::new_items`].
    ///
    /// `rows`: one row of each column, in any order.
    ///
    /// # Errors
    /// [`Error::ForeignColumn`], [`Error::ColumnTwice`], [`Error::ColumnMissing`], [`Error::RowLength`],
    /// [`Error::RowWidth`], [`Error::RowCount`]; of a batch [`Error::TooManyItems`] for 2^31 or more;
    /// [`Error::Setting`] after 2^63 items.
    pub fn insert(&mut self, rows: &[Rows<'_>]) -> Result<Handle, Error> {
        self.columns.check_rows(rows, Some(1))?;
        self.check_numbers(1)?;
        Ok(Handle(self.insert_rows(rows, 1, Priorities::Default).numbers.start))
    }

    /// [`insert`](Self::insert) with a priority (before alpha).
    ///
    /// # Errors
    /// Those of [`insert`](Self::insert), and [`Error::InvalidPriority`], [`Error::PriorityOverflow`].
    pub fn insert_with_priority(&mut self, rows: &[Rows<'_>], priority: f32) -> Result<Handle, Error> {
        self.columns.check_rows(rows, Some(1))?;
        self.check_numbers(1)?;
        self.stage_priorities("PrioritizedReplay::insert_with_priority", ArrayView1::from(&[priority]))?;
        Ok(Handle(self.insert_rows(rows, 1, Priorities::Staged).numbers.start))
    }

    /// Inserts n items, one after the other, all with the same priority: that which [`Config::new_items`] gives beside the
    /// items that are still there after all of them. Of more than the capacity the last ones stay. With several
    /// environments: one item of each by turns.
    ///
    /// `rows`: n rows of each column, the columns in any order. n may be 0, and without columns is.
    ///
    /// # Errors
    /// Those of [`insert`](Self::insert).
    pub fn insert_batch(&mut self, rows: &[Rows<'_>]) -> Result<Handles, Error> {
        let n = self.columns.check_rows(rows, None)?;
        self.check_numbers(n)?;
        Ok(self.insert_rows(rows, n, Priorities::Default))
    }

    /// [`insert_batch`](Self::insert_batch) with priorities (before alpha). `priorities`: (n), with any stride. The same
    /// as n insertions of one item each.
    ///
    /// # Errors
    /// Those of [`insert`](Self::insert), and [`Error::LengthMismatch`], [`Error::InvalidPriority`],
    /// [`Error::PriorityOverflow`].
    pub fn insert_batch_with_priorities<'a>(
        &mut self,
        rows: &[Rows<'_>],
        priorities: impl Into<ArrayView1<'a, f32>>,
    ) -> Result<Handles, Error> {
        const OPERATION: &str = "PrioritizedReplay::insert_batch_with_priorities";
        let priorities = priorities.into();
        // Without columns the priorities say how many.
        let n = self.columns.check_rows(rows, self.columns.is_empty().then_some(priorities.len()))?;
        check::len(OPERATION, "priorities", n, priorities.len())?;
        self.check_numbers(n)?;
        self.stage_priorities(OPERATION, priorities)?;
        Ok(self.insert_rows(rows, n, Priorities::Staged))
    }

    /// That so many items can be inserted at a time, and be numbered.
    pub(super) fn check_numbers(&self, items: usize) -> Result<(), Error> {
        if items > MAX_CAPACITY {
            return Err(Error::TooManyItems { got: items, max: MAX_CAPACITY });
        }
        // The sum is below 2^63 + 2^31.
        check::number(self.window.next + items as u64)
    }

    /// Puts priorities and their powers into the scratch.
    fn stage_priorities(&mut self, operation: &'static str, priorities: ArrayView1<'_, f32>) -> Result<(), Error> {
        let scratch = &mut self.scratch;
        scratch.raw.clear();
        scratch.raw.extend(priorities);
        check_priorities(operation, &scratch.raw)?;
        self.raise(operation)
    }

    /// Inserts `n` rows that were checked.
    fn insert_rows(&mut self, rows: &[Rows<'_>], n: usize, priorities: Priorities) -> Handles {
        self.insert_records(n, priorities, |records, run| {
            for rows in rows {
                records.scatter(rows, run);
            }
        })
    }

    /// Inserts `n` items, whose rows `write` puts into the slots of each run.
    pub(super) fn insert_records(
        &mut self,
        n: usize,
        priorities: Priorities,
        mut write: impl FnMut(&mut Records, Run),
    ) -> Handles {
        let numbers = self.window.next..self.window.next + n as u64;
        if n == 0 {
            return Handles { numbers };
        }
        let capacity = self.config.capacity;
        let skipped = n.saturating_sub(capacity);
        let kept = n - skipped;
        if priorities == Priorities::Staged {
            // Those of items that are overwritten at once count too: each was the newest for a moment.
            self.note_largest();
        }
        self.window.advance(skipped);
        // Up to the ring's end, and from its beginning.
        let first = kept.min(capacity - self.window.cursor);
        let runs = [
            Run { row: skipped, slot: self.window.cursor, len: first },
            Run { row: skipped + first, slot: 0, len: kept - first },
        ];
        self.scratch.slots.clear();
        for run in runs {
            // Below the capacity, which is below 2^31.
            self.scratch.slots.extend(run.slot as u32..(run.slot + run.len) as u32);
        }
        if priorities == Priorities::Staged {
            self.scratch.raw.drain(..skipped);
            self.scratch.powers.drain(..skipped);
        } else {
            let priority = self.default_priority();
            let power = power(priority, self.config.alpha);
            self.scratch.raw.clear();
            self.scratch.raw.resize(kept, priority);
            self.scratch.powers.clear();
            self.scratch.powers.resize(kept, power);
            self.note_largest();
        }
        for run in runs.into_iter().filter(|run| run.len > 0) {
            write(&mut self.records, run);
        }
        let absent = |&&slot: &&u32| self.raw[slot as usize / FANOUT].0[slot as usize % FANOUT] == ABSENT;
        self.present += self.scratch.slots.iter().filter(absent).count();
        self.window.advance(kept);
        self.apply();
        Handles { numbers }
    }

    /// The priority of the items that go into the scratch's slots.
    fn default_priority(&mut self) -> f32 {
        let largest = match self.config.new_items {
            NewItems::LargestEver => Some(self.largest_ever).filter(|&p| p > 0.0),
            NewItems::LargestNow => {
                let largest = self.largest.first();
                // Does one of those that are overwritten have it?
                let slots = self.scratch.slots.iter().map(|&slot| slot as usize);
                let leaving = slots.map(|s| self.raw[s / FANOUT].0[s % FANOUT]).fold(ABSENT, f32::max);
                if largest.is_some_and(|largest| leaving < largest) { largest } else { self.largest_without() }
            }
        };
        largest.unwrap_or(Config::INITIAL_PRIORITY)
    }

    /// The largest priority outside of the scratch's slots.
    #[cold]
    fn largest_without(&mut self) -> Option<f32> {
        self.scratch.raw.clear();
        self.scratch.raw.resize(self.scratch.slots.len(), ABSENT);
        self.write_raw();
        let found = self.largest.first();
        // As they were: which slots had an item is still to be counted.
        std::mem::swap(&mut self.scratch.raw, &mut self.scratch.old);
        self.write_raw();
        found
    }
}
