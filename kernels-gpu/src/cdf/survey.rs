//! The largest weight.

use super::Head;
use crate::blocks::TILE;
use crate::device::atomic::fetch_max_u32;
use crate::device::grid::is_last_block;
use crate::device::thread::{block_dim_x, block_idx_x, thread_idx_x};
use crate::device::warp::{lane_id, warp_reduce};
use crate::fault::{Fault, report};
use crate::grouped::grouped;
use arith::fixed::is_weight;

/// Finds the largest weight, and prepares `tiles`: the first launch of a build.
///
/// Inputs: `weights` (n). Outputs: `head`, `tiles` (the module's text); `status` ([`crate::fault`]): weights that aren't
/// finite and >= 0. With such a weight there is no CDF, and nothing is drawn from it.
///
/// Blocks of 256 threads, ceil(n / 4096) of them.
///
/// # Safety
/// The crate's conventions, and the CDF is as the module says.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn cdf_survey_f32(
    weights: *const f32,
    head: *mut Head,
    tiles: *mut u64,
    status: *mut u64,
    n: u32,
) {
    let tile = block_idx_x() as usize;
    if thread_idx_x() < 2 && tile < n.div_ceil(TILE) as usize {
        // SAFETY: there is such a tile, and this element is the thread's.
        unsafe { *tiles.add(2 * tile + thread_idx_x() as usize) = 0 };
    }
    let end = ((tile + 1) * TILE as usize).min(n as usize);
    let first = tile * TILE as usize + thread_idx_x() as usize;
    let mut largest = 0;
    // SAFETY: below n.
    let load = |i: usize| unsafe { *weights.add(i) };
    grouped(first, end, block_dim_x() as usize, load, |i, weight| {
        if is_weight(weight) {
            // Weights are ordered as their bits. + 0 makes +0 of -0.
            largest = largest.max((weight + 0.0).to_bits());
        } else {
            largest = u32::MAX;
            // SAFETY: the caller's.
            unsafe { report(status, Fault::Invalid(weight), i as u32) };
        }
    });
    // SAFETY: all lanes come here.
    let largest = unsafe { warp_reduce(largest, u32::max) };
    if lane_id() == 0 {
        // SAFETY: only atomic operations access it before the last block is known.
        unsafe { fetch_max_u32(&raw mut (*head).running, largest) };
    }
    // SAFETY: all threads come here.
    if unsafe { is_last_block(&raw mut (*head).done) } && thread_idx_x() == 0 {
        // SAFETY: all other blocks have finished.
        unsafe {
            // Not a float where something isn't a weight.
            (*head).largest = f32::from_bits((*head).running);
            (*head).running = 0;
            (*head).total = 0;
            (*head).ready = 0;
            (*head).taken = 0;
            (*head).n = n;
        }
    }
}
