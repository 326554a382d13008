//! Cases and results of stacks.

use super::*;
use mingru::oracle::stack::{StackCase, StackResults, run as run_stack};

/// A case whose every operand differs from the others.
pub fn stack_case(seed: u64, layers: usize, shape: (usize, usize, usize), resets: Resets) -> StackCase<f32> {
    let (batch, _, hidden) = shape;
    let mut inputs = case(seed, shape, resets);
    inputs.combined.clear();
    inputs.h0 = numbers(seed, 7, 1.0, layers * batch * hidden);
    inputs.d_h_last = numbers(seed, 8, 1.0, layers * batch * hidden);
    let spread = 2.0 / (hidden.max(1) as f32).sqrt();
    StackCase { layers, weights: numbers(seed, 9, spread, layers * 3 * hidden * hidden), inputs }
}

/// The contract's product: fma chains over chunks of 1024, joined by adjacent pairs.
pub fn contract_dot(n: usize, a: &dyn Fn(usize) -> f32, b: &dyn Fn(usize) -> f32) -> f32 {
    let mut sums: Vec<f32> =
        (0..n).step_by(1024).map(|c| (c..n.min(c + 1024)).fold(0.0, |sum, k| arith::fma(a(k), b(k), sum))).collect();
    while sums.len() > 1 {
        sums = sums.chunks(2).map(|p| if let [a, b] = p { a + b } else { p[0] }).collect();
    }
    sums.first().copied().unwrap_or(0.0)
}

/// The serial stack of the contract.
pub fn serial(case: &StackCase<f32>) -> StackResults<f32> {
    run_stack(case, 0.0, contract::run, contract_dot, |a, b| a + b)
}

pub fn assert_stack(what: &str, expected: &StackResults<f32>, got: &StackResults<f32>) {
    assert_bits(what, "out", &expected.out, &got.out);
    assert_bits(what, "h_last", &expected.h_last, &got.h_last);
    assert_bits(what, "d_weights", &expected.d_weights, &got.d_weights);
    assert_bits(what, "d_x", &expected.d_x, &got.d_x);
    assert_bits(what, "d_h0", &expected.d_h0, &got.d_h0);
}
