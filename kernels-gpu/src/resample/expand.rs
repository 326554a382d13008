//! From the number of draws that items have to the item of each draw: a single-pass scan whose tiles write what is theirs.

use super::Work;
use crate::blocks::{FANOUT, TILE, WIDTH};
use crate::device::atomic::{exchange_u32, fetch_add_u32, store_u64};
use crate::device::grid::is_last_block;
use crate::device::look_back::look_back;
use crate::device::thread::{block_dim_x, sync_threads, thread_idx_x};
use crate::device::warp::{ALL, LANES, lane_id, warp_reduce, warp_running_sum, warp_shuffle_idx};
use crate::shared_array;

/// Warps of a block.
const WARPS: u32 = WIDTH / LANES;

shared_array!(
    /// Draws up to and with each item of the tile.
    ends, "resample_expand_ends": u32; TILE as usize
);
shared_array!(
    /// The counts of each warp's items, then the counts before them, and the count before the tile.
    of_warps, "resample_expand_of_warps": u64; WARPS as usize + 1
);
shared_array!(
    /// The block's tile.
    taken, "resample_expand_taken": u32; 1
);

/// Items with a count each, from which follows which draws are theirs.
pub(super) trait Items: Copy {
    /// The count of item `first + lane`; 0 past the last item.
    ///
    /// # Safety
    /// All lanes of a warp come here, with the same `first`, a multiple of 32.
    unsafe fn count(self, first: u32) -> u64;

    /// Draws of the items up to and with item `first + lane`, whose counts sum to `counts`.
    ///
    /// # Safety
    /// As of [`count`](Self::count).
    unsafe fn end(self, first: u32, counts: u64) -> u32;

    /// Draws of the items before item `first`, which begins a tile, whose counts sum to `counts`.
    ///
    /// # Safety
    /// There is such an item.
    unsafe fn start(self, first: u32, counts: u64) -> u32;
}

/// Writes the item of each draw: `out[o]` is the first whose end is above o. Blocks of [`WIDTH`] threads, one for each tile
/// of [`TILE`] of the n items.
///
/// # Safety
/// All threads come here; `work`, with its tiles, is as the module says; ends don't fall, and `out` holds the last of them.
#[inline(always)]
pub(super) unsafe fn expand(items: impl Items, work: Work, out: *mut u32, n: u32) {
    let (thread, lane, warp) = (thread_idx_x(), lane_id(), thread_idx_x() / LANES);
    if thread == 0 {
        // SAFETY: only atomic operations access it; no other thread writes the element.
        unsafe { taken().write(0, fetch_add_u32(work.words, 1)) };
    }
    sync_threads();
    // SAFETY: nothing is written after the barrier.
    let tile = unsafe { taken().read(0) };
    let tiles = n.div_ceil(TILE);
    if tile < tiles {
        // Those of the warp: 512, 32 at a time.
        let first = tile * TILE + warp * LANES * FANOUT;
        let mut sum = 0;
        for row in 0..FANOUT {
            // SAFETY: all lanes come here.
            sum += unsafe { items.count(first + row * LANES) };
        }
        // SAFETY: as above.
        let sum = unsafe { warp_reduce(sum, u64::wrapping_add) };
        if lane == 0 {
            // SAFETY: no other thread writes this element.
            unsafe { of_warps().write(warp, sum) };
        }
        sync_threads();
        if warp == 0 {
            // SAFETY: written before the barrier.
            let sum = if lane < WARPS { unsafe { of_warps().read(lane) } } else { 0 };
            // SAFETY: the whole warp comes here; tiles are taken in order.
            let (before, through) = unsafe { look_back(work.tiles, tile, sum) };
            if lane <= WARPS {
                // SAFETY: only this thread has read this element.
                unsafe { of_warps().write(lane, if lane < WARPS { through - sum } else { before }) };
            }
        }
        sync_threads();
        // SAFETY: written before the barrier.
        let (mut before, before_tile) = unsafe { (of_warps().read(warp), of_warps().read(WARPS)) };
        for row in 0..FANOUT {
            // SAFETY: all lanes come here.
            unsafe {
                let running = before + warp_running_sum(items.count(first + row * LANES));
                before = warp_shuffle_idx(ALL, running, LANES - 1, LANES);
                let end = items.end(first + row * LANES, running);
                ends().write((warp * FANOUT + row) * LANES + lane, end);
            }
        }
        sync_threads();
        // SAFETY: written before the barrier.
        unsafe { write(out, tile, items.start(tile * TILE, before_tile)) };
    }
    // SAFETY: all threads come here.
    if unsafe { is_last_block(work.words.add(1)) } {
        // For the next launch.
        let mut word = thread;
        while word < 2 * tiles {
            // SAFETY: all other blocks have finished.
            unsafe { store_u64(work.tiles.add(word as usize), 0) };
            word += block_dim_x();
        }
        if thread == 0 {
            // SAFETY: as above.
            unsafe { exchange_u32(work.words, 0) };
        }
    }
}

/// Writes the draws of a tile from number `start` on.
///
/// # Safety
/// All threads of the block come here, and `ends` has the tile's.
#[inline(always)]
unsafe fn write(out: *mut u32, tile: u32, start: u32) {
    // SAFETY: nothing is written after the barrier; below the length, here and below.
    let end = unsafe { ends().read(TILE - 1) };
    let mut draw = start + thread_idx_x();
    while draw < end {
        // The number of ends that are at most the draw's number.
        let (mut item, mut half) = (0, TILE / 2);
        while half > 0 {
            // SAFETY: as above.
            item += if unsafe { ends().read(item + half - 1) } <= draw { half } else { 0 };
            half /= 2;
        }
        // SAFETY: the draw is this tile's.
        unsafe { *out.add(draw as usize) = tile * TILE + item };
        draw += block_dim_x();
    }
}
