//! Blocks in fixed point, and nodes of sums.

use crate::tree::layout::{Block, FANOUT};
use arith::fixed::Scale;

/// The sums of 16 children, two cache lines. Sums and not running sums: an update then changes one element a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(128))]
pub(super) struct Node(pub(super) [u64; FANOUT]);

impl Block {
    /// The leaves in fixed point.
    #[inline(always)]
    pub(super) fn quantize(&self, scale: Scale) -> [u64; FANOUT] {
        let mut parts = [0; FANOUT];
        for (part, &w) in parts.iter_mut().zip(&self.0) {
            *part = scale.quantize(w);
        }
        parts
    }
}

impl Node {
    pub(super) const ZERO: Self = Self([0; FANOUT]);

    #[inline(always)]
    pub(super) fn sum(&self) -> u64 {
        sum(&self.0)
    }
}

#[inline(always)]
pub(super) fn sum(parts: &[u64; FANOUT]) -> u64 {
    let mut sum = 0;
    for part in parts {
        sum += part;
    }
    sum
}
