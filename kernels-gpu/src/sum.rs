//! Sums in the contract's order: chunks of 1,024 elements with 32 lanes, joined by trees of adjacent pairs.
//!
//! A sum takes a launch of `*_chunks_f32`, which leaves a sum for each chunk, and then launches of [`join_sums_f32`], each of
//! which leaves one for 1,024, until there is one: an aligned range of 1,024 is a subtree.

mod axis;
mod tree;

pub use axis::{join_parts_f32, sum_cols_f32, sum_rows_f32};

use crate::device::thread::{block_dim_x, block_idx_x, index_1d, sync_threads, thread_idx_x};
use crate::device::warp::{LANES, lane_id};
use crate::grouped::grouped;
use crate::join::join;
use crate::shared_array;
use arith::fma;
use arith::sum::CHUNK;

/// One warp a chunk, one thread a lane. `load` reads element i, `add` adds it to a lane.
///
/// # Safety
/// `out` holds ceil(n / 1024) elements; `load` may be called for i < n.
#[inline(always)]
unsafe fn chunks<T: Copy>(out: *mut f32, n: u32, load: impl Fn(usize) -> T, add: impl Fn(f32, T) -> f32) {
    let (chunk, lane) = (index_1d() / LANES as usize, lane_id());
    let start = chunk * CHUNK;
    let n = n as usize;
    let mut sum = 0.0;
    let end = if start + CHUNK < n { start + CHUNK } else { n };
    grouped(start + lane as usize, end, LANES as usize, load, |_, element| sum = add(sum, element));
    // Lanes without elements count as +0.
    // SAFETY: blocks are whole warps, and all lanes of one have come here.
    let sum = unsafe { join(sum, lane, LANES) };
    if lane == 0 && start < n {
        // SAFETY: there is such a chunk, and no other warp has it.
        unsafe { *out.add(chunk) = sum };
    }
}

/// `out[c]` = sum of chunk c of `x`.
///
/// `x`: (n); `out`: (ceil(n / 1024)). One warp a chunk.
///
/// # Safety
/// The crate's conventions.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn sum_chunks_f32(x: *const f32, out: *mut f32, n: u32) {
    // SAFETY: `load` is called for elements that there are.
    unsafe { chunks(out, n, |i| *x.add(i), |lane, x| lane + x) }
}

/// `out[c]` = sum of `x_i * y_i` over chunk c, each lane a chain of fused multiply-adds.
///
/// `x`, `y`: (n), which may be the same; `out`: (ceil(n / 1024)). One warp a chunk.
///
/// # Safety
/// The crate's conventions.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn dot_chunks_f32(x: *const f32, y: *const f32, out: *mut f32, n: u32) {
    // SAFETY: `load` is called for elements that there are.
    unsafe { chunks(out, n, |i| (*x.add(i), *y.add(i)), |lane, (x, y)| fma(x, y, lane)) }
}

shared_array!(
    /// The joined value of each warp.
    of_warps, "join_sums_of_warps": f32; 32
);

/// `out[g]` = sums `1024 g .. 1024 (g + 1)` of `sums`, joined by the tree of adjacent pairs.
///
/// `sums`: (n), n >= 1; `out`: (ceil(n / 1024)). One block of exactly 1,024 threads for 1,024 sums, one thread a sum.
///
/// # Safety
/// The crate's conventions.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn join_sums_f32(sums: *const f32, out: *mut f32, n: u32) {
    let (i, lane, warp) = (index_1d(), lane_id(), thread_idx_x() / LANES);
    let first = block_idx_x() as usize * block_dim_x() as usize;
    // Sums of this block, and of those the ones of this warp.
    let count = (n as usize).saturating_sub(first).min(CHUNK) as u32;
    let in_warp = count.saturating_sub(warp * LANES).min(LANES);
    let value = if lane < in_warp {
        // SAFETY: below n.
        unsafe { *sums.add(i) }
    } else {
        0.0
    };
    // SAFETY: all lanes have come here.
    let value = unsafe { join(value, lane, in_warp) };
    if lane == 0 {
        // SAFETY: there are 32 warps, and only this one writes its element.
        unsafe { of_warps().write(warp, value) };
    }
    sync_threads();
    if warp == 0 {
        // SAFETY: nothing is written after the barrier.
        let value = unsafe { of_warps().read(lane) };
        // SAFETY: the whole warp has come here.
        let value = unsafe { join(value, lane, count.div_ceil(LANES)) };
        if lane == 0 && count > 0 {
            // SAFETY: there is such a group, and no other block has it.
            unsafe { *out.add(block_idx_x() as usize) = value };
        }
    }
}
