//! Draws, and searches for given thresholds. Half a warp each, so the grid has 16 threads for each; blocks are whole warps.

use super::descend::{Found, descend};
use super::{FANOUT, scale};
use crate::device::thread::index_1d;
use crate::device::warp::lane_id;
use arith::fixed::bounded;
use arith::random::Stream;

/// Index of a draw where there is nothing to draw.
pub const NOTHING: u32 = u32::MAX;

/// Which draw the half-warp makes.
#[inline(always)]
fn number() -> usize {
    index_1d() / FANOUT as usize
}

/// Writes what was found for number j, by one lane.
///
/// # Safety
/// `out` and `weights` hold m elements.
#[inline(always)]
unsafe fn write(found: Found, any: bool, (out, weights): (*mut u32, *mut u64), j: usize, m: u32) {
    if j < m as usize && lane_id() % FANOUT == 0 {
        // SAFETY: j < m, and no other half-warp has this j.
        unsafe {
            *out.add(j) = if any { found.leaf } else { NOTHING };
            *weights.add(j) = if any { found.weight } else { 0 };
        }
    }
}

/// `out[j]` is the leaf that holds `thresholds[j]`, and `weights[j]` its priority in fixed point.
///
/// Inputs: `leaves`, `nodes` (the module's text), `thresholds` (m), each below the total. Outputs: `out` (m), `weights` (m).
///
/// # Safety
/// The crate's conventions, and the tree is as the module says.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn seg_tree_find_f32(
    leaves: *const f32,
    nodes: *const u64,
    thresholds: *const u64,
    out: *mut u32,
    weights: *mut u64,
    capacity: u32,
    m: u32,
    largest: f32,
    scale_leaves: u32,
) {
    let j = number();
    // SAFETY: j < m. Halves without work search too, since warps go together.
    let threshold = if j < m as usize { unsafe { *thresholds.add(j) } } else { 0 };
    // SAFETY: all lanes come here.
    let found = unsafe { descend(leaves, nodes, capacity, scale(largest, scale_leaves), threshold) };
    // SAFETY: the caller's.
    unsafe { write(found, true, (out, weights), j, m) }
}

/// Independent draws, leaf i with probability `weight(i) / total`: `SumTree::sample`.
///
/// Inputs: `leaves`, `nodes`, `total` (the module's text). Outputs: `out` (m), leaves, or [`NOTHING`] if the total is 0;
/// `weights` (m), their priorities in fixed point. Draw j takes block `first_index + j` of the Philox stream (`seed`,
/// `stream`).
///
/// # Safety
/// The crate's conventions, and the tree is as the module says.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn seg_tree_sample_f32(
    leaves: *const f32,
    nodes: *const u64,
    total: *const u64,
    out: *mut u32,
    weights: *mut u64,
    capacity: u32,
    m: u32,
    largest: f32,
    scale_leaves: u32,
    seed: u64,
    stream: u64,
    first_index: u64,
) {
    let j = number();
    // SAFETY: (1).
    let total = unsafe { *total };
    let [low, high, ..] = Stream::new(seed, stream).block(first_index.wrapping_add(j as u64));
    let threshold = bounded(u64::from(high) << 32 | u64::from(low), total);
    // SAFETY: all lanes come here.
    let found = unsafe { descend(leaves, nodes, capacity, scale(largest, scale_leaves), threshold) };
    // SAFETY: the caller's.
    unsafe { write(found, total > 0, (out, weights), j, m) }
}
