//! Resampling by a CDF ([`cdf`]): the arrays are in the text of `kernels-gpu/src/resample.rs`. Multinomial resampling
//! is [`cdf::Sample`].
//!
//! Random words are those of `words`, or else of the stream (`seed`, `stream`) at `position`. `tiles` and `work` are scratch,
//! zero at first.

use super::blocks::{FANOUT, TILE, WIDTH, nodes_len};
use super::cdf::Head;
use super::*;

kernels! {
    module "resample";

    /// One draw from each of m equal strata: `resample_stratified_f32`.
    trusted Stratified() ["resample_stratified_f32"] {
        weights: read [f32; n],
        nodes: read [u64; nodes_len(n)],
        head: read [Head; 1],
        position: update [Position; 1],
        words: maybe_read [u64; m],
        out: write [u32; m],
        n: size, m: size, seed: u64, stream: u64,
    }
    where [n => 1..=MAX_SIZE] work Work::threads(m * FANOUT), block ANY;

    /// One draw from each of m equal strata, at the same place in all: `resample_systematic_f32`.
    trusted Systematic() ["resample_systematic_f32"] {
        weights: read [f32; n],
        nodes: read [u64; nodes_len(n)],
        head: read [Head; 1],
        position: update [Position; 1],
        words: maybe_read [u64; 1],
        out: write [u32; m],
        n: size, m: size, seed: u64, stream: u64,
    }
    where [n => 1..=MAX_SIZE] work Work::threads(m * FANOUT), block ANY;

    /// Whole offspring, and the rest stratified: `resample_residual_stratified_f32`.
    trusted ResidualStratified() ["resample_residual_stratified_f32"] {
        weights: read [f32; n],
        nodes: read [u64; nodes_len(n)],
        head: read [Head; 1],
        position: update [Position; 1],
        words: maybe_read [u64; m],
        tiles: update [u64; 2 * n.div_ceil(TILE)],
        work: update [u32; 2],
        out: write [u32; m],
        n: size, m: size, seed: u64, stream: u64,
    }
    where [n => 1..=MAX_SIZE] work Work::blocks(n.div_ceil(TILE)), block Block::Exactly(WIDTH);

    /// Whole offspring, and the rest systematic: `resample_residual_systematic_f32`.
    trusted ResidualSystematic() ["resample_residual_systematic_f32"] {
        weights: read [f32; n],
        nodes: read [u64; nodes_len(n)],
        head: read [Head; 1],
        position: update [Position; 1],
        words: maybe_read [u64; 1],
        tiles: update [u64; 2 * n.div_ceil(TILE)],
        work: update [u32; 2],
        out: write [u32; m],
        n: size, m: size, seed: u64, stream: u64,
    }
    where [n => 1..=MAX_SIZE] work Work::blocks(n.div_ceil(TILE)), block Block::Exactly(WIDTH);

    /// Whole offspring, and where the rests lie: `resample_remainders_f32`, the first of three launches.
    trusted Remainders() ["resample_remainders_f32"] {
        weights: read [f32; n],
        nodes: read [u64; nodes_len(n)],
        head: read [Head; 1],
        tiles: update [u64; 2 * n.div_ceil(TILE)],
        work: update [u32; 2],
        counts: write [u32; n],
        strata: write [u32; n],
        rests: write [u64; n],
        remaining: write [u32; 1],
        n: size, m: size,
    }
    where [n => 1..=MAX_SIZE] work Work::blocks(n.div_ceil(TILE)), block Block::Exactly(WIDTH);

    /// Independent draws of what remains: `resample_draw_remainders_f32`, the second launch.
    trusted DrawRemainders() ["resample_draw_remainders_f32"] {
        head: read [Head; 1],
        position: update [Position; 1],
        words: maybe_read [u64; m],
        strata: read [u32; n],
        rests: read [u64; n],
        remaining: read [u32; 1],
        counts: update [u32; n],
        n: size, m: size, seed: u64, stream: u64,
    }
    where [n => 1..=MAX_SIZE] work Work::threads(m), block ANY;

    /// Each item as often as it is counted: `resample_expand_u32`, the third launch.
    trusted Expand() ["resample_expand_u32"] {
        counts: read [u32; n],
        tiles: update [u64; 2 * n.div_ceil(TILE)],
        work: update [u32; 2],
        out: write [u32; m],
        n: size, m: size,
    }
    where [n => 1..=MAX_SIZE] work Work::blocks(n.div_ceil(TILE)), block Block::Exactly(WIDTH);

    /// The largest weight of each of many rows, and what is wrong with them: `resample_survey_rows_f32`, the first of two
    /// launches.
    safe SurveyRows() ["resample_survey_rows_f32"] {
        weights: read [f32; rows * n],
        largest: write [f32; rows],
        details: write [u64; rows],
        state: update [u32; 2],
        faults: update [u64; 3],
        rows: size, n: size,
    }
    where [n => 1..=MAX_SIZE] work Work::blocks(rows), block Block::Exactly(WIDTH);

    /// The ancestors of m offspring for each row: `resample_rows_f32`, the second launch. `scheme` is 0 for independent draws,
    /// 1 for stratified and 2 for systematic ones, 3 to 5 for residual resampling with these. All but 0
    /// take `ends`, and 3 `strata` and `rests`.
    trusted Rows() ["resample_rows_f32"] {
        weights: read [f32; rows * n],
        largest: read [f32; rows],
        state: read [u32; 2],
        position: update [Position; 1],
        keys: write [u64; rows * n.div_ceil(FANOUT)],
        ends: maybe_update [u32; rows * n],
        strata: maybe_update [u32; rows * n],
        rests: maybe_update [u64; rows * n],
        out: write [u32; rows * m],
        rows: size, n: size, m: size, scheme: size, seed: u64, stream: u64,
    }
    where [n => 1..=MAX_SIZE, scheme => 0..=5] work Work::blocks(rows), block Block::Exactly(WIDTH);
}
