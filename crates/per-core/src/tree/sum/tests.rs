//! The sums themselves, on every way that leads to them.

use super::scale::Storage;
use super::step::{Plain, Step};
use super::tuning::{CHUNK, REBUILD_ONE_IN};
use super::*;
use crate::oracle;
use arith::random::Stream;
use arith::simd::Isa;

const ISAS: [Isa; 3] = [Isa::Scalar, Isa::Avx2, Isa::Avx512];

/// Capacities at the edges of blocks (16), nodes (256) and levels (4,096; 65,536).
const CAPACITIES: [usize; 16] = [1, 2, 3, 15, 16, 17, 255, 256, 257, 300, 4095, 4096, 4097, 10_000, 65_536, 65_537];

/// Kinds of priorities: near each other; of 12 magnitudes (exact at any scale); of 60 (not); all that there are.
const KINDS: u32 = 4;

fn priority(kind: u32, stream: &Stream, i: u64) -> f32 {
    let [a, b, c, _] = stream.block(i);
    let magnitude = |count: u32| f32::from_bits((127 - count / 2 + b % count) << 23);
    match (c % 6, kind) {
        (0, _) => 0.0,
        (_, 0) => 1.0 + (a >> 9) as f32 * f32::EPSILON,
        (_, 1) => (1.0 + (a >> 9) as f32 * f32::EPSILON) * magnitude(12),
        (_, 2) => (1.0 + (a >> 9) as f32 * f32::EPSILON) * magnitude(60),
        _ => f32::from_bits(a % 0x7f80_0000),
    }
}

fn leaves(tree: &SumTree) -> Vec<f32> {
    let mut leaves = vec![f32::NAN; tree.capacity];
    tree.copy_priorities(&mut leaves).unwrap();
    leaves
}

/// All that a tree shows is that of one made from its leaves, and its sums are those of the definition.
fn assert_sound(tree: &SumTree, what: &str) {
    let mut fresh = SumTree::new(tree.capacity).unwrap();
    fresh.rebuild_on(Isa::Scalar, &leaves(tree)).unwrap();
    assert_eq!(tree, &fresh);
    assert_eq!(tree.exponents, fresh.exponents, "{what}: magnitudes");
    assert_eq!((tree.scale(), tree.total()), (fresh.scale(), fresh.total()), "{what}");
    for (i, (a, b)) in tree.nodes.iter().zip(&fresh.nodes).enumerate() {
        assert_eq!(a.0.map(|s| tree.storage.reveal(s)), b.0.map(|s| fresh.storage.reveal(s)), "{what}: node {i}");
    }
    let exponent = fresh.scale().exponent();
    assert_eq!(fresh.storage.stored().exponent(), exponent, "made anew as shown");
    let parts: Vec<u128> = leaves(tree).iter().map(|&w| oracle::quantize(w, exponent)).collect();
    for (i, part) in parts.iter().enumerate() {
        assert_eq!(u128::from(tree.weight(i).unwrap()), *part, "{what}: weight {i}");
    }
    for (block, parts) in parts.chunks(FANOUT).enumerate() {
        let sum = fresh.nodes[block / FANOUT].0[block % FANOUT];
        assert_eq!(u128::from(sum), parts.iter().sum::<u128>(), "{what}: block {block}");
    }
    assert_eq!(u128::from(tree.total()), parts.iter().sum::<u128>(), "{what}: total");
}

#[test]
fn case_3_every_program_ends_in_the_tree_of_its_leaves() {
    for capacity in CAPACITIES {
        for kind in 0..KINDS {
            let stream = Stream::new(capacity as u64, u64::from(kind));
            // Small enough not to be done by a rebuild, for the larger trees.
            let batch = (capacity / REBUILD_ONE_IN).clamp(1, 3 * CHUNK + 5);
            let mut trees = ISAS.map(|_| SumTree::new(capacity).unwrap());
            let mut next = 0_u64;
            for turn in 0..12 {
                let n = if turn == 0 { capacity } else { batch };
                let (mut indices, mut values) = (Vec::new(), Vec::new());
                for _ in 0..n {
                    next += 1;
                    // The last third of the turns empties the first leaves, which have the largest ones in them.
                    indices.push(stream.block(u64::MAX - next)[0] % capacity as u32);
                    values.push(if turn > 8 { 0.0 } else { priority(kind, &stream, next) });
                }
                for (tree, isa) in trees.iter_mut().zip(ISAS) {
                    tree.update_on(isa, &indices, &values).unwrap();
                    assert_sound(tree, &format!("{isa:?} {capacity} {kind} {turn}"));
                }
                // Not only what is shown: the stored sums are the same too, whatever the instruction set.
                assert!(trees.iter().all(|t| t.nodes == trees[0].nodes && t.storage == trees[0].storage));
                if trees[0].total() > 0 {
                    let mut draws = ISAS.map(|_| [0; 70]);
                    for ((tree, isa), out) in trees.iter().zip(ISAS).zip(&mut draws) {
                        tree.sample_on(isa, &stream, 5, out).unwrap();
                    }
                    assert!(draws.iter().all(|d| *d == draws[0]), "{capacity} {kind} {turn}");
                    for (i, &leaf) in (5..).zip(&draws[0]) {
                        let threshold = oracle::threshold(stream.block(i), 0, 1, trees[0].total());
                        assert_eq!(trees[0].find(threshold).unwrap(), leaf);
                    }
                }
            }
        }
    }
}

#[test]
fn batches_can_be_split_anywhere() {
    let stream = Stream::new(1, 1);
    for kind in 0..KINDS {
        let capacity = 5000;
        let indices: Vec<u32> = (0..700).map(|i| stream.word(i) % 300).collect();
        let values: Vec<f32> = (0..700).map(|i| priority(kind, &stream, 1000 + i)).collect();
        let mut whole = SumTree::new(capacity).unwrap();
        whole.update(&indices, &values).unwrap();
        for size in [1, 2, 63, 64, 65, 128, 311] {
            let mut parts = SumTree::new(capacity).unwrap();
            for (indices, values) in indices.chunks(size).zip(values.chunks(size)) {
                parts.update(indices, values).unwrap();
            }
            assert_eq!(parts, whole);
            assert_sound(&parts, &format!("{kind} {size}"));
        }
    }
}

#[test]
fn a_new_scale_does_not_always_mean_new_sums() {
    // 2^17 leaves in [1, 2): 46 bits a leaf.
    let capacity = 1 << 17;
    let stream = Stream::new(2, 2);
    let ones: Vec<f32> = (0..capacity as u64).map(|i| 1.0 + (stream.word(i) >> 9) as f32 * f32::EPSILON).collect();
    let mut tree = SumTree::new(capacity).unwrap();
    tree.rebuild(&ones).unwrap();
    let stored = tree.storage.stored();
    assert_eq!(stored.exponent(), 45);
    for (value, shown, kept) in [(63.0, 40, true), (1.0, 45, true), (100.0, 39, true), (1e30, -54, false)] {
        tree.update(&[77], &[value]).unwrap();
        assert_eq!(tree.scale().exponent(), shown);
        assert_eq!(tree.storage.stored() == stored, kept, "{value}");
        assert_sound(&tree, &format!("{value}"));
    }
    // Downwards from there the small ones have been rounded.
    assert_eq!(tree.storage.stored().exponent(), -54);
    tree.update(&[77], &[1.5]).unwrap();
    assert_eq!(tree.storage.stored(), stored);
    assert_sound(&tree, "down");
    // And downwards without any rounding: the sums are kept.
    let mut tree = SumTree::new(capacity).unwrap();
    tree.update(&[1, 2, 77], &[0.75, 0.5, 1e4]).unwrap();
    tree.update(&[77], &[0.0]).unwrap();
    assert_eq!((tree.scale().exponent(), tree.storage.stored().exponent()), (46, 32));
    assert_sound(&tree, "kept");
    assert_eq!(tree.total(), 5 << 44);
    assert_eq!(tree.find((3 << 44) - 1).unwrap(), 1);
    assert_eq!(tree.find(3 << 44).unwrap(), 2);
}

#[test]
fn sums_that_outgrow_their_scale_are_made_anew() {
    // All leaves rise by 2^5, in batches too small for a rebuild: at the old scale the total would pass 2^63.
    for isa in ISAS {
        let capacity = 1 << 14;
        let mut tree = SumTree::new(capacity).unwrap();
        tree.rebuild(&vec![1.99; capacity]).unwrap();
        let mut anew = 0;
        for i in (0..capacity as u32).step_by(512) {
            let indices: Vec<u32> = (i..i + 512).collect();
            let before = tree.storage.stored();
            tree.update_on(isa, &indices, &[1.99 * 7.0; 512]).unwrap();
            anew += usize::from(tree.storage.stored() != before);
            assert_sound(&tree, &format!("{isa:?} {i}"));
        }
        assert_eq!(anew, 1);
    }
}

#[test]
fn every_scale_has_its_roomy_one() {
    for capacity in [1, 2, 16, 1000, 1 << 20, (1 << 31) - 1] {
        let mut exponents = exponents::Exponents::zeros(1);
        let mut last = 0;
        for e in -148..=128 {
            let bin = (e + 149) as u32;
            exponents.transfer(last, bin);
            last = bin;
            let mut storage = Storage::new(capacity as u32);
            storage.follow(exponents.range());
            storage.store_as_shown();
            let largest = f32::from_bits(if e > -126 { ((e + 126) as u32 + 1) << 23 } else { 1 << (e + 149) } - 1);
            assert_eq!(bins::bin(largest), bin);
            assert_eq!(storage.shown(), Scale::new(largest, capacity).unwrap());
            assert_eq!(storage.stored().exponent(), storage.shown().exponent());
            assert!(storage.stored().fits(largest));
        }
    }
}

#[test]
fn steps_agree_with_counting() {
    let stream = Stream::new(8, 8);
    for i in 0..3_000 {
        // Small values, so that equal sums and sums on the threshold are common; large ones too.
        let unit = if i % 3 == 0 { 1 << 57 } else { 1 };
        let mut sums = [0_u64; 16];
        for (j, sum) in (0..).zip(&mut sums) {
            *sum = u64::from(stream.block(100 * i + j)[0] % 4) * unit;
        }
        let total: u64 = sums.iter().sum();
        for threshold in (0..total / unit).map(|t| t * unit).chain(total.checked_sub(1)) {
            let (mut child, mut rest) = (0, threshold);
            while rest >= sums[child] {
                rest -= sums[child];
                child += 1;
            }
            assert_eq!(Plain.step(&sums, threshold), (child, rest));
            #[cfg(target_arch = "x86_64")]
            if let Some(step) = step::Avx512::new() {
                assert_eq!(step.step(&sums, threshold), (child, rest));
            }
        }
    }
}

#[test]
fn all_draws_are_the_same_for_every_instruction_set() {
    for capacity in [1, 17, 300, 5000, 70_000] {
        for kind in 0..KINDS {
            let weights: Vec<f32> =
                (0..capacity).map(|i| if i == 0 { 1.0 } else { priority(kind, &Stream::new(3, 3), i) }).collect();
            let mut tree = SumTree::new(weights.len()).unwrap();
            tree.rebuild(&weights).unwrap();
            let draws = ISAS.map(|isa| {
                let stream = Stream::new(4, u64::from(kind));
                let (mut a, mut b, mut c) = (vec![0; 333], vec![0; 333], vec![0; tree.positive().min(333)]);
                tree.sample_on(isa, &stream, 9, &mut a).unwrap();
                tree.sample_stratified_on(isa, &stream, 9, &mut b).unwrap();
                tree.sample_distinct_on(isa, &stream, 9, &mut DistinctScratch::new(0), &mut c).unwrap();
                (a, b, c)
            });
            assert!(draws.iter().all(|d| *d == draws[0]), "{capacity} {kind}");
        }
    }
}

#[test]
fn quotients_are_correctly_rounded() {
    for total in [1_u64 << 62, (1 << 62) - 1, (1 << 63) - 1, 3 << 60, 1 << 25, 1 << 40, 1, 2, 3] {
        let stream = Stream::new(total, 1);
        for i in 0..2_000 {
            // Middles between neighbouring f32 and their surroundings.
            let [a, b, ..] = stream.block(i);
            let k = u128::from(a >> 8 | 1 << 24 | 1) >> (b % 3);
            let middle = ((u128::from(total) * k) >> (25 + b % 37)) as u64;
            for d in -3_i64..=3 {
                let part = middle.saturating_add_signed(d).min(total);
                assert_eq!(ratio(part, total).to_bits(), oracle::ratio(part, total).to_bits(), "{part} / {total}");
            }
        }
        assert_eq!((ratio(0, total), ratio(total, total)), (0.0, 1.0));
    }
}
