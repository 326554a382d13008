//! The scan on the device against crate mingru.

mod common;

use common::scan::{Case, Format};
use cuda_emu::{FaultKind, LaunchError};
use kernels_tests::{Arg, Bench};
use mingru::{Storage, bf16};

/// No work, one of everything, ends of warps, and chunks that don't divide the steps.
const SHAPES: [(usize, usize, usize, usize); 7] =
    [(0, 3, 4, 2), (2, 0, 3, 2), (2, 3, 0, 1), (1, 1, 1, 1), (3, 17, 33, 4), (2, 40, 64, 64), (5, 9, 31, 3)];

fn compare<S: Format>(case: &Case<S>, interval: usize) {
    let bench = Bench::new("mingru");
    let what = format!("{:?}, {}, K = {interval}", case.shape, S::SUFFIX);
    case.run_forward(&bench, interval).0.assert_is(&case.forward(interval), &what);
    let expected = case.backward();
    case.run_reference(&bench).0.assert_is(&expected, &what);
}

#[test]
fn the_scan_has_the_bits_of_the_cpu() {
    for (batch, time, hidden, interval) in SHAPES {
        compare(&Case::<f32>::new(batch, time, hidden), interval);
        compare(&Case::<bf16>::new(batch, time, hidden), interval);
    }
}

/// The tiled kernel in the emulator's own order and in some others, in which warps take short turns.
fn compare_tiled<S: Format>(case: &Case<S>, interval: usize, warps: u32, seeds: u64) {
    let mut bench = Bench::new("mingru");
    let expected = case.backward();
    for seed in [None].into_iter().chain((0..seeds).map(Some)) {
        bench.options.seed = seed;
        let what = format!("{:?}, {}, K = {interval}, {warps} warps, {seed:?}", case.shape, S::SUFFIX);
        case.run_tiled(&bench, interval, warps).0.assert_is(&expected, &what);
    }
}

#[test]
fn tiles_have_the_bits_of_the_cpu() {
    for (batch, time, hidden, interval) in SHAPES {
        compare_tiled(&Case::<f32>::new(batch, time, hidden), interval, 16, 1);
        compare_tiled(&Case::<bf16>::new(batch, time, hidden), interval, 16, 1);
    }
}

#[test]
fn every_interval_and_number_of_warps_has_the_same_bits() {
    // Windows of one chunk and of many, the last one short or not; one warp, which replays both chains; one other
    // warp; chunks that aren't whole groups of a chain.
    for (time, interval, warps) in [
        (1, 1, 1),
        (4, 4, 1),
        (9, 3, 1),
        (16, 1, 2),
        (17, 8, 2),
        (40, 5, 3),
        (31, 7, 4),
        (65, 8, 8),
        (64, 32, 8),
        (67, 33, 9),
        (130, 13, 16),
        (200, 64, 16),
        (129, 63, 16),
        (70, 1, 16),
    ] {
        compare_tiled(&Case::<f32>::new(2, time, 37), interval, warps, 2);
        compare_tiled(&Case::<bf16>::new(1, time, 40), interval, warps, 1);
    }
}

/// Sets one element of each operand of each row to a special value.
fn spoil<S: Storage>(case: &mut Case<S>, value: f32) {
    let step = case.shape.hidden * case.shape.time;
    for row in 0..case.shape.batch {
        case.combined[3 * step * row + 7 * row + 1] = S::store(value);
        case.x[step * row + 5 * row + 2] = S::store(value);
        case.d_out[step * row + 3 * row] = S::store(value);
        case.h0[case.shape.hidden * row + 9] = value;
        case.d_h_last[case.shape.hidden * row + 11] = value;
    }
}

#[test]
fn special_values_go_through_the_tiles() {
    for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, 1e-40, -0.0] {
        let mut case = Case::<f32>::new(3, 37, 34);
        spoil(&mut case, value);
        compare_tiled(&case, 8, 8, 0);
        let mut case = Case::<bf16>::new(3, 37, 34);
        spoil(&mut case, value);
        compare_tiled(&case, 8, 8, 0);
    }
}

#[test]
fn a_block_too_small_for_a_chunk_or_too_large_ends_with_an_error() {
    let bench = Bench::new("mingru");
    let (floats, one) = (bench.buffer(&[0.5_f32; 3]), Arg::U32(1));
    let (d_combined, d_x, d_h0) = (bench.room::<f32>(3), bench.room::<f32>(1), bench.room::<f32>(1));
    let run = |interval: u32, warps: u32| {
        let read = [Arg::from(&floats); 6];
        let write = [(&d_combined).into(), (&d_x).into(), (&d_h0).into()];
        let args = [&read[..], &write, &[one, one, one, Arg::U32(interval)]].concat();
        bench.try_run("mingru_scan_backward_tiled_f32", 1, 32 * warps, &args)
    };
    for (interval, warps) in [(5, 1), (64, 15), (0, 1), (1, 17)] {
        match run(interval, warps) {
            Err(LaunchError::Fault(fault)) => assert!(matches!(fault.kind, FaultKind::Trap), "{fault}"),
            other => panic!("K = {interval}, {warps} warps: {other:?}"),
        }
    }
    for (interval, warps) in [(4, 1), (60, 15), (64, 16)] {
        assert!(run(interval, warps).is_ok(), "K = {interval}, {warps} warps");
    }
}
