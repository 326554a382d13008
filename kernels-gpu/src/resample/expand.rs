//! From the number of draws that items have to the item of each draw.

use super::Work;
use super::scan::{Items, scan};
use crate::blocks::TILE;
use crate::cdf::NOTHING;
use crate::device::thread::{block_dim_x, thread_idx_x};
use crate::device::warp::lane_id;
use crate::shared_array;

shared_array!(
    /// Draws up to and with each item of the tile.
    ends, "resample_expand_ends": u32; TILE as usize
);

/// Items with a count each, from which follows which draws are theirs.
pub(super) trait Draws: Copy {
    /// The count of item `first + lane`; 0 past the last item.
    ///
    /// # Safety
    /// All lanes of a warp come here, with the same `first`, a multiple of 32.
    unsafe fn count(self, first: u32) -> u64;

    /// Draws of the items up to and with item `first + lane`, whose counts sum to `counts`; those of all items past the last.
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

/// Writes the item of each of m draws: `out[o]` is the first of n whose end is above o, or [`NOTHING`] if there is none.
/// Blocks of 256 threads, one for each tile of [`TILE`] items, which write what is their tile's.
///
/// # Safety
/// All threads come here; `work`, with its tiles, is as the module says; ends don't fall, and `out` holds m.
#[inline(always)]
pub(super) unsafe fn expand(draws: impl Draws, work: Work, out: *mut u32, n: u32, m: u32) {
    // SAFETY: all lanes call it.
    let count = |first| unsafe { draws.count(first) };
    let each = |Items { first, through }| {
        // SAFETY: all lanes call it; no other thread has this element.
        unsafe { ends().write(first % TILE + lane_id(), draws.end(first, through)) };
    };
    let finish = |tile: u32, before: u64| {
        // SAFETY: there is such a tile, and all of its ends are written.
        unsafe {
            write(out, tile, draws.start(tile * TILE, before).min(m), m);
            if tile == n.div_ceil(TILE) - 1 {
                fill(out, ends().read(TILE - 1), m);
            }
        }
    };
    // SAFETY: the caller's.
    unsafe { scan(work, n, count, each, finish) }
}

/// Writes the draws of a tile from number `start` on.
///
/// # Safety
/// All threads of the block come here, and `ends` has the tile's.
#[inline(always)]
unsafe fn write(out: *mut u32, tile: u32, start: u32, m: u32) {
    // SAFETY: nothing is written after the barrier; below the length, here and below.
    let end = unsafe { ends().read(TILE - 1) }.min(m);
    let mut draw = start + thread_idx_x();
    while draw < end {
        // The number of ends that are at most the draw's number.
        let (mut item, mut half) = (0, TILE / 2);
        while half > 0 {
            // SAFETY: as above.
            item += if unsafe { ends().read(item + half - 1) } <= draw { half } else { 0 };
            half /= 2;
        }
        // SAFETY: below m, and this tile's.
        unsafe { *out.add(draw as usize) = tile * TILE + item };
        draw += block_dim_x();
    }
}

/// Draws from number `start` on are of nothing.
///
/// # Safety
/// All threads of a block come here.
#[inline(always)]
unsafe fn fill(out: *mut u32, start: u32, m: u32) {
    let mut draw = start + thread_idx_x();
    while draw < m {
        // SAFETY: below m, and no tile's.
        unsafe { *out.add(draw as usize) = NOTHING };
        draw += block_dim_x();
    }
}

/// Counts that are all there is.
#[derive(Clone, Copy)]
struct Counts {
    counts: *const u32,
    n: u32,
}

impl Draws for Counts {
    #[inline(always)]
    unsafe fn count(self, first: u32) -> u64 {
        let i = first + lane_id();
        // SAFETY: below n.
        if i < self.n { u64::from(unsafe { *self.counts.add(i as usize) }) } else { 0 }
    }

    #[inline(always)]
    unsafe fn end(self, _: u32, counts: u64) -> u32 {
        counts as u32
    }

    #[inline(always)]
    unsafe fn start(self, _: u32, counts: u64) -> u32 {
        counts as u32
    }
}

/// Writes item i `counts[i]` times, in ascending order: `resample::expand`. The third launch of residual resampling with
/// independent draws.
///
/// Inputs: `counts` (n), which sum to m. Scratch: `tiles`, `work` (the module's text). Output: `out` (m), items; `u32::MAX` where
/// the counts sum to less, and nothing is written beyond m where they sum to more (but below 2^32).
///
/// Blocks of 256 threads, ceil(n / 4096) of them.
///
/// # Safety
/// The crate's conventions.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn resample_expand_u32(
    counts: *const u32,
    tiles: *mut u64,
    work: *mut u32,
    out: *mut u32,
    n: u32,
    m: u32,
) {
    // SAFETY: the caller's.
    unsafe { expand(Counts { counts, n }, Work { tiles, words: work }, out, n, m) }
}
