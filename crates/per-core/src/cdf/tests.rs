//! Every path gives the same bits: instruction sets, tiles, threads, and the steps of the search.

use super::build::Plan;
use super::layout::{BLOCK, FANOUT, Levels, MAX_WEIGHTS, NO_KEY};
use super::steps::{Plain, Steps};
use super::{Cdf, build, ratio};
use crate::{Error, oracle};
use arith::random::Stream;
use arith::simd::Isa;

const ISAS: [Isa; 3] = [Isa::Scalar, Isa::Avx2, Isa::Avx512];

/// Weights of all magnitudes, a fifth of them zero.
fn weights(seed: u64, n: usize) -> Vec<f32> {
    let stream = Stream::new(seed, 0);
    (0..n as u64)
        .map(|i| {
            let [a, b, ..] = stream.block(i);
            let magnitude = f32::from_bits((127 - 24 + b % 48) << 23);
            if b % 5 == 0 { 0.0 } else { (a >> 8) as f32 * magnitude }
        })
        .collect()
}

fn built(plan: Plan, weights: &[f32]) -> Cdf {
    let mut cdf = Cdf::new();
    cdf.build_on("test", plan, weights).unwrap();
    cdf
}

/// Everything that a build has written.
fn assert_same(a: &Cdf, b: &Cdf, what: &str) {
    assert_eq!((a.len, a.total, a.scale, a.levels), (b.len, b.total, b.scale, b.levels), "{what}");
    let blocks = a.len.div_ceil(BLOCK);
    assert!(a.blocks[..blocks] == b.blocks[..blocks], "{what}: other weights");
    assert!(a.nodes[..a.levels.nodes()] == b.nodes[..a.levels.nodes()], "{what}: other sums");
}

/// Sizes at the edges of blocks (16), nodes (256) and levels (4,096; 65,536), and some in the middle.
const SIZES: [usize; 17] =
    [1, 2, 15, 16, 17, 255, 256, 257, 300, 511, 4095, 4096, 4097, 10_000, 65_535, 65_536, 70_001];

#[test]
fn case_11_same_bits_for_every_instruction_set_tile_and_thread_count() {
    for n in SIZES {
        let w = weights(n as u64, n);
        let reference = built(Plan { isa: Isa::Scalar, tile: None }, &w);
        let sums = oracle::prefix_sums(&w, reference.scale.exponent());
        for (i, &sum) in sums.iter().enumerate() {
            assert_eq!(u128::from(reference.prefix(i).unwrap()), sum, "{i} of {n}");
        }
        assert_eq!(u128::from(reference.total), sums[n - 1]);
        for isa in ISAS.into_iter().filter(|isa| isa.is_available()) {
            assert_same(&built(Plan { isa, tile: None }, &w), &reference, &format!("{isa:?} {n}"));
            for threads in [1, 2, 3, 8] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                for tile in [1, 2, 3, 7, 64, 1000] {
                    let tiled = pool.install(|| built(Plan { isa, tile: Some(tile) }, &w));
                    assert_same(&tiled, &reference, &format!("{isa:?} {n} {threads} {tile}"));
                }
            }
        }
    }
}

#[test]
fn same_bits_from_the_public_parallel_build() {
    // Large enough for tiles, with a ragged end.
    let w = weights(3, 1_000_003);
    let mut serial = Cdf::new();
    serial.build(&w).unwrap();
    for threads in [1, 2, 3, 8] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut parallel = Cdf::new();
        pool.install(|| parallel.build_par(&w)).unwrap();
        assert_same(&parallel, &serial, &format!("{threads} threads"));
        assert_eq!(parallel.tiles.is_empty(), threads == 1, "the tiles were used");
    }
}

#[test]
fn a_rebuild_leaves_nothing_of_what_was_there() {
    let mut used = Cdf::new();
    for n in SIZES.into_iter().rev().chain(SIZES) {
        let w = weights(n as u64 + 7, n);
        used.build(&w).unwrap();
        assert_same(&used, &built(Plan { isa: Isa::detect(), tile: None }, &w), &format!("{n}"));
    }
}

#[test]
fn same_draws_for_every_instruction_set_and_thread_count() {
    for n in SIZES {
        let cdf = built(Plan { isa: Isa::detect(), tile: None }, &weights(n as u64, n));
        if cdf.total == 0 {
            continue;
        }
        let stream = Stream::new(5, n as u64);
        // 4,133: more than four tiles of 1,024, and neither a multiple of them nor of a batch of 32.
        let mut reference = vec![0; 4133];
        cdf.sample_on("test", Isa::Scalar, false, &stream, 99, &mut reference).unwrap();
        for (i, &item) in (99..).zip(&reference) {
            let threshold = oracle::threshold(stream.block(i), 0, 1, cdf.total);
            assert_eq!(cdf.find(threshold).unwrap(), item);
        }
        for isa in ISAS.into_iter().filter(|isa| isa.is_available()) {
            for threads in [1, 2, 3, 8] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let mut out = vec![u32::MAX; 4133];
                pool.install(|| cdf.sample_on("test", isa, true, &stream, 99, &mut out)).unwrap();
                assert_eq!(out, reference, "{isa:?} {n} {threads}");
            }
            let mut out = vec![u32::MAX; 4133];
            cdf.sample_on("test", isa, false, &stream, 99, &mut out).unwrap();
            assert_eq!(out, reference, "{isa:?} {n}");
        }
    }
}

#[test]
fn same_fractions_for_every_instruction_set() {
    for n in SIZES {
        let cdf = built(Plan { isa: Isa::detect(), tile: None }, &weights(n as u64, n));
        if cdf.total == 0 {
            continue;
        }
        for isa in ISAS.into_iter().filter(|isa| isa.is_available()) {
            let mut out = vec![f32::NAN; n];
            super::fractions::fractions(isa, cdf.view(), cdf.total, &mut out);
            for (i, &f) in out.iter().enumerate() {
                let exact = oracle::ratio(cdf.prefix(i).unwrap(), cdf.total);
                assert_eq!(f.to_bits(), exact.to_bits(), "{isa:?} {i} of {n}");
            }
        }
    }
}

#[test]
fn quotients_are_correctly_rounded() {
    // Middles between neighbouring f32 and their surroundings: (2k + 1) / 2^25 exactly, and one unit beside it.
    for total in [1_u64 << 62, (1 << 62) - 1, (1 << 62) + 1, (1 << 63) - 1, 3 << 60, 1 << 25, 1 << 40, 1, 2, 3] {
        let stream = Stream::new(total, 1);
        for i in 0..2_000 {
            let [a, b, ..] = stream.block(i);
            let k = u128::from(a >> 8 | 1 << 24 | 1) >> (b % 3);
            let middle = ((u128::from(total) * k) >> (25 + b % 37)) as u64;
            for d in -3_i64..=3 {
                let part = middle.saturating_add_signed(d).min(total);
                assert_eq!(
                    ratio::ratio(part, total).to_bits(),
                    oracle::ratio(part, total).to_bits(),
                    "{part} / {total}"
                );
            }
        }
        assert_eq!(ratio::ratio(0, total), 0.0);
        assert_eq!(ratio::ratio(total, total), 1.0);
    }
    // Ties: to even, both ways. 2^24 + 1 and 2^24 + 3, over 2^25.
    assert_eq!(ratio::ratio((1 << 24) + 1, 1 << 25), 0.5);
    assert_eq!(ratio::ratio((1 << 24) + 3, 1 << 25), 0.5 + 2.0 * f32::EPSILON / 2.0);
}

#[test]
fn steps_agree_with_counting() {
    let stream = Stream::new(8, 8);
    for i in 0..3_000 {
        let block = |j: u64| stream.block(100 * i + j);
        // Small values, so that equal keys and sums on the threshold are common; large ones too.
        let unit = if i % 3 == 0 { 1 << 57 } else { 1 };
        let mut parts = [0_u64; 16];
        for (j, part) in (0..).zip(&mut parts) {
            *part = u64::from(block(j)[0] % 4) * unit;
        }
        let mut keys = parts;
        for j in 1..16 {
            keys[j] += keys[j - 1];
        }
        if i % 5 == 0 {
            keys[10..].fill(NO_KEY);
        }
        for shift in 0..40 {
            let threshold = shift * unit;
            let last = keys.iter().rposition(|&k| k <= threshold).unwrap_or(0);
            let mut sums = parts.iter().scan(0, |s, &p| {
                *s += p;
                Some(*s)
            });
            let count = sums.position(|s| s > threshold).unwrap_or(16);
            assert_eq!(Plain.last_at_most(&keys, threshold), last);
            assert_eq!(Plain.sums_at_most(&parts, threshold), count);
            #[cfg(target_arch = "x86_64")]
            if let Some(steps) = super::steps::Avx512::new() {
                assert_eq!(steps.last_at_most(&keys, threshold), last);
                assert_eq!(steps.sums_at_most(&parts, threshold), count);
            }
        }
    }
}

#[test]
fn levels_cover_every_count() {
    for blocks in [1, 2, 15, 16, 17, 256, 257, 4096, 4097, 1 << 20, MAX_WEIGHTS.div_ceil(BLOCK)] {
        let levels = Levels::new(blocks);
        let mut width = blocks;
        let mut next = 0;
        for &start in levels.starts() {
            assert!(width > 1 || blocks == 1);
            assert_eq!(start, next);
            width = width.div_ceil(FANOUT);
            next += width;
        }
        assert_eq!((width, next), (1, levels.nodes()), "one root above {blocks} blocks");
    }
    assert_eq!(Levels::new(0).nodes(), 0);
}

#[test]
fn counts_are_limited() {
    assert_eq!(build::check_count("test", MAX_WEIGHTS), Ok(()));
    assert_eq!(
        build::check_count("test", MAX_WEIGHTS + 1),
        Err(Error::TooManyWeights { operation: "test", count: 1 << 31, max: MAX_WEIGHTS })
    );
}
