//! Draws without replacement.

use super::SumTree;
use crate::cuda::draws::Draws;
use crate::cuda::error::Error;
use gpu::kernels::tree::SampleDistinct;
use gpu::{Buffer, Stream, ViewMut};

/// Rows of the scratch, each as long as the draws rounded up to a power of two.
const ROWS: usize = 8;

/// Memory of draws without replacement.
#[derive(Debug)]
pub struct DistinctScratch(Buffer<u64>);

impl DistinctScratch {
    /// For so many draws at a time, or fewer.
    ///
    /// # Errors
    /// [`Error::Gpu`].
    pub fn new(stream: &Stream, draws: usize) -> Result<Self, Error> {
        let len = draws.checked_next_power_of_two().and_then(|draws| draws.checked_mul(ROWS));
        let len = len.ok_or(gpu::Error::TooLarge { elements: draws, bytes: ROWS * size_of::<u64>() })?;
        Ok(Self(Buffer::uninit(stream.device(), len)?))
    }
}

impl SumTree {
    /// Draws without replacement, [`SumTree::sample_distinct`](crate::SumTree::sample_distinct) of the block at which `draws`
    /// is, in one launch of one block of threads. `draws` goes on by m blocks, as those of a replay do.
    ///
    /// `out`, `weights`: (m), in the order of the draws; all are [`NOTHING`](crate::cuda::NOTHING) if fewer than m priorities
    /// are above zero, and then `draws` stays. `scratch`: for m draws at least.
    ///
    /// # Errors
    /// [`Error::Gpu`], also where the lengths differ or the scratch is too short.
    pub fn sample_distinct(
        &self,
        stream: &Stream,
        draws: &mut Draws,
        scratch: &mut DistinctScratch,
        out: ViewMut<'_, u32>,
        weights: ViewMut<'_, u64>,
    ) -> Result<(), Error> {
        self.sample_items_distinct(stream, draws, scratch, out, weights, false)
    }

    /// [`sample_distinct`](Self::sample_distinct) of a replay. If all priorities are zero and `uniform`, the draws are ranks of
    /// items, all equally likely.
    pub(in crate::cuda) fn sample_items_distinct(
        &self,
        stream: &Stream,
        draws: &mut Draws,
        scratch: &mut DistinctScratch,
        out: ViewMut<'_, u32>,
        weights: ViewMut<'_, u64>,
        uniform: bool,
    ) -> Result<(), Error> {
        let uniform = usize::from(uniform);
        let (leaves, nodes, head) = (self.leaves.view(), self.nodes.view(), self.head.view());
        let (seed, number, capacity, m) = (draws.seed, draws.number, self.capacity, out.len());
        let scratch = scratch.0.view_mut().slice(0..ROWS * m.next_power_of_two())?;
        let position = draws.position();
        let kernel = SampleDistinct {
            leaves,
            nodes,
            head,
            position,
            scratch,
            out,
            weights,
            capacity,
            m,
            uniform,
            seed,
            stream: number,
        };
        // SAFETY: as in `update`.
        Ok(unsafe { stream.launch_trusted(&kernel, None) }?)
    }
}
