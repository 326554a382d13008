//! Distributions of the draws. The seeds are fixed, so a test fails always or never; each had a chance of alpha =
//! 0.001 of failing when it was written.

use arith::random::{Stream, normal_pair, uniform, uniform_positive};

const N: usize = 1 << 18;

/// Kolmogorov's statistic, sqrt(n) sup |F_n - F|, of draws in ascending order.
fn kolmogorov(draws: &mut [f32], cdf: impl Fn(f64) -> f64) -> f64 {
    draws.sort_by(f32::total_cmp);
    let n = draws.len() as f64;
    let gap = draws.iter().enumerate().fold(0.0_f64, |gap, (i, &x)| {
        let f = cdf(f64::from(x));
        gap.max(f - i as f64 / n).max((i + 1) as f64 / n - f)
    });
    gap * n.sqrt()
}

/// Quantile 0.999 of Kolmogorov's distribution.
const KOLMOGOROV: f64 = 1.9495;

/// Phi(x) = 1/2 + phi(x) (x + x^3/3 + x^5/15 + ...)
fn normal_cdf(x: f64) -> f64 {
    let (mut term, mut sum) = (x, x);
    for k in 1..200 {
        term *= x * x / f64::from(2 * k + 1);
        sum += term;
    }
    0.5 + sum * (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt()
}

fn chi_square(counts: &[u32]) -> f64 {
    let expected = counts.iter().map(|&c| f64::from(c)).sum::<f64>() / counts.len() as f64;
    counts.iter().map(|&c| (f64::from(c) - expected).powi(2) / expected).sum()
}

/// Quantile 0.999 of chi-square with `freedom` degrees (Wilson and Hilferty 1931).
fn chi_square_bound(freedom: f64) -> f64 {
    let v = 2.0 / (9.0 * freedom);
    freedom * (1.0 - v + 3.0902 * v.sqrt()).powi(3)
}

#[test]
fn uniforms() {
    let mut draws = vec![0.0; N];
    Stream::new(11, 0).fill_uniform(0, &mut draws);
    assert!(draws.iter().all(|u| (0.0..1.0).contains(u)));
    let statistic = kolmogorov(&mut draws, |u| u);
    assert!(statistic < KOLMOGOROV, "{statistic}");

    Stream::new(11, 1).fill_uniform_positive(0, &mut draws);
    assert!(draws.iter().all(|&u| u > 0.0 && u <= 1.0));
    let statistic = kolmogorov(&mut draws, |u| u);
    assert!(statistic < KOLMOGOROV, "{statistic}");
}

#[test]
fn ends_of_the_uniform_grid() {
    let step = 2.0_f32.powi(-24);
    assert_eq!((uniform(0), uniform(0xff), uniform(0x100)), (0.0, 0.0, step));
    assert_eq!(uniform(u32::MAX), 1.0 - step);
    assert_eq!((uniform_positive(0), uniform_positive(u32::MAX)), (step, 1.0));
}

#[test]
fn normals() {
    let mut draws = vec![0.0; N];
    let stream = Stream::new(12, 0);
    stream.fill_normal(0, &mut draws);
    // The two of a pair don't correlate, nor do their squares, nor neighbouring pairs.
    let bound = 3.2905 / (N as f64 / 2.0).sqrt();
    let mean = |f: &dyn Fn(f64, f64) -> f64, shift: usize| {
        let pairs = draws[shift..].as_chunks::<2>().0;
        pairs.iter().map(|&[a, b]| f(f64::from(a), f64::from(b))).sum::<f64>() / pairs.len() as f64
    };
    assert!(mean(&|a, b| a * b, 0).abs() < bound);
    assert!(mean(&|a, b| a * b, 1).abs() < bound);
    assert!((mean(&|a, b| (a * a - 1.0) * (b * b - 1.0), 0) / 2.0).abs() < bound);
    let statistic = kolmogorov(&mut draws, normal_cdf);
    assert!(statistic < KOLMOGOROV, "{statistic}");
}

#[test]
fn normals_stay_finite_at_the_ends_of_the_words() {
    for w0 in [0, 1, 0xff, 0x100, 0x7fff_ffff, 0xffff_fe00, u32::MAX] {
        for w1 in [0, 0x4000_0000, 0x8000_0000, 0xc000_0000, u32::MAX] {
            let (a, b) = normal_pair(w0, w1);
            assert!(a.abs() <= 5.78 && b.abs() <= 5.78, "{a} {b}");
            // The radius is that of the definition.
            let radius = f64::from(a).hypot(f64::from(b));
            let u = (f64::from(w0 >> 8) + 1.0) / 16_777_216.0;
            assert!((radius - (-2.0 * u.ln()).sqrt()).abs() < 1e-6);
        }
    }
}

#[test]
fn words_and_bounded_integers() {
    let stream = Stream::new(13, 0);
    let mut words = vec![0; N];
    stream.fill_words(0, &mut words);
    for shift in [0, 8, 16, 24] {
        let mut counts = [0; 256];
        for &w in &words {
            counts[(w >> shift & 0xff) as usize] += 1;
        }
        let statistic = chi_square(&counts);
        assert!(statistic < chi_square_bound(255.0), "{shift}: {statistic}");
    }
    let mut draws = vec![0; N];
    for total in [2_u64, 17, 1000] {
        stream.fill_bounded(0, total, &mut draws);
        let mut counts = vec![0; total as usize];
        for &d in &draws {
            counts[d as usize] += 1;
        }
        let statistic = chi_square(&counts);
        assert!(statistic < chi_square_bound(total as f64 - 1.0), "{total}: {statistic}");
    }
}

#[test]
fn streams_and_seeds_are_independent() {
    let bound = 3.2905 / (N as f64).sqrt();
    let base = Stream::new(14, 0);
    for other in [Stream::new(14, 1), Stream::new(15, 0), Stream::new(14, 1 << 32), Stream::new(14 | 1 << 32, 0)] {
        let correlation =
            (0..N as u64).map(|i| f64::from(base.normal(i)) * f64::from(other.normal(i))).sum::<f64>() / N as f64;
        assert!(correlation.abs() < bound, "{other:?}: {correlation}");
    }
}
