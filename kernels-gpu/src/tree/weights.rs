//! Importance weights of what was drawn: `per-core`'s `Weights`, bit for bit.

use super::head::{Head, storage};
use super::ratio::ratio;
use crate::device::thread::{block_dim_x, index_1d, sync_threads, thread_idx_x};
use crate::device::warp::{LANES, lane_id, warp_reduce};
use crate::shared_array;

/// Writes `weight(mass)` for each of m masses; 0 where nothing was drawn.
///
/// # Safety
/// `masses` and `out` hold m.
#[inline(always)]
unsafe fn weigh(masses: *const u64, out: *mut f32, m: u32, weight: impl Fn(u64) -> f32) {
    let j = index_1d();
    if j < m as usize {
        // SAFETY: below m, and no other thread has this j.
        unsafe {
            let mass = *masses.add(j);
            *out.add(j) = if mass == 0 { 0.0 } else { weight(mass) };
        }
    }
}

/// `out[j] = (least / masses[j])^beta`, where the least is that of the smallest priority above zero: `Weights::OverBuffer`.
///
/// Inputs: `masses` (m), the weights that a draw gives; `head` (the module's text); `smallest` (1), the first key of a
/// [`min_tree`](super::min_tree_refresh_f32) over the leaves; `beta` (1). Output: `out` (m); 0 where the mass is 0.
///
/// # Safety
/// The crate's conventions, and the tree is as the module says.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn importance_weights_over_buffer_f32(
    masses: *const u64,
    head: *const Head,
    smallest: *const u32,
    beta: *const f32,
    out: *mut f32,
    capacity: u32,
    m: u32,
) {
    // SAFETY: the caller's.
    unsafe {
        let least = storage(head, capacity).shown().quantize(super::extremes::smallest(*smallest));
        let beta = *beta;
        weigh(masses, out, m, |mass| arith::powf(ratio(least, mass), beta));
    }
}

/// `out[j] = (n * (masses[j] / total))^-beta` with n items: `Weights::Unnormalized`.
///
/// Inputs: `masses` (m), the weights that a draw gives; `head` (the module's text), which counts items; `beta` (1). Output:
/// `out` (m); 0 where the mass is 0.
///
/// # Safety
/// The crate's conventions, and the tree is as the module says, with `raw`.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn importance_weights_unnormalized_f32(
    masses: *const u64,
    head: *const Head,
    beta: *const f32,
    out: *mut f32,
    capacity: u32,
    m: u32,
) {
    // SAFETY: the caller's.
    unsafe {
        let total = storage(head, capacity).reveal((*head).total);
        let (items, beta) = ((*head).present as f32, *beta);
        weigh(masses, out, m, |mass| arith::powf(items * ratio(mass, total), -beta));
    }
}

shared_array!(
    /// The least mass of each warp.
    of_warps, "importance_weights_of_warps": u64; 32
);

/// `out[j] = (least / masses[j])^beta`, where the least is that of the batch: `Weights::OverBatch`.
///
/// Inputs: `masses` (m), the weights that a draw gives; `beta` (1). Output: `out` (m); 0 where the mass is 0.
///
/// Every block finds the least of all masses itself, rather than wait for others: use blocks of 1,024 threads. At 65,536
/// draws these are 64 looks a thread.
///
/// # Safety
/// The crate's conventions.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn importance_weights_over_batch_f32(
    masses: *const u64,
    beta: *const f32,
    out: *mut f32,
    m: u32,
) {
    let mut least = u64::MAX;
    let mut j = thread_idx_x();
    while j < m {
        // SAFETY: below m.
        least = least.min(unsafe { *masses.add(j as usize) });
        j += block_dim_x();
    }
    // SAFETY: all lanes come here.
    let least = unsafe { warp_reduce(least, u64::min) };
    if lane_id() == 0 {
        // SAFETY: no other thread writes this element.
        unsafe { of_warps().write(thread_idx_x() / LANES, least) };
    }
    sync_threads();
    let warps = block_dim_x() / LANES;
    // SAFETY: written before the barrier.
    let own = if lane_id() < warps { unsafe { of_warps().read(lane_id()) } } else { u64::MAX };
    // SAFETY: all lanes come here.
    let least = unsafe { warp_reduce(own, u64::min) };
    // SAFETY: the caller's.
    unsafe {
        let beta = *beta;
        weigh(masses, out, m, |mass| arith::powf(ratio(least, mass), beta));
    }
}
