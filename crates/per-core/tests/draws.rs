//! The draws: their distribution, their addresses, and their values for ever.

use arith::random::Stream;
use per_core::{Cdf, oracle};

fn built(weights: &[f32]) -> Cdf {
    let mut cdf = Cdf::new();
    cdf.build(weights).unwrap();
    cdf
}

/// Chi-square of counts against weights; items of weight zero must not occur and are not counted.
fn chi_square(draws: &[u32], weights: &[f32]) -> (f64, f64) {
    let mut counts = vec![0_u32; weights.len()];
    for &d in draws {
        counts[d as usize] += 1;
    }
    let total: f64 = weights.iter().map(|&w| f64::from(w)).sum();
    let (mut chi, mut freedom) = (0.0, -1.0);
    for (i, (&count, &w)) in counts.iter().zip(weights).enumerate() {
        if w == 0.0 {
            assert_eq!(count, 0, "item {i} has no weight");
            continue;
        }
        let expected = draws.len() as f64 * f64::from(w) / total;
        assert!(expected >= 5.0, "too few draws for item {i}");
        chi += (f64::from(count) - expected).powi(2) / expected;
        freedom += 1.0;
    }
    (chi, freedom)
}

/// The value that chi-square exceeds with probability 1e-4 (Wilson and Hilferty 1931; the normal quantile is 3.719).
fn critical(freedom: f64) -> f64 {
    let v = 2.0 / (9.0 * freedom);
    freedom * (1.0 - v + 3.719 * v.sqrt()).powi(3)
}

#[test]
fn draws_follow_the_weights() {
    // alpha = 1e-4 for each of the 20 tests, with fixed seeds.
    let patterns: [Vec<f32>; 5] = [
        vec![10.0, 0.0, 5.0, 2.0],
        (0..100).map(|i| if i % 3 == 0 { 0.0 } else { 1.0 + i as f32 }).collect(),
        (0..1000).map(|i| 0.5 + (i % 17) as f32).collect(),
        (0..20).map(|i| 1.5_f32.powi(-i)).collect(),
        vec![1.0; 4096],
    ];
    for (p, weights) in patterns.iter().enumerate() {
        let cdf = built(weights);
        for seed in 0..4 {
            let mut draws = vec![0; 400_000];
            cdf.sample(&Stream::new(seed, p as u64), 0, &mut draws).unwrap();
            let (chi, freedom) = chi_square(&draws, weights);
            assert!(chi < critical(freedom), "pattern {p}, seed {seed}: {chi} of {freedom}");
            // Nor suspiciously close to their means: the lower tail at 1e-4, where the approximation is good.
            if freedom > 50.0 {
                let v = 2.0 / (9.0 * freedom);
                assert!(chi > freedom * (1.0 - v - 3.719 * v.sqrt()).powi(3), "pattern {p}, seed {seed}: {chi}");
            }
        }
    }
}

#[test]
fn chi_square_would_see_a_bias() {
    // The test of the test: draws from 1,000 weights of which one in 17 is 15 % larger than claimed.
    let claimed: Vec<f32> = (0..1000).map(|i| 0.5 + (i % 17) as f32).collect();
    let real: Vec<f32> = claimed.iter().enumerate().map(|(i, w)| if i % 17 == 16 { w * 1.15 } else { *w }).collect();
    let mut draws = vec![0; 400_000];
    built(&real).sample(&Stream::new(0, 2), 0, &mut draws).unwrap();
    let (chi, freedom) = chi_square(&draws, &claimed);
    assert!(chi > critical(freedom), "{chi} of {freedom}");
}

/// Kolmogorov and Smirnov: the largest distance between the empirical and the exact distribution over the items.
#[test]
fn draws_have_the_right_distribution_over_a_large_range() {
    let stream = Stream::new(3, 0);
    let weights: Vec<f32> = (0..1 << 20)
        .map(|i| {
            let [a, b, ..] = stream.block(i);
            if b % 4 == 0 { 0.0 } else { arith::random::uniform(a) }
        })
        .collect();
    let mut cdf = Cdf::new();
    cdf.build_par(&weights).unwrap();
    let n = 200_000;
    for seed in 0..5 {
        let mut draws = vec![0; n];
        cdf.sample_par(&Stream::new(seed, 1), 1 << 40, &mut draws).unwrap();
        assert!(draws.iter().all(|&i| weights[i as usize] > 0.0));
        draws.sort_unstable();
        let mut distance = 0.0_f64;
        for (i, &d) in draws.iter().enumerate() {
            // Up to and with an item; the distribution is discrete, so this is conservative.
            if draws.get(i + 1) != Some(&d) {
                let exact = cdf.prefix(d as usize).unwrap() as f64 / cdf.total() as f64;
                distance = distance.max(((i + 1) as f64 / n as f64 - exact).abs());
            }
        }
        // K = 2.225 has probability 1e-4 (2 exp(-2 K^2)).
        assert!(distance * (n as f64).sqrt() < 2.225, "seed {seed}: {distance}");
    }
}

#[test]
fn successive_draws_are_independent() {
    // Pairs of successive draws from 8 weights: chi-square with 63 degrees of freedom at alpha = 1e-4.
    let weights: Vec<f32> = (1..=8).map(|i| i as f32).collect();
    let cdf = built(&weights);
    let mut draws = vec![0; 500_000];
    cdf.sample(&Stream::new(12, 0), 0, &mut draws).unwrap();
    let pairs: Vec<u32> = draws.chunks_exact(2).map(|p| p[0] * 8 + p[1]).collect();
    let products: Vec<f32> = (0..64).map(|i| weights[i / 8] * weights[i % 8]).collect();
    let (chi, freedom) = chi_square(&pairs, &products);
    assert!(chi < critical(freedom), "{chi}");
}

#[test]
fn a_draw_is_a_function_of_its_address() {
    let weights: Vec<f32> = (0..777).map(|i| (i % 5) as f32).collect();
    let cdf = built(&weights);
    let sums = oracle::prefix_sums(&weights, cdf.scale().exponent());
    let stream = Stream::new(0x1234_5678_9abc_def0, 42);
    // Across the end of the indices, and across that of their low word.
    for first in [0, 5, u64::MAX - 50, u64::from(u32::MAX) - 50] {
        let mut all = vec![0; 133];
        cdf.sample(&stream, first, &mut all).unwrap();
        for (i, &item) in (0..).zip(&all) {
            let threshold = oracle::threshold(stream.block(first.wrapping_add(i)), 0, 1, cdf.total());
            assert_eq!(Some(item as usize), oracle::find(&sums, threshold.into()));
        }
        for cut in [1, 31, 32, 33, 100] {
            let mut parts = vec![0; 133];
            let (a, b) = parts.split_at_mut(cut);
            cdf.sample(&stream, first, a).unwrap();
            cdf.sample(&stream, first.wrapping_add(cut as u64), b).unwrap();
            assert_eq!(parts, all);
        }
    }
}

#[test]
fn one_draw_per_stratum() {
    let weights: Vec<f32> = (0..300).map(|i| if i % 4 == 1 { 0.0 } else { (i % 9) as f32 + 0.25 }).collect();
    let cdf = built(&weights);
    let sums = oracle::prefix_sums(&weights, cdf.scale().exponent());
    let stream = Stream::new(5, 6);
    for m in [1, 2, 3, 31, 32, 33, 100, 1000, 4097] {
        let mut stratified = vec![0; m];
        cdf.sample_stratified(&stream, 17, &mut stratified).unwrap();
        let mut systematic = vec![0; m];
        cdf.sample_systematic(&stream, 17, &mut systematic).unwrap();
        for j in 0..m {
            let exact = |index| {
                let t = oracle::threshold(stream.block(index), j as u32, m as u32, cdf.total());
                oracle::find(&sums, t.into()).map(|i| i as u32)
            };
            assert_eq!(Some(stratified[j]), exact(17 + j as u64), "{j} of {m}");
            assert_eq!(Some(systematic[j]), exact(17), "{j} of {m}");
        }
        assert!(stratified.is_sorted() && systematic.is_sorted());
        // m p rounded down or up; strata are rounded to units, which the slack of one millionth covers.
        for i in 0..300 {
            let mean = m as f64 * cdf.weight(i).unwrap() as f64 / cdf.total() as f64;
            let count = |v: &[u32]| v.iter().filter(|&&d| d as usize == i).count() as f64;
            let (low, high) = ((mean - 1e-6).floor(), (mean + 1e-6).ceil());
            assert!((low..=high).contains(&count(&systematic)), "systematic {i} of {m}");
            assert!((low - 1.0..=high + 1.0).contains(&count(&stratified)), "stratified {i} of {m}");
        }
    }
}

#[test]
fn stratified_and_systematic_draws_have_the_right_means() {
    // Means over 20,000 repetitions of 3 draws from [0.6, 0.3, 0.1]: 4.9 standard deviations of a count of at most
    // variance 1/4 each (systematic) or 3/4 (stratified), alpha = 1e-6.
    let cdf = built(&[0.6, 0.3, 0.1]);
    let stream = Stream::new(40, 0);
    let n = 20_000;
    for stratified in [true, false] {
        let mut counts = [0.0; 3];
        for i in 0..n {
            let mut out = [0; 3];
            if stratified {
                cdf.sample_stratified(&stream, 3 * i, &mut out).unwrap();
            } else {
                cdf.sample_systematic(&stream, i, &mut out).unwrap();
            }
            out.iter().for_each(|&d| counts[d as usize] += 1.0);
        }
        for (count, mean) in counts.iter().zip([1.8, 0.9, 0.3]) {
            let bound = 4.9 * (0.75 / n as f64).sqrt();
            assert!((count / n as f64 - mean).abs() < bound, "{counts:?}");
        }
    }
}

/// Changing any of these is a breaking change.
#[test]
fn values_for_ever() {
    let weights: Vec<f32> = (0..1000).map(|i| (i * i % 101) as f32).collect();
    let cdf = built(&weights);
    let stream = Stream::new(2024, 7);
    let mut out = [[0; 12]; 3];
    cdf.sample(&stream, 100, &mut out[0]).unwrap();
    cdf.sample_stratified(&stream, 100, &mut out[1]).unwrap();
    cdf.sample_systematic(&stream, 100, &mut out[2]).unwrap();
    assert_eq!(out[0], [94, 398, 756, 624, 125, 212, 857, 117, 524, 367, 841, 827]);
    assert_eq!(out[1], [12, 120, 232, 298, 346, 437, 571, 592, 716, 780, 901, 986]);
    assert_eq!(out[2], [12, 88, 174, 256, 344, 428, 514, 590, 675, 759, 845, 929]);
}
