//! The first of many priorities in an order: nodes of lowest keys over leaves that live elsewhere.
//!
//! An element is the lowest key of its 16 children, on every level. A change of leaves goes up a chunk at a time, level by
//! level, and only as far as elements change. The lowest of sixteen is found anew each time, whatever the change was: it
//! is one cache line, and a few vector instructions. A level is written for a whole chunk before the next one reads it:
//! a line read at once after four bytes of it were written would wait for them to leave the store buffer.

#[cfg(test)]
mod tests;

use super::layout::{Block, FANOUT, FANOUT_BITS, Levels, prefetch, raise};
use super::order::{NONE, Order};
use arith::simd::{Isa, Kernel};
use std::marker::PhantomData;

/// Changes that go up together, while the lines of the next ones are fetched.
const CHUNK: usize = 64;

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
        Self { nodes: vec![Keys::NONE; levels.nodes()], levels, order: PhantomData }
    }

    /// The priority that comes first, if one counts: those that are zero or negative don't.
    pub(crate) fn first(&self) -> Option<f32> {
        let root = self.nodes.last().map_or(NONE, Keys::lowest);
        (root != NONE).then(|| O::priority(root))
    }

    /// Brings the nodes up to date after leaves have changed.
    ///
    /// `leaves`: all of them, those past the capacity not above zero; `indices`: at least those that have changed since
    /// the nodes were up to date, each below the capacity, in any order and as often as you like.
    pub(crate) fn refresh(&mut self, isa: Isa, leaves: &[Block], indices: &[u32]) {
        isa.run(RefreshKernel { extremes: self, leaves, indices });
    }

    /// Makes all nodes anew. `leaves`: as for [`refresh`](Self::refresh).
    pub(crate) fn rebuild(&mut self, isa: Isa, leaves: &[Block]) {
        isa.run(RebuildKernel { extremes: self, leaves });
    }

    /// Memory of the nodes, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(self.nodes.as_slice())
    }

    /// [`refresh`](Self::refresh) for the first [`CHUNK`] of `indices`, within a kernel.
    #[inline(always)]
    fn refresh_chunk(&mut self, leaves: &[Block], indices: &[u32]) {
        let Self { nodes, levels, .. } = self;
        // Children whose lowest key may be another one now: blocks at first, then nodes of each level in turn.
        let mut changed = [0; CHUNK];
        let mut count = 0;
        for &i in indices.iter().take(CHUNK) {
            changed[count] = i >> FANOUT_BITS;
            count += 1;
        }
        let mut below: Option<usize> = None;
        for &start in levels.starts() {
            let mut higher = 0;
            for k in 0..count {
                let child = changed[k] as usize;
                let lowest = match below {
                    None => Keys::of::<O>(&leaves[child]).lowest(),
                    Some(first) => nodes[first + child].lowest(),
                };
                let (node, within) = (child / FANOUT, child % FANOUT);
                let element = &mut nodes[start + node].0[within];
                // Without a branch, which would be hard to predict. Below 2^27.
                changed[higher] = node as u32;
                higher += usize::from(*element != lowest);
                *element = lowest;
            }
            (count, below) = (higher, Some(start));
            if count == 0 {
                break;
            }
        }
    }
}

struct RefreshKernel<'a, O> {
    extremes: &'a mut Extremes<O>,
    leaves: &'a [Block],
    /// Below the capacity.
    indices: &'a [u32],
}

impl<O: Order> Kernel for RefreshKernel<'_, O> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { extremes, leaves, indices } = self;
        fetch::<O>(extremes, leaves, indices);
        let mut done = 0;
        for chunk in indices.chunks(CHUNK) {
            done += chunk.len();
            fetch::<O>(extremes, leaves, &indices[done..]);
            extremes.refresh_chunk(leaves, chunk);
        }
    }
}

/// Brings near what the first chunk of `indices` reads and changes in memory that may be far.
#[inline(always)]
fn fetch<O: Order>(extremes: &Extremes<O>, leaves: &[Block], indices: &[u32]) {
    for &i in indices.iter().take(CHUNK) {
        prefetch::<_, false>(leaves, i as usize >> FANOUT_BITS);
        prefetch::<_, true>(&extremes.nodes, i as usize >> (2 * FANOUT_BITS));
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
