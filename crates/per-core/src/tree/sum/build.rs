//! All sums at once.

use super::SumTree;
use super::layout::{Node, sum};
use crate::error::Error;
use crate::tree::check::check_len;
use crate::tree::layout::{FANOUT, raise};
use arith::fixed::{self, Scale};
use arith::simd::{Isa, Kernel};

impl SumTree {
    /// Sets all priorities.
    ///
    /// `priorities`: (capacity), finite and `>= 0`.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`], [`Error::InvalidWeight`].
    pub fn rebuild(&mut self, priorities: &[f32]) -> Result<(), Error> {
        self.rebuild_on(Isa::detect(), priorities)
    }

    /// [`rebuild`](Self::rebuild) with a given instruction set.
    #[doc(hidden)]
    pub fn rebuild_on(&mut self, isa: Isa, priorities: &[f32]) -> Result<(), Error> {
        const OPERATION: &str = "SumTree::rebuild";
        check_len(OPERATION, "priorities", self.capacity, priorities.len())?;
        fixed::largest_weight_with(isa, priorities).map_err(|error| Error::from_fixed(OPERATION, error))?;
        for (block, priorities) in self.leaves.iter_mut().zip(priorities.chunks(FANOUT)) {
            for (leaf, &p) in block.0.iter_mut().zip(priorities) {
                // + 0 makes +0 of -0.
                *leaf = p + 0.0;
            }
        }
        self.exponents.count(self.leaves.iter().map(|block| &block.0));
        self.storage.follow(self.exponents.range());
        self.store_anew(isa);
        Ok(())
    }

    /// Makes the sums from the leaves, at the scale that is shown.
    pub(super) fn store_anew(&mut self, isa: Isa) {
        self.storage.store_as_shown();
        isa.run(SumKernel { tree: self });
    }
}

struct SumKernel<'a> {
    tree: &'a mut SumTree,
}

impl Kernel for SumKernel<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let SumTree { leaves, nodes, levels, total, storage, .. } = self.tree;
        let scale: Scale = storage.stored();
        let mut blocks = leaves.iter();
        let (lowest, _) = nodes.split_at_mut(leaves.len().div_ceil(FANOUT));
        for node in lowest {
            let mut sums = [0; FANOUT];
            for (element, block) in sums.iter_mut().zip(blocks.by_ref().take(FANOUT)) {
                *element = sum(&block.quantize(scale));
            }
            node.0 = sums;
        }
        raise(levels, nodes, Node::sum, |node, i, sum| node.0[i] = sum);
        *total = nodes.last().map_or(0, Node::sum);
    }
}
