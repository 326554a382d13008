//! The order of summation, against a loop that spells it out.

use arith::random::Stream;
use arith::sum::{ChunkTree, dot, sum, sum_of_squares, tree_sum};

/// Adjacent pairs join level by level; an odd one out moves up unchanged.
fn pairs(mut level: Vec<f32>) -> f32 {
    if level.is_empty() {
        return 0.0;
    }
    while level.len() > 1 {
        level = level.chunks(2).map(|c| if c.len() == 2 { c[0] + c[1] } else { c[0] }).collect();
    }
    level[0]
}

/// Chunks of 1024, 32 lanes from +0, lane j taking elements j, j + 32, ...
fn oracle(len: usize, add: impl Fn(f32, usize) -> f32) -> f32 {
    let elements: Vec<usize> = (0..len).collect();
    let chunks = elements.chunks(1024).map(|chunk| {
        let lanes = (0..32).map(|j| chunk.iter().skip(j).step_by(32).fold(0.0, |acc, &i| add(acc, i)));
        pairs(lanes.collect())
    });
    pairs(chunks.collect())
}

#[test]
fn slices() {
    let stream = Stream::new(3, 0);
    // Magnitudes far apart: another order gives other bits.
    let x: Vec<f32> = (0..40_000).map(|i| stream.normal(i) * 10.0_f32.powi((i % 9) as i32 - 4)).collect();
    let y: Vec<f32> = (0..40_000).map(|i| stream.normal(i + 40_000)).collect();
    // Around a row, a chunk, two chunks, the batches of eight, and odd numbers of chunks.
    let lens = [
        0,
        1,
        2,
        31,
        32,
        33,
        63,
        64,
        65,
        1000,
        1023,
        1024,
        1025,
        1056,
        2047,
        2048,
        2049,
        3072,
        3073,
        5 * 1024,
        7 * 1024 + 5,
        8191,
        8192,
        8193,
        9 * 1024,
        10 * 1024 + 33,
        16 * 1024,
        17 * 1024 + 1,
        25_000,
        40_000,
    ];
    for len in lens {
        // Unaligned too.
        for start in [0, 1, 7] {
            let (x, y) = (&x[start.min(len)..len], &y[start.min(len)..len]);
            let n = x.len();
            assert_eq!(sum(x).to_bits(), oracle(n, |acc, i| acc + x[i]).to_bits(), "{start}..{len}");
            assert_eq!(dot(x, y).to_bits(), oracle(n, |acc, i| x[i].mul_add(y[i], acc)).to_bits(), "{start}..{len}");
            assert_eq!(sum_of_squares(x).to_bits(), oracle(n, |acc, i| x[i].mul_add(x[i], acc)).to_bits());
        }
    }
    assert_eq!(dot(&x[..100], &y[..3000]), dot(&x[..100], &y[..100]));
    // The order shows in the bits.
    assert_ne!(sum(&x).to_bits(), x.iter().sum::<f32>().to_bits());
}

#[test]
fn signs_of_zero_and_values_that_are_not_finite() {
    assert_eq!(sum(&[]).to_bits(), 0);
    assert_eq!(sum(&[-0.0; 2048]).to_bits(), 0);
    let mut x = vec![1.0; 3000];
    x[2999] = f32::NAN;
    assert!(sum(&x).is_nan());
    x[2999] = f32::INFINITY;
    assert_eq!(sum(&x), f32::INFINITY);
    x[5] = f32::NEG_INFINITY;
    assert!(sum(&x).is_nan());
}

#[test]
fn trees() {
    let stream = Stream::new(4, 0);
    for len in 0..200 {
        let sums: Vec<f32> = (0..len).map(|i| stream.normal(i) * 10.0_f32.powi((i % 7) as i32)).collect();
        let mut tree = ChunkTree::new();
        for &sum in &sums {
            tree.push(sum);
        }
        assert_eq!((tree.len(), tree.is_empty()), (len, len == 0));
        assert_eq!(tree.finish().unwrap_or(0.0).to_bits(), pairs(sums.clone()).to_bits(), "{len}");
        assert_eq!(tree_sum(&mut sums.clone()).unwrap_or(0.0).to_bits(), pairs(sums.clone()).to_bits(), "{len}");
        assert_eq!(tree.finish().is_none(), sums.is_empty());
        tree.clear();
        assert_eq!(tree.finish(), None);

        // An aligned range is a subtree: split into 16s, each summed by itself.
        let mut parts: Vec<f32> = sums.chunks(16).map(|part| pairs(part.to_vec())).collect();
        assert_eq!(tree_sum(&mut parts).unwrap_or(0.0).to_bits(), pairs(sums).to_bits());
    }
}

#[test]
fn a_tree_of_vectors_is_a_vector_of_trees() {
    let stream = Stream::new(4, 1);
    let mut tree = ChunkTree::<[f32; 3]>::default();
    let rows: Vec<[f32; 3]> =
        (0..37).map(|i| [0, 1, 2].map(|j| stream.normal(3 * i + j) * 1e3_f32.powi((i % 3) as i32))).collect();
    for &row in &rows {
        tree.push(row);
    }
    let want = [0, 1, 2].map(|j| pairs(rows.iter().map(|row| row[j]).collect()));
    assert_eq!(tree.finish(), Some(want));
}
