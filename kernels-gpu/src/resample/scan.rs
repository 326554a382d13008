//! A single-pass scan over the counts of items: what comes before each is told to whoever has the item.

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
    /// The counts of each warp's items, then the counts before them, and the count before the tile.
    of_warps, "resample_scan_of_warps": u64; WARPS as usize + 1
);
shared_array!(
    /// The block's tile.
    taken, "resample_scan_taken": u32; 1
);

/// A warp's 32 consecutive items, one a lane.
#[derive(Clone, Copy)]
pub(super) struct Items {
    /// The first of them, a multiple of 32.
    pub(super) first: u32,
    /// Counts of the items up to and with this lane's.
    pub(super) through: u64,
}

/// Sums counts over the n items. `count(first)` is that of item `first + lane`, 0 past the last one, and `each` is called for
/// all items of a tile of [`TILE`]; both by all lanes of a warp. Then `finish(tile, before)` is called by all threads of the
/// block, with the counts before the tile.
///
/// Blocks of [`WIDTH`] threads, one for each tile.
///
/// # Safety
/// All threads come here; `work`, with its tiles, is as the module says.
#[inline(always)]
pub(super) unsafe fn scan(
    work: Work,
    n: u32,
    count: impl Fn(u32) -> u64,
    each: impl Fn(Items),
    finish: impl FnOnce(u32, u64),
) {
    let (thread, lane, warp) = (thread_idx_x(), lane_id(), thread_idx_x() / LANES);
    if thread == 0 {
        // Tiles are taken in order, so that all before one's own are taken by blocks that run or have finished.
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
            sum += count(first + row * LANES);
        }
        // SAFETY: all lanes come here.
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
            let first = first + row * LANES;
            // SAFETY: all lanes come here.
            let through = before + unsafe { warp_running_sum(count(first)) };
            // SAFETY: as above.
            before = unsafe { warp_shuffle_idx(ALL, through, LANES - 1, LANES) };
            each(Items { first, through });
        }
        sync_threads();
        finish(tile, before_tile);
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
