//! Blocks of 16 weights and the levels of nodes above them, which trees and CDFs have alike.

use crate::device::warp::{ALL, lane_id, warp_shuffle_idx, warp_shuffle_up, warp_vote_ballot};

/// Weights in a block, and children of a node.
pub const FANOUT: u32 = 16;
/// Base-2 logarithm of it.
pub const FANOUT_BITS: u32 = 4;
/// Threads of a block of the kernels that pass over all weights, one for each block of weights.
pub const WIDTH: u32 = 256;
/// Weights that such a block of threads has: those under one node of level 1.
pub const TILE: u32 = WIDTH * FANOUT;

/// The first node of the top level over `blocks` blocks, and the number of that level.
#[inline(always)]
pub fn top(blocks: u32) -> (u32, u32) {
    let (mut start, mut level) = (0, 0);
    let mut width = blocks.div_ceil(FANOUT);
    while width > 1 {
        start += width;
        level += 1;
        width = width.div_ceil(FANOUT);
    }
    (start, level)
}

/// Nodes of the level below `level`, blocks below the lowest: ceil(blocks / 16^level).
#[inline(always)]
pub fn nodes_below(blocks: u32, level: u32) -> u32 {
    let shift = FANOUT_BITS * level;
    (blocks + (1 << shift) - 1) >> shift
}

/// The child number `chosen` of node `at` of level `level`. There always is one: where another launch changes the sums while
/// this one goes by them, which no caller should let happen, it is the last one at most.
#[inline(always)]
pub fn child(blocks: u32, level: u32, at: u32, chosen: u32) -> u32 {
    (at * FANOUT + chosen).min(nodes_below(blocks, level) - 1)
}

/// The sum of the parts of this lane and those below, of 16 lanes.
///
/// # Safety
/// All lanes of the warp come here.
#[inline(always)]
pub unsafe fn running(part: u64) -> u64 {
    let (mut running, mut delta) = (part, 1);
    while delta < FANOUT {
        // SAFETY: the caller's.
        let below = unsafe { warp_shuffle_up(ALL, running, delta, FANOUT) };
        running += if lane_id() % FANOUT >= delta { below } else { 0 };
        delta *= 2;
    }
    running
}

/// Each of 16 lanes has a part: the first whose running sum is above `rest`, that part, and `rest` less the sums before it.
///
/// # Safety
/// All lanes of the warp come here.
#[inline(always)]
pub unsafe fn step(part: u64, rest: u64) -> (u32, u64, u64) {
    let lane = lane_id();
    // SAFETY: the caller's.
    let running = unsafe { running(part) };
    // SAFETY: the caller's.
    let passed = unsafe { warp_vote_ballot(ALL, running <= rest) };
    let passed = (passed >> (lane & FANOUT)) & 0xffff;
    // All 16, where the threshold isn't below the total: then the first one.
    let chosen = passed.count_ones() % FANOUT;
    // SAFETY: the caller's.
    let (through, part) =
        unsafe { (warp_shuffle_idx(ALL, running, chosen, FANOUT), warp_shuffle_idx(ALL, part, chosen, FANOUT)) };
    (chosen, part, rest - (through - part).min(rest))
}
