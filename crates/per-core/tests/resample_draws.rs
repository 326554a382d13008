//! The distribution of each scheme, and its values for ever.

use arith::random::Stream;
use per_core::Cdf;
use per_core::resample::{self, Base, Batch, Random, Scheme, Scratch};

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

/// The value that chi-square exceeds with probability 1e-4 (Wilson and Hilferty 1931; the normal quantile is 3.719).
fn critical(freedom: f64) -> f64 {
    let v = 2.0 / (9.0 * freedom);
    freedom * (1.0 - v + 3.719 * v.sqrt()).powi(3)
}

#[test]
fn case_40_mean_offspring() {
    // 20,000 repetitions of 3 draws from [.6, .3, .1]: 5.6 standard deviations, alpha = 2e-8 for each of 18 means. The
    // largest variances are those of shares of n + f: multinomial 3 p (1 - p), stratified 1/2, systematic f (1 - f).
    // Residual: one certain, and R = 2 draws from the rests [.8, .9, .3] / 2.
    let cdf = built(&[0.6, 0.3, 0.1]);
    let n = 20_000;
    for scheme in SCHEMES {
        let (mut sums, mut scratch) = ([0.0; 3], Scratch::new());
        for i in 0..n {
            let random = Random::Stream { stream: Stream::new(40, 0), first_index: 3 * i };
            let mut counts = [0; 3];
            resample::offspring(&cdf, scheme, 3, random, &mut scratch, &mut counts).unwrap();
            if let Scheme::Residual(_) = scheme {
                assert!(counts[0] >= 1, "floor(1.8) is certain");
            }
            sums.iter_mut().zip(counts).for_each(|(s, c)| *s += f64::from(c));
        }
        let variance: f64 = match scheme {
            Scheme::Multinomial => 0.75,
            Scheme::Systematic | Scheme::Residual(Base::Systematic) => 0.25,
            _ => 0.5,
        };
        for (sum, mean) in sums.iter().zip([1.8, 0.9, 0.3]) {
            let bound = 5.6 * (variance / n as f64).sqrt();
            assert!((sum / n as f64 - mean).abs() < bound, "{scheme:?} {sums:?}");
        }
    }
}

#[test]
fn every_scheme_is_unbiased() {
    // One ancestor at a random place of each resampling: independent between resamplings, and item i with probability
    // w[i] / total. Chi-square over 50,000 resamplings at alpha = 1e-4 for each of the 12 tests, with fixed seeds.
    let patterns: [Vec<f32>; 2] = [
        vec![10.0, 0.0, 5.0, 2.0, 0.1],
        (0..40).map(|i| if i % 3 == 0 { 0.0 } else { 1.0 + (i % 7) as f32 }).collect(),
    ];
    for weights in &patterns {
        let cdf = built(weights);
        for scheme in SCHEMES {
            let (draws, n) = (23_u64, 50_000_u64);
            let (mut counts, mut scratch) = (vec![0.0; weights.len()], Scratch::new());
            for i in 0..n {
                let random = Random::Stream { stream: Stream::new(7, 0), first_index: draws * i };
                let mut out = [0; 23];
                resample::ancestors(&cdf, scheme, random, &mut scratch, &mut out).unwrap();
                counts[out[Stream::new(7, 1).bounded(i, draws) as usize] as usize] += 1.0;
            }
            let total: f64 = weights.iter().map(|&w| f64::from(w)).sum();
            let (mut chi, mut freedom) = (0.0, -1.0);
            for (&count, &w) in counts.iter().zip(weights) {
                let expected: f64 = n as f64 * f64::from(w) / total;
                if w == 0.0 {
                    assert_eq!(count, 0.0);
                } else {
                    assert!(expected >= 5.0);
                    let difference: f64 = count - expected;
                    chi += difference * difference / expected;
                    freedom += 1.0;
                }
            }
            assert!(chi < critical(freedom), "{scheme:?}: {chi} of {freedom}");
        }
    }
}

#[test]
fn variances_are_in_their_order() {
    // Sum of the offspring's variances over 5,000 resamplings of 64 from 64: each scheme's is well below that before it
    // (systematic by its nature, the others by theorem: Douc, Cappe and Moulines 2005).
    let stream = Stream::new(3, 0);
    let weights: Vec<f32> = (0..64).map(|i| stream.uniform(i)).collect();
    let cdf = built(&weights);
    let spread = |scheme| {
        let (mut sum, mut scratch) = (0.0, Scratch::new());
        for i in 0..5_000 {
            let random = Random::Stream { stream: Stream::new(4, 0), first_index: 64 * i };
            let mut counts = [0; 64];
            resample::offspring(&cdf, scheme, 64, random, &mut scratch, &mut counts).unwrap();
            for (i, &count) in counts.iter().enumerate() {
                let mean = 64.0 * cdf.weight(i).unwrap() as f64 / cdf.total() as f64;
                sum += (f64::from(count) - mean).powi(2);
            }
        }
        sum / 5_000.0
    };
    let [multinomial, stratified, systematic, residual, ..] = SCHEMES.map(spread);
    assert!(residual < 0.8 * multinomial, "{residual} {multinomial}");
    assert!(stratified < 0.8 * residual, "{stratified} {residual}");
    assert!(systematic < 0.8 * stratified, "{systematic} {stratified}");
}

#[test]
fn rows_are_resampled_each_by_itself() {
    let stream = Stream::new(6, 0);
    let (rows, items) = (7, 45);
    let weights: Vec<f32> =
        (0..rows * items).map(|i| stream.uniform(i as u64) * 2.0_f32.powi((i % 50) as i32)).collect();
    let mut batch = Batch::new();
    for scheme in SCHEMES {
        for draws in [1, 2, 45, 100] {
            let mut out = vec![u32::MAX; rows * draws];
            resample::ancestors_batch(&weights, rows, scheme, &stream, u64::MAX - 50, &mut batch, &mut out).unwrap();
            for (row, (weights, out)) in weights.chunks(items).zip(out.chunks(draws)).enumerate() {
                let first_index = (u64::MAX - 50).wrapping_add((row * scheme.words(draws)) as u64);
                let random = Random::Stream { stream, first_index };
                let mut alone = vec![0; draws];
                resample::ancestors(&built(weights), scheme, random, &mut Scratch::new(), &mut alone).unwrap();
                assert_eq!(out, alone, "{scheme:?} row {row}");
            }
        }
    }
}

/// Changing any of these is a breaking change.
#[test]
fn values_for_ever() {
    let weights: Vec<f32> = (0..1000).map(|i| (i * i % 101) as f32).collect();
    let cdf = built(&weights);
    let random = Random::Stream { stream: Stream::new(2024, 7), first_index: 100 };
    let ends = SCHEMES.map(|scheme| {
        let mut out = [0; 1000];
        resample::ancestors(&cdf, scheme, random, &mut Scratch::new(), &mut out).unwrap();
        // Ten from the middle, and a sum over all that depends on the order.
        let sum = (1..).zip(&out).fold(0_u64, |sum, (j, &a)| sum + j * u64::from(a));
        (<[u32; 10]>::try_from(&out[500..510]).unwrap(), sum)
    });
    let expected = [
        ([511, 297, 762, 354, 88, 674, 24, 766, 589, 134], 246_496_556),
        ([497, 498, 500, 501, 508, 512, 512, 513, 514, 514], 334_313_693),
        ([497, 498, 499, 500, 508, 511, 512, 513, 514, 514], 334_116_779),
        ([494, 495, 495, 496, 496, 497, 501, 509, 511, 511], 332_779_026),
        ([497, 498, 500, 502, 509, 512, 512, 513, 514, 514], 334_309_339),
        ([497, 498, 499, 500, 508, 511, 512, 513, 514, 514], 334_116_779),
    ];
    assert_eq!(ends, expected);
}
