//! Random cases, and the scan behind the oracle's types.
// Each test file uses a part of it.
#![allow(dead_code, unreachable_pub)]

pub mod stack;

use arith::random::{Stream, uniform};
use arith::simd::Isa;
use half::bf16;
use mingru::oracle::{Case, Results, contract};
use mingru::{Backward, Forward, Gradients, Outputs, Par, Shape, Step, Storage};

/// How episodes end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Resets {
    Never,
    Sometimes,
    Always,
}

/// Numbers in [-spread, spread).
pub fn numbers(seed: u64, stream: u64, spread: f32, n: usize) -> Vec<f32> {
    let stream = Stream::new(seed, stream);
    (0..n).map(|i| (2.0 * uniform(stream.block(i as u64)[0]) - 1.0) * spread).collect()
}

/// A case whose every operand differs from the others.
pub fn case(seed: u64, shape: (usize, usize, usize), resets: Resets) -> Case<f32> {
    let (batch, time, hidden) = shape;
    let rows = batch * time;
    let keep = numbers(seed, 3, 1.0, rows).into_iter().map(|u| match resets {
        Resets::Never => 1.0,
        Resets::Sometimes => f32::from(u > -0.8),
        Resets::Always => 0.0,
    });
    Case {
        shape,
        combined: numbers(seed, 1, 4.0, rows * 3 * hidden),
        x: numbers(seed, 2, 1.5, rows * hidden),
        keep: keep.collect(),
        h0: numbers(seed, 4, 2.0, batch * hidden),
        d_out: numbers(seed, 5, 1.0, rows * hidden),
        d_h_last: numbers(seed, 6, 1.0, batch * hidden),
    }
}

/// A storage type and its independent conversions.
pub trait Format: Storage {
    fn round(v: f32) -> Self;
    fn widen(self) -> f32;
}
impl Format for f32 {
    fn round(v: f32) -> Self {
        v
    }
    fn widen(self) -> f32 {
        self
    }
}
impl Format for bf16 {
    fn round(v: f32) -> Self {
        bf16::from_f32(v)
    }
    fn widen(self) -> f32 {
        self.to_f32()
    }
}

pub fn store<S: Format>(v: &[f32]) -> Vec<S> {
    v.iter().map(|&v| S::round(v)).collect()
}

pub fn widen<S: Format>(v: &[S]) -> Vec<f32> {
    v.iter().map(|v| v.widen()).collect()
}

/// The case as it is after storage, and the oracle's results as they are after storage.
pub fn expected<S: Format>(case: &Case<f32>) -> (Case<f32>, Results<f32>) {
    let stored = |v: &[f32]| widen(&store::<S>(v));
    let mut case = case.clone();
    for v in [&mut case.combined, &mut case.x, &mut case.d_out] {
        *v = stored(v);
    }
    let mut r = contract::run(&case);
    for v in [&mut r.out, &mut r.d_combined, &mut r.d_x] {
        *v = stored(v);
    }
    (case, r)
}

/// Forward and backward of the crate.
pub fn run<S: Format>(case: &Case<f32>, interval: usize, isa: Isa, par: Par) -> Results<f32> {
    let (batch, time, hidden) = case.shape;
    let shape = Shape { batch, time, hidden };
    let (combined, x, d_out) = (store::<S>(&case.combined), store::<S>(&case.x), store::<S>(&case.d_out));
    let n = x.len();
    // NaN: what isn't overwritten shows.
    let nan = S::round(f32::NAN);
    let (mut out, mut d_combined, mut d_x) = (vec![nan; n], vec![nan; 3 * n], vec![nan; n]);
    let mut checkpoints = vec![f32::NAN; mingru::checkpoints_len(shape, interval).unwrap()];
    let (mut h_last, mut d_h0) = (vec![f32::NAN; batch * hidden], vec![f32::NAN; batch * hidden]);
    let forward = Forward { shape, interval, combined: &combined, x: &x, keep: &case.keep, h0: &case.h0 };
    let outputs = Outputs { out: &mut out, checkpoints: &mut checkpoints, h_last: &mut h_last };
    mingru::forward_on(isa, &forward, outputs, par).unwrap();
    let backward = Backward {
        shape,
        interval,
        combined: &combined,
        x: &x,
        keep: &case.keep,
        checkpoints: &checkpoints,
        d_out: &d_out,
        d_h_last: &case.d_h_last,
    };
    let gradients = Gradients { d_combined: &mut d_combined, d_x: &mut d_x, d_h0: &mut d_h0 };
    mingru::backward_on(isa, &backward, gradients, par).unwrap();
    Results { h: checkpoints, out: widen(&out), h_last, d_combined: widen(&d_combined), d_x: widen(&d_x), d_h0 }
}

/// States and outputs, step by step: (B, T, H) each.
pub fn rollout<S: Format>(case: &Case<f32>, isa: Isa) -> (Vec<f32>, Vec<f32>) {
    let (batch, time, hidden) = case.shape;
    let n = batch * time * hidden;
    let (mut states, mut outs) = (vec![f32::NAN; n], vec![f32::NAN; n]);
    let mut h = case.h0.clone();
    for t in 0..time {
        let rows = |v: &[f32], width: usize| {
            (0..batch).flat_map(|b| v[(b * time + t) * width..][..width].to_vec()).collect::<Vec<_>>()
        };
        let (combined, x) = (store::<S>(&rows(&case.combined, 3 * hidden)), store::<S>(&rows(&case.x, hidden)));
        let keep = rows(&case.keep, 1);
        let mut out = vec![S::round(f32::NAN); batch * hidden];
        let input = Step { batch, hidden, combined: &combined, x: &x, keep: &keep };
        mingru::step_on(isa, &input, &mut h, &mut out).unwrap();
        for b in 0..batch {
            let at = (b * time + t) * hidden;
            states[at..at + hidden].copy_from_slice(&h[b * hidden..][..hidden]);
            outs[at..at + hidden].copy_from_slice(&widen(&out)[b * hidden..][..hidden]);
        }
    }
    (states, outs)
}

/// Fails at the first element whose bits differ; all NaNs are one value.
pub fn assert_bits(what: &str, name: &str, expected: &[f32], got: &[f32]) {
    assert_eq!(expected.len(), got.len(), "{what}: length of {name}");
    for (i, (e, g)) in expected.iter().zip(got).enumerate() {
        let same = e.to_bits() == g.to_bits() || (e.is_nan() && g.is_nan());
        assert!(same, "{what}: {name}[{i}] is {g:e}, the contract gives {e:e}");
    }
}

/// The states that enter each chunk, from those after each step.
pub fn checkpoints(case: &Case<f32>, h: &[f32], interval: usize) -> Vec<f32> {
    let (batch, time, hidden) = case.shape;
    let mut v = Vec::new();
    for b in 0..batch {
        for t in (0..time).step_by(interval) {
            let from = if t == 0 { &case.h0[b * hidden..] } else { &h[(b * time + t - 1) * hidden..] };
            v.extend_from_slice(&from[..hidden]);
        }
    }
    v
}

pub fn assert_results(what: &str, case: &Case<f32>, interval: usize, expected: &Results<f32>, got: &Results<f32>) {
    assert_bits(what, "checkpoints", &checkpoints(case, &expected.h, interval), &got.h);
    assert_bits(what, "out", &expected.out, &got.out);
    assert_bits(what, "h_last", &expected.h_last, &got.h_last);
    assert_bits(what, "d_combined", &expected.d_combined, &got.d_combined);
    assert_bits(what, "d_x", &expected.d_x, &got.d_x);
    assert_bits(what, "d_h0", &expected.d_h0, &got.d_h0);
}

/// The instruction sets of this machine.
pub fn isas() -> Vec<Isa> {
    [Isa::Scalar, Isa::Avx2, Isa::Avx512].into_iter().filter(|isa| isa.is_available()).collect()
}
