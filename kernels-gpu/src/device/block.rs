//! What all threads of a block do together.

use super::thread::{block_dim_x, sync_threads, thread_idx_x};
use super::warp::{ALL, LANES, lane_id, warp_running_sum, warp_shuffle_idx};
use crate::shared_array;

shared_array!(
    /// Each warp's sum.
    of_warps, "block_of_warps": u64; LANES as usize
);

/// The sum of the values of this thread and those before, and that of all.
///
/// # Safety
/// All threads of the block come here.
#[inline(always)]
pub unsafe fn running_sum(value: u64) -> (u64, u64) {
    let (warp, lane) = (thread_idx_x() / LANES, lane_id());
    // SAFETY: all lanes come here.
    let own = unsafe { warp_running_sum(value) };
    if lane == LANES - 1 {
        // SAFETY: no other thread writes this element.
        unsafe { of_warps().write(warp, own) };
    }
    sync_threads();
    let warps = block_dim_x() / LANES;
    // SAFETY: written before the barrier.
    let sum = if lane < warps { unsafe { of_warps().read(lane) } } else { 0 };
    // SAFETY: all lanes come here.
    let through = unsafe { warp_running_sum(sum) };
    // SAFETY: as above.
    let (before, all) = unsafe {
        (warp_shuffle_idx(ALL, through - sum, warp, LANES), warp_shuffle_idx(ALL, through, LANES - 1, LANES))
    };
    // The array may be written again.
    sync_threads();
    (before + own, all)
}

/// Sorts `count` keys, a power of two, and with them `values` unless that is null: a bitonic sort (K. Batcher, "Sorting
/// networks and their applications", AFIPS 1968), count/2 comparisons in each of log2(count) (log2(count) + 1) / 2 steps.
///
/// # Safety
/// All threads of the block come here, after a barrier; the arrays hold `count` and are the block's.
#[inline(always)]
pub unsafe fn sort(keys: *mut u64, values: *mut u64, count: u32) {
    let mut size = 2;
    while size <= count {
        let mut stride = size / 2;
        while stride > 0 {
            let mut i = thread_idx_x();
            while i < count / 2 {
                let low = (i & !(stride - 1)) << 1 | i & (stride - 1);
                let (a, b) = (low as usize, (low | stride) as usize);
                // SAFETY: below the count, and no other thread has this pair.
                unsafe {
                    let (first, second) = (*keys.add(a), *keys.add(b));
                    // Stretches of `size` ascend and descend by turns.
                    if (first > second) == (low & size == 0) {
                        *keys.add(a) = second;
                        *keys.add(b) = first;
                        if !values.is_null() {
                            core::ptr::swap(values.add(a), values.add(b));
                        }
                    }
                }
                i += block_dim_x();
            }
            sync_threads();
            stride /= 2;
        }
        size *= 2;
    }
}
