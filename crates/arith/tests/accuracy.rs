//! Errors in ulp against f64, over a stride of all 2^32 arguments (default run) or all of them (`--ignored`).

use std::sync::atomic::{AtomicU64, Ordering};

/// `(name, function, oracle, bound in ulp, arguments that count)`
struct Case {
    name: &'static str,
    f: fn(f32) -> f32,
    oracle: fn(f64) -> f64,
    bound: f64,
    domain: fn(f32) -> bool,
}

fn everywhere(_: f32) -> bool {
    true
}

fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

fn sigmoid(x: f64) -> f64 {
    // The oracle of the left tail must not compute 1 + something huge; e^x / (1 + e^x) is the same function.
    if x < 0.0 { x.exp() / (1.0 + x.exp()) } else { 1.0 / (1.0 + (-x).exp()) }
}

const CASES: &[Case] = &[
    Case { name: "exp", f: arith::exp, oracle: f64::exp, bound: 2.0, domain: everywhere },
    Case { name: "sigmoid", f: arith::sigmoid, oracle: sigmoid, bound: 2.0, domain: everywhere },
    Case { name: "tanh", f: arith::tanh, oracle: f64::tanh, bound: 2.0, domain: everywhere },
    Case { name: "ln", f: arith::ln, oracle: f64::ln, bound: 2.0, domain: everywhere },
    Case { name: "ln_1p", f: arith::ln_1p, oracle: f64::ln_1p, bound: 2.0, domain: everywhere },
    Case { name: "softplus", f: arith::softplus, oracle: softplus, bound: 2.0, domain: everywhere },
    Case { name: "sin, |x| <= 2^13", f: arith::sin, oracle: f64::sin, bound: 2.0, domain: |x| x.abs() <= 8192.0 },
    Case { name: "cos, |x| <= 2^13", f: arith::cos, oracle: f64::cos, bound: 2.0, domain: |x| x.abs() <= 8192.0 },
];

/// |got - want| in units of the last place of `want`; infinite where one of them is NaN or infinite and the other not.
fn ulps(got: f32, want: f64) -> f64 {
    if want.is_nan() || got.is_nan() {
        return if want.is_nan() && got.is_nan() { 0.0 } else { f64::INFINITY };
    }
    let rounded = want as f32;
    if got == rounded {
        // Also both infinite. The error is below a half; how far below matters only for finite values.
        if !got.is_finite() {
            return 0.0;
        }
    } else if !got.is_finite() {
        // Overflow is right from 2^128 - 2^103 on; just below it counts as one step too far.
        return if rounded.abs() == f32::MAX && got.is_sign_positive() == want.is_sign_positive() {
            1.0
        } else {
            f64::INFINITY
        };
    } else if !rounded.is_finite() {
        return if got.abs() == f32::MAX { 1.0 } else { f64::INFINITY };
    }
    let exponent = ((want.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    let ulp = f64::from_bits(((exponent.max(-126) - 23 + 1023) as u64) << 52);
    (f64::from(got) - want).abs() / ulp
}

fn worst(case: &Case, range: std::ops::Range<u64>, step: u64) -> (f64, f32) {
    let mut worst = (0.0, 0.0);
    let mut bits = range.start;
    while bits < range.end {
        let x = f32::from_bits(bits as u32);
        if (case.domain)(x) {
            let error = ulps((case.f)(x), (case.oracle)(f64::from(x)));
            if error > worst.0 {
                worst = (error, x);
            }
        }
        bits += step;
    }
    worst
}

fn sweep(step: u64) {
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    let mut failures = Vec::new();
    for case in CASES {
        let block = 1_u64 << 24;
        let next = AtomicU64::new(0);
        let found: Vec<(f64, f32)> = std::thread::scope(|scope| {
            let work = || {
                let mut all = (0.0, 0.0);
                loop {
                    let start = next.fetch_add(1, Ordering::Relaxed) * block;
                    if start >= 1 << 32 {
                        return all;
                    }
                    let one = worst(case, start + (step - start % step) % step..start + block, step);
                    if one.0 > all.0 {
                        all = one;
                    }
                }
            };
            let handles: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            handles.into_iter().map(|h| h.join().unwrap()).collect()
        });
        let all = found.into_iter().fold((0.0, 0.0), |a, b| if b.0 > a.0 { b } else { a });
        println!("{:20} {:.4} ulp at {:e} ({:#010x})", case.name, all.0, all.1, all.1.to_bits());
        if all.0 > case.bound {
            failures.push(format!("{}: {} ulp at {:e}, bound {}", case.name, all.0, all.1, case.bound));
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn a_stride_of_all_arguments() {
    sweep(4099);
}

#[test]
#[ignore = "all 2^32 arguments: several minutes in release mode"]
fn all_arguments() {
    sweep(1);
}
