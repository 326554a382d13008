//! Leaves with their [`Extremes`]: a tree that knows the first of its priorities in an order.

use super::check::{check_batch, check_len};
use super::extremes::Extremes;
use super::layout::{Block, FANOUT, FANOUT_BITS, check_capacity, prefetch};
use super::order::Order;
use crate::error::Error;
use crate::memory::filled;
use arith::fixed;
use arith::simd::{Isa, Kernel};

/// Updates between a prefetch and its use.
const AHEAD: usize = 16;

/// The tree. All of it is a function of the leaves, so equality is what it seems.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Lowest<O> {
    /// Never -0.
    leaves: Vec<Block>,
    extremes: Extremes<O>,
    capacity: usize,
}

/// No leaf is NaN.
impl<O: Order + PartialEq> Eq for Lowest<O> {}

impl<O: Order> Lowest<O> {
    pub(super) fn new(operation: &'static str, capacity: usize) -> Result<Self, Error> {
        check_capacity(operation, capacity)?;
        let leaves = filled(Block::ZERO, capacity.div_ceil(FANOUT));
        Ok(Self { leaves, extremes: Extremes::new(capacity), capacity })
    }

    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    pub(super) fn priority(&self, index: usize) -> f32 {
        self.leaves[index / FANOUT].0[index % FANOUT]
    }

    /// The priority that comes first, if one is above zero.
    pub(super) fn first(&self) -> Option<f32> {
        self.extremes.first()
    }

    pub(super) fn update(
        &mut self,
        operation: &'static str,
        isa: Isa,
        indices: &[u32],
        values: &[f32],
    ) -> Result<(), Error> {
        check_batch(operation, isa, self.capacity, indices, values)?;
        isa.run(UpdateKernel { tree: self, indices, values });
        Ok(())
    }

    pub(super) fn rebuild(&mut self, operation: &'static str, isa: Isa, values: &[f32]) -> Result<(), Error> {
        check_len(operation, "priorities", self.capacity, values.len())?;
        fixed::largest_weight_with(isa, values).map_err(|error| Error::from_fixed(operation, error))?;
        for (block, values) in self.leaves.iter_mut().zip(values.chunks(FANOUT)) {
            for (leaf, &value) in block.0.iter_mut().zip(values) {
                // + 0 makes +0 of -0.
                *leaf = value + 0.0;
            }
        }
        self.extremes.rebuild(isa, &self.leaves);
        Ok(())
    }
}

struct UpdateKernel<'a, O> {
    tree: &'a mut Lowest<O>,
    /// Below the capacity.
    indices: &'a [u32],
    /// As many weights.
    values: &'a [f32],
}

impl<O: Order> Kernel for UpdateKernel<'_, O> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { tree: Lowest { leaves, extremes, .. }, indices, values } = self;
        for (j, (&index, &value)) in indices.iter().zip(values).enumerate() {
            if let Some(&next) = indices.get(j + AHEAD) {
                prefetch::<_, true>(leaves, next as usize >> FANOUT_BITS);
                extremes.fetch(next);
            }
            let leaf = &mut leaves[index as usize / FANOUT].0[index as usize % FANOUT];
            // + 0 makes +0 of -0.
            let old = std::mem::replace(leaf, value + 0.0);
            extremes.climb(leaves, index, old);
        }
    }
}
