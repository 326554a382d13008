//! Gradients: the f64 oracle against finite differences of itself, and the f32 scan against the f64 oracle.
mod common;
use common::*;
use mingru::Par;
use mingru::oracle::{Case, Results, double};

/// The loss whose gradients are `d_out` and `d_h_last`.
fn loss(case: &Case<f64>) -> f64 {
    let r = double::run(case);
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    dot(&case.d_out, &r.out) + dot(&case.d_h_last, &r.h_last)
}

/// A central difference's error is about `step^2 f''' / 6 + 2^-53 |f| / step`: with a step of 1e-5, losses below 100 and third
/// derivatives below 100, 2e-9 + 1e-9.
fn check(name: &str, case: &Case<f64>, gradient: &[f64], pick: impl Fn(&mut Case<f64>) -> &mut Vec<f64>) {
    const STEP: f64 = 1e-5;
    assert!(loss(case).abs() < 100.0);
    for (i, &g) in gradient.iter().enumerate() {
        let shifted = |by: f64| {
            let mut c = case.clone();
            pick(&mut c)[i] += by;
            loss(&c)
        };
        let difference = (shifted(STEP) - shifted(-STEP)) / (2.0 * STEP);
        assert!((difference - g).abs() < 1e-8, "d_{name}[{i}] is {g}, finite differences give {difference}");
    }
}

#[test]
fn finite_differences_in_f64() {
    for (seed, shape) in [(1, (2, 7, 3)), (2, (1, 1, 2)), (3, (1, 20, 1)), (4, (3, 4, 5))] {
        for resets in [Resets::Never, Resets::Sometimes, Resets::Always] {
            let mut case = case(seed, shape, resets).map(f64::from);
            // Away from g's kink at 0, which a difference would straddle.
            for v in &mut case.combined {
                *v = if v.abs() < 1e-3 { 0.1 } else { *v };
            }
            let r = double::run(&case);
            check("combined", &case, &r.d_combined, |c| &mut c.combined);
            check("x", &case, &r.d_x, |c| &mut c.x);
            check("h0", &case, &r.d_h0, |c| &mut c.h0);
        }
    }
}

/// One rounding to f32.
const U: f64 = 1.0 / 16_777_216.0;

/// Each of h's (dh's) updates multiplies the error so far by a decay in (0, 1) and adds at most 8 units of rounding of
/// numbers below `scale` (three sigmoids of at most 2 units each, and the product, the sum and the fma). Without decay
/// that is `8 (T + 1)` units; a gradient is a product of at most two such numbers and three sigmoids, 8 more each.
fn tolerance(time: usize, scale: f64) -> f64 {
    8.0 * (time as f64 + 3.0) * 2.0 * U * scale * scale
}

#[test]
fn the_f32_scan_is_near_the_f64_oracle() {
    for (seed, shape) in [(5, (2, 64, 16)), (6, (1, 257, 33)), (7, (3, 5, 64)), (8, (2, 1, 3))] {
        for resets in [Resets::Never, Resets::Sometimes] {
            let case = case(seed, shape, resets);
            let exact = double::run(&case.map(f64::from));
            let got = run::<f32>(&case, 8, arith::simd::Isa::detect(), Par::Serial);
            // |h| <= 4.5, |dh| <= T at worst, and seen below 8 for these inputs.
            let scale =
                exact.h.iter().chain(&exact.d_h0).chain(&exact.d_combined).fold(1.0, |m: f64, v| m.max(v.abs()));
            assert!(scale < 8.0, "{scale}");
            let bound = tolerance(shape.1, scale);
            assert!(bound < 3e-2);
            let near = |name: &str, exact: &[f64], got: &[f32]| {
                for (i, (e, g)) in exact.iter().zip(got).enumerate() {
                    assert!((e - f64::from(*g)).abs() <= bound, "{name}[{i}] is {g}, exactly {e} (bound {bound})");
                }
            };
            let Results { h: _, out, h_last, d_combined, d_x, d_h0 } = got;
            near("out", &exact.out, &out);
            near("h_last", &exact.h_last, &h_last);
            near("d_combined", &exact.d_combined, &d_combined);
            near("d_x", &exact.d_x, &d_x);
            near("d_h0", &exact.d_h0, &d_h0);
        }
    }
}
