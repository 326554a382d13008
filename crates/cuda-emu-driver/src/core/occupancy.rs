//! How many blocks a multiprocessor holds. Threads, blocks and shared memory limit it; registers don't, since the
//! emulator has no allocation of them.

use super::device::{
    BLOCKS_PER_MULTIPROCESSOR, MULTIPROCESSORS, SHARED_PER_MULTIPROCESSOR, SHARED_RESERVED, THREADS_PER_MULTIPROCESSOR,
    WARP,
};
use super::module::Function;
use crate::error::{Result, invalid};

/// Blocks of `threads` threads and `dynamic` bytes of dynamic shared memory that a multiprocessor holds:
/// `min(most blocks, most threads / threads in whole warps, shared memory / that of a block and the system's share)`.
pub(crate) fn active_blocks(function: &Function, threads: i32, dynamic: u64) -> Result<i32> {
    let threads = u64::try_from(threads).ok().filter(|&threads| threads > 0);
    let threads = threads.ok_or_else(|| invalid!("a block without threads"))?;
    if threads > function.threads() || dynamic > function.dynamic_shared_bytes() {
        return Ok(0);
    }
    let by_threads = THREADS_PER_MULTIPROCESSOR as u64 / threads.next_multiple_of(WARP as u64);
    let by_shared = SHARED_PER_MULTIPROCESSOR as u64 / (function.info.shared_bytes + dynamic + SHARED_RESERVED as u64);
    Ok(by_threads.min(by_shared).min(BLOCKS_PER_MULTIPROCESSOR as u64) as i32)
}

/// The size of a block in threads that fills a multiprocessor best, the largest of them; and how many blocks fill the
/// device. `dynamic` gives the dynamic shared memory in bytes of a block of a size; 0 or less is no limit of the size.
pub(crate) fn best_block(function: &Function, dynamic: impl Fn(i32) -> u64, limit: i32) -> Result<(i32, i32)> {
    let most = function.threads() as i32;
    let most = if limit > 0 { most.min(limit) } else { most };
    let mut best = (0, 0, 0);
    let mut size = most;
    while size > 0 {
        let blocks = active_blocks(function, size, dynamic(size))?;
        if blocks * size > best.0 {
            best = (blocks * size, size, blocks);
        }
        // The largest size, then whole warps.
        size = (size - 1) / WARP * WARP;
    }
    match best {
        (0, ..) => Err(invalid!("no block of `{}` fits", function.info.name)),
        (_, size, blocks) => Ok((blocks * MULTIPROCESSORS, size)),
    }
}

/// Most dynamic shared memory in bytes with which a multiprocessor holds so many blocks of `threads` threads.
pub(crate) fn shared_for(function: &Function, blocks: i32, threads: i32) -> Result<u64> {
    if blocks <= 0 || active_blocks(function, threads, 0)? < blocks {
        return Err(invalid!("{blocks} blocks of {threads} threads don't fit"));
    }
    let share = (SHARED_PER_MULTIPROCESSOR / blocks - SHARED_RESERVED) as u64;
    Ok(share.saturating_sub(function.info.shared_bytes).min(function.dynamic_shared_bytes()))
}
