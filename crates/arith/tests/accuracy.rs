//! Errors in ulp against f64, over a stride of all 2^32 arguments (default run) or all of them (`--ignored`).

use arith::slice::{self, LengthMismatch};
use std::sync::atomic::{AtomicU64, Ordering};

type Exact = fn(f64) -> f64;

struct Case {
    name: &'static str,
    f: fn(&[f32], &mut [f32]) -> Result<(), LengthMismatch>,
    oracle: Exact,
    /// In ulp; what the documentation of the function says.
    bound: f64,
    domain: fn(f32) -> bool,
}

const fn everywhere(_: f32) -> bool {
    true
}

fn in_range(x: f32) -> bool {
    x.abs() <= 8192.0
}

/// std's f64 functions, with short cuts where two or three terms of a series, or a limit, leave a relative error
/// below 2^-55: most of the 2^32 arguments lie there. `short_cuts_agree` compares them with std.
mod oracle {
    const SMALL: f64 = 1.0 / 1_048_576.0;

    pub(super) fn exp(x: f64) -> f64 {
        if x.abs() < SMALL * SMALL {
            1.0 + x
        } else if x.abs() > 200.0 {
            if x > 0.0 { f64::INFINITY } else { 0.0 }
        } else {
            x.exp()
        }
    }

    pub(super) fn sigmoid(x: f64) -> f64 {
        if x.abs() < SMALL {
            0.5 + x / 4.0 - x * x * x / 48.0
        } else if x < 0.0 {
            let e = exp(x);
            e / (1.0 + e)
        } else {
            1.0 / (1.0 + exp(-x))
        }
    }

    pub(super) fn tanh(x: f64) -> f64 {
        if x.abs() < SMALL {
            x - x * x * x / 3.0
        } else if x.abs() > 40.0 {
            x.signum()
        } else {
            x.tanh()
        }
    }

    pub(super) fn ln_1p(x: f64) -> f64 {
        if x.abs() < SMALL { x * (1.0 - x * (0.5 - x / 3.0)) } else { x.ln_1p() }
    }

    pub(super) fn softplus(x: f64) -> f64 {
        if x.abs() < SMALL {
            std::f64::consts::LN_2 + x / 2.0 + x * x / 8.0
        } else if x > 60.0 {
            x
        } else if x < -60.0 {
            exp(x)
        } else if x > 0.0 {
            x + (-x).exp().ln_1p()
        } else {
            x.exp().ln_1p()
        }
    }

    pub(super) fn sin(x: f64) -> f64 {
        if x.abs() < SMALL { x - x * x * x / 6.0 } else { x.sin() }
    }

    pub(super) fn cos(x: f64) -> f64 {
        if x.abs() < SMALL { 1.0 - x * x / 2.0 } else { x.cos() }
    }
}

#[test]
fn short_cuts_agree() {
    let pairs: [(Exact, Exact); 7] = [
        (oracle::exp, f64::exp),
        (oracle::sigmoid, |x| if x < 0.0 { x.exp() / (1.0 + x.exp()) } else { 1.0 / (1.0 + (-x).exp()) }),
        (oracle::tanh, f64::tanh),
        (oracle::ln_1p, f64::ln_1p),
        (oracle::softplus, |x| if x > 0.0 { x + (-x).exp().ln_1p() } else { x.exp().ln_1p() }),
        (oracle::sin, f64::sin),
        (oracle::cos, f64::cos),
    ];
    for (short, std) in pairs {
        for bits in (0..0x7f80_0000_u32).step_by(99_991) {
            for x in [f64::from(f32::from_bits(bits)), -f64::from(f32::from_bits(bits))] {
                let (got, want) = (short(x), std(x));
                let far = got.is_infinite() && want > 1e80 || got == 0.0 && want < 1e-80;
                assert!(far || got.is_nan() && want.is_nan() || (got - want).abs() <= 1e-15 * want.abs(), "{x:e}");
            }
        }
    }
}

const CASES: &[Case] = &[
    Case { name: "exp", f: slice::exp, oracle: oracle::exp, bound: 1.04, domain: everywhere },
    Case { name: "sigmoid", f: slice::sigmoid, oracle: oracle::sigmoid, bound: 1.87, domain: everywhere },
    Case { name: "tanh", f: slice::tanh, oracle: oracle::tanh, bound: 1.94, domain: everywhere },
    Case { name: "ln", f: slice::ln, oracle: f64::ln, bound: 0.81, domain: everywhere },
    Case { name: "ln_1p", f: slice::ln_1p, oracle: oracle::ln_1p, bound: 1.39, domain: everywhere },
    Case { name: "softplus", f: slice::softplus, oracle: oracle::softplus, bound: 1.69, domain: everywhere },
    Case { name: "sin, |x| <= 2^13", f: slice::sin, oracle: oracle::sin, bound: 0.91, domain: in_range },
    Case { name: "cos, |x| <= 2^13", f: slice::cos, oracle: oracle::cos, bound: 0.88, domain: in_range },
];

/// |got - want| in units of the last place of `want`; infinite where one of them is NaN or infinite and the other not.
fn ulps(got: f32, want: f64) -> f64 {
    if got.is_nan() || want.is_nan() {
        return if got.is_nan() && want.is_nan() { 0.0 } else { f64::INFINITY };
    }
    // Numbers beyond the largest f32 are measured with its last place; so is an infinity in their stead, as 2^128.
    let finite = |x: f64| if x.is_infinite() { 2_f64.powi(128).copysign(x) } else { x };
    let (got, want) = (finite(f64::from(got)), finite(want));
    if want.abs() >= 2_f64.powi(128) {
        return if got == 2_f64.powi(128).copysign(want) { 0.0 } else { f64::INFINITY };
    }
    let exponent = (want.to_bits() >> 52 & 0x7ff) as i64 - 1023;
    let ulp_of_one = 23 - exponent.max(-126);
    (got - want).abs() * f64::from_bits(((ulp_of_one + 1023) as u64) << 52)
}

/// The largest error over arguments `first`, `first + step`, ... of `count`.
fn worst(case: &Case, first: u64, step: u64, count: u64) -> (f64, f32) {
    const BLOCK: usize = 4096;
    let (mut x, mut y) = (Vec::with_capacity(BLOCK), vec![0.0; BLOCK]);
    let mut worst = (0.0, 0.0);
    let mut i = 0;
    while i < count {
        x.clear();
        while i < count && x.len() < BLOCK {
            let argument = f32::from_bits((first + i * step) as u32);
            i += 1;
            if (case.domain)(argument) {
                x.push(argument);
            }
        }
        let y = &mut y[..x.len()];
        (case.f)(&x, y).unwrap();
        for (&x, &y) in x.iter().zip(&*y) {
            let error = ulps(y, (case.oracle)(f64::from(x)));
            if error > worst.0 {
                worst = (error, x);
            }
        }
    }
    worst
}

/// The largest error of each function over every `step`-th bit pattern, on all cores.
fn sweep(cases: &[Case], step: u64) {
    const JOBS: u64 = 256;
    let total = (1_u64 << 32).div_ceil(step);
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    let mut failures = Vec::new();
    for case in cases {
        let next = AtomicU64::new(0);
        let work = || {
            let mut all = (0.0, 0.0);
            loop {
                let job = next.fetch_add(1, Ordering::Relaxed);
                if job >= JOBS {
                    return all;
                }
                let (from, to) = (total * job / JOBS, total * (job + 1) / JOBS);
                let one = worst(case, from * step, step, to - from);
                all = if one.0 > all.0 { one } else { all };
            }
        };
        let found: Vec<(f64, f32)> = std::thread::scope(|scope| {
            let handles: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            handles.into_iter().map(|h| h.join().unwrap()).collect()
        });
        let all = found.into_iter().fold((0.0, 0.0), |a, b| if b.0 > a.0 { b } else { a });
        println!("{:18} {:.4} ulp at {:e} ({:#010x})", case.name, all.0, all.1, all.1.to_bits());
        if all.0 > case.bound {
            failures.push(format!("{}: {} ulp at {:e}, bound {}", case.name, all.0, all.1, case.bound));
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

macro_rules! powers {
    ($($y:literal),*) => {
        [$(Case {
            name: concat!("x^", $y),
            f: |x, out| slice::powf(x, $y, out),
            oracle: |x| if x < 0.0 { f64::NAN } else { x.abs().powf(f64::from($y as f32)) },
            bound: 0.505,
            domain: everywhere,
        }),*]
    };
}
const POWERS: &[Case] =
    &powers![0.5, 0.6, 0.3, 1.0, 2.0, -1.0, 0.01, -0.4, 0.333_333_34, 3.7, -11.0, 87.3, 1e4, -1e6, 1e8, 1e-8];

#[test]
fn a_stride_of_all_arguments() {
    sweep(CASES, 4099);
    sweep(POWERS, 65_537);
}

/// Where large exponents have finite results.
#[test]
fn powers_next_to_one() {
    for case in POWERS {
        let (error, x) = worst(case, 0x3f80_0000 - 3000, 1, 6000);
        assert!(error <= case.bound, "{}: {error} ulp at {x:e}", case.name);
    }
}

#[test]
#[ignore = "all 2^32 arguments of each function: several minutes in release mode"]
fn all_arguments() {
    sweep(CASES, 1);
    sweep(POWERS, 61);
}

#[test]
fn the_measure_itself() {
    assert_eq!(ulps(1.0, 1.0), 0.0);
    assert_eq!(ulps(1.0 + f32::EPSILON, 1.0), 1.0);
    assert_eq!(ulps(1.0, 1.0 - 2_f64.powi(-25)), 0.5);
    assert_eq!(ulps(f32::from_bits(3), 2_f64.powi(-149)), 2.0);
    assert_eq!(ulps(f32::INFINITY, f64::MAX), 0.0);
    assert_eq!(ulps(f32::INFINITY, f64::from(f32::MAX)), 1.0);
    assert_eq!(ulps(f32::MAX, f64::INFINITY), f64::INFINITY);
    assert_eq!(ulps(f32::NAN, 0.0), f64::INFINITY);
    assert_eq!(ulps(0.0, f64::NAN), f64::INFINITY);
    assert_eq!(ulps(f32::NAN, f64::NAN), 0.0);
}
