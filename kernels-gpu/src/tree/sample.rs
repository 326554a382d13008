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

/// What all draws read.
#[derive(Clone, Copy)]
struct Tree {
    leaves: *const f32,
    nodes: *const u64,
    total: *const u64,
    capacity: u32,
    largest: f32,
    scale_leaves: u32,
}

/// The Philox blocks of the draws.
#[derive(Clone, Copy)]
struct Blocks {
    stream: Stream,
    first: u64,
}

/// Makes draw number j of m. `threshold` makes a threshold below the total out of j, an integer draw below the total, and
/// the total.
///
/// # Safety
/// As the kernels.
#[inline(always)]
unsafe fn draw(
    tree: Tree,
    blocks: Blocks,
    out: (*mut u32, *mut u64),
    m: u32,
    threshold: impl Fn(u32, u64, u64) -> u64,
) {
    let j = number();
    // SAFETY: (1).
    let total = unsafe { *tree.total };
    let [low, high, ..] = blocks.stream.block(blocks.first.wrapping_add(j as u64));
    let drawn = bounded(u64::from(high) << 32 | u64::from(low), total);
    // Halves without work make the last draw.
    let threshold = threshold((j as u32).min(m.saturating_sub(1)), drawn, total);
    let scale = scale(tree.largest, tree.scale_leaves);
    // SAFETY: all lanes come here.
    let found = unsafe { descend(tree.leaves, tree.nodes, tree.capacity, scale, threshold) };
    // SAFETY: the caller's.
    unsafe { write(found, total > 0, out, j, m) }
}

/// `floor((j * total + drawn) / m)` for j < m and drawn < total (or all of them 0), which is below the total.
#[inline(always)]
fn stratum(j: u32, drawn: u64, total: u64, m: u32) -> u64 {
    let numerator = u128::from(j) * u128::from(total) + u128::from(drawn);
    // Below 2^95. Long division by digits of 32 bits: a 128-bit division is a call.
    let m = u64::from(m.max(1));
    let high = (numerator >> 64) as u64 % m;
    let middle = high << 32 | (numerator >> 32) as u64 & 0xffff_ffff;
    let low = middle % m << 32 | numerator as u64 & 0xffff_ffff;
    middle / m << 32 | low / m
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
    let tree = Tree { leaves, nodes, total, capacity, largest, scale_leaves };
    let blocks = Blocks { stream: Stream::new(seed, stream), first: first_index };
    // SAFETY: the caller's.
    unsafe { draw(tree, blocks, (out, weights), m, |_, drawn, _| drawn) }
}

/// One draw from each of m equal strata of the mass, in ascending order: `SumTree::sample_stratified`.
///
/// Parameters and blocks of the stream as of [`seg_tree_sample_f32`].
///
/// # Safety
/// As [`seg_tree_sample_f32`].
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn seg_tree_sample_stratified_f32(
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
    let tree = Tree { leaves, nodes, total, capacity, largest, scale_leaves };
    let blocks = Blocks { stream: Stream::new(seed, stream), first: first_index };
    // SAFETY: the caller's.
    unsafe { draw(tree, blocks, (out, weights), m, |j, drawn, total| stratum(j, drawn, total, m)) }
}
