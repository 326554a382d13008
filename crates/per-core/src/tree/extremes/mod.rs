//! The first of many priorities in an order: nodes of lowest keys over leaves that live elsewhere.
//!
//! An element is the lowest key of its 16 children, on every level. A change goes up only as far as elements change, and
//! looks through sixteen children only where the lowest of them has gone up: seldom. So it must know what the leaf was.

#[cfg(test)]
mod tests;

use super::layout::{Block, FANOUT, FANOUT_BITS, Levels, prefetch, raise};
use super::order::{NONE, Order};
use crate::memory::filled;
use arith::simd::{Isa, Kernel};
use std::marker::PhantomData;

/// Changes between a prefetch and its use.
const AHEAD: usize = 16;

/// 16 keys: a cache line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub(super) struct Keys(pub(super) [u32; FANOUT]);

impl Keys {
    pub(super) const NONE: Self = Self([NONE; FANOUT]);

    #[inline(always)]
    fn of<O: Order>(block: &Block) -> Self {
        let mut keys = Self::NONE;
        for (key, &priority) in keys.0.iter_mut().zip(&block.0) {
            *key = O::key(priority);
        }
        keys
    }

    #[inline(always)]
    pub(super) fn lowest(&self) -> u32 {
        let mut lowest = NONE;
        for &key in &self.0 {
            lowest = if key < lowest { key } else { lowest };
        }
        lowest
    }
}

/// The priority of the lowest key of all, if one counts.
pub(crate) fn priority_of<O: Order>(lowest: u32) -> Option<f32> {
    (lowest != NONE).then(|| O::priority(lowest))
}

/// The nodes. All of them are a function of the leaves, so equality is what it seems.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Extremes<O> {
    nodes: Vec<Keys>,
    levels: Levels,
    order: PhantomData<O>,
}

impl<O: Order> Extremes<O> {
    /// Nodes over `capacity` leaves, none of which counts. There is at least one leaf, and at most `MAX_CAPACITY`.
    pub(crate) fn new(capacity: usize) -> Self {
        let levels = Levels::new(capacity.div_ceil(FANOUT));
        Self { nodes: filled(Keys::NONE, levels.nodes()), levels, order: PhantomData }
    }

    /// The priority that comes first, if one counts: those that are zero or negative don't.
    pub(crate) fn first(&self) -> Option<f32> {
        priority_of::<O>(self.nodes.last().map_or(NONE, Keys::lowest))
    }

    /// Brings the nodes up to date after leaves have changed.
    ///
    /// `leaves`: all of them, those past the capacity not above zero; `indices`: at least those that have changed since
    /// the nodes were up to date, each below the capacity, in any order and as often as you like; `old`: for each index
    /// what its leaf was, for one that comes again it may also be what was there for a while.
    pub(crate) fn refresh(&mut self, isa: Isa, leaves: &[Block], indices: &[u32], old: &[f32]) {
        isa.run(RefreshKernel { extremes: self, leaves, indices, old });
    }

    /// [`refresh`](Self::refresh) for one leaf, within a kernel.
    ///
    /// Right also where other leaves have changed already whose turn is yet to come. Let E be a block's element before all
    /// of them, L the lowest key of the block after them. If L < E, the turn of a leaf with key L sets it, and no other
    /// turn raises it: what a leaf was is at least E. If L > E, all that had E have changed, and the first turn of one of
    /// them looks through the block and finds L. If L = E, a turn can only find L again.
    #[inline(always)]
    pub(super) fn climb(&mut self, leaves: &[Block], index: u32, old: f32) {
        let Self { nodes, levels, .. } = self;
        let mut at = index as usize / FANOUT;
        let mut new = O::key(leaves[at].0[index as usize % FANOUT]);
        let mut old = O::key(old);
        // Where `old` has become `new`, if not in a block.
        let mut changed = None;
        for &start in levels.starts() {
            let (node, child) = (start + at / FANOUT, at % FANOUT);
            let element = nodes[node].0[child];
            let lowest = if new <= element {
                new
            } else if old > element {
                break;
            } else {
                changed.map_or_else(|| Keys::of::<O>(&leaves[at]), |below: usize| nodes[below]).lowest()
            };
            if lowest == element {
                break;
            }
            nodes[node].0[child] = lowest;
            (old, new, changed) = (element, lowest, Some(node));
            at /= FANOUT;
        }
    }

    /// Brings near the element above `index`.
    #[inline(always)]
    pub(super) fn fetch(&self, index: u32) {
        prefetch::<_, true>(&self.nodes, index as usize >> (2 * FANOUT_BITS));
    }

    /// Makes all nodes anew. `leaves`: as for [`refresh`](Self::refresh).
    pub(crate) fn rebuild(&mut self, isa: Isa, leaves: &[Block]) {
        isa.run(RebuildKernel { extremes: self, leaves });
    }

    /// Memory of the nodes, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(self.nodes.as_slice())
    }
}

struct RefreshKernel<'a, O> {
    extremes: &'a mut Extremes<O>,
    leaves: &'a [Block],
    /// Below the capacity.
    indices: &'a [u32],
    /// As many.
    old: &'a [f32],
}

impl<O: Order> Kernel for RefreshKernel<'_, O> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { extremes, leaves, indices, old } = self;
        for (j, (&index, &old)) in indices.iter().zip(old).enumerate() {
            if let Some(&next) = indices.get(j + AHEAD) {
                extremes.fetch(next);
            }
            extremes.climb(leaves, index, old);
        }
    }
}

struct RebuildKernel<'a, O> {
    extremes: &'a mut Extremes<O>,
    leaves: &'a [Block],
}

impl<O: Order> Kernel for RebuildKernel<'_, O> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Extremes { nodes, levels, .. } = self.extremes;
        for (i, block) in self.leaves.iter().enumerate() {
            nodes[i / FANOUT].0[i % FANOUT] = Keys::of::<O>(block).lowest();
        }
        raise(levels, nodes, Keys::lowest, |node, i, lowest| node.0[i] = lowest);
    }
}
