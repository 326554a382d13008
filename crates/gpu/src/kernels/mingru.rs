//! The minGRU scan.

use super::*;
use std::ops::RangeInclusive;

/// Steps from one checkpoint to the next: `1..=mingru::MAX_INTERVAL`.
const INTERVALS: RangeInclusive<u128> = 1..=64;
/// Units of a tile, and lanes of a warp.
const LANES: u128 = 32;
/// Steps that a warp works on at once.
const STEPS: u128 = 4;

kernels! {
    module "mingru";

    /// The forward scan: `mingru_scan_forward_f32`, `_bf16`.
    ///
    /// `checkpoints` gets the state that enters each chunk of `interval` steps.
    safe ScanForward(S) [(f32) "mingru_scan_forward_f32", (bf16) "mingru_scan_forward_bf16"] {
        combined: read [S; batch * time * 3 * hidden],
        x: read [S; batch * time * hidden],
        keep: read [f32; batch * time],
        h0: read [f32; batch * hidden],
        out: write [S; batch * time * hidden],
        checkpoints: write [f32; batch * time.div_ceil(interval) * hidden],
        h_last: write [f32; batch * hidden],
        batch: size, time: size, hidden: size, interval: size,
    }
    where [interval => INTERVALS, batch * hidden => 0..=MAX_SIZE]
    work Work::threads(batch * hidden), block ANY;

    /// The backward scan, step by step: `mingru_scan_backward_reference_f32`, `_bf16`.
    ///
    /// `states` are the checkpoints of a forward scan with an interval of 1.
    safe ScanBackwardReference(S) [
        (f32) "mingru_scan_backward_reference_f32", (bf16) "mingru_scan_backward_reference_bf16"
    ] {
        combined: read [S; batch * time * 3 * hidden],
        x: read [S; batch * time * hidden],
        keep: read [f32; batch * time],
        states: read [f32; batch * time * hidden],
        d_out: read [S; batch * time * hidden],
        d_h_last: read [f32; batch * hidden],
        d_combined: write [S; batch * time * 3 * hidden],
        d_x: write [S; batch * time * hidden],
        d_h0: write [f32; batch * hidden],
        batch: size, time: size, hidden: size,
    }
    where [batch * hidden => 0..=MAX_SIZE]
    work Work::threads(batch * hidden), block ANY;

    /// The backward scan by tiles: `mingru_scan_backward_tiled_f32`, `_bf16`.
    ///
    /// `checkpoints` are those of a forward scan with the same `interval`; a block works on 4 steps a
    /// warp at once, and on a whole interval at least. Blocks of 4 warps serve best where each multiprocessor has several.
    safe ScanBackwardTiled(S) [(f32) "mingru_scan_backward_tiled_f32", (bf16) "mingru_scan_backward_tiled_bf16"] {
        combined: read [S; batch * time * 3 * hidden],
        x: read [S; batch * time * hidden],
        keep: read [f32; batch * time],
        checkpoints: read [f32; batch * time.div_ceil(interval) * hidden],
        d_out: read [S; batch * time * hidden],
        d_h_last: read [f32; batch * hidden],
        d_combined: write [S; batch * time * 3 * hidden],
        d_x: write [S; batch * time * hidden],
        d_h0: write [f32; batch * hidden],
        batch: size, time: size, hidden: size, interval: size,
    }
    where [interval => INTERVALS, batch * hidden => 0..=MAX_SIZE]
    work Work::blocks(batch * hidden.div_ceil(LANES)).at_least(interval.div_ceil(STEPS) * LANES),
    block Block::Any { usual: 128, most: 512 };
}
