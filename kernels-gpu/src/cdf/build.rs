//! The scan.

use super::Head;
use crate::blocks::{FANOUT, TILE, WIDTH};
use crate::device::atomic::fetch_add_u32;
use crate::device::look_back::look_back;
use crate::device::thread::{sync_threads, thread_idx_x};
use crate::device::warp::{LANES, lane_id, warp_running_sum};
use crate::levels::{Sum, join_blocks};
use crate::shared_array;
use arith::fixed::Scale;

/// Key of a block that doesn't exist: no threshold reaches it.
const NO_KEY: u64 = i64::MAX as u64;

shared_array!(
    /// The sums of each warp's weights, then the sums before them.
    of_warps, "cdf_build_of_warps": u64; (WIDTH / LANES) as usize
);
shared_array!(
    /// The block's tile.
    taken, "cdf_build_taken": u32; 1
);

/// Sums all weights before each block of 16: the second launch of a build.
///
/// Inputs: `weights` (n), as of [`cdf_survey_f32`](super::cdf_survey_f32) before. Outputs: `nodes`, `head`; scratch: `tiles`
/// (the module's text).
///
/// Blocks of 256 threads, ceil(n / 4096) of them. A block takes the next tile of 4,096 weights, sums it, and adds what the
/// tiles before it have published ([`look_back`]), so that weights are read once.
///
/// # Safety
/// The crate's conventions, and the CDF is as the module says.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn cdf_build_f32(
    weights: *const f32,
    nodes: *mut u64,
    head: *mut Head,
    tiles: *mut u64,
    n: u32,
) {
    // SAFETY: nobody writes it.
    let Ok(scale) = Scale::new(unsafe { (*head).largest }, n as usize) else { return };
    let (thread, warp) = (thread_idx_x(), thread_idx_x() / LANES);
    if thread == 0 {
        // Tiles are taken in order, so that all before one's own are taken by blocks that run or have finished.
        // SAFETY: only atomic operations access it; no other thread writes the element.
        unsafe { taken().write(0, fetch_add_u32(&raw mut (*head).taken, 1)) };
    }
    sync_threads();
    // SAFETY: nothing is written after the barrier.
    let tile = unsafe { taken().read(0) };
    let last = n.div_ceil(TILE) - 1;
    if tile > last {
        return;
    }
    // SAFETY: all lanes come here.
    let sum = unsafe { join_blocks(Sum(scale), weights, n, tile) };
    // SAFETY: as above.
    let running = unsafe { warp_running_sum(sum) };
    if lane_id() == LANES - 1 {
        // SAFETY: no other thread writes this element.
        unsafe { of_warps().write(warp, running) };
    }
    sync_threads();
    if warp == 0 {
        let own = lane_id() < WIDTH / LANES;
        // SAFETY: written before the barrier.
        let sum = if own { unsafe { of_warps().read(lane_id()) } } else { 0 };
        // SAFETY: the whole warp comes here, of all tiles.
        let through = unsafe { look_back(tiles, tile, sum) }.1;
        if own {
            // SAFETY: only this thread has read this element.
            unsafe { of_warps().write(lane_id(), through - sum) };
        }
        if tile == last && lane_id() == LANES - 1 {
            // SAFETY: no other thread of the launch accesses these.
            unsafe {
                (*head).total = through;
                (*head).ready = 1;
            }
        }
    }
    sync_threads();
    // SAFETY: written before the barrier.
    let before = unsafe { of_warps().read(warp) } + running - sum;
    let keys = Keys { nodes, blocks: n.div_ceil(FANOUT) };
    // SAFETY: the caller's.
    unsafe { keys.write(tile * WIDTH + thread, before) };
    if tile == last {
        // SAFETY: one block has the last tile.
        unsafe { keys.fill(thread) };
    }
}

/// The nodes' elements.
#[derive(Clone, Copy)]
struct Keys {
    nodes: *mut u64,
    blocks: u32,
}

impl Keys {
    /// Writes the sum before block `block`: in level 0, and wherever the block is the first of an element.
    ///
    /// # Safety
    /// One thread has this block.
    #[inline(always)]
    unsafe fn write(self, block: u32, before: u64) {
        let (mut start, mut elements, mut at) = (0, self.blocks, block);
        while at < elements {
            // SAFETY: there is such an element.
            unsafe { *self.nodes.add(start + at as usize) = before };
            if elements <= FANOUT || at % FANOUT != 0 {
                break;
            }
            (start, elements, at) = above(start, elements, at);
        }
    }

    /// Writes the keys past the last one of each level.
    ///
    /// # Safety
    /// At least 16 threads come here, with their numbers, of one block.
    #[inline(always)]
    unsafe fn fill(self, thread: u32) {
        let (mut start, mut elements) = (0, self.blocks);
        loop {
            let at = elements + thread;
            if at < elements.next_multiple_of(FANOUT) {
                // SAFETY: there is such an element.
                unsafe { *self.nodes.add(start + at as usize) = NO_KEY };
            }
            if elements <= FANOUT {
                break;
            }
            (start, elements, _) = above(start, elements, 0);
        }
    }
}

/// The level above one that begins at element `start` and has `elements`, and the element above `at`.
#[inline(always)]
fn above(start: usize, elements: u32, at: u32) -> (usize, u32, u32) {
    (start + elements.next_multiple_of(FANOUT) as usize, elements.div_ceil(FANOUT), at / FANOUT)
}
