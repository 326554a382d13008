//! Draws, and searches for given thresholds. Half a warp each, so the grid has 16 threads for each.

use super::descend::{Found, descend};
use super::head::{Head, storage};
use super::scale::Storage;
use crate::blocks::FANOUT;
use crate::device::thread::index_1d;
use crate::device::warp::lane_id;
use crate::draws::{Position, Words, advance};
use crate::fault::{Fault, report};
use crate::strata::in_stratum;
use arith::fixed::bounded;

/// Index of a draw where there is nothing to draw.
pub const NOTHING: u32 = u32::MAX;

/// What all searches read.
#[derive(Clone, Copy)]
pub(super) struct Tree {
    pub(super) leaves: *const f32,
    pub(super) nodes: *const u64,
    pub(super) head: *const Head,
    pub(super) capacity: u32,
}

impl Tree {
    /// The two scales.
    ///
    /// # Safety
    /// As the kernels.
    #[inline(always)]
    pub(super) unsafe fn storage(self) -> Storage {
        // SAFETY: the caller's.
        unsafe { storage(self.head, self.capacity) }
    }

    /// The sum of all leaves at the shown scale, 0 where the sums don't serve.
    ///
    /// # Safety
    /// As the kernels.
    #[inline(always)]
    pub(super) unsafe fn total(self, storage: Storage) -> u64 {
        // SAFETY: the caller's.
        unsafe { if (*self.head).ready != 0 { storage.reveal((*self.head).total) } else { 0 } }
    }
}

/// Makes search number j of m, by half a warp. `threshold` makes a threshold below the total out of j and the total.
///
/// # Safety
/// As the kernels.
#[inline(always)]
unsafe fn search(tree: Tree, (out, weights): (*mut u32, *mut u64), m: u32, threshold: impl Fn(u32, u64) -> u64) -> u64 {
    let j = (index_1d() / FANOUT as usize) as u32;
    // SAFETY: the caller's.
    let (storage, total) = unsafe {
        let storage = tree.storage();
        (storage, tree.total(storage))
    };
    let mut found = Found { leaf: NOTHING, weight: 0, before: 0 };
    // The same for all threads.
    if total > 0 && m > 0 {
        // Halves without work make the last search, since warps go together.
        let threshold = threshold(j.min(m - 1), total);
        // SAFETY: all lanes come here.
        found = unsafe { descend(tree.leaves, tree.nodes, tree.capacity, storage, threshold) };
    }
    if j < m && lane_id().is_multiple_of(FANOUT) {
        // SAFETY: j < m, and no other half-warp has this j.
        unsafe {
            *out.add(j as usize) = found.leaf;
            *weights.add(j as usize) = found.weight;
        }
    }
    total
}

/// `out[j]` is the leaf that holds `thresholds[j]`, and `weights[j]` its priority in fixed point.
///
/// Inputs: `leaves`, `nodes`, `head` (the module's text), `thresholds` (m), at the shown scale, as all that a kernel gives.
/// Outputs: `out` (m), leaves, or [`NOTHING`] for thresholds that aren't below the total, of which `status` tells
/// ([`crate::fault`]; the low half); `weights` (m).
///
/// # Safety
/// The crate's conventions, and the tree is as the module says.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn seg_tree_find_f32(
    leaves: *const f32,
    nodes: *const u64,
    head: *const Head,
    thresholds: *const u64,
    out: *mut u32,
    weights: *mut u64,
    status: *mut u64,
    capacity: u32,
    m: u32,
) {
    let tree = Tree { leaves, nodes, head, capacity };
    // SAFETY: the caller's; called for j < m.
    unsafe {
        let total = tree.total(tree.storage());
        // Those past the end look for the first leaf.
        let threshold = |j, _| Some(*thresholds.add(j as usize)).filter(|&at| at < total);
        search(tree, (out, weights), m, |j, total| threshold(j, total).unwrap_or(0));
        let j = index_1d() / FANOUT as usize;
        if j < m as usize && lane_id().is_multiple_of(FANOUT) && threshold(j as u32, total).is_none() {
            *out.add(j) = NOTHING;
            *weights.add(j) = 0;
            report(status, Fault::OutOfRange(*thresholds.add(j) as u32), j as u32);
        }
    }
}

/// Independent draws, leaf i with probability `weight(i) / total`: `SumTree::sample`.
///
/// Inputs: `leaves`, `nodes`, `head` (the module's text). Outputs: `out` (m), leaves, or [`NOTHING`] if the total is 0 or the
/// sums don't serve ([`Head::ready`]); `weights` (m), their priorities in fixed point. Draw j takes block `position.next + j`
/// of the Philox stream (`seed`, `stream`), and `position.next` grows by m, unless nothing was drawn.
///
/// # Safety
/// The crate's conventions, and the tree is as the module says.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn seg_tree_sample_f32(
    leaves: *const f32,
    nodes: *const u64,
    head: *const Head,
    position: *mut Position,
    out: *mut u32,
    weights: *mut u64,
    capacity: u32,
    m: u32,
    seed: u64,
    stream: u64,
) {
    let tree = Tree { leaves, nodes, head, capacity };
    // SAFETY: the caller's.
    unsafe {
        let words = Words::from(position, seed, stream);
        let total = search(tree, (out, weights), m, |j, total| bounded(words.word(u64::from(j)), total));
        advance(position, if total > 0 { m } else { 0 });
    }
}

/// One draw from each of m equal strata of the mass, in ascending order: `SumTree::sample_stratified`.
///
/// Parameters, results and blocks of the stream as of [`seg_tree_sample_f32`].
///
/// # Safety
/// As [`seg_tree_sample_f32`].
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn seg_tree_sample_stratified_f32(
    leaves: *const f32,
    nodes: *const u64,
    head: *const Head,
    position: *mut Position,
    out: *mut u32,
    weights: *mut u64,
    capacity: u32,
    m: u32,
    seed: u64,
    stream: u64,
) {
    let tree = Tree { leaves, nodes, head, capacity };
    // SAFETY: the caller's.
    unsafe {
        let words = Words::from(position, seed, stream);
        let total = search(tree, (out, weights), m, |j, total| {
            in_stratum(j, bounded(words.word(u64::from(j)), total), total, m)
        });
        advance(position, if total > 0 { m } else { 0 });
    }
}
