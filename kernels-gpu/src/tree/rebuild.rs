//! All sums from the leaves.

use super::bins::{BINS, bin};
use super::head::{Head, follow, is_last, judge, storage};
use crate::blocks::TILE;
use crate::device::atomic::{fetch_add_u32, fetch_or_u32, load_u32};
use crate::device::thread::{block_dim_x, block_idx_x, sync_threads, sync_threads_or, thread_idx_x};
use crate::device::warp::LANES;
use crate::fault::{Fault, report};
use crate::grouped::grouped;
use crate::levels::{Sum, build};
use crate::shared_array;
use arith::fixed::is_weight;

shared_array!(
    /// The block's leaves in each bin.
    counts, "seg_tree_survey_counts": u32; BINS
);

/// Looks at new leaves and counts their magnitudes, from which the scale follows; [`seg_tree_load_f32`] comes next, with the
/// same arguments. For leaves that updates haven't made: those of a new tree, or that the host or another kernel has written.
///
/// Inputs: `source` (capacity), or if that is null `leaves` themselves. Changed: `head`, whose [`Head::ready`] is 0 afterwards;
/// `status` ([`crate::fault`]). If a leaf isn't finite and >= 0, nothing changes but `status` and [`Head::refused`].
///
/// Blocks of 256 threads, one for 4,096 leaves.
///
/// # Safety
/// The crate's conventions, and `leaves` and `head` are as the module says.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn seg_tree_survey_f32(
    source: *const f32,
    leaves: *const f32,
    head: *mut Head,
    status: *mut u64,
    capacity: u32,
) {
    let (thread, width) = (thread_idx_x(), block_dim_x());
    let source = if source.is_null() { leaves } else { source };
    each_bin(thread, width, |b| {
        // SAFETY: below BINS, and no other thread has this b.
        unsafe { counts().write(b, 0) };
    });
    sync_threads();
    let mut faulty = false;
    // SAFETY: below the capacity.
    let load = |i: usize| unsafe { *source.add(i) };
    each_leaf(capacity, load, |i, leaf| {
        if is_weight(leaf) {
            // SAFETY: a weight has such a bin. + 0 makes +0 of -0.
            unsafe { counts().add(bin(leaf + 0.0), 1) };
        } else {
            faulty = true;
            // SAFETY: the caller's.
            unsafe { report(status, Fault::Invalid(leaf), i as u32) };
        }
    });
    if sync_threads_or(faulty) && thread == 0 {
        // SAFETY: only atomic operations access it before the last block does.
        unsafe { fetch_or_u32(&raw mut (*head).faulty, 1) };
    }
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
        // SAFETY: all other blocks have finished.
        let refused = unsafe { load_u32(&raw const (*head).faulty) } != 0;
        each_bin(thread, width, |b| {
            // SAFETY: as above, and no other thread has this b.
            unsafe {
                let bins = (&raw mut (*head).bins).cast::<u32>();
                let count = survey.add(b as usize).replace(0);
                if !refused {
                    *bins.add(b as usize) = count;
                }
            }
        });
        // All have read the verdict.
        sync_threads();
        if thread < LANES {
            if !refused {
                // SAFETY: the first warp of the last block.
                unsafe { follow(head, capacity) };
            }
            if thread == 0 {
                // SAFETY: no other thread writes these now.
                unsafe {
                    judge(head);
                    if !refused {
                        // The sums may be those of other leaves.
                        (*head).ready = 0;
                    }
                }
            }
        }
    }
}

/// Calls `visit` with what `load` reads of the leaves of a block, each by one thread.
#[inline(always)]
fn each_leaf(capacity: u32, load: impl Fn(usize) -> f32, visit: impl FnMut(usize, f32)) {
    let first = block_idx_x() as usize * TILE as usize + thread_idx_x() as usize;
    let end = ((block_idx_x() as usize + 1) * TILE as usize).min(capacity as usize);
    grouped(first, end, block_dim_x() as usize, load, visit);
}

/// Takes the leaves that [`seg_tree_survey_f32`] has looked at, with the same arguments, unless it has refused them, and makes all
/// sums.
///
/// Inputs: `source`. Changed: `leaves`, in which -0 becomes +0; `nodes`, `head` (the module's text).
///
/// Blocks of 256 threads, one for 4,096 leaves.
///
/// # Safety
/// As [`seg_tree_survey_f32`], and `nodes` are those of the tree.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn seg_tree_load_f32(
    source: *const f32,
    leaves: *mut f32,
    nodes: *mut u64,
    head: *mut Head,
    capacity: u32,
) {
    // SAFETY: no launch changes it that makes no verdict.
    if unsafe { (*head).refused } != 0 {
        return;
    }
    let source = if source.is_null() { leaves.cast_const() } else { source };
    // SAFETY: below the capacity.
    let load = |i: usize| unsafe { *source.add(i) };
    each_leaf(capacity, load, |i, leaf| {
        // Leaves are weights even if another launch has changed the source since it was looked at.
        // SAFETY: as above; this leaf is the thread's.
        unsafe { *leaves.add(i) = if is_weight(leaf) { leaf + 0.0 } else { 0.0 } };
    });
    // The block reads what its threads have written.
    sync_threads();
    // SAFETY: the caller's; all threads come here.
    unsafe { rebuild(leaves, nodes, head, capacity) };
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
