//! Special values, range ends and symmetries of the elementary functions.

use arith::{cos, exp, ln, ln_1p, powf, sigmoid, sigmoid_pair, sin, softplus, tanh};

const INF: f32 = f32::INFINITY;
const TINY: f32 = f32::from_bits(1);

#[track_caller]
fn same(got: f32, want: f32) {
    if want.is_nan() {
        assert!(got.is_nan(), "{got:e}, not NaN");
    } else {
        assert_eq!(got.to_bits(), want.to_bits(), "{got:e}, not {want:e}");
    }
}

#[test]
fn a_nan_stays_a_nan() {
    for nan in [f32::NAN, -f32::NAN, f32::from_bits(0x7f80_0001), f32::from_bits(0xffff_ffff)] {
        for f in [exp, ln, ln_1p, sigmoid, softplus, tanh, sin, cos] {
            same(f(nan), f32::NAN);
        }
        same(sigmoid_pair(nan).0, f32::NAN);
        same(sigmoid_pair(nan).1, f32::NAN);
        same(powf(nan, 2.0), f32::NAN);
        same(powf(2.0, nan), f32::NAN);
    }
}

#[test]
fn exp_at_the_ends() {
    for (x, want) in [
        (0.0, 1.0),
        (-0.0, 1.0),
        (INF, INF),
        (-INF, 0.0),
        (f32::MAX, INF),
        (f32::MIN, 0.0),
        (TINY, 1.0),
        // ln(2^128 - 2^103) = 88.72283935...: the f32 below it is the last finite one.
        (88.722_84, INF),
        (89.0, INF),
        (-104.0, 0.0),
        // e^-103.97 = 2^-149 * 0.5011
        (-103.97, TINY),
        (-103.98, 0.0),
    ] {
        same(exp(x), want);
    }
    assert!(exp(88.722_83).is_finite());
    // The smallest subnormals are right to half of their last place.
    for x in [-87.4_f32, -90.0, -95.0, -100.0, -103.0, -103.5] {
        let want = f64::from(x).exp();
        assert!((f64::from(exp(x)) - want).abs() <= 0.75 * f64::from(TINY) + want * 1e-7, "{x}");
    }
}

#[test]
fn logarithms_at_the_ends() {
    for (x, want) in
        [(0.0, -INF), (-0.0, -INF), (1.0, 0.0), (INF, INF), (-1.0, f32::NAN), (-TINY, f32::NAN), (-INF, f32::NAN)]
    {
        same(ln(x), want);
    }
    same(ln(TINY), -103.278_93);
    for (x, want) in [(-1.0, -INF), (0.0, 0.0), (-0.0, -0.0), (INF, INF), (-1.000_000_1, f32::NAN), (-INF, f32::NAN)] {
        same(ln_1p(x), want);
    }
    for x in [TINY, -TINY, 1e-40, -1e-40, 1e-20, -1e-20, 1e-10] {
        same(ln_1p(x), x);
    }
    same(ln_1p(f32::MAX), 88.722_84);
}

#[test]
fn case_18_the_tail_of_the_logistic_function_keeps_its_precision() {
    same(sigmoid(-17.0), 4.139_937_5e-8);
    same(sigmoid_pair(17.0).1, 4.139_937_5e-8);
}

#[test]
fn logistic_function_at_the_ends() {
    for (x, want) in [(0.0, 0.5), (-0.0, 0.5), (INF, 1.0), (-INF, 0.0), (200.0, 1.0), (-200.0, 0.0), (TINY, 0.5)] {
        same(sigmoid(x), want);
    }
    // Still subnormal where e^x is.
    assert!(sigmoid(-100.0) > 0.0 && sigmoid(-100.0) < f32::MIN_POSITIVE);
    same(softplus(INF), INF);
    same(softplus(-INF), 0.0);
    same(softplus(0.0), std::f32::consts::LN_2);
    same(softplus(f32::MAX), f32::MAX);
    assert!(softplus(-100.0) > 0.0);
}

#[test]
fn hyperbolic_tangent_at_the_ends() {
    for (x, want) in
        [(0.0, 0.0), (INF, 1.0), (10.0, 1.0), (f32::MAX, 1.0), (TINY, TINY), (1e-40, 1e-40), (1e-10, 1e-10)]
    {
        same(tanh(x), want);
        same(tanh(-x), -want);
    }
}

#[test]
fn trigonometry_at_the_ends() {
    same(sin(0.0), 0.0);
    same(sin(-0.0), -0.0);
    same(cos(0.0), 1.0);
    same(cos(-0.0), 1.0);
    same(sin(TINY), TINY);
    for x in [INF, -INF, f32::MAX, 1_048_577.0] {
        same(sin(x), f32::NAN);
        same(cos(x), f32::NAN);
    }
    // Beyond the range of the bound the absolute error stays small, up to the limit.
    for i in 0..20_000 {
        let x = 8192.0 + i as f32 * 52.017;
        assert!((f64::from(sin(x)) - f64::from(x).sin()).abs() < 7e-7, "sin {x}");
        assert!((f64::from(cos(x)) - f64::from(x).cos()).abs() < 7e-7, "cos {x}");
    }
}

#[test]
fn powers_at_the_ends() {
    for y in [0.0, -0.0] {
        for x in [0.0, -0.0, 1.0, 2.0, INF, -1.0, f32::NAN] {
            same(powf(x, y), 1.0);
        }
    }
    for y in [1.0, -3.5, INF, -INF, f32::NAN] {
        same(powf(1.0, y), 1.0);
    }
    for (x, y, want) in [
        (0.0, 0.6, 0.0),
        (-0.0, 3.0, 0.0),
        (0.0, -1.0, INF),
        (INF, 0.5, INF),
        (INF, -0.5, 0.0),
        (-2.0, 2.0, f32::NAN),
        (-INF, 2.0, f32::NAN),
        (2.0, INF, INF),
        (0.5, INF, 0.0),
        (2.0, -INF, 0.0),
        (0.5, -INF, INF),
        (0.0, INF, 0.0),
        (0.0, -INF, INF),
        (INF, INF, INF),
        (INF, -INF, 0.0),
        (2.0, 10.0, 1024.0),
        (3.0, 4.0, 81.0),
        (2.0, -149.0, TINY),
        (2.0, -151.0, 0.0),
        (2.0, 127.0, 1.701_411_8e38),
        (2.0, 128.0, INF),
        (TINY, 1.0, TINY),
        (TINY, -1.0, INF),
        (f32::MAX, 1.0, f32::MAX),
        (9.0, 0.5, 3.0),
        // Case 14 of a change of alpha: 8^0.3.
        (8.0, 0.3, 1.866_066),
    ] {
        same(powf(x, y), want);
    }
}

/// Symmetries and ranges over a stride of all arguments.
#[test]
fn symmetries_and_ranges() {
    for bits in (0..=u32::MAX).step_by(7919) {
        let x = f32::from_bits(bits);
        if x.is_nan() {
            continue;
        }
        let (s, c) = sigmoid_pair(x);
        same(s, sigmoid(x));
        same(c, sigmoid(-x));
        assert!((0.0..=1.0).contains(&s), "sigmoid {x:e} = {s:e}");
        let t = tanh(x);
        assert!((-1.0..=1.0).contains(&t), "tanh {x:e} = {t:e}");
        same(tanh(-x), -t);
        same(sin(-x), -sin(x));
        same(cos(-x), cos(x));
        assert!(x.abs() > 1_048_576.0 || sin(x).abs() <= 1.0 && cos(x).abs() <= 1.0, "{x:e}");
        assert!(exp(x) >= 0.0);
        assert!(softplus(x) >= 0.0);
    }
}

/// Between neighbours a function may step back by its rounding errors, and by no more.
#[test]
fn nearly_monotonic() {
    for f in [exp, sigmoid, tanh, softplus] {
        for start in [-20.0_f32, -3.0, -0.7, -0.01, 0.01, 0.3, 0.7, 3.0, 8.0] {
            let mut x = start;
            let mut top = f(x);
            for _ in 0..20_000 {
                x = x.next_up();
                let y = f(x);
                assert!(y >= top || top.to_bits().abs_diff(y.to_bits()) <= 3, "{x}: {y} after {top}");
                top = if y > top { y } else { top };
            }
        }
    }
}
