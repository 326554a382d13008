//! All sums from the leaves.

use super::bins::{BINS, bin};
use super::head::{Head, follow, is_last, storage};
use crate::blocks::TILE;
use crate::device::atomic::fetch_add_u32;
use crate::device::thread::{block_dim_x, block_idx_x, sync_threads, thread_idx_x};
use crate::device::warp::LANES;
use crate::fault::{Fault, report};
use crate::levels::{Sum, build};
use crate::shared_array;
use arith::fixed::is_weight;

shared_array!(
    /// The block's leaves in each bin.
    counts, "seg_tree_survey_counts": u32; BINS
);

/// Counts the leaves' magnitudes, from which the scale follows; [`seg_tree_rebuild_f32`] comes next. For leaves that updates
/// haven't made: those of a new tree, or that the host or another kernel has written.
///
/// Changed: `leaves`: -0 becomes +0, and what isn't finite and >= 0 becomes 0 and is told in `status` ([`crate::fault`]);
/// `head`, whose [`Head::ready`] is 0 afterwards.
///
/// Blocks of 256 threads, one for 4,096 leaves.
///
/// # Safety
/// The crate's conventions, and `leaves` and `head` are as the module says.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn seg_tree_survey_f32(
    leaves: *mut f32,
    head: *mut Head,
    status: *mut u64,
    capacity: u32,
) {
    let (thread, width) = (thread_idx_x(), block_dim_x());
    each_bin(thread, width, |b| {
        // SAFETY: below BINS, and no other thread has this b.
        unsafe { counts().write(b, 0) };
    });
    sync_threads();
    let mut i = block_idx_x() as usize * TILE as usize + thread as usize;
    let mut end = (block_idx_x() as usize + 1) * TILE as usize;
    end = end.min(capacity as usize);
    while i < end {
        // SAFETY: below the capacity; this leaf is the thread's.
        let leaf = unsafe { *leaves.add(i) };
        let valid = is_weight(leaf);
        let clean = if valid { leaf + 0.0 } else { 0.0 };
        if clean.to_bits() != leaf.to_bits() {
            // SAFETY: as above.
            unsafe { *leaves.add(i) = clean };
        }
        if !valid {
            // SAFETY: the caller's.
            unsafe { report(status, Fault::Invalid(leaf), i as u32) };
        }
        // SAFETY: a weight has such a bin.
        unsafe { counts().add(bin(clean), 1) };
        i += width as usize;
    }
    sync_threads();
    // SAFETY: only atomic operations access the survey's bins before the last block is known.
    let survey = unsafe { (&raw mut (*head).survey).cast::<u32>() };
    each_bin(thread, width, |b| {
        // SAFETY: written before the barrier.
        let count = unsafe { counts().read(b) };
        if count != 0 {
            // SAFETY: below BINS.
            unsafe { fetch_add_u32(survey.add(b as usize), count) };
        }
    });
    // SAFETY: all threads come here.
    if unsafe { is_last(head) } {
        each_bin(thread, width, |b| {
            // SAFETY: all other blocks have finished, and no other thread has this b.
            unsafe {
                let bins = (&raw mut (*head).bins).cast::<u32>();
                *bins.add(b as usize) = survey.add(b as usize).replace(0);
            }
        });
        sync_threads();
        if thread < LANES {
            // SAFETY: the first warp of the last block.
            unsafe { follow(head, capacity) };
            if thread == 0 {
                // The sums may be those of other leaves.
                // SAFETY: no other thread writes it now.
                unsafe { (*head).ready = 0 };
            }
        }
    }
}

#[inline(always)]
fn each_bin(thread: u32, width: u32, mut visit: impl FnMut(u32)) {
    let mut b = thread;
    while (b as usize) < BINS {
        visit(b);
        b += width;
    }
}

/// Makes all sums from the leaves, at the scale that is shown; does nothing where [`Head::ready`] is 1.
///
/// Inputs: `leaves`. Changed: `nodes`, `head` (the module's text).
///
/// Blocks of 256 threads, one for 4,096 leaves.
///
/// # Safety
/// The crate's conventions, and the tree is as the module says.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn seg_tree_rebuild_f32(
    leaves: *const f32,
    nodes: *mut u64,
    head: *mut Head,
    capacity: u32,
) {
    // SAFETY: it changes only when all blocks have been here.
    if unsafe { (*head).ready } == 0 {
        // SAFETY: the caller's.
        unsafe { rebuild(leaves, nodes, head, capacity) };
    }
}

/// Makes all sums; true in all threads of the last block.
///
/// # Safety
/// As [`seg_tree_rebuild_f32`]; all threads come here.
#[inline(always)]
pub(super) unsafe fn rebuild(leaves: *const f32, nodes: *mut u64, head: *mut Head, capacity: u32) -> bool {
    // SAFETY: the caller's.
    let mut storage = unsafe { storage(head, capacity) };
    storage.store_as_shown();
    // SAFETY: the caller's.
    let total = unsafe { build(Sum(storage.stored()), leaves, nodes, capacity, &raw mut (*head).done) };
    if let Some(total) = total
        && thread_idx_x() == 0
    {
        // SAFETY: all other blocks have finished.
        unsafe {
            (*head).total = total;
            (*head).stored = storage.below().stored;
            (*head).ready = 1;
        }
    }
    total.is_some()
}
