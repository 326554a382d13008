//! What a tree knows of its leaves as a whole.

use super::bins::{BINS, bin, exponent};
use super::scale::{Below, Storage};
use crate::device::atomic::{exchange_u32, fetch_add_u32, load_u32};
use crate::device::grid::is_last_block;
use crate::device::thread::thread_idx_x;
use crate::device::warp::{ALL, LANES, lane_id, sync_warp, warp_reduce};

/// The head of a tree: 2,272 bytes, aligned to 8, all zero before the first survey.
#[repr(C)]
pub struct Head {
    /// Sum of all leaves at the stored scale, modulo 2^64.
    pub total: u64,
    /// Updates so far.
    pub updates: u64,
    /// The largest leaf is below 2^shown: what the host's tree shows is at `Scale::below(shown, capacity)`.
    pub shown: i32,
    /// The same when the sums were made anew for the last time.
    pub stored: i32,
    /// 1 if the sums serve, 0 if they must be made anew before anything is drawn.
    pub ready: u32,
    /// Blocks of the present launch that have finished.
    pub done: u32,
    /// Bits of the largest priority (before alpha) that an update ever set.
    pub largest: u32,
    /// Items: leaves whose priority before alpha isn't [`ABSENT`](super::ABSENT). Updates keep it; whoever writes
    /// `raw` sets it.
    pub present: u32,
    /// 1 if something was wrong with the latest batch of updates, so that none of it was applied; otherwise 0.
    pub refused: u32,
    /// What [`refused`](Self::refused) will be, while a launch looks; 0 between launches.
    pub faulty: u32,
    /// Leaves in each bin of magnitude: `crates/per-core/src/tree/sum/bins.rs`.
    pub bins: [u32; BINS],
    /// The same while a survey counts.
    pub survey: [u32; BINS],
}

/// The two scales.
///
/// # Safety
/// `head` is a head, whose scales don't change now.
#[inline(always)]
pub(super) unsafe fn storage(head: *const Head, capacity: u32) -> Storage {
    // SAFETY: the caller's.
    let below = unsafe { Below { shown: (*head).shown, stored: (*head).stored } };
    Storage::of(below, capacity)
}

/// The largest priority that an update ever set, before alpha; 0 if none did.
///
/// # Safety
/// `head` is a head.
#[inline(always)]
pub(super) unsafe fn largest(head: *const Head) -> f32 {
    // SAFETY: the caller's; other blocks may be changing it.
    f32::from_bits(unsafe { load_u32(&raw const (*head).largest) })
}

/// A leaf changes from one priority to another.
///
/// # Safety
/// `head` is a head.
#[inline(always)]
pub(super) unsafe fn transfer(head: *mut Head, old: f32, new: f32) {
    let (from, to) = (bin(old), bin(new));
    if from != to {
        // SAFETY: leaves are weights, so there are such bins; in a launch of updates only atomic operations access them.
        unsafe {
            let bins = (&raw mut (*head).bins).cast::<u32>();
            fetch_add_u32(bins.add(from as usize), u32::MAX);
            fetch_add_u32(bins.add(to as usize), 1);
        }
    }
}

/// Ends a launch that has changed leaves: true in all threads of the last block, whose first warp calls [`follow`] then.
///
/// # Safety
/// As [`is_last_block`].
#[inline(always)]
pub(super) unsafe fn is_last(head: *mut Head) -> bool {
    // SAFETY: the caller's.
    unsafe { is_last_block(&raw mut (*head).done) }
}

/// The verdict of a launch that has looked at a batch.
///
/// # Safety
/// One thread of the last block comes here.
#[inline(always)]
pub(super) unsafe fn judge(head: *mut Head) {
    // SAFETY: all other blocks have finished; only atomic operations access it before.
    unsafe { (*head).refused = exchange_u32(&raw mut (*head).faulty, 0) };
}

/// Follows the leaves: scales, and whether the stored sums serve.
///
/// # Safety
/// The first warp of the last block comes here, all lanes. All leaves are counted.
#[inline(always)]
pub(super) unsafe fn follow(head: *mut Head, capacity: u32) {
    // SAFETY: the caller's.
    let mut storage = unsafe { storage(head, capacity) };
    // SAFETY: the caller's.
    let range = unsafe { range(head) };
    let serves = storage.follow(range);
    // SAFETY: the caller's.
    let bound = unsafe { bound(head, storage.stored().exponent()) };
    // All lanes have read what one of them writes.
    // SAFETY: all lanes come here.
    unsafe { sync_warp(ALL) };
    if thread_idx_x() == 0 {
        let below = storage.below();
        // SAFETY: all other blocks have finished, and no other thread writes these.
        unsafe {
            (*head).shown = below.shown;
            (*head).stored = below.stored;
            (*head).ready = u32::from(serves && bound <= 1 << 63);
        }
    }
}

/// Number of leaves in a bin.
///
/// # Safety
/// `head` is a head; b is below [`BINS`].
#[inline(always)]
unsafe fn count(head: *const Head, b: usize) -> u32 {
    // SAFETY: the caller's.
    unsafe { load_u32((&raw const (*head).bins).cast::<u32>().add(b)) }
}

/// The e of the smallest and of the largest leaf that isn't zero. In all lanes.
///
/// # Safety
/// As [`follow`].
#[inline(always)]
unsafe fn range(head: *const Head) -> Option<(i32, i32)> {
    let (mut low, mut high) = (u32::MAX, 0);
    let mut b = 1 + lane_id();
    while (b as usize) < BINS {
        // SAFETY: below BINS.
        if unsafe { count(head, b as usize) } != 0 {
            low = low.min(b);
            high = b;
        }
        b += LANES;
    }
    // SAFETY: all lanes come here.
    let (low, high) = unsafe { (warp_reduce(low, u32::min), warp_reduce(high, u32::max)) };
    (high != 0).then(|| (exponent(low as usize), exponent(high as usize)))
}

/// A bound of all leaves together, at the scale with exponent `scale`: 2^64 - 1 if it is no smaller. Never above 2^63 right
/// after sums have been made anew, since `capacity * 2^room <= 2^63`.
///
/// # Safety
/// As [`follow`].
#[inline(always)]
unsafe fn bound(head: *const Head, scale: i32) -> u64 {
    let mut bound = 0_u64;
    let mut b = 1 + lane_id();
    while (b as usize) < BINS {
        // A leaf of this bin is below 2^bits units; one that isn't zero has at least one.
        let bits = (exponent(b as usize) + scale).max(0) as u32;
        // SAFETY: below BINS.
        let count = u64::from(unsafe { count(head, b as usize) });
        let all = if count == 0 {
            0
        } else if bits <= count.leading_zeros() {
            count << bits
        } else {
            u64::MAX
        };
        bound = bound.saturating_add(all);
        b += LANES;
    }
    // SAFETY: all lanes come here.
    unsafe { warp_reduce(bound, u64::saturating_add) }
}
