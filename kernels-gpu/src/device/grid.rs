//! What the blocks of a launch can know of each other. They run in any order, perhaps one after the other: none may wait for
//! one that may not have begun.

use super::atomic::{exchange_u32, fetch_add_u32};
use super::thread::{device_fence, grid_dim_x, sync_threads, sync_threads_or, thread_idx_x};

/// Whether all other blocks have come here before: true in all threads of one block of the launch, which then sees what all
/// blocks wrote before they came. It is how a launch ends with work that needs all the rest.
///
/// `done`: the number of blocks that have come; 0 between launches.
///
/// # Safety
/// All threads of all blocks come here, once a launch. `done` is valid, aligned to 4 bytes, and nothing else's.
#[inline(always)]
pub unsafe fn is_last_block(done: *mut u32) -> bool {
    // SAFETY: the caller's.
    unsafe { is_last_of(done, grid_dim_x()) }
}

/// [`is_last_block`] of `blocks` blocks, where the others have nothing to do.
///
/// # Safety
/// As of [`is_last_block`], for so many blocks.
#[inline(always)]
pub unsafe fn is_last_of(done: *mut u32, blocks: u32) -> bool {
    sync_threads();
    let mut last = false;
    if thread_idx_x() == 0 {
        // What the block has written comes before its arrival.
        device_fence();
        // SAFETY: the caller's.
        last = unsafe { fetch_add_u32(done, 1) } == blocks - 1;
        if last {
            // SAFETY: nobody else comes.
            unsafe { exchange_u32(done, 0) };
            // And what the others have written, before this one reads.
            device_fence();
        }
    }
    sync_threads_or(last)
}
