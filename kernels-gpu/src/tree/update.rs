//! Updates from temporal-difference errors.

use super::{FANOUT, FANOUT_BITS, scale};
use crate::device::atomic::{fetch_add_u64, fetch_or_u32};
use crate::device::thread::{block_dim_x, block_idx_x, sync_threads, thread_idx_x};
use crate::device::warp::{ALL, LANES, lane_id, warp_shuffle_xor};
use crate::shared_array;

/// Bit of `status`: an index isn't below the capacity.
pub const INDEX_OUT_OF_RANGE: u32 = 1;
/// Bit of `status`: a priority isn't finite and >= 0, or the scale has no room for it.
pub const PRIORITY_OUT_OF_RANGE: u32 = 2;

shared_array!(
    /// The indices that the block compares its own with.
    later, "seg_tree_update_later": u32; 1024
);

/// Sets leaf `indices[j]` to `(|td[j]| + eps)^alpha` and all sums above it. Of those for one leaf the last counts.
///
/// Inputs: `indices` (m), `td` (m). Changed: `leaves`, `nodes`, `total` (the module's text); `status` (1) gets the bits
/// [`INDEX_OUT_OF_RANGE`] and [`PRIORITY_OUT_OF_RANGE`] where they apply, and the leaf of such an update stays as it is.
///
/// One thread an update, blocks of up to 1,024 threads. Each compares its index with all later ones, so the work grows with
/// m^2: meant for batches up to some 10^4.
///
/// # Safety
/// The crate's conventions; m >= 1 and the tree are as the module says.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn seg_tree_update_f32(
    leaves: *mut f32,
    nodes: *mut u64,
    total: *mut u64,
    status: *mut u32,
    indices: *const u32,
    td: *const f32,
    capacity: u32,
    m: u32,
    alpha: f32,
    eps: f32,
    largest: f32,
    scale_leaves: u32,
) {
    let first = block_idx_x() * block_dim_x();
    let j = first + thread_idx_x();
    // SAFETY: j < m.
    let index = if j < m { unsafe { *indices.add(j as usize) } } else { u32::MAX };
    // SAFETY: all threads of the block come here.
    let mut counts = !unsafe { is_repeated(indices, m, first, j, index) } && j < m;
    let mut difference = 0;
    if counts && index >= capacity {
        // SAFETY: `status` is accessed by atomic operations only.
        unsafe { fetch_or_u32(status, INDEX_OUT_OF_RANGE) };
        counts = false;
    }
    if counts {
        let scale = scale(largest, scale_leaves);
        // SAFETY: j < m.
        let td = unsafe { *td.add(j as usize) };
        // + 0 makes +0 of -0.
        let new = arith::powf(td.abs() + eps, alpha) + 0.0;
        if scale.fits(new) {
            // SAFETY: below the capacity; this thread alone has the last update of this leaf.
            let old = unsafe { leaves.add(index as usize).replace(new) };
            difference = scale.quantize(new).wrapping_sub(scale.quantize(old));
            // SAFETY: below the capacity.
            unsafe { add_above(nodes, capacity, index, difference) };
        } else {
            // SAFETY: `status` is accessed by atomic operations only.
            unsafe { fetch_or_u32(status, PRIORITY_OUT_OF_RANGE) };
        }
    }
    // One addition a warp to the word that all of them change.
    let mut lanes = LANES / 2;
    while lanes > 0 {
        // SAFETY: all lanes come here.
        difference = difference.wrapping_add(unsafe { warp_shuffle_xor(ALL, difference, lanes, LANES) });
        lanes /= 2;
    }
    if lane_id() == 0 && difference != 0 {
        // SAFETY: `total` is accessed by atomic operations only.
        unsafe { fetch_add_u64(total, difference) };
    }
}

/// Whether `index`, number j, comes again after j. `first`: number of the block's first thread.
///
/// # Safety
/// All threads of the block come here; `indices` holds m.
#[inline(always)]
unsafe fn is_repeated(indices: *const u32, m: u32, first: u32, j: u32, index: u32) -> bool {
    let (width, thread) = (block_dim_x(), thread_idx_x());
    let mut repeated = false;
    let mut tile = first;
    while tile < m {
        let k = tile + thread;
        // SAFETY: k < m; the element is this thread's.
        unsafe { later().write(thread, if k < m { *indices.add(k as usize) } else { u32::MAX }) };
        sync_threads();
        let count = if m - tile < width { m - tile } else { width };
        for k in 0..count {
            // SAFETY: k < 1024, and nothing is written between the barriers.
            let other = unsafe { later().read(k) };
            repeated |= (other == index) & (tile + k > j);
        }
        sync_threads();
        tile += width;
    }
    repeated
}

/// Adds `difference` to the sums above leaf `index`.
///
/// # Safety
/// `index` is below the capacity of the tree whose nodes these are.
#[inline(always)]
unsafe fn add_above(nodes: *mut u64, capacity: u32, index: u32, difference: u64) {
    let mut width = capacity.div_ceil(FANOUT);
    let mut element = index >> FANOUT_BITS;
    let mut start = 0_usize;
    loop {
        width = width.div_ceil(FANOUT);
        // SAFETY: the level has `width` nodes, and the element is in one of them; sums are accessed by atomic operations
        // only.
        unsafe { fetch_add_u64(nodes.add(start * FANOUT as usize + element as usize), difference) };
        if width <= 1 {
            break;
        }
        start += width as usize;
        element >>= FANOUT_BITS;
    }
}
