//! How the prefix sums lie in memory.
//!
//! ```text
//! nodes, level 1:  [ base of node 0 | base of node 1 | ... ]                 16 keys of a node: two cache lines
//! nodes, level 0:  [ base of block 0 | base of block 1 | ... | base of block 15 ] [ ... ]
//! blocks:          [ w0 .. w15 ] [ w16 .. w31 ] ...                          one cache line each
//! ```
//!
//! Only the sum before each block of 16 weights is stored; the sums within a block are done again from the weights
//! when they are asked for, and integers give the same sum each time. That takes 4.5 bytes a weight rather than 8, and
//! a build need not scan within blocks at all.

use arith::fixed::Scale;

/// Weights in a block: one cache line of `f32`.
pub(crate) const BLOCK: usize = 16;
/// Keys in a node.
pub(super) const FANOUT: usize = 16;
/// Levels that `MAX_WEIGHTS` weights need: 2^31 / 16 blocks is 2^27, and 16^7 is 2^28.
pub(super) const MAX_LEVELS: usize = 7;
/// The most weights that a CDF takes: an item's index fits an `i32`.
pub(super) const MAX_WEIGHTS: usize = (1 << 31) - 1;
/// Key of a block that does not exist: no threshold reaches it.
pub(super) const NO_KEY: u64 = i64::MAX as u64;

/// 16 weights.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub(crate) struct Block(pub(super) [f32; BLOCK]);

/// The sums before each of 16 children. All are below 2^63, so that signed comparisons serve (AVX2 has no others).
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(128))]
pub(super) struct Node(pub(super) [u64; FANOUT]);

impl Block {
    pub(super) const ZERO: Self = Self([0.0; BLOCK]);

    /// The weights in fixed point.
    #[inline(always)]
    pub(crate) fn quantize(&self, scale: Scale) -> [u64; BLOCK] {
        // A local array of its own: the compiler sees that nothing overlaps, and vectorizes.
        let mut parts = [0; BLOCK];
        for (part, &w) in parts.iter_mut().zip(&self.0) {
            *part = scale.quantize(w);
        }
        parts
    }
}

impl Node {
    pub(super) const EMPTY: Self = Self([NO_KEY; FANOUT]);
}

/// Where the levels of the tree begin in the vector of nodes, the leaves' parents first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Levels {
    /// First node of each level.
    start: [usize; MAX_LEVELS],
    /// Levels in use.
    count: usize,
    /// Nodes of all levels.
    nodes: usize,
}

impl Levels {
    /// The levels over `blocks` blocks.
    pub(super) fn new(blocks: usize) -> Self {
        let mut levels = Self::default();
        let mut width = blocks;
        while width > 0 && levels.count < MAX_LEVELS {
            width = width.div_ceil(FANOUT);
            levels.start[levels.count] = levels.nodes;
            levels.count += 1;
            levels.nodes += width;
            if width == 1 {
                break;
            }
        }
        levels
    }

    /// First node of each level, from the leaves' parents up to the root.
    #[inline(always)]
    pub(super) fn starts(&self) -> &[usize] {
        &self.start[..self.count]
    }

    /// Nodes of all levels.
    pub(super) fn nodes(&self) -> usize {
        self.nodes
    }
}
