//! Sums over all tiles before one, while these are being made: the single-pass scan of D. Merrill and M. Garland,
//! "Single-pass Parallel Prefix Scan with Decoupled Look-back" (NVIDIA NVR-2016-002).

use super::atomic::{load_u64, store_u64};
use super::warp::{ALL, LANES, lane_id, warp_reduce, warp_running_sum, warp_shuffle_idx, warp_vote_ballot};

/// Bit of a word that has been published. Sums are below 2^63, so that flag and sum are one word, and no fence is needed.
const PUBLISHED: u64 = 1 << 63;

/// For each lane of a warp that has tile `tile`, with the lanes' sums of it: the sum of all tiles before, and that of all up to
/// and with this lane's part. All together below 2^63.
///
/// `tiles`: (tiles, 2), zero at the beginning of the launch: the sum of each, and the sum of all up to and with it.
///
/// # Safety
/// All lanes of one warp come here, for each tile one warp of the launch. Tiles before this one are those of blocks that run or
/// have finished.
#[inline(always)]
pub unsafe fn look_back(tiles: *mut u64, tile: u32, sum: u64) -> (u64, u64) {
    let lane = lane_id();
    // SAFETY: all lanes come here.
    let (running, own) = unsafe {
        let running = warp_running_sum(sum);
        (running, warp_shuffle_idx(ALL, running, LANES - 1, LANES))
    };
    let word = |tile: u32, which: usize| {
        // SAFETY: there is such a tile.
        unsafe { tiles.add(2 * tile as usize + which) }
    };
    if lane == 0 && tile > 0 {
        // SAFETY: only atomic operations access these.
        unsafe { store_u64(word(tile, 0), own | PUBLISHED) };
    }
    let (mut before, mut end) = (0, tile);
    // 32 tiles at a time, the nearest first.
    while end > 0 {
        // A tile before the first one: nothing, and all of it.
        let (mut part, mut whole) = (0, true);
        if lane < end {
            (part, whole) = loop {
                // SAFETY: as above.
                let (through, alone) =
                    unsafe { (load_u64(word(end - 1 - lane, 1)), load_u64(word(end - 1 - lane, 0))) };
                if through & PUBLISHED != 0 {
                    break (through, true);
                }
                if alone & PUBLISHED != 0 {
                    break (alone, false);
                }
            };
        }
        // SAFETY: all lanes come here.
        let found = unsafe { warp_vote_ballot(ALL, whole) };
        // The nearest with all before it, and those that are nearer.
        let counts = lane <= found.trailing_zeros();
        // SAFETY: as above.
        before += unsafe { warp_reduce(if counts { part & !PUBLISHED } else { 0 }, u64::wrapping_add) };
        if found != 0 {
            break;
        }
        end -= LANES;
    }
    if lane == 0 {
        // SAFETY: as above.
        unsafe { store_u64(word(tile, 1), (before + own) | PUBLISHED) };
    }
    (before, before + running)
}
