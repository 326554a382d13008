//! How trees lie in memory: leaves in blocks of 16, and above them levels of nodes with 16 elements each.
//!
//! ```text
//! level 1:  [ node 0: element 0 .. 15 ]                        element i belongs to node i of level 0
//! level 0:  [ node 0: element 0 .. 15 ][ node 1 ] ...          element i belongs to block i
//! leaves:   [ block 0: leaf 0 .. 15 ][ block 1 ] ...           a cache line each
//! ```
//!
//! So leaf i lies under element `i >> 4 (l + 1)` of level l. Levels are contiguous, the lowest first. Leaves, elements
//! and nodes past the capacity exist only to fill blocks and nodes, and are neutral.

use crate::error::Error;

/// Children of a node, and leaves of a block.
pub(crate) const FANOUT: usize = 16;
/// Base-2 logarithm of `FANOUT`.
pub(super) const FANOUT_BITS: usize = 4;
/// Levels that `MAX_CAPACITY` leaves need: 2^31 / 16 blocks is 2^27, and 16^7 is 2^28.
pub(super) const MAX_LEVELS: usize = 7;
/// The most leaves: an index fits an `i32`.
pub(crate) const MAX_CAPACITY: usize = (1 << 31) - 1;

/// 16 leaves: a cache line.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub(crate) struct Block(pub(crate) [f32; FANOUT]);

impl Block {
    pub(crate) const ZERO: Self = Self([0.0; FANOUT]);
}

/// Where the levels begin in a vector of nodes, the lowest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Levels {
    start: [usize; MAX_LEVELS],
    count: usize,
    nodes: usize,
}

impl Levels {
    /// The levels over `blocks` blocks, of which there is at least one.
    pub(super) fn new(blocks: usize) -> Self {
        let mut levels = Self::default();
        let mut width = blocks;
        while levels.count < MAX_LEVELS {
            width = width.div_ceil(FANOUT);
            levels.start[levels.count] = levels.nodes;
            levels.count += 1;
            levels.nodes += width;
            if width <= 1 {
                break;
            }
        }
        levels
    }

    /// First node of each level.
    #[inline(always)]
    pub(super) fn starts(&self) -> &[usize] {
        &self.start[..self.count]
    }

    /// Nodes of all levels.
    pub(super) fn nodes(&self) -> usize {
        self.nodes
    }
}

/// Writes each level above the lowest from the one below it: an element is `summary` of its node.
#[inline(always)]
pub(super) fn raise<N, T>(levels: &Levels, nodes: &mut [N], summary: impl Fn(&N) -> T, set: impl Fn(&mut N, usize, T)) {
    for pair in levels.starts().windows(2) {
        let &[below, above] = pair else { continue };
        let (lower, upper) = nodes.split_at_mut(above);
        for (i, node) in lower[below..].iter().enumerate() {
            set(&mut upper[i / FANOUT], i % FANOUT, summary(node));
        }
    }
}

/// That a tree can have `capacity` leaves.
pub(crate) fn check_capacity(operation: &'static str, capacity: usize) -> Result<(), Error> {
    match capacity {
        0 => Err(Error::Empty { operation }),
        1..=MAX_CAPACITY => Ok(()),
        _ => Err(Error::TooManyWeights { operation, count: capacity, max: MAX_CAPACITY }),
    }
}

/// Brings `items[index]` near; does no harm if there is no such item. `WRITE`: to be changed.
#[inline(always)]
pub(crate) fn prefetch<T, const WRITE: bool>(items: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_ET0, _MM_HINT_T0, _mm_prefetch};
        // Without a look at the length, which would take as long as the prefetch.
        let at: *const i8 = items.as_ptr().wrapping_add(index).cast();
        if WRITE {
            // SAFETY: a prefetch reads nothing that the program can see and never faults, whatever the address; where the
            // machine lacks this one it does nothing.
            unsafe { _mm_prefetch::<_MM_HINT_ET0>(at) };
        } else {
            // SAFETY: as above; every x86-64 has this one.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(at) };
            if size_of::<T>() > 64 {
                // The second line of an item that has two.
                // SAFETY: as above.
                unsafe { _mm_prefetch::<_MM_HINT_T0>(at.wrapping_add(64)) };
            }
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (items, index);
}
