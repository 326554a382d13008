//! The tree of sums of `per-core`: its arrays and its life are in the text of `kernels-gpu/src/tree.rs`.
//!
//! The kernels follow sums from node to node: the arrays must be those of one tree, begun as the text says and changed by
//! these kernels alone, or they read beyond them.

use super::blocks::{FANOUT, TILE, WIDTH, nodes_len};
use super::*;

/// Bins of magnitude, `crates/per-core/src/tree/sum/bins.rs`.
pub const BINS: usize = 278;

/// The head of a tree: `Head` of `kernels-gpu/src/tree/head.rs`. All zero before the first survey.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Head {
    /// Sum of all leaves at the stored scale, modulo 2^64.
    pub total: u64,
    /// Updates so far.
    pub updates: u64,
    /// The largest leaf is below 2^shown.
    pub shown: i32,
    /// The same when the sums were made anew for the last time.
    pub stored: i32,
    /// 1 if the sums serve, 0 if they must be made anew before anything is drawn.
    pub ready: u32,
    /// Blocks of the present launch that have finished.
    pub done: u32,
    /// Bits of the largest priority (before alpha) that an update ever set.
    pub largest: u32,
    /// Items: leaves whose priority before alpha isn't `ABSENT`. Updates keep it; whoever writes `raw` sets it.
    pub present: u32,
    /// 1 if something was wrong with the latest batch of updates, so that none of it was applied; otherwise 0.
    pub refused: u32,
    /// The same while a launch looks; 0 between launches.
    pub faulty: u32,
    /// Leaves in each bin of magnitude.
    pub bins: [u32; BINS],
    /// The same while a survey counts.
    pub survey: [u32; BINS],
}

const _: () = assert!(size_of::<Head>() == 2272);

// SAFETY: all zero is a head.
unsafe impl Zeroable for Head {}
// SAFETY: numbers without room between them or behind them: 2,272 bytes, a multiple of 8.
unsafe impl Pod for Head {}

/// Blocks of updates: each looks at the whole batch, so large ones do less work.
pub(super) const UPDATES: Block = Block::Any { usual: 256, most: 1024 };

/// The passes of `m` updates, which take a launch each: one that looks and applies, or, where every block's look at the whole
/// batch would take long, one that looks and one that applies.
pub fn passes(m: usize) -> &'static [usize] {
    const LONG: usize = 8192;
    const BOTH: usize = 0;
    const LOOK: usize = 1;
    const APPLY: usize = 2;
    if m > LONG { &[LOOK, APPLY] } else { &[BOTH] }
}

/// Elements of `leaves`.
pub const fn leaves_len(capacity: u128) -> u128 {
    capacity.next_multiple_of(FANOUT)
}

kernels! {
    module "tree";

    /// Looks at new leaves, of the source or in place, and counts their magnitudes: `seg_tree_survey_f32`. [`Load`] comes next.
    trusted Survey() ["seg_tree_survey_f32"] {
        source: maybe_read [f32; capacity],
        leaves: read [f32; leaves_len(capacity)],
        head: update [Head; 1],
        status: update [u64; 1],
        capacity: size,
    }
    where [capacity => 1..=MAX_SIZE]
    work Work::blocks(capacity.div_ceil(TILE)), block Block::Exactly(WIDTH);

    /// Takes the leaves that [`Survey`] has looked at, unless it has refused them, and makes all sums: `seg_tree_load_f32`.
    trusted Load() ["seg_tree_load_f32"] {
        source: maybe_read [f32; capacity],
        leaves: update [f32; leaves_len(capacity)],
        nodes: update [u64; nodes_len(capacity)],
        head: update [Head; 1],
        capacity: size,
    }
    where [capacity => 1..=MAX_SIZE]
    work Work::blocks(capacity.div_ceil(TILE)), block Block::Exactly(WIDTH);

    /// Makes all sums from the leaves, where that is needed: `seg_tree_rebuild_f32`.
    trusted Rebuild() ["seg_tree_rebuild_f32"] {
        leaves: read [f32; leaves_len(capacity)],
        nodes: update [u64; nodes_len(capacity)],
        head: update [Head; 1],
        capacity: size,
    }
    where [capacity => 1..=MAX_SIZE]
    work Work::blocks(capacity.div_ceil(TILE)), block Block::Exactly(WIDTH);

    /// Sets leaf `indices[j]` to `(|td[j]| + eps)^alpha`, and the sums above it; of those for one leaf the last counts, and of
    /// a faulty batch none: `seg_tree_update_f32`. [`passes`] gives `pass`.
    trusted Update() ["seg_tree_update_f32"] {
        leaves: update [f32; leaves_len(capacity)],
        nodes: update [u64; nodes_len(capacity)],
        head: update [Head; 1],
        claims: update [u64; capacity],
        status: update [u64; 1],
        indices: read [u32; m],
        td: read [f32; m],
        capacity: size, m: size, pass: size, alpha: f32, eps: f32,
    }
    where [capacity => 1..=MAX_SIZE] work Work::threads(m), block UPDATES;

    /// Sets leaf `indices[j]` to `powers[j]`, and the sums above it, as [`Update`]: `seg_tree_set_f32`.
    trusted Set() ["seg_tree_set_f32"] {
        leaves: update [f32; leaves_len(capacity)],
        nodes: update [u64; nodes_len(capacity)],
        head: update [Head; 1],
        claims: update [u64; capacity],
        status: update [u64; 1],
        indices: read [u32; m],
        powers: read [f32; m],
        capacity: size, m: size, pass: size,
    }
    where [capacity => 1..=MAX_SIZE] work Work::threads(m), block UPDATES;

    /// The leaf that holds each threshold, if it is below the total, and its priority in fixed point: `seg_tree_find_f32`.
    trusted Find() ["seg_tree_find_f32"] {
        leaves: read [f32; leaves_len(capacity)],
        nodes: read [u64; nodes_len(capacity)],
        head: read [Head; 1],
        thresholds: read [u64; m],
        out: write [u32; m],
        weights: write [u64; m],
        status: update [u64; 1],
        capacity: size, m: size,
    }
    where [capacity => 1..=MAX_SIZE] work Work::threads(m * FANOUT), block ANY;

    /// Independent draws: `seg_tree_sample_f32`. Draw j takes block `position.next + j` of the stream (`seed`, `stream`).
    trusted Sample() ["seg_tree_sample_f32"] {
        leaves: read [f32; leaves_len(capacity)],
        nodes: read [u64; nodes_len(capacity)],
        head: read [Head; 1],
        position: update [Position; 1],
        out: write [u32; m],
        weights: write [u64; m],
        capacity: size, m: size, seed: u64, stream: u64,
    }
    where [capacity => 1..=MAX_SIZE] work Work::threads(m * FANOUT), block ANY;

    /// One draw from each of m equal strata: `seg_tree_sample_stratified_f32`. Otherwise as [`Sample`].
    trusted SampleStratified() ["seg_tree_sample_stratified_f32"] {
        leaves: read [f32; leaves_len(capacity)],
        nodes: read [u64; nodes_len(capacity)],
        head: read [Head; 1],
        position: update [Position; 1],
        out: write [u32; m],
        weights: write [u64; m],
        capacity: size, m: size, seed: u64, stream: u64,
    }
    where [capacity => 1..=MAX_SIZE] work Work::threads(m * FANOUT), block ANY;

    /// Draws without replacement: `seg_tree_sample_distinct_f32`. They take block `position.next` of the stream (`seed`,
    /// `stream`). For no draws nothing is launched: the kernel's threads would not wait for each other then. Where all
    /// priorities are zero and `uniform` isn't 0, they are ranks of the items that are there.
    trusted SampleDistinct() ["seg_tree_sample_distinct_f32"] {
        leaves: read [f32; leaves_len(capacity)],
        nodes: read [u64; nodes_len(capacity)],
        head: read [Head; 1],
        position: update [Position; 1],
        scratch: write [u64; 8 * m.next_power_of_two()],
        out: write [u32; m],
        weights: write [u64; m],
        capacity: size, m: size, uniform: size, seed: u64, stream: u64,
    }
    where [capacity => 1..=MAX_SIZE] work Work::blocks(m.min(1)), block Block::Any { usual: 1024, most: 1024 };

    /// Brings a tree of smallest priorities up to date: `min_tree_refresh_f32`.
    trusted RefreshMin() ["min_tree_refresh_f32"] {
        leaves: read [f32; capacity],
        keys: update [u32; nodes_len(capacity)],
        first: update [u32; 1],
        indices: read [u32; m],
        capacity: size, m: size,
    }
    where [capacity => 1..=MAX_SIZE] work Work::threads(m * FANOUT), block ANY;

    /// Brings a tree of largest priorities up to date: `max_tree_refresh_f32`.
    trusted RefreshMax() ["max_tree_refresh_f32"] {
        leaves: read [f32; capacity],
        keys: update [u32; nodes_len(capacity)],
        first: update [u32; 1],
        indices: read [u32; m],
        capacity: size, m: size,
    }
    where [capacity => 1..=MAX_SIZE] work Work::threads(m * FANOUT), block ANY;

    /// Makes a tree of smallest priorities anew: `min_tree_rebuild_f32`.
    trusted RebuildMin() ["min_tree_rebuild_f32"] {
        leaves: read [f32; capacity],
        keys: update [u32; nodes_len(capacity)],
        first: update [u32; 1],
        done: update [u32; 1],
        capacity: size,
    }
    where [capacity => 1..=MAX_SIZE]
    work Work::blocks(capacity.div_ceil(TILE)), block Block::Exactly(WIDTH);

    /// Makes a tree of largest priorities anew: `max_tree_rebuild_f32`.
    trusted RebuildMax() ["max_tree_rebuild_f32"] {
        leaves: read [f32; capacity],
        keys: update [u32; nodes_len(capacity)],
        first: update [u32; 1],
        done: update [u32; 1],
        capacity: size,
    }
    where [capacity => 1..=MAX_SIZE]
    work Work::blocks(capacity.div_ceil(TILE)), block Block::Exactly(WIDTH);
}
