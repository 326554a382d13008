//! What is refused, in which words, and that nothing changes then.

use arith::random::Stream;
use per_core::resample::{self, Base, Batch, Random, Scheme, Scratch};
use per_core::{Cdf, Error};

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

fn stream() -> Random<'static> {
    Random::Stream { stream: Stream::new(1, 1), first_index: 0 }
}

/// Both forms refuse with the same error but for its operation, and write nothing.
fn refused(cdf: &Cdf, scheme: Scheme, random: Random<'_>, is: impl Fn(&Error) -> bool) {
    let mut out = [77; 4];
    let error = resample::ancestors(cdf, scheme, random, &mut Scratch::new(), &mut out).unwrap_err();
    assert!(is(&error), "{scheme:?}: {error}");
    assert!(error.to_string().starts_with("resample::ancestors: "), "{error}");
    assert_eq!(out, [77; 4]);
    let mut counts = vec![77; cdf.len()];
    let error = resample::offspring(cdf, scheme, 4, random, &mut Scratch::new(), &mut counts).unwrap_err();
    assert!(is(&error), "{scheme:?}: {error}");
    assert!(error.to_string().starts_with("resample::offspring: "), "{error}");
    assert!(counts.iter().all(|&c| c == 77));
}

#[test]
fn case_8_nothing_to_draw() {
    for scheme in SCHEMES {
        refused(&Cdf::new(), scheme, stream(), |e| matches!(e, Error::Empty { .. }));
        for n in [1, 16, 300] {
            let is = |e: &Error| matches!(e, Error::AllZero { count, .. } if *count == n);
            refused(&built(&vec![0.0; n]), scheme, stream(), is);
        }
    }
}

#[test]
fn words_and_uniforms_must_be_right() {
    let cdf = built(&[1.0, 2.0, 3.0]);
    for scheme in SCHEMES {
        let right = scheme.words(4);
        for wrong in [0, 2, 3, 5] {
            let is = |e: &Error| matches!(e, Error::LengthMismatch { expected, got, .. } if (*expected, *got) == (right, wrong));
            refused(&cdf, scheme, Random::Words(&vec![0; wrong]), is);
            refused(&cdf, scheme, Random::Uniforms(&vec![0.0; wrong]), is);
        }
        for bad in [1.0, -1e-45, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1.5] {
            for position in 0..right {
                let mut uniforms = vec![0.5; right];
                uniforms[position] = bad;
                uniforms[right - 1] = bad;
                refused(&cdf, scheme, Random::Uniforms(&uniforms), |e| {
                    matches!(e, Error::InvalidUniform { position: p, value, .. }
                        if *p == position && value.to_bits() == bad.to_bits())
                });
            }
        }
    }
}

#[test]
fn lengths_must_agree() {
    let cdf = built(&[1.0, 2.0, 3.0]);
    for scheme in SCHEMES {
        for wrong in [0, 2, 4] {
            let mut counts = vec![77; wrong];
            let result = resample::offspring(&cdf, scheme, 4, stream(), &mut Scratch::new(), &mut counts);
            assert!(matches!(result, Err(Error::LengthMismatch { expected: 3, got, .. }) if got == wrong));
            assert!(counts.iter().all(|&c| c == 77));
        }
        #[cfg(target_pointer_width = "64")]
        {
            let draws = u32::MAX as usize + 1;
            let mut counts = [77; 3];
            let result = resample::offspring(&cdf, scheme, draws, stream(), &mut Scratch::new(), &mut counts);
            assert!(matches!(result, Err(Error::TooManyDraws { count, max: 0xffff_ffff, .. }) if count == draws));
            assert_eq!(counts, [77; 3]);
        }
    }
    let mut out = [77; 3];
    for counts in [[1, 1], [2, 2], [u32::MAX, u32::MAX]] {
        let sum = counts.iter().map(|&c| c as usize).sum::<usize>();
        let result = resample::expand(&counts, &mut out);
        assert!(matches!(result, Err(Error::LengthMismatch { expected, got: 3, .. }) if expected == sum));
        assert_eq!(out, [77; 3]);
    }
    assert_eq!(resample::expand(&[], &mut []), Ok(()));
    assert!(resample::expand(&[], &mut out).is_err());
}

#[test]
fn drawing_nothing_is_allowed() {
    let cdf = built(&[1.0, 2.0]);
    for scheme in SCHEMES {
        assert_eq!(resample::ancestors(&cdf, scheme, stream(), &mut Scratch::new(), &mut []), Ok(()));
        let mut counts = [77; 2];
        assert_eq!(resample::offspring(&cdf, scheme, 0, stream(), &mut Scratch::new(), &mut counts), Ok(()));
        assert_eq!(counts, [0, 0]);
    }
}

#[test]
fn case_36_the_row_that_is_wrong_is_named() {
    let (rows, items) = (4, 20);
    let good = vec![1.0; rows * items];
    let mut batch = Batch::new();
    for scheme in SCHEMES {
        let mut run = |weights: &[f32], rows: usize, out: &mut [u32]| {
            resample::ancestors_batch(weights, rows, scheme, &Stream::new(1, 0), 0, &mut batch, out)
        };
        for bad in [f32::NAN, f32::INFINITY, -1.0] {
            let mut weights = good.clone();
            weights[2 * items + 7] = bad;
            weights[3 * items] = bad;
            let mut out = [77; 40];
            let error = run(&weights, rows, &mut out).unwrap_err();
            assert!(matches!(error, Error::InvalidRowWeight { row: 2, position: 7, value, .. }
                if value.to_bits() == bad.to_bits()));
            assert_eq!(out, [77; 40]);
        }
        let mut weights = good.clone();
        weights[3 * items..].fill(0.0);
        let mut out = [77; 40];
        let error = run(&weights, rows, &mut out).unwrap_err();
        assert_eq!(error.to_string(), "resample::ancestors_batch: all 20 weights of row 3 are zero");
        assert!(matches!(run(&good, 3, &mut out), Err(Error::LengthMismatch { what: "weights", .. })));
        assert!(matches!(run(&good, rows, &mut out[..39]), Err(Error::LengthMismatch { what: "out", .. })));
        assert!(matches!(run(&[], 2, &mut out), Err(Error::Empty { .. })));
        assert!(run(&good, 0, &mut out).is_err());
        assert_eq!(out, [77; 40]);
        assert_eq!(run(&[], 0, &mut []), Ok(()));
        assert_eq!(run(&good, rows, &mut []), Ok(()));
        assert_eq!(run(&good, rows, &mut out), Ok(()));
        assert!(out.iter().all(|&a| a < 20));
    }
}
