//! What a draw gives, in memory of the device that the caller keeps.

use super::error::Error;
use super::rows::{Records, teams};
use crate::cuda::DistinctScratch;
use crate::cuda::staging::filled;
use crate::replay::{At, Column, Columns, Element};
use crate::tree::MAX_CAPACITY;
use gpu::kernels::items;
use gpu::{Buffer, Stream, View};

/// A batch of drawn items or sequences on the device: made once by [`PrioritizedReplay::batch`](super::PrioritizedReplay::batch)
/// or [`sequences`](super::PrioritizedReplay::sequences), filled by each draw. Any number of them may be outstanding.
#[derive(Debug)]
pub struct Batch {
    pub(super) columns: Columns,
    /// Whether there are n-step returns.
    pub(super) n_step: bool,
    /// Steps of a sequence, L.
    pub(super) steps: usize,
    /// Half-warps for each step.
    pub(super) teams: usize,
    pub(super) indices: Buffer<u32>,
    /// The powers' integers.
    pub(super) masses: Buffer<u64>,
    pub(super) handles: Buffer<u64>,
    pub(super) weights: Buffer<f32>,
    pub(super) lengths: Buffer<u32>,
    /// (B, L), or empty without n-step returns.
    pub(super) returns: Buffer<f32>,
    pub(super) discounts: Buffer<f32>,
    pub(super) spans: Buffer<u32>,
    /// For draws without replacement: slots, or ranks where all items are equally likely.
    pub(super) distinct: Option<(DistinctScratch, Buffer<u32>)>,
    /// Where each column's rows lie.
    pub(super) table: Buffer<items::Column>,
    /// Of each column: where its rows begin, and how many bytes they are.
    places: Vec<(usize, usize)>,
    /// (B, L, width) of each column, as bytes.
    pub(super) rows: Buffer<u8>,
}

/// Alignment of a column's rows: the longest words in which they are moved.
const ALIGNMENT: usize = 16;

impl Batch {
    pub(super) fn new(
        stream: &Stream,
        (columns, records): (&Columns, &Records),
        (draws, steps): (usize, usize),
        n_step: bool,
        distinct: bool,
    ) -> Result<Self, Error> {
        let too_large = || crate::replay::Error::BatchTooLarge { draws, steps };
        let all = draws.checked_mul(steps).filter(|&all| all <= MAX_CAPACITY && steps <= MAX_CAPACITY);
        let all = all.ok_or_else(too_large)?;
        let (mut table, mut places, mut end) = (Vec::new(), Vec::new(), 0_usize);
        for (spec, place) in columns.specs.iter().zip(records.places()) {
            let bytes = all.checked_mul(place.width).ok_or_else(too_large)?;
            places.push((end, bytes));
            table.push(items::Column {
                batch: end as u64,
                // A record is not much longer than 1 GiB.
                offset: place.offset as u32,
                width: place.width as u32,
                last: u32::from(spec.at() == At::Last),
                unused: 0,
            });
            end =
                end.checked_add(bytes).and_then(|end| end.checked_next_multiple_of(ALIGNMENT)).ok_or_else(too_large)?;
        }
        let returns = if n_step { all } else { 0 };
        let scratch = || Ok::<_, Error>((DistinctScratch::new(stream, draws)?, Buffer::zeroed(stream, draws)?));
        Ok(Self {
            columns: columns.clone(),
            n_step,
            steps,
            teams: teams(records.places(), all),
            indices: Buffer::zeroed(stream, draws)?,
            masses: Buffer::zeroed(stream, draws)?,
            // Of no item: what was never drawn can't be updated.
            handles: filled(stream, draws, u64::MAX)?,
            weights: Buffer::zeroed(stream, draws)?,
            lengths: Buffer::zeroed(stream, draws)?,
            returns: Buffer::zeroed(stream, returns)?,
            discounts: Buffer::zeroed(stream, returns)?,
            spans: Buffer::zeroed(stream, returns)?,
            distinct: distinct.then(scratch).transpose()?,
            table: Buffer::from_slice(stream, &table)?,
            places,
            rows: Buffer::zeroed(stream, end)?,
        })
    }

    /// Number of drawn items or sequences, B.
    pub fn len(&self) -> usize {
        self.indices.len()
    }

    /// Whether B is 0.
    pub fn is_empty(&self) -> bool {
        self.indices.is_empty()
    }

    /// Steps of a sequence, L; 1 for a batch of items.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// The slots of the drawn items (of a sequence: of its first item), (B); [`NOTHING`](crate::cuda::NOTHING) where nothing
    /// could be drawn.
    pub fn indices(&self) -> View<'_, u32> {
        self.indices.view()
    }

    /// The numbers of the drawn items' [`Handle`](crate::replay::Handle)s (of a sequence: of its first item's), (B); `u64::MAX`
    /// where nothing could be drawn.
    pub fn handles(&self) -> View<'_, u64> {
        self.handles.view()
    }

    /// Importance weights, (B); 0 where nothing could be drawn.
    pub fn weights(&self) -> View<'_, f32> {
        self.weights.view()
    }

    /// How many steps of each sequence there are before the episode or the buffer ends, each `1..=L`, (B); 0 where nothing
    /// could be drawn. Rows past them are zeros.
    pub fn lengths(&self) -> View<'_, u32> {
        self.lengths.view()
    }

    /// R of each step's n-step return, (B, L); empty without [`n_step`](crate::replay::Config::n_step). Zero past a sequence's
    /// end.
    pub fn returns(&self) -> View<'_, f32> {
        self.returns.view()
    }

    /// D of each step's n-step return, what the value after its last item counts: (B, L); empty without
    /// [`n_step`](crate::replay::Config::n_step). Zero past a sequence's end.
    pub fn discounts(&self) -> View<'_, f32> {
        self.discounts.view()
    }

    /// m of each step's n-step return, how many rewards it has: (B, L); empty without
    /// [`n_step`](crate::replay::Config::n_step). Zero past a sequence's end.
    pub fn spans(&self) -> View<'_, u32> {
        self.spans.view()
    }

    /// Rows of a column, (B, L, width), row-major; zeros where nothing could be drawn.
    ///
    /// # Errors
    /// [`ForeignColumn`](crate::replay::Error::ForeignColumn).
    pub fn rows<T: Element>(&self, column: Column<T>) -> Result<View<'_, T>, Error> {
        self.columns.check(column)?;
        let (start, bytes) = self.places[column.index];
        let rows = self.rows.view().slice(start..start + bytes)?.cast();
        // Allocations and columns are aligned to any element.
        Ok(rows.ok_or(crate::replay::Error::ForeignBatch)?)
    }
}
