//! The tree of sums of `per-core`. Its arrays are those of `kernels-gpu/src/tree.rs`: `leaves` in blocks of 16, all
//! levels' `nodes`, the `total`.
//!
//! The kernels follow sums from node to node: the nodes must be those of the leaves, at the scale of `largest` and
//! `scale_leaves`, or they read beyond the arrays.

use super::*;

/// Children of a node, and leaves of a block.
const FANOUT: u128 = 16;

/// Elements of `leaves`.
fn leaves_len(capacity: u128) -> u128 {
    capacity.next_multiple_of(FANOUT)
}

/// Elements of `nodes`: 16 for each node of each level, up to the one that has a single node.
fn nodes_len(capacity: u128) -> u128 {
    let mut width = capacity.div_ceil(FANOUT);
    let mut nodes = 0;
    loop {
        width = width.div_ceil(FANOUT);
        nodes += width;
        if width <= 1 {
            return nodes * FANOUT;
        }
    }
}

kernels! {
    module "tree";

    /// Sets leaf `indices[j]` to `(|td[j]| + eps)^alpha`, and the sums above it; of those for one leaf the last counts:
    /// `seg_tree_update_f32`. `status` gets bits for what was refused.
    trusted Update() ["seg_tree_update_f32"] {
        leaves: update [f32; leaves_len(capacity)],
        nodes: update [u64; nodes_len(capacity)],
        total: update [u64; 1],
        status: update [u32; 1],
        indices: read [u32; m],
        td: read [f32; m],
        capacity: size, m: size, alpha: f32, eps: f32, largest: f32, scale_leaves: size,
    }
    where [capacity => 1..=MAX_SIZE] work Work::threads(m), block ANY;

    /// The leaf that holds each threshold, and its priority in fixed point: `seg_tree_find_f32`.
    trusted Find() ["seg_tree_find_f32"] {
        leaves: read [f32; leaves_len(capacity)],
        nodes: read [u64; nodes_len(capacity)],
        thresholds: read [u64; m],
        out: write [u32; m],
        weights: write [u64; m],
        capacity: size, m: size, largest: f32, scale_leaves: size,
    }
    where [capacity => 1..=MAX_SIZE] work Work::threads(m * FANOUT), block ANY;

    /// Independent draws: `seg_tree_sample_f32`. Draw j takes block `first_index + j` of the stream (`seed`, `stream`).
    trusted Sample() ["seg_tree_sample_f32"] {
        leaves: read [f32; leaves_len(capacity)],
        nodes: read [u64; nodes_len(capacity)],
        total: read [u64; 1],
        out: write [u32; m],
        weights: write [u64; m],
        capacity: size, m: size, largest: f32, scale_leaves: size, seed: u64, stream: u64, first_index: u64,
    }
    where [capacity => 1..=MAX_SIZE] work Work::threads(m * FANOUT), block ANY;

    /// One draw from each of m equal strata: `seg_tree_sample_stratified_f32`. Otherwise as [`Sample`].
    trusted SampleStratified() ["seg_tree_sample_stratified_f32"] {
        leaves: read [f32; leaves_len(capacity)],
        nodes: read [u64; nodes_len(capacity)],
        total: read [u64; 1],
        out: write [u32; m],
        weights: write [u64; m],
        capacity: size, m: size, largest: f32, scale_leaves: size, seed: u64, stream: u64, first_index: u64,
    }
    where [capacity => 1..=MAX_SIZE] work Work::threads(m * FANOUT), block ANY;
}
