//! What is refused, in which words, and that nothing changes then.

use arith::random::Stream;
use per_core::{Cdf, Error};

fn built(weights: &[f32]) -> Cdf {
    let mut cdf = Cdf::new();
    cdf.build(weights).unwrap();
    cdf
}

/// Everything that can be asked of a CDF.
fn state(cdf: &Cdf) -> (u64, Vec<Result<u64, Error>>, Vec<u32>) {
    let mut draws = vec![0; 100];
    cdf.sample(&Stream::new(1, 1), 0, &mut draws).unwrap();
    (cdf.total(), (0..cdf.len()).map(|i| cdf.prefix(i)).collect(), draws)
}

#[test]
fn case_6_one_bad_weight_leaves_the_old_sums_whole() {
    let old: Vec<f32> = (0..500).map(|i| (i % 7) as f32).collect();
    for bad in [f32::NAN, f32::INFINITY, -1.0, -1e-45, f32::NEG_INFINITY] {
        // In the first block, in the middle of a tile, in a ragged tail; a second bad one later is not the one named.
        for (n, position) in [(600, 0), (200_000, 150_000), (1003, 1002)] {
            let mut cdf = built(&old);
            let before = state(&cdf);
            let mut weights = vec![2.0; n];
            weights[position] = bad;
            weights[n - 1] = bad;
            for parallel in [false, true] {
                let error = if parallel { cdf.build_par(&weights) } else { cdf.build(&weights) }.unwrap_err();
                let Error::InvalidWeight { position: p, value, .. } = error else { panic!("{error}") };
                assert_eq!((p, value.to_bits()), (position, bad.to_bits()));
                assert_eq!(state(&cdf), before);
            }
            let error = cdf.build_from(weights.iter().copied()).unwrap_err();
            assert!(matches!(error, Error::InvalidWeight { position: p, .. } if p == position));
            assert_eq!(state(&cdf), before);
        }
    }
}

#[test]
fn errors_say_what_and_where() {
    let mut cdf = built(&[1.0, 2.0]);
    assert_eq!(
        cdf.build(&[1.0, -3.0]).unwrap_err().to_string(),
        "Cdf::build: weight -3 at position 1 is not finite and >= 0"
    );
    assert_eq!(cdf.build(&[]), Err(Error::Empty { operation: "Cdf::build" }));
    assert_eq!(cdf.build_par(&[]), Err(Error::Empty { operation: "Cdf::build_par" }));
    assert_eq!(cdf.build_from([]), Err(Error::Empty { operation: "Cdf::build_from" }));
    for error in [cdf.weight(2), cdf.prefix(2)] {
        assert!(matches!(error, Err(Error::IndexOutOfRange { index: 2, count: 2, .. })));
    }
    assert!(matches!(cdf.probability(usize::MAX), Err(Error::IndexOutOfRange { index: usize::MAX, .. })));
    assert!(matches!(cdf.to_f32(&mut [0.0; 3]), Err(Error::LengthMismatch { expected: 2, got: 3, .. })));
    assert!(matches!(cdf.search(&[0], &mut [0; 2]), Err(Error::LengthMismatch { expected: 1, got: 2, .. })));
    assert_eq!(state(&cdf), state(&built(&[1.0, 2.0])));
}

#[test]
fn thresholds_outside_the_mass_are_refused_and_nothing_is_written() {
    let cdf = built(&[1.0, 2.0]);
    let end = cdf.total();
    let refused = |position, threshold, min| {
        move |e: Error| {
            matches!(e, Error::ThresholdOutOfRange { position: p, threshold: t, min: m, end: x, .. }
            if (p, t, m, x) == (position, threshold, min, end + min))
        }
    };
    for t in [end, end + 1, u64::MAX, 1 << 63] {
        assert!(cdf.find(t).is_err_and(refused(0, t, 0)));
        let mut out = [77; 70];
        let mut thresholds = [0; 70];
        thresholds[66] = t;
        thresholds[69] = t;
        assert!(cdf.search(&thresholds, &mut out).is_err_and(refused(66, t, 0)));
        assert!(cdf.search_par(&thresholds, &mut out).is_err_and(refused(66, t, 0)));
        assert_eq!(out, [77; 70]);
    }
    let mut out = [77; 2];
    assert!(cdf.search_left(&[1, 0], &mut out).is_err_and(refused(1, 0, 1)));
    assert!(cdf.search_left(&[1, end + 1], &mut out).is_err_and(refused(1, end + 1, 1)));
    assert_eq!(out, [77; 2]);
    assert_eq!(cdf.search_left(&[1, end], &mut out), Ok(()));
    assert_eq!(out, [0, 1]);
    assert_eq!(cdf.search(&[], &mut []), Ok(()));
}

#[test]
fn case_8_nothing_to_draw() {
    let stream = Stream::new(0, 0);
    let mut out = [77; 3];
    for cdf in [Cdf::new(), Cdf::default(), Cdf::with_capacity(100)] {
        assert!(matches!(cdf.sample(&stream, 0, &mut out), Err(Error::Empty { .. })));
        assert!(matches!(cdf.to_f32(&mut []), Err(Error::Empty { .. })));
        assert!(matches!(cdf.find(0), Err(Error::ThresholdOutOfRange { end: 0, .. })));
        assert_eq!((cdf.len(), cdf.is_empty(), cdf.total()), (0, true, 0));
    }
    for n in [1, 16, 300] {
        let cdf = built(&vec![0.0; n]);
        let all_zero = |e: Error| matches!(e, Error::AllZero { count, .. } if count == n);
        assert!(cdf.sample(&stream, 0, &mut out).is_err_and(all_zero));
        assert!(cdf.sample_par(&stream, 0, &mut out).is_err_and(all_zero));
        assert!(cdf.sample_stratified(&stream, 0, &mut out).is_err_and(all_zero));
        assert!(cdf.sample_systematic(&stream, 0, &mut out).is_err_and(all_zero));
        assert!(cdf.to_f32(&mut vec![0.0; n]).is_err_and(all_zero));
        assert!(cdf.probability(0).is_err_and(all_zero));
        assert!(cdf.find(0).is_err());
        assert!(cdf.search(&[0], &mut [0]).is_err());
        assert_eq!(cdf.prefix(n - 1), Ok(0));
    }
    assert_eq!(out, [77; 3]);
}

#[test]
fn drawing_nothing_is_allowed() {
    let cdf = built(&[1.0]);
    let stream = Stream::new(0, 0);
    assert_eq!(cdf.sample(&stream, 0, &mut []), Ok(()));
    assert_eq!(cdf.sample_par(&stream, 0, &mut []), Ok(()));
    assert_eq!(cdf.sample_stratified(&stream, 0, &mut []), Ok(()));
    assert_eq!(cdf.sample_systematic(&stream, 0, &mut []), Ok(()));
}
