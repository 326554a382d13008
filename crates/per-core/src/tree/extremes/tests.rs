//! Extremes against a plain list of leaves.

use super::{AHEAD, Extremes};
use crate::tree::layout::{Block, FANOUT};
use crate::tree::order::{Ascending, Descending, NONE, Order};
use arith::random::Stream;
use arith::simd::Isa;

const ISAS: [Isa; 3] = [Isa::Scalar, Isa::Avx2, Isa::Avx512];

/// Edges of blocks (16), nodes (256) and levels (4,096; 65,536).
const CAPACITIES: [usize; 11] = [1, 3, 15, 16, 17, 255, 256, 257, 4096, 4097, 65_537];

/// Leaves that need not be weights: some negative, both zeros, the ends of f32, few values and many.
fn leaf(stream: &Stream, i: u64) -> f32 {
    let [a, b, ..] = stream.block(i);
    match a % 8 {
        0 => 0.0,
        1 => -0.0,
        2 => -1.0,
        3 => -f32::MAX,
        4 => [f32::from_bits(1), f32::MIN_POSITIVE, 1.0, f32::MAX][b as usize % 4],
        5 => -f32::from_bits(1),
        _ => f32::from_bits(b % 0x7f80_0000),
    }
}

/// The smallest and the largest leaf above zero.
fn model(leaves: &[Block], capacity: usize) -> [Option<f32>; 2] {
    let mut present: Vec<f32> =
        leaves.iter().flat_map(|block| block.0).take(capacity).filter(|&leaf| leaf > 0.0).collect();
    present.sort_by(f32::total_cmp);
    [present.first().copied(), present.last().copied()]
}

#[test]
fn extremes_follow_any_program() {
    for capacity in CAPACITIES {
        for absent in [0.0, -1.0] {
            let stream = Stream::new(capacity as u64, 11);
            // What fills the last block is absent too.
            let mut leaves = vec![Block([absent; FANOUT]); capacity.div_ceil(FANOUT)];
            let mut smallest = ISAS.map(|_| Extremes::<Ascending>::new(capacity));
            let mut largest = ISAS.map(|_| Extremes::<Descending>::new(capacity));
            let mut next = 0;
            for turn in 0..24 {
                // Of one leaf, and of many; all over, or near the beginning, where there are duplicates.
                let n = [1, 7, AHEAD - 1, AHEAD, AHEAD + 1, 200][turn % 6];
                let span = if turn % 4 == 3 { capacity.min(40) } else { capacity };
                // The last turns take leaves away.
                let removing = turn >= 18;
                let (mut indices, mut old) = (Vec::new(), Vec::new());
                for _ in 0..n {
                    next += 1;
                    let i = stream.block(u64::MAX - next)[0] % span as u32;
                    let slot = &mut leaves[i as usize / FANOUT].0[i as usize % FANOUT];
                    indices.push(i);
                    old.push(*slot);
                    // Some are told of without a change.
                    if next % 5 != 0 {
                        *slot = if removing { absent } else { leaf(&stream, next) };
                    }
                }
                if turn == 20 {
                    // What is smallest and largest goes.
                    let extremes = model(&leaves, capacity);
                    for (i, leaf) in (0..).zip(leaves.iter_mut().flat_map(|block| &mut block.0)) {
                        if extremes.contains(&Some(*leaf)) {
                            indices.push(i);
                            old.push(std::mem::replace(leaf, absent));
                        }
                    }
                }
                let [low, high] = model(&leaves, capacity);
                let (mut fresh_low, mut fresh_high) = (Extremes::new(capacity), Extremes::new(capacity));
                fresh_low.rebuild(Isa::Scalar, &leaves);
                fresh_high.rebuild(Isa::Scalar, &leaves);
                for (isa, (smallest, largest)) in ISAS.into_iter().zip(smallest.iter_mut().zip(&mut largest)) {
                    smallest.refresh(isa, &leaves, &indices, &old);
                    largest.refresh(isa, &leaves, &indices, &old);
                    let what = format!("{isa:?} {capacity} {absent} {turn}");
                    assert_eq!((smallest.first(), largest.first()), (low, high), "{what}");
                    // Not only the root: all nodes.
                    assert_eq!((&*smallest, &*largest), (&fresh_low, &fresh_high), "{what}");
                    let (mut low, mut high) = (Extremes::new(capacity), Extremes::new(capacity));
                    low.rebuild(isa, &leaves);
                    high.rebuild(isa, &leaves);
                    assert_eq!((low, high), (fresh_low.clone(), fresh_high.clone()), "{what}: rebuilt");
                }
            }
        }
    }
}

#[test]
fn every_leaf_can_be_the_first() {
    for capacity in [17_usize, 257, 4097] {
        let mut leaves = vec![Block([-1.0; FANOUT]); capacity.div_ceil(FANOUT)];
        let (mut smallest, mut largest) = (Extremes::<Ascending>::new(capacity), Extremes::<Descending>::new(capacity));
        for i in 0..capacity {
            let slot = [i as u32];
            for value in [3.0, 0.0] {
                let old = [std::mem::replace(&mut leaves[i / FANOUT].0[i % FANOUT], value)];
                smallest.refresh(Isa::detect(), &leaves, &slot, &old);
                largest.refresh(Isa::detect(), &leaves, &slot, &old);
                let expected = (value > 0.0).then_some(value);
                assert_eq!((smallest.first(), largest.first()), (expected, expected), "{capacity} {i}");
            }
        }
    }
}

#[test]
fn nodes_are_no_more_than_they_need_be() {
    // 1/16 of the leaves, then 1/16 of that, and so on; whole nodes of 64 bytes.
    assert_eq!(Extremes::<Ascending>::new(1).bytes(), 64);
    assert_eq!(Extremes::<Ascending>::new(256).bytes(), 64);
    assert_eq!(Extremes::<Ascending>::new(257).bytes(), (2 + 1) * 64);
    assert_eq!(Extremes::<Ascending>::new(1 << 20).bytes(), (4096 + 256 + 16 + 1) * 64);
}

fn keys_are_an_order<O: Order>(before: impl Fn(f32, f32) -> bool) {
    let values = [f32::from_bits(1), f32::MIN_POSITIVE, 0.5, 1.0, f32::from_bits(1.0_f32.to_bits() + 1), f32::MAX];
    for a in values {
        assert_eq!(O::priority(O::key(a)), a);
        assert_ne!(O::key(a), NONE);
        for b in values {
            assert_eq!(O::key(a) < O::key(b), before(a, b), "{a} {b}");
        }
    }
    for none in [0.0, -0.0, -1.0, -f32::MAX, -f32::from_bits(1), f32::NEG_INFINITY] {
        assert_eq!(O::key(none), NONE, "{none}");
    }
}

#[test]
fn orders_are_orders() {
    keys_are_an_order::<Ascending>(|a, b| a < b);
    keys_are_an_order::<Descending>(|a, b| a > b);
}
