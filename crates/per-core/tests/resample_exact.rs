//! Ancestors and offspring against big integers: every scheme, every boundary, sizes at every edge.

use arith::random::Stream;
use per_core::resample::{self, Base, Random, Scheme, Scratch};
use per_core::{Cdf, oracle};
use proptest::prelude::*;

const SCHEMES: [Scheme; 6] = [
    Scheme::Multinomial,
    Scheme::Stratified,
    Scheme::Systematic,
    Scheme::Residual(Base::Multinomial),
    Scheme::Residual(Base::Stratified),
    Scheme::Residual(Base::Systematic),
];

fn built(weights: &[f32]) -> Cdf {
    let mut cdf = Cdf::new();
    cdf.build(weights).unwrap();
    cdf
}

/// `floor(r * factor / 2^64)` for a factor below 2^96.
fn scaled(r: u64, factor: u128) -> u128 {
    let (high, low) = (factor >> 64, factor & u128::from(u64::MAX));
    u128::from(r) * high + ((u128::from(r) * low) >> 64)
}

/// The definitions, one threshold at a time.
fn expected(weights: &[f32], exponent: i32, scheme: Scheme, draws: usize, words: &[u64]) -> Vec<u32> {
    let sums = oracle::prefix_sums(weights, exponent);
    let total = *sums.last().unwrap();
    let word = |j: usize| if words.len() == 1 { words[0] } else { words[j] };
    let item = |sums: &[u128], t: u128| oracle::find(sums, t).unwrap() as u32;
    let in_stratum = |j: usize| {
        let halves = [word(j) as u32, (word(j) >> 32) as u32, 0, 0];
        item(&sums, oracle::threshold(halves, j as u32, draws as u32, total as u64).into())
    };
    let Scheme::Residual(base) = scheme else {
        return match scheme {
            Scheme::Multinomial => (0..draws).map(|j| item(&sums, scaled(word(j), total))).collect(),
            _ => (0..draws).map(in_stratum).collect(),
        };
    };
    let mut out = Vec::new();
    let mut rests = Vec::new();
    let mut rest = 0;
    for (i, &w) in weights.iter().enumerate() {
        let share = oracle::quantize(w, exponent) * draws as u128;
        out.extend(std::iter::repeat_n(i as u32, (share / total) as usize));
        rest += share % total;
        rests.push(rest);
    }
    assert_eq!(rest % total, 0);
    for k in 0..(rest / total) as usize {
        out.push(match base {
            Base::Multinomial => item(&rests, scaled(word(k), rest)),
            _ => item(&rests, k as u128 * total + scaled(word(k), total)),
        });
    }
    out.sort_unstable();
    out
}

/// Ancestors, offspring and their expansion are what they should be.
fn assert_exact(weights: &[f32], cdf: &Cdf, scheme: Scheme, draws: usize, words: &[u64], scratch: &mut Scratch) {
    let what = || format!("{scheme:?}: {draws} of {weights:?} with {words:x?}");
    let words = &words[..scheme.words(draws)];
    let expected = expected(weights, cdf.scale().exponent(), scheme, draws, words);
    let mut out = vec![u32::MAX; draws];
    resample::ancestors(cdf, scheme, Random::Words(words), scratch, &mut out).unwrap();
    assert!(out == expected, "{out:?}, not {expected:?}; {}", what());
    let mut counts = vec![u32::MAX; weights.len()];
    resample::offspring(cdf, scheme, draws, Random::Words(words), scratch, &mut counts).unwrap();
    for (i, &count) in (0..).zip(&counts) {
        assert!(count as usize == out.iter().filter(|&&a| a == i).count(), "{counts:?}; {}", what());
    }
    let mut again = vec![u32::MAX; draws];
    resample::expand(&counts, &mut again).unwrap();
    assert_eq!(scheme.is_sorted(), scheme != Scheme::Multinomial);
    out.sort_unstable();
    assert!(again == out, "{}", what());
}

/// The words on both sides of every boundary between two items, wherever it lies in its stratum.
fn boundaries(cdf: &Cdf, draws: usize) -> Vec<u64> {
    let total = u128::from(cdf.total());
    let mut words = vec![0, 1, 1 << 63, u64::MAX];
    for i in 0..cdf.len() {
        for draws in [1, draws as u128] {
            // The least r with floor(r * total / 2^64) >= rest.
            let rest = u128::from(cdf.prefix(i).unwrap()) * draws % total;
            let word = ((rest << 64).div_ceil(total)) as u64;
            words.extend([word, word.wrapping_sub(1)]);
        }
    }
    words.sort_unstable();
    words.dedup();
    words
}

#[test]
fn case_2_every_boundary_of_every_small_vector() {
    let mut scratch = Scratch::new();
    for n in 1..=4_u32 {
        for code in 1..4_u32.pow(n) {
            let weights: Vec<f32> = (0..n).map(|i| (code / 4_u32.pow(i) % 4) as f32).collect();
            let cdf = built(&weights);
            for draws in [1, 2, 3, 5, 8] {
                let words = boundaries(&cdf, draws);
                for (i, &word) in words.iter().enumerate() {
                    // The same word in all draws, and another in each.
                    let mixed: Vec<u64> = (0..draws).map(|j| words[(i + j * (i + 1)) % words.len()]).collect();
                    for scheme in SCHEMES {
                        assert_exact(&weights, &cdf, scheme, draws, &vec![word; draws], &mut scratch);
                        assert_exact(&weights, &cdf, scheme, draws, &mixed, &mut scratch);
                    }
                }
            }
        }
    }
}

#[test]
fn case_2_systematic_counts_over_all_offsets() {
    // Over all 17 offsets, [10, 5, 2] have 10 M, 5 M and 2 M offspring of M draws each: the mean is exact.
    let cdf = built(&[10.0, 5.0, 2.0]);
    for draws in 1..40 {
        let mut sums = [0; 3];
        for t in 0..17_u128 {
            let mut counts = [0; 3];
            let word = [((t << 64).div_ceil(17)) as u64];
            let scratch = &mut Scratch::new();
            resample::offspring(&cdf, Scheme::Systematic, draws, Random::Words(&word), scratch, &mut counts).unwrap();
            sums.iter_mut().zip(counts).for_each(|(s, c)| *s += c);
        }
        assert_eq!(sums, [10, 5, 2].map(|w| w * draws as u32));
    }
}

#[test]
fn sizes_at_every_edge() {
    // Blocks of 16 weights, 8 ancestors at once, windows of 256 strata; few draws are searched for, many are not.
    let stream = Stream::new(17, 3);
    let mut scratch = Scratch::new();
    for items in [1, 2, 15, 16, 17, 31, 33, 255, 257, 640] {
        let weights: Vec<f32> = (0..items)
            .map(|i| {
                let [a, b, ..] = stream.block(i);
                // Runs of zeros, a few large ones with more draws than are written at once or fit a window.
                if a % 3 == 0 || (40..90).contains(&i) { 0.0 } else { (b % 7 + 1 + (a % 41 / 40) * 3000) as f32 }
            })
            .collect();
        let cdf = built(&weights);
        if cdf.total() == 0 {
            continue;
        }
        for draws in [1, 2, 7, 8, 9, 16, 38, 39, 40, 41, 255, 256, 257, 300, 1100] {
            let words: Vec<u64> = (0..draws as u64).map(|j| stream.double_word(1000 * items + j)).collect();
            for scheme in SCHEMES {
                assert_exact(&weights, &cdf, scheme, draws, &words, &mut scratch);
            }
        }
    }
}

#[test]
fn more_draws_than_an_i32_counts() {
    let weights = [0.6, 0.0, 0.3, 1e-7, 0.1];
    let cdf = built(&weights);
    let total = u128::from(cdf.total());
    let mut scratch = Scratch::new();
    for draws in [1 << 31, u32::MAX as usize - 1, u32::MAX as usize] {
        for (word, scheme) in [0, 1 << 63, u64::MAX].into_iter().flat_map(|w| SCHEMES.map(|s| (w, s))) {
            let random = match scheme {
                Scheme::Multinomial => continue,
                Scheme::Systematic | Scheme::Residual(Base::Systematic) => Random::Words(&[word]),
                _ => Random::Stream { stream: Stream::new(word, 0), first_index: word },
            };
            let mut counts = [u32::MAX; 5];
            resample::offspring(&cdf, scheme, draws, random, &mut scratch, &mut counts).unwrap();
            assert_eq!(counts.iter().map(|&c| c as usize).sum::<usize>(), draws);
            for (i, &count) in counts.iter().enumerate() {
                let share = u128::from(cdf.weight(i).unwrap()) * draws as u128;
                let (low, high) = (share / total, share.div_ceil(total));
                let slack = match scheme {
                    Scheme::Stratified => 1,
                    Scheme::Residual(Base::Multinomial) => 4,
                    Scheme::Residual(Base::Stratified) => 2,
                    _ => 0,
                };
                assert!((low.saturating_sub(slack)..=high + slack).contains(&count.into()), "{scheme:?} {counts:?}");
            }
        }
    }
}

#[test]
fn case_10_equal_weights_beyond_2_24_have_one_offspring_each() {
    let n = (1 << 24) + 10;
    let cdf = built(&vec![1.0; n]);
    let mut out = vec![0; n];
    let random = Random::Stream { stream: Stream::new(10, 0), first_index: 0 };
    for scheme in [Scheme::Systematic, Scheme::Stratified] {
        out.fill(0);
        resample::ancestors(&cdf, scheme, random, &mut Scratch::new(), &mut out).unwrap();
        assert!((0..).zip(&out).all(|(i, &a)| i == a), "{scheme:?}");
    }
}

#[test]
fn case_11_nothing_after_the_end_of_the_mass() {
    let weights = [0.1, 0.1, 0.1, 0.4, 0.0];
    let cdf = built(&weights);
    for scheme in SCHEMES {
        for draws in [1, 2, 5, 100] {
            let words = vec![u64::MAX; scheme.words(draws)];
            let mut out = vec![u32::MAX; draws];
            resample::ancestors(&cdf, scheme, Random::Words(&words), &mut Scratch::new(), &mut out).unwrap();
            assert!(out.iter().all(|&a| a <= 3), "{scheme:?} {out:?}");
            assert_eq!(out.last(), Some(&3));
        }
    }
}

#[test]
fn case_37_draws_near_the_end_and_weights_that_are_not_normalised() {
    let multinomial = |weights: &[f32], draws: &[f32]| {
        let mut out = vec![u32::MAX; draws.len()];
        let random = Random::Uniforms(draws);
        resample::ancestors(&built(weights), Scheme::Multinomial, random, &mut Scratch::new(), &mut out).unwrap();
        out
    };
    assert_eq!(multinomial(&[1.0 / 12.0; 12], &[0.999_999_9]), [11]);
    assert_eq!(multinomial(&[0.3, 0.3], &[0.1, 0.5, 0.9]), [0, 1, 1]);
    // The largest f32 below 1, in every scheme.
    for scheme in SCHEMES {
        let uniforms = vec![1.0_f32.next_down(); scheme.words(3)];
        let mut out = [u32::MAX; 3];
        let cdf = built(&[1.0 / 12.0; 12]);
        resample::ancestors(&cdf, scheme, Random::Uniforms(&uniforms), &mut Scratch::new(), &mut out).unwrap();
        assert_eq!(out[2], 11, "{scheme:?}");
    }
}

#[test]
fn case_38_equal_weights_have_one_offspring_each() {
    let stream = Stream::new(38, 0);
    for n in [1, 4, 100, 1000] {
        let identity: Vec<u32> = (0..).take(n).collect();
        let cdf = built(&vec![0.25; n]);
        for first_index in 0..50 {
            // The multinomial alone may repeat and leave out; with nothing left over, residual has nothing to draw.
            for scheme in &SCHEMES[1..] {
                let mut out = vec![u32::MAX; n];
                let random = Random::Stream { stream, first_index };
                resample::ancestors(&cdf, *scheme, random, &mut Scratch::new(), &mut out).unwrap();
                assert_eq!(out, identity, "{scheme:?}");
            }
        }
    }
}

#[test]
fn case_44_five_from_three() {
    let weights = [0.6, 0.3, 0.1];
    let stream = Stream::new(44, 0);
    for scheme in SCHEMES {
        for first_index in 0..200 {
            let mut out = [u32::MAX; 5];
            let random = Random::Stream { stream, first_index };
            resample::ancestors(&built(&weights), scheme, random, &mut Scratch::new(), &mut out).unwrap();
            assert!(out.iter().all(|&a| a < 3), "{out:?}");
            // 5 * [.6, .3, .1] is [3, 1.5, .5], up to the rounding of the weights to f32.
            let count = |i| out.iter().filter(|&&a| a == i).count();
            match scheme {
                Scheme::Systematic => assert!((2..=4).contains(&count(0)) && count(1) >= 1 && count(2) <= 1),
                Scheme::Residual(_) => assert!(count(0) >= 3 && count(1) >= 1),
                _ => {}
            }
        }
    }
}

#[test]
fn a_uniform_is_the_word_that_it_stands_for() {
    let weights: Vec<f32> = (0..50).map(|i| (i % 6) as f32).collect();
    let cdf = built(&weights);
    let stream = Stream::new(1, 2);
    // On the grids of 2^-24 and of all f32, the smallest ones too.
    let mut uniforms: Vec<f32> = (0..60).map(|i| stream.uniform(i)).collect();
    uniforms.extend([0.0, -0.0, f32::from_bits(1), 2.0_f32.powi(-64), 2.0_f32.powi(-40) * 1.999, 0.5, 0.3]);
    let words: Vec<u64> = uniforms
        .iter()
        .map(|&u| {
            // floor(u * 2^64) from the bits of u.
            let (mantissa, exponent) =
                (u128::from(u.to_bits() & 0x7f_ffff | 0x80_0000), (u.to_bits() >> 23 & 0xff) as i32);
            let shift = exponent - 150 + 64;
            if exponent == 0 || shift < -24 { 0 } else { ((mantissa << 64) >> (64 - shift)) as u64 }
        })
        .collect();
    for scheme in SCHEMES {
        let draws = uniforms.len();
        let (mut a, mut b) = (vec![0; draws], vec![1; draws]);
        let taken = scheme.words(draws);
        resample::ancestors(&cdf, scheme, Random::Uniforms(&uniforms[..taken]), &mut Scratch::new(), &mut a).unwrap();
        resample::ancestors(&cdf, scheme, Random::Words(&words[..taken]), &mut Scratch::new(), &mut b).unwrap();
        assert_eq!(a, b, "{scheme:?}");
    }
}

#[test]
fn the_same_as_the_draws_of_the_cdf() {
    let stream = Stream::new(9, 9);
    for items in [1, 20, 700] {
        let weights: Vec<f32> = (0..items).map(|i| (i % 11) as f32 + 0.5).collect();
        let cdf = built(&weights);
        for draws in [1, 13, 1000] {
            for first_index in [0, 77, u64::MAX - 3] {
                let random = Random::Stream { stream, first_index };
                let (mut ours, mut theirs) = (vec![0; draws], vec![1; draws]);
                let mut run = |scheme| {
                    resample::ancestors(&cdf, scheme, random, &mut Scratch::new(), &mut ours).unwrap();
                    ours.clone()
                };
                cdf.sample(&stream, first_index, &mut theirs).unwrap();
                assert_eq!(run(Scheme::Multinomial), theirs);
                cdf.sample_stratified(&stream, first_index, &mut theirs).unwrap();
                assert_eq!(run(Scheme::Stratified), theirs);
                cdf.sample_systematic(&stream, first_index, &mut theirs).unwrap();
                assert_eq!(run(Scheme::Systematic), theirs);
            }
        }
    }
}

fn weight() -> impl Strategy<Value = f32> {
    prop_oneof![
        2 => Just(0.0_f32),
        4 => 0.0_f32..1.0,
        2 => (0_u32..6).prop_map(|w| w as f32),
        1 => (-40_i32..40, 1.0_f32..2.0).prop_map(|(e, m)| m * 2.0_f32.powi(e)),
        1 => Just(f32::from_bits(1)),
    ]
}

proptest! {
    #[test]
    fn any_weights_any_words(
        weights in proptest::collection::vec(weight(), 1..120),
        words in proptest::collection::vec(prop_oneof![3 => any::<u64>(), 1 => Just(0), 1 => Just(u64::MAX)], 1..200),
    ) {
        let cdf = built(&weights);
        prop_assume!(cdf.total() > 0);
        let mut scratch = Scratch::new();
        let total = u128::from(cdf.total());
        for scheme in SCHEMES {
            assert_exact(&weights, &cdf, scheme, words.len(), &words, &mut scratch);
            // Floor or ceiling, exactly.
            if matches!(scheme, Scheme::Systematic | Scheme::Residual(Base::Systematic)) {
                let mut counts = vec![0; weights.len()];
                resample::offspring(&cdf, scheme, words.len(), Random::Words(&words[..1]), &mut scratch, &mut counts).unwrap();
                for (i, &count) in counts.iter().enumerate() {
                    let share = u128::from(cdf.weight(i).unwrap()) * words.len() as u128;
                    prop_assert!((share / total..=share.div_ceil(total)).contains(&count.into()));
                }
            }
        }
    }
}
