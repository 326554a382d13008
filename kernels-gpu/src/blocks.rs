//! Blocks of 16 weights, which trees and CDFs have at their lowest level, in fixed point.

use crate::device::thread::thread_idx_x;
use crate::device::warp::{ALL, LANES, lane_id, warp_shuffle_idx, warp_shuffle_xor};
use arith::fixed::Scale;

/// Weights in a block, and children of a node.
pub const FANOUT: u32 = 16;
/// Base-2 logarithm of it.
pub const FANOUT_BITS: u32 = 4;
/// Threads of a block of the kernels that pass over all weights, one for each block of weights.
pub const WIDTH: u32 = 256;
/// Weights that such a block of threads has: those under one node of level 1.
pub const TILE: u32 = WIDTH * FANOUT;

/// Sums of the blocks of weights of a warp of tile `tile`: lane l has that of block `256 tile + 32 warp + l`. Weights past
/// number n are 0.
///
/// The warp reads 32 consecutive weights at a time, two blocks.
///
/// # Safety
/// All lanes come here, of blocks of [`WIDTH`] threads. `weights` holds n.
#[inline(always)]
pub unsafe fn sum_blocks(weights: *const f32, n: u32, scale: Scale, tile: u32) -> u64 {
    let lane = lane_id();
    let first = tile as usize * TILE as usize + (thread_idx_x() / LANES * LANES * FANOUT) as usize;
    let mut sum = 0;
    for pair in 0..FANOUT {
        let i = first + (pair * LANES + lane) as usize;
        // SAFETY: below n.
        let weight = if i < n as usize { unsafe { *weights.add(i) } } else { 0.0 };
        let mut both = scale.quantize(weight);
        let mut lanes = FANOUT / 2;
        while lanes > 0 {
            // SAFETY: the caller's.
            both += unsafe { warp_shuffle_xor(ALL, both, lanes, FANOUT) };
            lanes /= 2;
        }
        // Each half has its sum in all of its lanes; one of them keeps it.
        sum = if lane % FANOUT == pair { both } else { sum };
    }
    // Lane h * 16 + pair has block 2 * pair + h.
    // SAFETY: the caller's.
    unsafe { warp_shuffle_idx(ALL, sum, lane % 2 * FANOUT + lane / 2, LANES) }
}
