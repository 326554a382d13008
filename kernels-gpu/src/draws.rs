//! Which random words draws take.

use crate::device::grid::is_last_block;
use crate::device::thread::thread_idx_x;
use arith::random::Stream;

/// Where a stream is: its next block, in memory, so that a graph which is launched again draws anew.
#[repr(C)]
pub struct Position {
    /// The block of the next draw.
    pub next: u64,
    /// Blocks of threads of the present launch that have finished; 0 between launches.
    pub done: u32,
    /// Nothing.
    pub unused: u32,
}

/// The words of a launch: number j is made of the first two words of block `next + j`, the low half first (indices wrap at
/// 2^64), as everywhere in `per-core`; or the caller's.
#[derive(Clone, Copy)]
pub struct Words {
    stream: Stream,
    first: u64,
    /// Null for those of the stream.
    given: *const u64,
}

impl Words {
    /// Those from `position` on.
    ///
    /// # Safety
    /// It is a position that nothing changes before [`advance`].
    #[inline(always)]
    pub unsafe fn from(position: *const Position, seed: u64, stream: u64) -> Self {
        // SAFETY: the caller's.
        Self { stream: Stream::new(seed, stream), first: unsafe { (*position).next }, given: core::ptr::null() }
    }

    /// The caller's words, if this isn't null.
    #[inline(always)]
    pub fn or(self, given: *const u64) -> Self {
        Self { given, ..self }
    }

    /// Word number j.
    ///
    /// # Safety
    /// There are as many, if they are the caller's.
    #[inline(always)]
    pub unsafe fn word(self, j: u64) -> u64 {
        if !self.given.is_null() {
            // SAFETY: the caller's.
            return unsafe { *self.given.add(j as usize) };
        }
        let [low, high, ..] = self.stream.block(self.first.wrapping_add(j));
        u64::from(high) << 32 | u64::from(low)
    }
}

/// Goes on by `words`, once all blocks have come here.
///
/// # Safety
/// All threads of all blocks come here, once a launch, and don't read the position afterwards.
#[inline(always)]
pub unsafe fn advance(position: *mut Position, words: u32) {
    // SAFETY: the caller's.
    unsafe {
        if is_last_block(&raw mut (*position).done) && thread_idx_x() == 0 {
            (*position).next = (*position).next.wrapping_add(u64::from(words));
        }
    }
}
