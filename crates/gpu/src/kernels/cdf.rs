//! Cumulative sums of weights, and draws from them: the arrays are in the text of `kernels-gpu/src/cdf.rs`.
//!
//! Searches follow sums from node to node: the arrays must be those of one CDF, as [`Survey`] and [`Build`] leave them, or
//! they read beyond them.

use super::blocks::{FANOUT, TILE, WIDTH, nodes_len};
use super::*;

/// What a CDF knows of its weights as a whole: `Head` of `kernels-gpu/src/cdf.rs`. All zero at first.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Head {
    /// Sum of all weights at the scale `Scale::new(largest, n)`.
    pub total: u64,
    /// The largest weight.
    pub largest: f32,
    /// 1 if the CDF is built, 0 if not or if a weight isn't one.
    pub ready: u32,
    /// While a survey runs: rank of the largest weight so far.
    pub running: u32,
    /// Blocks of threads of the survey that have finished.
    pub done: u32,
    /// While a build runs: tiles that were taken.
    pub taken: u32,
    /// Weights of the present CDF. A kernel that is launched for another number of them finds nothing.
    pub n: u32,
}

kernels! {
    module "cdf";

    /// Finds the largest weight: `cdf_survey_f32`, the first launch of a build.
    trusted Survey() ["cdf_survey_f32"] {
        weights: read [f32; n],
        head: update [Head; 1],
        tiles: write [u64; 2 * n.div_ceil(TILE)],
        status: update [u64; 1],
        n: size,
    }
    where [n => 1..=MAX_SIZE] work Work::blocks(n.div_ceil(TILE)), block Block::Exactly(WIDTH);

    /// Sums all weights before each block of 16: `cdf_build_f32`, the second launch of a build.
    trusted Build() ["cdf_build_f32"] {
        weights: read [f32; n],
        nodes: write [u64; nodes_len(n)],
        head: update [Head; 1],
        tiles: update [u64; 2 * n.div_ceil(TILE)],
        n: size,
    }
    where [n => 1..=MAX_SIZE] work Work::blocks(n.div_ceil(TILE)), block Block::Exactly(WIDTH);

    /// The item that holds each threshold: `cdf_search_f32`.
    trusted Search() ["cdf_search_f32"] {
        weights: read [f32; n],
        nodes: read [u64; nodes_len(n)],
        head: read [Head; 1],
        thresholds: read [u64; m],
        out: write [u32; m],
        status: update [u64; 1],
        n: size, m: size,
    }
    where [n => 1..=MAX_SIZE] work Work::threads(m * FANOUT), block ANY;

    /// Independent draws, from `words` or else from the stream: `cdf_sample_f32`.
    trusted Sample() ["cdf_sample_f32"] {
        weights: read [f32; n],
        nodes: read [u64; nodes_len(n)],
        head: read [Head; 1],
        position: update [Position; 1],
        words: maybe_read [u64; m],
        out: write [u32; m],
        n: size, m: size, seed: u64, stream: u64,
    }
    where [n => 1..=MAX_SIZE] work Work::threads(m * FANOUT), block ANY;
}
