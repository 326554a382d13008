//! Every path gives the same bits, and the division is exact.

use super::split::{Divider, reciprocal, reciprocal_by_bits};
use super::{Base, Random, Scheme, Scratch, ancestors_on, offspring_on};
use crate::Cdf;
use arith::random::Stream;
use arith::simd::Isa;

const ISAS: [Isa; 3] = [Isa::Scalar, Isa::Avx2, Isa::Avx512];

#[test]
fn parts_are_divided_exactly() {
    let stream = Stream::new(1, 0);
    let mut totals =
        vec![1, 2, 3, (1 << 62) - 1, 1 << 62, (1 << 62) + 1, (1 << 63) - 1, (1 << 63) - 25, 1 << 31, 1 << 52];
    totals.extend((0..200).map(|i| (stream.double_word(i) >> (1 + i % 63)).max(1)));
    let mut draws = vec![0, 1, 2, 3, 5, 1 << 20, 1 << 31, u32::MAX - 1, u32::MAX];
    draws.extend((0..20).map(|i| stream.word(1000 + i)));
    for (t, &total) in totals.iter().enumerate() {
        for &draws in &draws {
            let divider = Divider::new(draws, total);
            let scaled = total << (total.leading_zeros() - 1);
            assert_eq!(reciprocal_by_bits(draws, scaled), reciprocal(draws, scaled));
            let mut parts = vec![0, 1, total / 2, total - 1, total];
            for i in 0..20 {
                let word = stream.double_word((t * 100 + i) as u64);
                parts.push(((u128::from(word) * u128::from(total)) >> 64) as u64);
                // Where the quotient is a whole number, and one unit beside it.
                if draws > 0 {
                    let whole = word % u64::from(draws);
                    let part = (u128::from(whole) * u128::from(total) / u128::from(draws)) as u64;
                    parts.extend([part, (part + 1).min(total), part.saturating_sub(1)]);
                }
            }
            for part in parts {
                let exact = u128::from(part) * u128::from(draws);
                let (whole, rest) = divider.split(part);
                assert_eq!(u128::from(whole), exact / u128::from(total), "{part} * {draws} / {total}");
                assert_eq!(u128::from(rest), exact % u128::from(total), "{part} * {draws} / {total}");
            }
        }
    }
}

#[test]
fn same_bits_for_every_instruction_set_and_thread_count() {
    let stream = Stream::new(5, 0);
    for items in [1, 17, 256, 4097, 200_000] {
        let weights: Vec<f32> = (0..items)
            .map(|i| {
                let [a, b, ..] = stream.block(i);
                let magnitude = f32::from_bits((127 - 12 + b % 24) << 23);
                if b % 5 == 0 { 0.0 } else { (a >> 8) as f32 * magnitude }
            })
            .collect();
        let mut cdf = Cdf::new();
        cdf.build(&weights).unwrap();
        for scheme in [
            Scheme::Multinomial,
            Scheme::Stratified,
            Scheme::Systematic,
            Scheme::Residual(Base::Multinomial),
            Scheme::Residual(Base::Stratified),
            Scheme::Residual(Base::Systematic),
        ] {
            for draws in [40, 3000] {
                let random = Random::Stream { stream, first_index: u64::MAX - 20 };
                let run = |isa: Isa, cdf: &Cdf| {
                    let (mut out, mut counts) = (vec![u32::MAX; draws], vec![u32::MAX; weights.len()]);
                    let mut scratch = Scratch::new();
                    ancestors_on("test", isa, cdf, scheme, random, &mut scratch, &mut out).unwrap();
                    offspring_on("test", isa, cdf, scheme, draws, random, &mut scratch, &mut counts).unwrap();
                    (out, counts)
                };
                let reference = run(Isa::Scalar, &cdf);
                for isa in ISAS.into_iter().filter(|isa| isa.is_available()) {
                    assert!(run(isa, &cdf) == reference, "{scheme:?} {draws} of {items}, {isa:?}");
                }
                for threads in [1, 2, 8] {
                    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                    let mut parallel = Cdf::new();
                    pool.install(|| parallel.build_par(&weights)).unwrap();
                    assert!(pool.install(|| run(Isa::detect(), &parallel)) == reference, "{threads} threads");
                }
            }
        }
    }
}
