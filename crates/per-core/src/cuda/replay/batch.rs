//! What a draw gives, in memory of the device that the caller keeps.

use super::error::Error;
use super::rows::Records;
use crate::cuda::DistinctScratch;
use crate::replay::{Column, Columns, Element};
use crate::tree::MAX_CAPACITY;
use gpu::{Buffer, Stream, View};

/// A batch of drawn items on the device: made once by [`PrioritizedReplay::batch`](super::PrioritizedReplay::batch), filled
/// by each draw. Any number of them may be outstanding.
#[derive(Debug)]
pub struct Batch {
    pub(super) columns: Columns,
    pub(super) indices: Buffer<u32>,
    /// The powers' integers.
    pub(super) masses: Buffer<u64>,
    pub(super) handles: Buffer<u64>,
    pub(super) weights: Buffer<f32>,
    /// For draws without replacement.
    pub(super) scratch: Option<DistinctScratch>,
    /// (B, width) of each column, as bytes.
    rows: Vec<Buffer<u8>>,
}

impl Batch {
    pub(super) fn new(stream: &Stream, columns: &Columns, draws: usize, distinct: bool) -> Result<Self, Error> {
        let too_large = || crate::replay::Error::BatchTooLarge { draws, steps: 1 };
        if draws > MAX_CAPACITY {
            return Err(too_large().into());
        }
        // Of no item: what was never drawn can't be updated.
        let handles = Buffer::from_slice(stream, &vec![u64::MAX; draws])?;
        let rows = columns.specs.iter().map(|spec| {
            let bytes = draws.checked_mul(spec.bytes()).ok_or_else(too_large)?;
            Ok(Buffer::zeroed(stream, bytes)?)
        });
        Ok(Self {
            columns: columns.clone(),
            indices: Buffer::zeroed(stream, draws)?,
            masses: Buffer::zeroed(stream, draws)?,
            handles,
            weights: Buffer::zeroed(stream, draws)?,
            scratch: distinct.then(|| DistinctScratch::new(stream, draws)).transpose()?,
            rows: rows.collect::<Result<_, Error>>()?,
        })
    }

    /// Number of drawn items, B.
    pub fn len(&self) -> usize {
        self.indices.len()
    }

    /// Whether B is 0.
    pub fn is_empty(&self) -> bool {
        self.indices.is_empty()
    }

    /// The slots of the drawn items, (B); [`NOTHING`](crate::cuda::NOTHING) where nothing could be drawn.
    pub fn indices(&self) -> View<'_, u32> {
        self.indices.view()
    }

    /// The numbers of the drawn items' [`Handle`](crate::replay::Handle)s, (B); `u64::MAX` where nothing could be drawn.
    pub fn handles(&self) -> View<'_, u64> {
        self.handles.view()
    }

    /// Importance weights, (B); 0 where nothing could be drawn.
    pub fn weights(&self) -> View<'_, f32> {
        self.weights.view()
    }

    /// Rows of a column, (B, width), row-major; zeros where nothing could be drawn.
    ///
    /// # Errors
    /// [`ForeignColumn`](crate::replay::Error::ForeignColumn).
    pub fn rows<T: Element>(&self, column: Column<T>) -> Result<View<'_, T>, Error> {
        self.columns.check(column)?;
        let rows = self.rows[column.index].view().cast();
        // Allocations are aligned to any element.
        Ok(rows.ok_or(crate::replay::Error::ForeignBatch)?)
    }

    /// Copies the rows of all columns.
    pub(super) fn gather(&mut self, stream: &Stream, records: &Records) -> Result<(), Error> {
        let slots = self.indices.view();
        self.rows.iter_mut().enumerate().try_for_each(|(column, out)| records.gather(stream, column, slots, out))
    }
}
