//! A tree of smallest keys: element = the smallest of its 16 children, on every level.
//!
//! Its leaves are its own, and keys too. So an update knows the old key and the new one, and needs to look through the
//! sixteen only where the lowest has gone: a quarter of the time that [`Extremes`](super::extremes::Extremes) take, to
//! which leaves belong that change unseen.

use super::check::{check_batch, check_len};
use super::extremes::Keys;
use super::layout::{FANOUT, FANOUT_BITS, Levels, check_capacity, prefetch, raise};
use super::order::{NONE, Order};
use crate::error::Error;
use arith::fixed;
use arith::simd::{Isa, Kernel};
use std::marker::PhantomData;

/// Updates between a prefetch and its use.
const AHEAD: usize = 16;

/// The tree. All of it is a function of the leaves, so equality is what it seems.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lowest<O> {
    leaves: Vec<Keys>,
    nodes: Vec<Keys>,
    levels: Levels,
    capacity: usize,
    order: PhantomData<O>,
}

impl<O: Order> Lowest<O> {
    pub(super) fn new(operation: &'static str, capacity: usize) -> Result<Self, Error> {
        check_capacity(operation, capacity)?;
        let blocks = capacity.div_ceil(FANOUT);
        let levels = Levels::new(blocks);
        let (leaves, nodes) = (vec![Keys::NONE; blocks], vec![Keys::NONE; levels.nodes()]);
        Ok(Self { leaves, nodes, levels, capacity, order: PhantomData })
    }

    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    pub(super) fn priority(&self, index: usize) -> f32 {
        O::priority(self.leaves[index / FANOUT].0[index % FANOUT])
    }

    /// The priority that comes first, if one counts.
    pub(super) fn first(&self) -> Option<f32> {
        let root = self.nodes.last().map_or(NONE, Keys::lowest);
        (root != NONE).then(|| O::priority(root))
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
        isa.run(RebuildKernel { tree: self, values });
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
        let Self { tree, indices, values } = self;
        let Lowest { leaves, nodes, levels, .. } = tree;
        for (j, (&i, &value)) in indices.iter().zip(values).enumerate() {
            if let Some(&next) = indices.get(j + AHEAD) {
                prefetch::<_, true>(leaves, next as usize >> FANOUT_BITS);
                prefetch::<_, true>(nodes, next as usize >> (2 * FANOUT_BITS));
            }
            let mut at = i as usize / FANOUT;
            // + 0 makes +0 of -0.
            let mut new = O::key(value + 0.0);
            let mut old = std::mem::replace(&mut leaves[at].0[i as usize % FANOUT], new);
            // Where `old` has become `new`, if not in a block.
            let mut changed = None;
            for &start in levels.starts() {
                let (node, child) = (start + at / FANOUT, at % FANOUT);
                let element = nodes[node].0[child];
                // The sixteen below are looked through only where the lowest of them has gone up: seldom.
                let lowest = if new <= element {
                    new
                } else if old > element {
                    break;
                } else {
                    changed.map_or(&leaves[at], |below: usize| &nodes[below]).lowest()
                };
                if lowest == element {
                    break;
                }
                nodes[node].0[child] = lowest;
                (old, new, changed) = (element, lowest, Some(node));
                at /= FANOUT;
            }
        }
    }
}

struct RebuildKernel<'a, O> {
    tree: &'a mut Lowest<O>,
    /// As many weights as leaves.
    values: &'a [f32],
}

impl<O: Order> Kernel for RebuildKernel<'_, O> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Lowest { leaves, nodes, levels, .. } = self.tree;
        for (i, (block, values)) in leaves.iter_mut().zip(self.values.chunks(FANOUT)).enumerate() {
            for (key, &value) in block.0.iter_mut().zip(values) {
                *key = O::key(value + 0.0);
            }
            nodes[i / FANOUT].0[i % FANOUT] = block.lowest();
        }
        raise(levels, nodes, Keys::lowest, |node, i, lowest| node.0[i] = lowest);
    }
}
