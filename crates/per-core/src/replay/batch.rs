//! What a draw gives, in memory that the caller keeps.

use super::column::{At, Column, Columns, Dtype, Element};
use super::error::Error;
use super::handle::Handle;
use super::records::{NO_SLOT, Records};
use crate::tree::DistinctScratch;
use half::bf16;
use ndarray::{ArrayView2, ArrayView3};

/// A batch of drawn items or sequences: made once by [`PrioritizedReplay::batch`](super::PrioritizedReplay::batch) or
/// [`sequences`](super::PrioritizedReplay::sequences), filled by each draw. It borrows nothing from the replay: any
/// number of them may be outstanding. Before the first draw it has zeros, and handles of no item.
#[derive(Clone, Debug)]
pub struct Batch {
    pub(super) columns: Columns,
    pub(super) draws: usize,
    /// Steps of a sequence, L.
    pub(super) steps: usize,
    /// (B): the drawn items.
    pub(super) indices: Vec<u32>,
    pub(super) handles: Vec<Handle>,
    /// The drawn items with their powers' integers, as the tree tells them.
    pub(super) drawn: Vec<(u32, u64)>,
    pub(super) distinct: DistinctScratch,
    /// The powers' integers.
    pub(super) masses: Vec<u64>,
    /// Whether there are n-step returns.
    n_step: bool,
    /// What the weights are powers of.
    pub(super) quotients: Vec<f32>,
    pub(super) weights: Vec<f32>,
    pub(super) lengths: Vec<u32>,
    /// (B, L): the slot of each step, [`NO_SLOT`] past the end of its sequence.
    pub(super) slots: Vec<u32>,
    /// (B, L): the slot of each step's last item of n. Empty if that is the step itself.
    pub(super) last: Vec<u32>,
    /// (B, L), or empty without n-step returns.
    pub(super) returns: Vec<f32>,
    pub(super) discounts: Vec<f32>,
    pub(super) spans: Vec<u32>,
    /// (B, L, width) for each column.
    rows: Vec<Data>,
}

#[derive(Clone, Debug)]
enum Data {
    F32(Vec<f32>),
    Bf16(Vec<bf16>),
    U8(Vec<u8>),
    I32(Vec<i32>),
}

impl Data {
    fn new(dtype: Dtype, elements: usize) -> Self {
        match dtype {
            Dtype::F32 => Self::F32(vec![0.0; elements]),
            Dtype::Bf16 => Self::Bf16(vec![bf16::ZERO; elements]),
            Dtype::U8 => Self::U8(vec![0; elements]),
            Dtype::I32 => Self::I32(vec![0; elements]),
        }
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Self::F32(data) => bytemuck::cast_slice(data),
            Self::Bf16(data) => bytemuck::cast_slice(data),
            Self::U8(data) => data,
            Self::I32(data) => bytemuck::cast_slice(data),
        }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        match self {
            Self::F32(data) => bytemuck::cast_slice_mut(data),
            Self::Bf16(data) => bytemuck::cast_slice_mut(data),
            Self::U8(data) => data,
            Self::I32(data) => bytemuck::cast_slice_mut(data),
        }
    }
}

impl Batch {
    pub(super) fn new(columns: &Columns, draws: usize, steps: usize, n_step: bool) -> Result<Self, Error> {
        let too_large = Error::BatchTooLarge { draws, steps };
        let Some(all) = draws.checked_mul(steps).filter(|&n| n < NO_SLOT as usize) else { return Err(too_large) };
        let extra = if n_step { all } else { 0 };
        // Slots, returns and the like of a step; indices, handles, weights and scratch of a draw: rounded up.
        let (step_bytes, draw_bytes) = (columns.item_bytes() as u128 + 20, 160);
        let bytes = step_bytes * all as u128 + draw_bytes * draws as u128;
        let room = usize::try_from(bytes).map(|bytes| Vec::<u8>::new().try_reserve_exact(bytes));
        if !matches!(room, Ok(Ok(()))) || steps >= NO_SLOT as usize {
            return Err(too_large);
        }
        Ok(Self {
            columns: columns.clone(),
            draws,
            steps,
            indices: vec![0; draws],
            // Of no item: what was never drawn can't be updated.
            handles: vec![Handle(u64::MAX); draws],
            drawn: vec![(0, 0); draws],
            distinct: DistinctScratch::new(draws),
            masses: vec![0; draws],
            n_step,
            quotients: vec![0.0; draws],
            weights: vec![0.0; draws],
            lengths: vec![0; draws],
            slots: vec![NO_SLOT; all],
            last: vec![NO_SLOT; extra],
            returns: vec![0.0; extra],
            discounts: vec![0.0; extra],
            spans: vec![0; extra],
            rows: columns.specs.iter().map(|spec| Data::new(spec.dtype, all * spec.width)).collect(),
        })
    }

    /// Number of drawn items or sequences, B.
    pub fn len(&self) -> usize {
        self.draws
    }

    /// Whether B is 0.
    pub fn is_empty(&self) -> bool {
        self.draws == 0
    }

    /// Steps of a sequence, L; 1 for a batch of items.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// The slots of the drawn items (of a sequence: of its first item), (B).
    pub fn indices(&self) -> &[u32] {
        &self.indices
    }

    /// The handles of the drawn items (of a sequence: of its first item), (B).
    pub fn handles(&self) -> &[Handle] {
        &self.handles
    }

    /// Importance weights, (B).
    pub fn weights(&self) -> &[f32] {
        &self.weights
    }

    /// How many steps of each sequence there are before the episode or the buffer ends, each `1..=L`, (B). Rows past
    /// them are zeros.
    pub fn lengths(&self) -> &[u32] {
        &self.lengths
    }

    /// R of each step's n-step return, (B, L); empty without [`n_step`](super::Config::n_step). Zero past a sequence's
    /// end.
    pub fn returns(&self) -> &[f32] {
        &self.returns
    }

    /// D of each step's n-step return, what the value after its last item counts: (B, L); empty without
    /// [`n_step`](super::Config::n_step). Zero past a sequence's end.
    pub fn discounts(&self) -> &[f32] {
        &self.discounts
    }

    /// m of each step's n-step return, how many rewards it has: (B, L); empty without [`n_step`](super::Config::n_step).
    /// Zero past a sequence's end.
    pub fn spans(&self) -> &[u32] {
        &self.spans
    }

    /// Rows of a column, (B, L, width), row-major.
    ///
    /// # Errors
    /// [`Error::ForeignColumn`].
    pub fn rows<T: Element>(&self, column: Column<T>) -> Result<&[T], Error> {
        self.columns.check(column)?;
        Ok(bytemuck::cast_slice(self.rows[column.index].bytes()))
    }

    /// Rows of a column as a matrix, (B * L, width).
    ///
    /// # Errors
    /// [`Error::ForeignColumn`].
    pub fn matrix<T: Element>(&self, column: Column<T>) -> Result<ArrayView2<'_, T>, Error> {
        let rows = self.rows(column)?;
        let shape = (self.draws * self.steps, column.width);
        ArrayView2::from_shape(shape, rows).map_err(|_| Error::ForeignBatch)
    }

    /// Rows of a column as sequences, (B, L, width).
    ///
    /// # Errors
    /// [`Error::ForeignColumn`].
    pub fn sequence<T: Element>(&self, column: Column<T>) -> Result<ArrayView3<'_, T>, Error> {
        let rows = self.rows(column)?;
        let shape = (self.draws, self.steps, column.width);
        ArrayView3::from_shape(shape, rows).map_err(|_| Error::ForeignBatch)
    }

    /// Whether it was made with n-step returns.
    pub(super) fn has_returns(&self) -> bool {
        self.n_step
    }

    /// Copies the rows of all columns.
    pub(super) fn gather(&mut self, records: &Records) {
        let last = if self.n_step { &self.last } else { &self.slots };
        for (i, (spec, rows)) in self.columns.specs.iter().zip(&mut self.rows).enumerate() {
            let slots = match spec.at {
                At::Start => &self.slots,
                At::Last => last,
            };
            records.gather(i, spec.bytes(), slots, rows.bytes_mut());
        }
    }
}
