//! Inputs that broke other trees, and the edges.

use arith::random::Stream;
use per_core::{Cdf, DistinctScratch, Error, MaxTree, MinTree, SumTree};

fn built(priorities: &[f32]) -> SumTree {
    let mut tree = SumTree::new(priorities.len()).unwrap();
    tree.update(&(0..priorities.len() as u32).collect::<Vec<_>>(), priorities).unwrap();
    tree
}

/// Every function that searches gives `leaf` for `threshold`.
fn assert_found(tree: &SumTree, threshold: u64, leaf: u32) {
    let mut out = [u32::MAX];
    assert_eq!(tree.find(threshold), Ok(leaf));
    tree.search(&[threshold], &mut out).unwrap();
    assert_eq!(out, [leaf]);
}

/// What a priority of 1 is in fixed point.
fn unit(tree: &SumTree) -> u64 {
    let exponent = tree.scale().exponent();
    assert!((0..63).contains(&exponent));
    1 << exponent
}

#[test]
fn case_1_the_very_end_of_the_mass() {
    let tree = built(&[16_777_218.0, 0.0, 1.0, 0.0]);
    assert_eq!(tree.total(), 16_777_219 * unit(&tree));
    assert_found(&tree, tree.total() - 1, 2);
    let tree = built(&[0.7, 0.6, 0.001, 0.0]);
    assert_found(&tree, tree.total() - 1, 2);
}

#[test]
fn case_2_first_and_last_thresholds() {
    assert_found(&built(&[0.0, 1.0, 0.0, 1.0]), 0, 1);
    let tree = built(&[1.0, 1.0, 0.0, 0.0]);
    assert_found(&tree, tree.total() - 1, 1);
}

#[test]
fn case_2_every_threshold_of_small_integer_trees() {
    let tree = built(&[10.0, 5.0, 2.0]);
    let mut counts = [0; 3];
    for t in 0..17 {
        counts[tree.find(t * unit(&tree)).unwrap() as usize] += 1;
    }
    assert_eq!(counts, [10, 5, 2]);
    // All trees of up to 5 leaves in 0..4, and the same leaves far apart in larger trees. At every integer threshold the
    // units on both sides of it.
    for (n, stride) in [(1, 1), (2, 1), (3, 1), (4, 1), (5, 1), (4, 16), (4, 257)] {
        for code in 0..4_u32.pow(n) {
            let digits: Vec<u32> = (0..n).map(|d| code / 4_u32.pow(d) % 4).collect();
            let mut tree = SumTree::new(n as usize * stride).unwrap();
            for (d, &digit) in digits.iter().enumerate() {
                tree.update(&[(d * stride) as u32], &[digit as f32]).unwrap();
            }
            let unit = unit(&tree);
            let owners: Vec<usize> =
                digits.iter().enumerate().flat_map(|(i, &w)| vec![i * stride; w as usize]).collect();
            assert_eq!(tree.total(), owners.len() as u64 * unit);
            for (t, &owner) in (0..).zip(&owners) {
                assert_found(&tree, t * unit, owner as u32);
                assert_found(&tree, (t + 1) * unit - 1, owner as u32);
            }
            let end = tree.total();
            let refused =
                Error::ThresholdOutOfRange { operation: "SumTree::find", position: 0, threshold: end, min: 0, end };
            assert_eq!(tree.find(end), Err(refused));
        }
    }
}

#[test]
fn case_3_nothing_is_left_behind() {
    let mut tree = built(&[1e8, 1.0]);
    tree.update(&[0], &[0.0]).unwrap();
    assert_eq!(tree.total(), unit(&tree));
    // 10^6 random updates of 1,024 leaves.
    let stream = Stream::new(3, 0);
    let mut tree = SumTree::new(1024).unwrap();
    let mut leaves = vec![0.0; 1024];
    for turn in 0..1000_u64 {
        let words: Vec<u32> = (0..2000).map(|i| stream.word(2000 * turn + i)).collect();
        let indices: Vec<u32> = words[..1000].iter().map(|w| w % 1024).collect();
        let values: Vec<f32> = words[1000..].iter().map(|w| *w as f32 * 0.1).collect();
        // In batches that are not done by making all sums anew.
        for (indices, values) in indices.chunks(50).zip(values.chunks(50)) {
            tree.update(indices, values).unwrap();
        }
        for (&i, &v) in indices.iter().zip(&values) {
            leaves[i as usize] = v;
        }
        if turn % 100 == 0 {
            let mut fresh = SumTree::new(1024).unwrap();
            fresh.rebuild(&leaves).unwrap();
            assert!(tree == fresh && tree.total() == fresh.total() && tree.scale() == fresh.scale());
        }
    }
    for i in 0..1024 {
        tree.update(&[i], &[0.0]).unwrap();
    }
    assert_eq!((tree.total(), tree.positive()), (0, 0));
    assert_eq!(tree, SumTree::new(1024).unwrap());
}

#[test]
fn case_4_removal_leaves_zero() {
    let mut tree = SumTree::new(2).unwrap();
    tree.update(&[0, 1], &[0.3, 0.1]).unwrap();
    tree.update(&[0], &[0.0]).unwrap();
    tree.update(&[1], &[0.0]).unwrap();
    assert_eq!(tree.total(), 0);
}

#[test]
fn case_5_the_last_duplicate_wins() {
    for capacity in [4, 1000] {
        let mut tree = SumTree::new(capacity).unwrap();
        tree.update(&[2], &[1.0]).unwrap();
        let before = tree.total() / unit(&tree);
        tree.update(&[2, 2], &[5.0, 3.0]).unwrap();
        assert_eq!(tree.priority(2), Ok(3.0));
        assert_eq!(tree.total() / unit(&tree), before + 2);
        let (mut min, mut max) = (MinTree::new(capacity).unwrap(), MaxTree::new(capacity).unwrap());
        min.update(&[2, 2], &[2.0, 3.0]).unwrap();
        max.update(&[2, 2], &[5.0, 3.0]).unwrap();
        assert_eq!((min.min(), max.max()), (Some(3.0), Some(3.0)));
    }
}

#[test]
fn case_6_a_bad_priority_changes_nothing() {
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -1.0, -f32::from_bits(1)] {
        let mut tree = built(&[1.0, 2.0, 3.0]);
        let before = (tree.clone(), tree.total(), tree.scale());
        let Err(Error::InvalidWeight { operation, position, value }) = tree.update(&[0, 1, 2], &[9.0, 7.0, bad]) else {
            panic!("{bad} was taken");
        };
        assert_eq!((operation, position, value.to_bits()), ("SumTree::update", 2, bad.to_bits()));
        assert!(matches!(tree.rebuild(&[5.0, bad, 5.0]), Err(Error::InvalidWeight { position: 1, .. })));
        assert!((tree.clone(), tree.total(), tree.scale()) == before);
    }
    let tree = built(&[3e38, 3e38]);
    assert_eq!((tree.probability(0), tree.probability(1)), (Ok(0.5), Ok(0.5)));
    assert_found(&tree, tree.total() / 2 - 1, 0);
    assert_found(&tree, tree.total() / 2, 1);
}

#[test]
fn case_7_capacities_and_unfilled_slots() {
    for (capacity, filled) in [(4096, 4096), (3, 3), (1, 1), (4096, 2048), (1000, 10), (17, 16)] {
        let mut tree = SumTree::new(capacity).unwrap();
        let mut min = MinTree::new(capacity).unwrap();
        let indices: Vec<u32> = (0..filled).collect();
        let values: Vec<f32> = (0..filled).map(|i| 2.0 + (i % 7) as f32).collect();
        tree.update(&indices, &values).unwrap();
        min.update(&indices, &values).unwrap();
        assert_eq!(min.min(), Some(2.0), "neither unfilled");
        min.update(&[0], &[0.0]).unwrap();
        assert_eq!(
            min.min(),
            match filled {
                1 => None,
                2..=7 => Some(3.0),
                _ => Some(2.0),
            },
            "nor zero"
        );
        let mut draws = vec![u32::MAX; 20_000];
        tree.sample(&Stream::new(1, 0), 0, &mut draws).unwrap();
        assert!(draws.iter().all(|&i| i < filled));
        assert!(filled > 100 || (0..filled).all(|i| draws.contains(&i)));
        assert_found(&tree, tree.total() - 1, filled - 1);
    }
}

#[test]
fn case_8_nothing_to_draw() {
    for capacity in [1, 100] {
        let mut tree = SumTree::new(capacity).unwrap();
        for _ in 0..2 {
            let (stream, mut out) = (Stream::new(1, 0), [7; 3]);
            let zero = |operation| Err(Error::AllZero { operation, count: capacity });
            assert_eq!(tree.sample(&stream, 0, &mut out), zero("SumTree::sample"));
            assert_eq!(tree.sample_stratified(&stream, 0, &mut out), zero("SumTree::sample_stratified"));
            let mut scratch = DistinctScratch::new(3);
            assert_eq!(tree.sample_distinct(&stream, 0, &mut scratch, &mut out), zero("SumTree::sample_distinct"));
            assert_eq!(tree.probability(0), Err(Error::AllZero { operation: "SumTree::probability", count: capacity }));
            assert_eq!(out, [7; 3]);
            tree.update(&[0, 0], &[1.0, 0.0]).unwrap();
        }
    }
}

#[test]
fn case_9_the_largest_falls_again() {
    let mut max = MaxTree::new(300).unwrap();
    max.update(&[5, 299], &[1.5, 2.5]).unwrap();
    max.update(&[17], &[100.0]).unwrap();
    assert_eq!(max.max(), Some(100.0));
    max.update(&[17], &[0.0]).unwrap();
    assert_eq!(max.max(), Some(2.5));
    max.update(&[299], &[0.5]).unwrap();
    assert_eq!(max.max(), Some(1.5));
    max.update(&[5, 299], &[0.0, 0.0]).unwrap();
    assert_eq!(max.max(), None);
}

#[test]
fn case_10_more_leaves_than_f32_can_count() {
    let n = (1 << 24) + 10;
    let mut tree = SumTree::new(n).unwrap();
    tree.rebuild(&vec![0.1; n]).unwrap();
    let one = tree.weight(0).unwrap();
    assert_eq!(tree.total(), n as u64 * one);
    for leaf in [0, 1, (1 << 24) - 1, 1 << 24, (1 << 24) + 9] {
        assert_found(&tree, leaf * one, leaf as u32);
        assert_found(&tree, (leaf + 1) * one - 1, leaf as u32);
    }
    // The first half twice as heavy: a third of the draws is in the second half, within 4 standard deviations.
    let half = n / 2;
    tree.rebuild(&(0..n).map(|i| if i < half { 2.0 } else { 1.0 }).collect::<Vec<_>>()).unwrap();
    let mut draws = vec![0; 90_000];
    tree.sample(&Stream::new(10, 0), 0, &mut draws).unwrap();
    let second = draws.iter().filter(|&&i| i as usize >= half).count() as f64;
    assert!((second - 30_000.0).abs() < 4.0 * (90_000.0 * 2.0 / 9.0_f64).sqrt(), "{second}");
}

#[test]
fn case_11_a_cdf_of_the_same_priorities_draws_the_same() {
    for priorities in [vec![0.1, 0.1, 0.1, 0.4, 0.0], (0..5000).map(|i| (i % 91) as f32 * 0.3).collect::<Vec<f32>>()] {
        let (tree, mut cdf) = (built(&priorities), Cdf::new());
        cdf.build(&priorities).unwrap();
        assert_eq!((tree.total(), tree.scale()), (cdf.total(), cdf.scale()));
        let (mut a, mut b) = ([0; 3000], [0; 3000]);
        tree.sample(&Stream::new(6, 1), 77, &mut a).unwrap();
        cdf.sample(&Stream::new(6, 1), 77, &mut b).unwrap();
        assert_eq!(a, b);
        assert!(a.iter().all(|&i| priorities[i as usize] > 0.0));
        tree.sample_stratified(&Stream::new(6, 1), 77, &mut a).unwrap();
        cdf.sample_stratified(&Stream::new(6, 1), 77, &mut b).unwrap();
        assert_eq!(a, b);
    }
}

#[test]
fn arguments_that_do_not_fit_are_refused() {
    let empty = |operation| Some(Error::Empty { operation });
    assert_eq!(SumTree::new(0).err(), empty("SumTree::new"));
    assert_eq!(MinTree::new(0).err(), empty("MinTree::new"));
    assert_eq!(MaxTree::new(0).err(), empty("MaxTree::new"));
    let many = Error::TooManyWeights { operation: "SumTree::new", count: 1 << 31, max: (1 << 31) - 1 };
    assert_eq!(SumTree::new(1 << 31).err(), Some(many));

    let mut tree = built(&[1.0, 2.0, 3.0]);
    let before = tree.clone();
    let lengths = |operation, what, expected, got| Err(Error::LengthMismatch { operation, what, expected, got });
    assert_eq!(tree.update(&[0, 1], &[1.0]), lengths("SumTree::update", "values", 2, 1));
    assert_eq!(tree.rebuild(&[1.0; 4]), lengths("SumTree::rebuild", "priorities", 3, 4));
    assert_eq!(tree.copy_priorities(&mut [0.0; 2]), lengths("SumTree::copy_priorities", "out", 3, 2));
    assert_eq!(tree.search(&[0], &mut []), lengths("SumTree::search", "out", 1, 0));
    let at = |operation, position, index| Err(Error::BatchIndexOutOfRange { operation, position, index, count: 3 });
    assert_eq!(tree.update(&[0, 3, u32::MAX], &[5.0, 5.0, 5.0]), at("SumTree::update", 1, 3));
    let mut out = [9.0; 2];
    assert_eq!(tree.priorities(&[2, u32::MAX], &mut out), at("SumTree::priorities", 1, u32::MAX));
    assert_eq!(out, [9.0; 2]);
    tree.priorities(&[2, 0], &mut out).unwrap();
    assert_eq!(out, [3.0, 1.0]);
    assert_eq!(tree.priority(3), Err(Error::IndexOutOfRange { operation: "SumTree::priority", index: 3, count: 3 }));
    let end = tree.total();
    let refused = Error::ThresholdOutOfRange { operation: "SumTree::search", position: 1, threshold: end, min: 0, end };
    assert_eq!(tree.search(&[0, end], &mut [0; 2]), Err(refused));
    assert_eq!(tree, before);
    // Nothing to do is fine.
    tree.update(&[], &[]).unwrap();
    tree.sample(&Stream::new(0, 0), 0, &mut []).unwrap();
    assert_eq!(tree, before);
}
