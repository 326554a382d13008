//! The draws from trees: their distribution, their addresses, and their values for ever.

use arith::random::Stream;
use per_core::{DistinctScratch, Error, SumTree, oracle};

fn built(priorities: &[f32]) -> SumTree {
    let mut tree = SumTree::new(priorities.len()).unwrap();
    tree.rebuild(priorities).unwrap();
    tree
}

/// The value that chi-square exceeds with probability 1e-4 (Wilson and Hilferty 1931; the normal quantile is 3.719).
fn critical(freedom: f64) -> f64 {
    let v = 2.0 / (9.0 * freedom);
    freedom * (1.0 - v + 3.719 * v.sqrt()).powi(3)
}

/// Chi-square of counts against probabilities, and its degrees of freedom.
fn chi_square(counts: &[u32], probabilities: &[f64]) -> (f64, f64) {
    let draws: u32 = counts.iter().sum();
    let (mut chi, mut freedom) = (0.0, -1.0);
    for (&count, &p) in counts.iter().zip(probabilities) {
        let expected = f64::from(draws) * p;
        if p == 0.0 {
            assert_eq!(count, 0);
            continue;
        }
        assert!(expected >= 5.0, "too few draws");
        chi += (f64::from(count) - expected).powi(2) / expected;
        freedom += 1.0;
    }
    (chi, freedom)
}

#[test]
fn draws_follow_the_priorities() {
    // alpha = 1e-4 for each of the 12 tests, with fixed seeds.
    let patterns: [Vec<f32>; 4] = [
        vec![10.0, 0.0, 5.0, 2.0],
        (0..100).map(|i| if i % 3 == 0 { 0.0 } else { 1.0 + i as f32 }).collect(),
        (0..1000).map(|i| 0.5 + (i % 17) as f32).collect(),
        vec![1.0; 4097],
    ];
    for (p, weights) in patterns.iter().enumerate() {
        let tree = built(weights);
        let total: f64 = weights.iter().map(|&w| f64::from(w)).sum();
        let probabilities: Vec<f64> = weights.iter().map(|&w| f64::from(w) / total).collect();
        for seed in 0..3 {
            let mut draws = vec![0; 400_000];
            tree.sample(&Stream::new(seed, p as u64), 0, &mut draws).unwrap();
            let mut counts = vec![0; weights.len()];
            draws.iter().for_each(|&i| counts[i as usize] += 1);
            let (chi, freedom) = chi_square(&counts, &probabilities);
            assert!(chi < critical(freedom), "pattern {p}, seed {seed}: {chi} of {freedom}");
        }
    }
}

/// The probability of every ordered triple, by the definition of successive draws.
fn triples(weights: &[f32]) -> Vec<f64> {
    let n = weights.len();
    let w: Vec<f64> = weights.iter().map(|&w| f64::from(w)).collect();
    let total: f64 = w.iter().sum();
    let mut probabilities = vec![0.0; n * n * n];
    for a in 0..n {
        for b in 0..n {
            for c in 0..n {
                if a != b && b != c && a != c {
                    let p = w[a] / total * w[b] / (total - w[a]) * w[c] / (total - w[a] - w[b]);
                    probabilities[(a * n + b) * n + c] = p;
                }
            }
        }
    }
    probabilities
}

#[test]
fn draws_without_replacement_are_successive_draws() {
    // alpha = 1e-4 for each of the 3 tests; 60 ordered triples.
    for (k, weights) in
        [[1.0, 2.0, 3.0, 4.0, 5.0], [1.0, 1.0, 1.0, 1.0, 1.0], [8.0, 1.0, 1.0, 0.5, 0.25]].iter().enumerate()
    {
        // Far apart, so that all levels take part.
        let mut tree = SumTree::new(5000).unwrap();
        tree.update(&[0, 999, 1998, 2997, 3996], weights).unwrap();
        let before = (tree.clone(), tree.total());
        let (stream, mut scratch) = (Stream::new(7, k as u64), DistinctScratch::new(3));
        let mut counts = vec![0; 125];
        for index in 0..200_000 {
            let mut out = [0; 3];
            tree.sample_distinct(&stream, index, &mut scratch, &mut out).unwrap();
            let [a, b, c] = out.map(|i| i as usize / 999);
            counts[(a * 5 + b) * 5 + c] += 1;
        }
        let (chi, freedom) = chi_square(&counts, &triples(weights));
        assert_eq!(freedom, 59.0);
        assert!(chi < critical(freedom), "{weights:?}: {chi}");
        // The test of the test: draws with other weights would be seen.
        let (chi, _) = chi_square(&counts, &triples(&[1.1, 2.0, 3.0, 4.0, 5.0]));
        assert!(chi > critical(freedom), "{chi}");
        assert!((tree.clone(), tree.total()) == before);
    }
}

#[test]
fn draws_without_replacement_can_take_everything() {
    // Weights over 60 powers of two: the worst for drawing again.
    for n in [1, 2, 16, 100, 3000] {
        let weights: Vec<f32> = (0..n).map(|i| if i % 5 == 4 { 0.0 } else { 2_f32.powi(-(i % 60)) }).collect();
        let tree = built(&weights);
        let positive: Vec<u32> = (0..n as u32).filter(|&i| weights[i as usize] > 0.0).collect();
        let mut scratch = DistinctScratch::default();
        let mut out = vec![0; positive.len()];
        for index in 0..5 {
            tree.sample_distinct(&Stream::new(1, 0), index, &mut scratch, &mut out).unwrap();
            out.sort_unstable();
            assert_eq!(out, positive);
        }
        let mut more = vec![7; positive.len() + 1];
        assert_eq!(
            tree.sample_distinct(&Stream::new(1, 0), 0, &mut scratch, &mut more),
            Err(Error::TooFewPositive {
                operation: "SumTree::sample_distinct",
                draws: positive.len() + 1,
                positive: positive.len()
            })
        );
        assert!(more.iter().all(|&i| i == 7));
    }
}

#[test]
fn draws_have_addresses() {
    let tree = built(&(0..999).map(|i| (i % 7) as f32).collect::<Vec<_>>());
    let stream = Stream::new(3, 4);
    let mut whole = [0; 100];
    tree.sample(&stream, u64::MAX - 30, &mut whole).unwrap();
    for split in [0, 1, 31, 32, 50, 99] {
        let mut parts = [0; 100];
        let (a, b) = parts.split_at_mut(split);
        tree.sample(&stream, u64::MAX - 30, a).unwrap();
        tree.sample(&stream, (u64::MAX - 30).wrapping_add(split as u64), b).unwrap();
        assert_eq!(parts, whole);
    }
}

#[test]
fn strata_have_a_draw_each() {
    let weights: Vec<f32> = (0..500).map(|i| (i % 3) as f32).collect();
    let tree = built(&weights);
    let sums = oracle::prefix_sums(&weights, tree.scale().exponent());
    for m in [1, 2, 33, 1000] {
        let mut out = vec![0; m];
        let stream = Stream::new(m as u64, 0);
        tree.sample_stratified(&stream, 8, &mut out).unwrap();
        for (j, &leaf) in out.iter().enumerate() {
            let t = oracle::threshold(stream.block(8 + j as u64), j as u32, m as u32, tree.total());
            assert_eq!(Some(leaf as usize), oracle::find(&sums, t.into()));
        }
    }
}

#[test]
fn draws_are_these_for_ever() {
    let tree = built(&(0..1000).map(|i| (i % 10) as f32 + 0.25).collect::<Vec<_>>());
    let stream = Stream::new(42, 1);
    let (mut a, mut b, mut c) = ([0; 8], [0; 8], [0; 8]);
    tree.sample(&stream, 0, &mut a).unwrap();
    tree.sample_stratified(&stream, 0, &mut b).unwrap();
    tree.sample_distinct(&stream, 0, &mut DistinctScratch::new(8), &mut c).unwrap();
    assert_eq!((a, b, c), GOLDEN);
}

const GOLDEN: ([u32; 8], [u32; 8], [u32; 8]) = (
    [127, 994, 125, 682, 579, 967, 458, 324],
    [17, 249, 267, 461, 574, 747, 808, 917],
    [806, 556, 44, 609, 63, 507, 249, 818],
);
