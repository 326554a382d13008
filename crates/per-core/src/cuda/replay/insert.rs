//! New items.

use super::rows::Rows;
use super::{Error, PrioritizedReplay};
use crate::cuda::sum_tree::NewItems;
use crate::replay::column::Counted;
use crate::replay::priority::check_priorities;
use crate::replay::{NewItems as Policy, check};
use crate::tree::MAX_CAPACITY;
use gpu::{Stream, View};

impl PrioritizedReplay {
    /// Inserts n items, one after the other, with the priority that [`Config::new_items`](crate::replay::Config) gives beside
    /// the items that are still there after all of them. Of more than the capacity the last ones stay.
    ///
    /// `rows`: n rows of each column, the columns in any order.
    ///
    /// # Errors
    /// As [`insert_batch`](crate::PrioritizedReplay::insert_batch) on the CPU; [`Error::Device`].
    pub fn insert_batch(&mut self, stream: &Stream, rows: &[Rows<'_>]) -> Result<(), Error> {
        let n = self.check_rows(rows, None)?;
        self.insert(stream, rows, n, None)
    }

    /// [`insert_batch`](Self::insert_batch) with priorities (before alpha), (n), finite and `>= 0`, as must be their powers. If one
    /// isn't, nothing changes, and [`check`](Self::check) tells.
    ///
    /// # Errors
    /// As [`insert_batch`](Self::insert_batch), and [`LengthMismatch`](crate::replay::Error::LengthMismatch).
    pub fn insert_batch_with_priorities(
        &mut self,
        stream: &Stream,
        rows: &[Rows<'_>],
        priorities: View<'_, f32>,
    ) -> Result<(), Error> {
        let n = self.check_rows(rows, self.columns.is_empty().then_some(priorities.len()))?;
        check::len("PrioritizedReplay::insert_batch_with_priorities", "priorities", n, priorities.len())?;
        self.insert(stream, rows, n, Some(priorities))
    }

    /// [`insert_batch`](Self::insert_batch) of rows of the host. Waits.
    ///
    /// # Errors
    /// As [`insert_batch`](Self::insert_batch).
    pub fn insert_batch_from_host(&mut self, stream: &Stream, rows: &[crate::replay::Rows<'_>]) -> Result<(), Error> {
        let n = self.check_rows(rows, None)?;
        self.insert_from_host(stream, rows, n, None)
    }

    /// [`insert_batch_with_priorities`](Self::insert_batch_with_priorities) of rows and priorities of the host. Waits.
    ///
    /// # Errors
    /// As [`insert_batch_with_priorities`](crate::PrioritizedReplay::insert_batch_with_priorities) on the CPU, but for
    /// [`PriorityOverflow`](crate::replay::Error::PriorityOverflow), which [`check`](Self::check) tells; [`Error::Device`].
    pub fn insert_batch_from_host_with_priorities(
        &mut self,
        stream: &Stream,
        rows: &[crate::replay::Rows<'_>],
        priorities: &[f32],
    ) -> Result<(), Error> {
        const OPERATION: &str = "PrioritizedReplay::insert_batch_with_priorities";
        let n = self.check_rows(rows, self.columns.is_empty().then_some(priorities.len()))?;
        check::len(OPERATION, "priorities", n, priorities.len())?;
        check_priorities(OPERATION, priorities)?;
        self.insert_from_host(stream, rows, n, Some(priorities))
    }

    fn check_rows(&self, rows: &[impl Counted], expected: Option<usize>) -> Result<usize, Error> {
        let n = self.columns.check_rows(rows, expected)?;
        if n > MAX_CAPACITY {
            return Err(crate::replay::Error::TooManyItems { got: n, max: MAX_CAPACITY }.into());
        }
        Ok(n)
    }

    fn insert_from_host(
        &mut self,
        stream: &Stream,
        rows: &[crate::replay::Rows<'_>],
        n: usize,
        priorities: Option<&[f32]>,
    ) -> Result<(), Error> {
        let (mut staged, mut given) = (std::mem::take(&mut self.rows), std::mem::take(&mut self.priorities));
        let inserted = (|| {
            let mut uploaded = Vec::with_capacity(rows.len());
            for (staging, column) in staged.iter_mut().zip(0..) {
                // Each column is there once.
                let Some(rows) = rows.iter().find(|rows| rows.column == column) else { continue };
                let bytes = match rows.contiguous() {
                    Some(bytes) => staging.upload(stream, bytes)?,
                    None => staging.upload(stream, &copied(rows, n, self.columns.specs[column].bytes()))?,
                };
                uploaded.extend(Rows::of_bytes(&self.columns, column, bytes));
            }
            let priorities = priorities.map(|priorities| given.upload(stream, priorities)).transpose()?;
            self.insert(stream, &uploaded, n, priorities)
        })();
        (self.rows, self.priorities) = (staged, given);
        inserted
    }

    /// Inserts rows that were checked: priorities, rows, and what follows from them.
    fn insert(
        &mut self,
        stream: &Stream,
        rows: &[Rows<'_>],
        n: usize,
        priorities: Option<View<'_, f32>>,
    ) -> Result<(), Error> {
        let largest_now = self.config.new_items == Policy::LargestNow && priorities.is_none();
        let new = NewItems {
            raw: self.raw.view_mut(),
            inserted: self.inserted.view(),
            priorities,
            largest: largest_now.then_some(&self.largest),
            status: &mut self.insert_status,
            n,
        };
        self.powers.insert_items(stream, new, self.config.alpha)?;
        self.records.insert(stream, rows, n, self.inserted.view(), self.powers.arrays().2)?;
        self.follow(stream, None, n)
    }
}

/// `n` rows of `width` bytes, one after the other.
fn copied(rows: &crate::replay::Rows<'_>, n: usize, width: usize) -> Vec<u8> {
    let mut bytes = vec![0; n * width];
    for (row, out) in bytes.chunks_exact_mut(width).enumerate() {
        rows.copy_row(row, out);
    }
    bytes
}
