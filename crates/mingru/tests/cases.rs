//! Inputs that break other implementations.
mod common;
use arith::simd::Isa;
use common::*;
use mingru::oracle::{Case, Results, contract, double};
use mingru::{Forward, Outputs, Par, Shape};

/// One row of one unit; `proj` is 100, so that `out` is h.
fn row(h0: f32, hidden: &[f32], gate: &[f32], keep: &[f32]) -> Case<f32> {
    let n = hidden.len();
    Case {
        shape: (1, n, 1),
        combined: hidden.iter().zip(gate).flat_map(|(&v, &a)| [v, a, 100.0]).collect(),
        x: vec![0.25; n],
        keep: keep.to_vec(),
        h0: vec![h0],
        d_out: vec![1.0; n],
        d_h_last: vec![1.0],
    }
}

fn scan(case: &Case<f32>) -> Results<f32> {
    let r = run::<f32>(case, 1, Isa::detect(), Par::Serial);
    for interval in [2, 4, 16] {
        let other = run::<f32>(case, interval, Isa::detect(), Par::Serial);
        assert_bits("interval", "d_combined", &r.d_combined, &other.d_combined);
        assert_bits("interval", "out", &r.out, &other.out);
    }
    r
}

fn all(r: &Results<f32>) -> impl Iterator<Item = &f32> {
    r.out.iter().chain(&r.h_last).chain(&r.d_combined).chain(&r.d_x).chain(&r.d_h0)
}

#[test]
fn case_16_reset_is_not_late() {
    let r = scan(&row(0.25, &[0.3, -0.7, 1.2], &[0.1, -0.4, 2.0], &[1.0, 0.0, 1.0]));
    for (got, right) in r.out.iter().zip([0.538_738_553_4, 0.133_160_341_6, 1.513_228_134_4]) {
        assert!((f64::from(*got) - right).abs() < 2e-7, "{got} for {right}");
    }
    // Nothing flows back across the reset: the first step sees only its own d_out.
    let alone = scan(&Case { d_h_last: vec![0.0], ..row(0.25, &[0.3], &[0.1], &[1.0]) });
    assert_eq!(alone.d_combined, r.d_combined[..3]);
    assert_eq!(alone.d_h0, r.d_h0);
}

#[test]
fn case_17_zero_and_negative_states_are_finite() {
    for h0 in [0.0, -0.0, -2.5, -1e30] {
        let r = scan(&row(h0, &[0.0, -3.0, 2.0, -0.0], &[0.5, -0.5, 3.0, -3.0], &[1.0; 4]));
        assert!(all(&r).all(|v| v.is_finite()), "{h0}: {r:?}");
        // The initial state decays: h_last moves by h0 times the product of 1 - z.
        assert!(r.d_h0[0] > 0.0);
    }
}

#[test]
fn case_17_a_long_row_keeps_its_accuracy() {
    let time = 131_072;
    let mut case = case(17, (1, time, 1), Resets::Never);
    for (i, v) in case.combined.iter_mut().enumerate() {
        // Gates of mean 4; everything positive, so that a relative error means something.
        *v = if i % 3 == 1 { *v + 4.0 } else { v.abs() };
    }
    case.h0 = vec![0.5];
    case.d_out.iter_mut().for_each(|v| *v = v.abs());
    let exact = double::run(&case.map(f64::from));
    let r = contract::run(&case);
    let worst = r.h.iter().zip(&exact.h).map(|(g, e)| ((f64::from(*g) - e) / e).abs()).fold(0.0, f64::max);
    assert!(worst < 1e-6, "relative error {worst:e}");
    let worst = r.d_x.iter().zip(&exact.d_x).map(|(g, e)| ((f64::from(*g) - e) / e).abs()).fold(0.0, f64::max);
    assert!(worst < 1e-6, "relative error of the gradient {worst:e}");
    for interval in [1, 16] {
        let got = run::<f32>(&case, interval, Isa::detect(), Par::Serial);
        assert_results("case 17", &case, interval, &r, &got);
    }
}

#[test]
fn case_18_one_minus_sigmoid_without_cancellation() {
    // h0 = 1 and v so that z * g vanishes beside (1 - z): h is 1 - sigmoid(17).
    let r = scan(&row(1.0, &[-200.0], &[17.0], &[1.0]));
    assert_eq!(r.h_last[0], 4.139_937_5e-8);
}

#[test]
fn case_19_one_half_stays() {
    let r = scan(&row(0.5, &[0.0; 5], &[0.0; 5], &[1.0; 5]));
    assert_eq!(r.h_last[0], 0.5);
    assert_eq!(r.out, [0.5; 5]);
}

#[test]
fn gates_of_100_either_way() {
    for gate in [100.0, -100.0] {
        for proj in [100.0, -100.0] {
            for hidden in [100.0, -100.0, 0.0] {
                for h0 in [0.75, 0.0, -4.0] {
                    let mut case = row(h0, &[hidden; 4], &[gate; 4], &[1.0, 1.0, 0.0, 1.0]);
                    case.combined.iter_mut().skip(2).step_by(3).for_each(|p| *p = proj);
                    let r = scan(&case);
                    assert_results("gates of 100", &case, 1, &contract::run(&case), &r);
                    assert!(all(&r).all(|v| v.is_finite()), "{gate} {proj} {hidden} {h0}: {r:?}");
                    // An open gate takes g (100.5, or 0.5, or nearly 0), a shut one keeps the state up to the reset.
                    let g = if hidden >= 0.0 { hidden + 0.5 } else { 0.0 };
                    let right = if gate > 0.0 { g } else { 0.0 };
                    assert!((r.h_last[0] - right).abs() < 1e-30, "{gate} {proj} {hidden} {h0}: {}", r.h_last[0]);
                    let out = if proj > 0.0 { r.h_last[0] } else { 0.25 };
                    assert!((r.out[3] - out).abs() < 1e-30);
                }
            }
        }
    }
}

#[test]
fn a_reset_at_every_step_is_a_batch_of_single_steps() {
    let (batch, time, hidden) = (2, 21, 19);
    let together = case(3, (batch, time, hidden), Resets::Always);
    let mut apart = together.clone();
    apart.shape = (batch * time, 1, hidden);
    // Zeros, as after a reset; the same gradients, the last state's on the last steps.
    apart.h0 = vec![0.0; batch * time * hidden];
    apart.d_h_last = vec![0.0; batch * time * hidden];
    for b in 0..batch {
        let last = (b * time + time - 1) * hidden;
        apart.d_h_last[last..last + hidden].copy_from_slice(&together.d_h_last[b * hidden..(b + 1) * hidden]);
    }
    let (a, b) = (scan(&together), scan(&apart));
    // By value: zeros may differ in sign.
    assert_eq!(a.out, b.out);
    assert_eq!(a.d_combined, b.d_combined);
    assert_eq!(a.d_x, b.d_x);
    assert!(a.d_h0.iter().all(|&v| v == 0.0));
}

#[test]
fn nan_stays_in_its_row_and_is_seen() {
    let (batch, time, hidden) = (3, 20, 35);
    let clean = case(9, (batch, time, hidden), Resets::Never);
    let right = scan(&clean);
    let at = (time + 4) * hidden + 7;
    for part in 0..5 {
        let mut dirty = clean.clone();
        match part {
            0..3 => dirty.combined[((time + 4) * 3 + part) * hidden + 7] = f32::NAN,
            3 => dirty.x[at] = f32::NAN,
            _ => dirty.d_out[at] = f32::NAN,
        }
        let r = scan(&dirty);
        // Seen where it went in.
        let gradient = r.d_combined[((time + 4) * 3 + part.min(2)) * hidden + 7];
        assert!(gradient.is_nan(), "part {part}");
        if part < 4 {
            assert!(r.out[at].is_nan(), "part {part}");
        }
        // Rows 0 and 2 are untouched.
        let others = |name: &str, right: &[f32], got: &[f32]| {
            let third = right.len() / 3;
            assert_bits("row 0", name, &right[..third], &got[..third]);
            assert_bits("row 2", name, &right[2 * third..], &got[2 * third..]);
        };
        others("out", &right.out, &r.out);
        others("h_last", &right.h_last, &r.h_last);
        others("d_combined", &right.d_combined, &r.d_combined);
        others("d_x", &right.d_x, &r.d_x);
        others("d_h0", &right.d_h0, &r.d_h0);
        // So are the row's other units.
        for t in 0..time {
            for unit in (0..hidden).filter(|&unit| unit != 7) {
                let i = (time + t) * hidden + unit;
                assert_eq!(r.out[i], right.out[i]);
                assert_eq!(r.d_x[i], right.d_x[i]);
            }
        }
    }
}

#[test]
fn wrong_calls_name_the_argument_and_write_nothing() {
    use mingru::Error;
    let shape = Shape { batch: 2, time: 3, hidden: 5 };
    let right = [90, 30, 6, 10, 30, 20, 10];
    let call = |shape: Shape, interval: usize, n: [usize; 7]| {
        let (combined, x, keep, h0) = (vec![0.0; n[0]], vec![0.0; n[1]], vec![0.0; n[2]], vec![0.0; n[3]]);
        let (mut out, mut checkpoints, mut h_last) = (vec![7.0_f32; n[4]], vec![7.0; n[5]], vec![7.0; n[6]]);
        let input = Forward { shape, interval, combined: &combined, x: &x, keep: &keep, h0: &h0 };
        let output = Outputs { out: &mut out, checkpoints: &mut checkpoints, h_last: &mut h_last };
        let r = mingru::forward(&input, output, Par::Serial);
        if r.is_err() {
            assert!(out.iter().chain(&checkpoints).chain(&h_last).all(|&v| v == 7.0));
        }
        r
    };
    assert_eq!(call(shape, 2, right), Ok(()));
    let names = ["combined", "x", "keep", "h0", "out", "checkpoints", "h_last"];
    for (i, argument) in names.into_iter().enumerate() {
        for got in [right[i] - 1, right[i] + 1, 0] {
            let mut n = right;
            n[i] = got;
            let e = call(shape, 2, n);
            assert_eq!(e, Err(Error::Length { operation: "mingru::forward", argument, expected: right[i], got }));
            let text = e.unwrap_err().to_string();
            assert!(text.contains(argument) && text.contains(&got.to_string()), "{text}");
        }
    }
    for interval in [0, 65, usize::MAX] {
        let e = call(shape, interval, right);
        assert_eq!(e, Err(Error::Interval { operation: "mingru::forward", limit: 64, got: interval }));
    }
    let huge = [usize::MAX, usize::MAX / 2, 1 << 62, 1 << 40];
    for n in huge {
        for shape in [
            Shape { batch: n, time: n, hidden: n },
            Shape { batch: n, time: 1 << 30, hidden: 0 },
            Shape { batch: 0, time: n, hidden: 1 << 30 },
        ] {
            assert!(matches!(call(shape, 2, right), Err(Error::Overflow { .. })), "{shape:?}");
            assert!(matches!(mingru::checkpoints_len(shape, 1), Err(Error::Overflow { .. })), "{shape:?}");
        }
    }
}

#[test]
fn wrong_backward_and_step_calls_name_the_argument_and_write_nothing() {
    use mingru::{Backward, Error, Gradients, Step};
    let shape = Shape { batch: 2, time: 3, hidden: 5 };
    let right = [90, 30, 6, 20, 30, 10, 90, 30, 10];
    let names = ["combined", "x", "keep", "checkpoints", "d_out", "d_h_last", "d_combined", "d_x", "d_h0"];
    let call = |n: [usize; 9]| {
        let inputs: Vec<Vec<f32>> = n[..6].iter().map(|&n| vec![0.0; n]).collect();
        let [mut d_combined, mut d_x, mut d_h0] = [n[6], n[7], n[8]].map(|n| vec![7.0_f32; n]);
        let input = Backward {
            shape,
            interval: 2,
            combined: &inputs[0],
            x: &inputs[1],
            keep: &inputs[2],
            checkpoints: &inputs[3],
            d_out: &inputs[4],
            d_h_last: &inputs[5],
        };
        let output = Gradients { d_combined: &mut d_combined, d_x: &mut d_x, d_h0: &mut d_h0 };
        let r = mingru::backward(&input, output, Par::Serial);
        assert!(r.is_ok() || d_combined.iter().chain(&d_x).chain(&d_h0).all(|&v| v == 7.0));
        r
    };
    assert_eq!(call(right), Ok(()));
    for (i, argument) in names.into_iter().enumerate() {
        let mut n = right;
        n[i] += 1;
        let expected = Error::Length { operation: "mingru::backward", argument, expected: right[i], got: n[i] };
        assert_eq!(call(n), Err(expected));
    }
    let right = [30, 10, 2, 10, 10];
    for (i, argument) in ["combined", "x", "keep", "h", "out"].into_iter().enumerate() {
        let mut n = right;
        n[i] -= 1;
        let inputs: Vec<Vec<f32>> = n[..3].iter().map(|&n| vec![0.0; n]).collect();
        let (mut h, mut out) = (vec![7.0; n[3]], vec![7.0_f32; n[4]]);
        let input = Step { batch: 2, hidden: 5, combined: &inputs[0], x: &inputs[1], keep: &inputs[2] };
        let expected = Error::Length { operation: "mingru::step", argument, expected: right[i], got: n[i] };
        assert_eq!(mingru::step(&input, &mut h, &mut out), Err(expected));
        assert!(h.iter().chain(&out).all(|&v| v == 7.0));
    }
}
