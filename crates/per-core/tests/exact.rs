//! Sums, searches and quotients against plain integers.

use arith::random::Stream;
use per_core::{Cdf, Error, oracle};
use proptest::prelude::*;

fn built(weights: &[f32]) -> Cdf {
    let mut cdf = Cdf::new();
    cdf.build(weights).unwrap();
    cdf
}

/// Every function that searches gives `item` for `threshold`.
fn assert_found(cdf: &Cdf, threshold: u64, item: u32) {
    let mut out = [u32::MAX];
    assert_eq!(cdf.find(threshold).unwrap(), item, "find {threshold}");
    cdf.search(&[threshold], &mut out).unwrap();
    assert_eq!(out, [item], "search {threshold}");
    cdf.search_left(&[threshold + 1], &mut out).unwrap();
    assert_eq!(out, [item], "search_left {threshold} + 1");
}

/// The smallest integer weight that is not zero, in fixed point: what one threshold unit of the original case is here.
fn unit(cdf: &Cdf, weights: &[u32]) -> u64 {
    let sum: u64 = weights.iter().map(|&w| u64::from(w)).sum();
    assert_eq!(cdf.total() % sum, 0, "integers are exact");
    cdf.total() / sum
}

#[test]
fn case_1_the_very_end_of_the_mass() {
    let cdf = built(&[16_777_218.0, 0.0, 1.0, 0.0]);
    assert_found(&cdf, cdf.total() - 1, 2);
    let cdf = built(&[0.7, 0.6, 0.001, 0.0]);
    assert_found(&cdf, cdf.total() - 1, 2);
}

#[test]
fn case_2_first_and_last_thresholds() {
    assert_found(&built(&[0.0, 1.0, 0.0, 1.0]), 0, 1);
    let cdf = built(&[1.0, 1.0, 0.0, 0.0]);
    assert_found(&cdf, cdf.total() - 1, 1);
}

#[test]
fn case_2_counts_over_all_thresholds() {
    let cdf = built(&[10.0, 5.0, 2.0]);
    let unit = unit(&cdf, &[10, 5, 2]);
    let mut counts = [0; 3];
    for t in 0..17 {
        counts[cdf.find(t * unit).unwrap() as usize] += 1;
    }
    assert_eq!(counts, [10, 5, 2]);
}

#[test]
fn case_2_every_threshold_of_every_small_vector() {
    // All vectors of up to 5 weights in 0..4, and at every integer threshold the units on both sides of it.
    for n in 1..=5 {
        for code in 1..4_u32.pow(n) {
            let integers: Vec<u32> = (0..n).map(|i| code / 4_u32.pow(i) % 4).collect();
            let weights: Vec<f32> = integers.iter().map(|&w| w as f32).collect();
            let cdf = built(&weights);
            let unit = unit(&cdf, &integers);
            let mut expected = Vec::new();
            for (i, &w) in (0..).zip(&integers) {
                expected.extend(std::iter::repeat_n(i, w as usize));
            }
            for (t, &item) in (0..).zip(&expected) {
                for threshold in [t * unit, t * unit + unit / 2, (t + 1) * unit - 1] {
                    assert_found(&cdf, threshold, item);
                }
            }
        }
    }
}

#[test]
fn case_2_every_threshold_across_blocks_and_nodes() {
    // Weights 0..3 in a pattern with runs of zeros longer than a block (16) and than a node (256).
    let stream = Stream::new(2, 2);
    for n in [16, 17, 40, 255, 256, 257, 700, 5000] {
        let integers: Vec<u32> = (0..n)
            .map(|i| {
                let run = stream.block(i / 20)[0].is_multiple_of(3) || (300..600).contains(&i);
                if run { 0 } else { stream.block(i)[1] % 4 }
            })
            .collect();
        let weights: Vec<f32> = integers.iter().map(|&w| w as f32).collect();
        let cdf = built(&weights);
        let unit = unit(&cdf, &integers);
        let mut thresholds = Vec::new();
        let mut expected = Vec::new();
        for (i, &w) in (0..).zip(&integers) {
            for _ in 0..w {
                let t = thresholds.len() as u64 / 2 * unit;
                thresholds.extend([t, t + unit - 1]);
                expected.extend([i, i]);
            }
        }
        let mut out = vec![u32::MAX; thresholds.len()];
        cdf.search(&thresholds, &mut out).unwrap();
        assert!(out == expected, "search, {n}");
        let singly: Vec<u32> = thresholds.iter().map(|&t| cdf.find(t).unwrap()).collect();
        assert!(singly == expected, "find, {n}");
        out.fill(u32::MAX);
        cdf.search_par(&thresholds, &mut out).unwrap();
        assert!(out == expected, "search_par, {n}");
        thresholds.iter_mut().for_each(|t| *t += 1);
        out.fill(u32::MAX);
        cdf.search_left(&thresholds, &mut out).unwrap();
        assert!(out == expected, "search_left, {n}");
    }
}

#[test]
fn case_6_weights_whose_f32_sum_is_infinite() {
    let cdf = built(&[3e38, 3e38]);
    assert_found(&cdf, 0, 0);
    assert_found(&cdf, cdf.total() / 2 - 1, 0);
    assert_found(&cdf, cdf.total() / 2, 1);
    assert_found(&cdf, cdf.total() - 1, 1);
    assert_eq!(cdf.probability(1).unwrap(), 0.5);
}

#[test]
fn case_10_many_equal_weights_are_all_reachable() {
    let n = (1 << 24) + 10;
    let weights = vec![0.1_f32; n];
    let cdf = built(&weights);
    let one = cdf.weight(0).unwrap();
    assert_eq!(cdf.total(), one * n as u64, "every weight has the same share");
    let mut thresholds = Vec::new();
    let mut out = Vec::new();
    for chunk in (0..n as u64).collect::<Vec<_>>().chunks(1 << 16) {
        thresholds.clear();
        thresholds.extend(chunk.iter().map(|i| i * one));
        out.resize(chunk.len(), u32::MAX);
        cdf.search(&thresholds, &mut out).unwrap();
        assert!(out.iter().zip(chunk).all(|(&item, &i)| u64::from(item) == i));
        thresholds.iter_mut().for_each(|t| *t += one - 1);
        cdf.search(&thresholds, &mut out).unwrap();
        assert!(out.iter().zip(chunk).all(|(&item, &i)| u64::from(item) == i));
    }
}

#[test]
fn case_10_the_second_half_has_its_third() {
    let n = 1 << 24;
    let weights: Vec<f32> = (0..n).map(|i| if i < n / 2 { 2.0 } else { 1.0 }).collect();
    let cdf = built(&weights);
    assert_eq!(cdf.prefix(n / 2 - 1).unwrap() * 3, cdf.total() * 2);
    assert_eq!(cdf.find(cdf.prefix(n / 2 - 1).unwrap() - 1).unwrap(), (1 << 23) - 1);
    assert_eq!(cdf.find(cdf.prefix(n / 2 - 1).unwrap()).unwrap(), 1 << 23);
    // 100,000 draws: a third, within 4.9 standard deviations (alpha = 1e-6): sqrt(100,000 * 2/9) = 149.
    let mut out = vec![0; 100_000];
    cdf.sample(&Stream::new(10, 0), 0, &mut out).unwrap();
    let second = out.iter().filter(|&&i| i >= 1 << 23).count();
    assert!((33_333 - 730..=33_333 + 730).contains(&second), "{second}");
}

#[test]
fn case_11_the_fractions_ascend_and_the_end_is_never_drawn() {
    let cdf = built(&[0.1, 0.1, 0.1, 0.4, 0.0]);
    let mut fractions = [f32::NAN; 5];
    cdf.to_f32(&mut fractions).unwrap();
    assert!(fractions.is_sorted());
    assert_eq!(fractions[3..], [1.0, 1.0]);
    assert_found(&cdf, cdf.total() - 1, 3);
    let mut out = vec![0; 100_000];
    cdf.sample(&Stream::new(11, 0), 0, &mut out).unwrap();
    assert!(out.iter().all(|&i| i < 4));
}

#[test]
fn case_15_strided_weights_equal_a_copy() {
    let data: Vec<f32> = (0..3000).map(|i| (i * 7 % 31) as f32).collect();
    let array = ndarray::ArrayView2::from_shape((1000, 3), &data).unwrap();
    let column = array.column(1);
    assert!(column.as_slice().is_none(), "the view is strided");
    let reference = built(&column.to_vec());
    let mut strided = Cdf::new();
    strided.build_from(column.iter().copied()).unwrap();
    assert_eq!(strided.total(), reference.total());
    for i in 0..1000 {
        assert_eq!(strided.prefix(i), reference.prefix(i));
    }
    let mut reversed = Cdf::new();
    reversed.build_from(array.column(1).slice(ndarray::s![..;-1]).iter().copied()).unwrap();
    assert_eq!(reversed.weight(999), reference.weight(0));
}

#[test]
fn tiny_weights_beside_huge_ones_stay_drawable() {
    let cdf = built(&[f32::MAX, f32::from_bits(1), 0.0, f32::MIN_POSITIVE]);
    assert_eq!((cdf.weight(1), cdf.weight(2), cdf.weight(3)), (Ok(1), Ok(0), Ok(1)));
    assert_found(&cdf, cdf.total() - 2, 1);
    assert_found(&cdf, cdf.total() - 1, 3);
}

#[test]
fn subnormal_weights_are_exact() {
    let cdf = built(&[f32::from_bits(3), f32::from_bits(1)]);
    assert_eq!(cdf.weight(0).unwrap(), 3 * cdf.weight(1).unwrap());
}

#[test]
fn negative_zero_is_zero() {
    let cdf = built(&[-0.0, 1.0, -0.0]);
    assert_eq!((cdf.weight(0), cdf.weight(2)), (Ok(0), Ok(0)));
    assert_found(&cdf, 0, 1);
    assert_found(&cdf, cdf.total() - 1, 1);
    let cdf = built(&[-0.0; 20]);
    assert_eq!(cdf.total(), 0);
}

#[test]
fn a_single_weight() {
    for w in [1.0, f32::MAX, f32::from_bits(1), 0.3] {
        let cdf = built(&[w]);
        assert_found(&cdf, 0, 0);
        assert_found(&cdf, cdf.total() - 1, 0);
        assert_eq!(cdf.probability(0), Ok(1.0));
        assert_eq!((cdf.len(), cdf.is_empty()), (1, false));
    }
}

/// Weights of one of several kinds: any finite bits, small integers, or the same magnitude; some are zero.
fn weights() -> impl Strategy<Value = Vec<f32>> {
    let any_bits = (0..0x7f80_0000_u32).prop_map(f32::from_bits);
    let integer = (0..5_u32).prop_map(|w| w as f32);
    let near_one = (0..1000_u32).prop_map(|w| 1.0 + w as f32 / 512.0);
    let zero = Just(0.0_f32);
    prop_oneof![
        prop::collection::vec(prop_oneof![any_bits, zero], 1..600),
        prop::collection::vec(integer, 1..900),
        prop::collection::vec(prop_oneof![3 => near_one, 1 => zero], 1..900),
    ]
}

proptest! {
    #[test]
    fn sums_and_searches_equal_the_oracle(weights in weights(), seed in any::<u64>()) {
        let mut cdf = Cdf::with_capacity(10);
        cdf.build(&weights).unwrap();
        let sums = oracle::prefix_sums(&weights, cdf.scale().exponent());
        prop_assert_eq!(u128::from(cdf.total()), *sums.last().unwrap());
        prop_assert!(cdf.total() < 1 << 63);
        for (i, &sum) in sums.iter().enumerate() {
            prop_assert_eq!(u128::from(cdf.prefix(i).unwrap()), sum);
            prop_assert_eq!(u128::from(cdf.weight(i).unwrap()), oracle::quantize(weights[i], cdf.scale().exponent()));
            prop_assert_eq!(cdf.weight(i).unwrap() == 0, weights[i] == 0.0);
        }
        if cdf.total() > 0 {
            // The edges of every item, and some thresholds within.
            let mut thresholds = vec![0, cdf.total() - 1];
            for &sum in &sums {
                let sum = sum as u64;
                thresholds.extend([sum.saturating_sub(1), sum].into_iter().filter(|&t| t < cdf.total()));
            }
            let stream = Stream::new(seed, 0);
            thresholds.extend((0..100).map(|i| oracle::threshold(stream.block(i), 0, 1, cdf.total())));
            let mut out = vec![u32::MAX; thresholds.len()];
            cdf.search(&thresholds, &mut out).unwrap();
            for (&t, &item) in thresholds.iter().zip(&out) {
                prop_assert_eq!(Some(item as usize), oracle::find(&sums, t.into()));
                prop_assert_eq!(cdf.find(t), Ok(item));
            }
            let mut fractions = vec![f32::NAN; weights.len()];
            cdf.to_f32(&mut fractions).unwrap();
            for (i, f) in fractions.iter().enumerate() {
                prop_assert_eq!(f.to_bits(), oracle::ratio(cdf.prefix(i).unwrap(), cdf.total()).to_bits());
                let p = cdf.probability(i).unwrap();
                prop_assert_eq!(p.to_bits(), oracle::ratio(cdf.weight(i).unwrap(), cdf.total()).to_bits());
            }
            prop_assert!(fractions.is_sorted());
            prop_assert_eq!(fractions[weights.len() - 1], 1.0);
        }
    }

    #[test]
    fn left_and_right_differ_only_on_boundaries(weights in weights()) {
        let cdf = built(&weights);
        prop_assume!(cdf.total() > 1);
        let sums = oracle::prefix_sums(&weights, cdf.scale().exponent());
        let thresholds: Vec<u64> = sums.iter().map(|&s| s as u64).filter(|&s| s > 0).collect();
        let mut out = vec![u32::MAX; thresholds.len()];
        cdf.search_left(&thresholds, &mut out).unwrap();
        for (&t, &item) in thresholds.iter().zip(&out) {
            prop_assert_eq!(Some(item as usize), sums.iter().position(|&s| s >= t.into()));
        }
    }

    #[test]
    fn one_bad_weight_is_named_and_changes_nothing(
        weights in weights(),
        position in any::<prop::sample::Index>(),
        bad in prop_oneof![Just(f32::NAN), Just(-f32::NAN), Just(f32::INFINITY), Just(f32::NEG_INFINITY), Just(-1.0_f32),
            Just(-f32::from_bits(1)), Just(f32::MIN)],
    ) {
        let mut cdf = built(&[1.0, 2.0, 3.0]);
        let before: Vec<_> = (0..3).map(|i| cdf.prefix(i)).collect();
        let position = position.index(weights.len());
        let mut weights = weights;
        weights[position] = bad;
        let error = cdf.build(&weights).unwrap_err();
        let named = matches!(error, Error::InvalidWeight { position: p, value, .. }
            if p == position && value.to_bits() == bad.to_bits());
        prop_assert!(named, "{}", error);
        prop_assert_eq!(cdf.len(), 3);
        prop_assert_eq!(before, (0..3).map(|i| cdf.prefix(i)).collect::<Vec<_>>());
    }
}
