//! The CDF on a device, and resampling by it, are those of the CPU, in every order of threads.
#![cfg(feature = "cuda")]

mod cuda_common;

use arith::random;
use cuda_common::*;
use gpu::{Graph, LaunchError, Stream};
use per_core::cuda::resample::{Random, Scratch, ancestors};
use per_core::cuda::{Cdf, Draws, Error, NOTHING};
use per_core::resample::{self, Base, Scheme};
use proptest::prelude::*;

/// Those that there are kernels for.
const SCHEMES: [Scheme; 6] = [
    Scheme::Multinomial,
    Scheme::Stratified,
    Scheme::Systematic,
    Scheme::Residual(Base::Multinomial),
    Scheme::Residual(Base::Stratified),
    Scheme::Residual(Base::Systematic),
];

/// Two builds with one CDF, and draws.
fn check(stream: &Stream, sets: &[Vec<f32>], m: usize, seed: u64) {
    let capacity = sets.iter().map(Vec::len).max().unwrap();
    let mut device = Cdf::with_capacity(stream, capacity).unwrap();
    let mut scratch = Scratch::new(stream, capacity).unwrap();
    for weights in sets {
        let mut host = per_core::Cdf::new();
        host.build(weights).unwrap();
        let of = upload(stream, weights);
        device.build(stream, of.view()).unwrap();
        assert_eq!(device.check(stream), Ok(()));
        assert_eq!(device.len(), weights.len());
        assert_eq!(device.mass(stream).unwrap(), (host.total(), host.scale()));
        assert_eq!(bits(&device.weights().unwrap().to_vec(stream).unwrap()), bits(weights));
        for scheme in SCHEMES {
            draws(stream, &device, &host, scheme, &mut scratch, m, seed);
        }
        if host.total() > 0 {
            let numbers = random::Stream::new(seed, 4);
            let thresholds = (0..30).map(|j| numbers.bounded(j, host.total())).chain([0, host.total() - 1]);
            let thresholds: Vec<_> = thresholds.collect();
            let (at, mut out, mut expected) = (upload(stream, &thresholds), room::<u32>(stream, 32), vec![0; 32]);
            device.search(stream, at.view(), out.view_mut()).unwrap();
            host.search(&thresholds, &mut expected).unwrap();
            assert_eq!(out.to_vec(stream).unwrap(), expected);
        }
    }
}

/// From a stream, and from words.
fn draws(
    stream: &Stream,
    device: &Cdf,
    host: &per_core::Cdf,
    scheme: Scheme,
    scratch: &mut Scratch,
    m: usize,
    seed: u64,
) {
    let first_index = u64::MAX - 3;
    let numbers = random::Stream::new(seed, 8);
    let words: Vec<_> = (0..scheme.words(m) as u64).map(|j| numbers.double_word(j)).collect();
    let given = upload(stream, &words);
    let mut position = Draws::new(stream, seed, 8, first_index).unwrap();
    let from_stream = resample::Random::Stream { stream: numbers, first_index };
    for from in [false, true] {
        let mut out = room::<u32>(stream, m);
        let random = if from { Random::Stream(&mut position) } else { Random::Words(given.view()) };
        ancestors(stream, device, scheme, random, scratch, out.view_mut()).unwrap();
        let mut expected = vec![NOTHING; m];
        if host.total() > 0 {
            let random = if from { from_stream } else { resample::Random::Words(&words) };
            resample::ancestors(host, scheme, random, &mut resample::Scratch::new(), &mut expected).unwrap();
        }
        assert_eq!(out.to_vec(stream).unwrap(), expected, "{scheme:?}");
    }
    let taken = if host.total() > 0 { scheme.words(m) as u64 } else { 0 };
    assert_eq!(position.next(stream).unwrap(), first_index.wrapping_add(taken), "{scheme:?}");
}

fn run(cases: u32) {
    let stream = stream();
    let set = || sizes().prop_flat_map(|n| prop::collection::vec(weight(), n));
    for_any(cases, &(prop::collection::vec(set(), 1..3), 1..200_usize, any::<u64>()), |(sets, m, seed)| {
        check(&stream, &sets, m, seed);
    });
}

#[test]
fn any_weights_give_the_cdf_and_the_draws_of_the_cpu() {
    run(24);
    // No mass at all.
    check(&stream(), &[vec![0.0; 20], vec![1.0; 3], vec![-0.0]], 9, 1);
}

#[test]
fn every_order_of_threads_gives_the_same() {
    in_every_order("child_in_some_order");
}

#[test]
#[ignore = "run by the test above"]
fn child_in_some_order() {
    run(6);
}

#[test]
fn a_build_is_two_launches_and_a_draw_is_one() {
    let stream = stream();
    let weights = upload(&stream, &vec![1.0_f32; 9000]);
    let mut cdf = Cdf::with_capacity(&stream, 9000).unwrap();
    let build =
        Graph::capture(&stream, |stream| cdf.build_with(stream, 9000, |mut own| Ok(own.zero(stream)?))).unwrap();
    // And what puts the weights in place.
    assert_eq!(build.operations(), 1 + 2);
    let build = Graph::capture(&stream, |stream| cdf.build(stream, weights.view())).unwrap();
    assert_eq!(build.operations(), 1 + 2);
    let (mut draws, mut scratch) = (Draws::new(&stream, 5, 6, 0).unwrap(), Scratch::new(&stream, 9000).unwrap());
    for scheme in SCHEMES {
        let mut out = room::<u32>(&stream, 40);
        draws.seek(&stream, 0).unwrap();
        let draw = Graph::capture(&stream, |stream| {
            ancestors(stream, &cdf, scheme, Random::Stream(&mut draws), &mut scratch, out.view_mut())
        });
        let draw = draw.unwrap();
        let launches = if scheme == Scheme::Residual(Base::Multinomial) { 3 } else { 1 };
        assert_eq!(draw.operations(), launches, "{scheme:?}");
        let (mut host, mut next) = (per_core::Cdf::new(), 0);
        host.build(&vec![1.0; 9000]).unwrap();
        for _ in 0..3 {
            build.launch(&stream).unwrap();
            draw.launch(&stream).unwrap();
            let mut expected = vec![0; 40];
            let random = resample::Random::Stream { stream: random::Stream::new(5, 6), first_index: next };
            resample::ancestors(&host, scheme, random, &mut resample::Scratch::new(), &mut expected).unwrap();
            assert_eq!(out.to_vec(&stream).unwrap(), expected, "{scheme:?} from {next}");
            next += scheme.words(40) as u64;
        }
    }
}

#[test]
fn what_is_wrong_is_told() {
    let stream = stream();
    let mut cdf = Cdf::with_capacity(&stream, 100).unwrap();
    let (mut draws, mut scratch) = (Draws::new(&stream, 0, 0, 0).unwrap(), Scratch::new(&stream, 100).unwrap());
    let mut out = room::<u32>(&stream, 4);
    let empty = |operation| Err(Error::Sampler(per_core::Error::Empty { operation }));
    assert_eq!(cdf.sample(&stream, &mut draws, out.view_mut()), empty("resample::ancestors"));
    assert_eq!(cdf.build_from_host(&stream, &[]), empty("Cdf::build"));
    cdf.build_from_host(&stream, &[1.0, 2.0]).unwrap();
    let (operation, what) = ("Cdf::build", "weights");
    let long = per_core::Error::LengthMismatch { operation, what, expected: 100, got: 101 };
    assert_eq!(cdf.build_from_host(&stream, &[1.0; 101]), Err(long.into()));
    let invalid = |position, value| per_core::Error::InvalidWeight { operation, position, value };
    assert_eq!(cdf.build_from_host(&stream, &[1.0, -3.0]), Err(invalid(1, -3.0).into()));
    // As it was.
    assert_eq!(cdf.weights().unwrap().to_vec(&stream).unwrap(), [1.0, 2.0]);
    cdf.sample(&stream, &mut draws, out.view_mut()).unwrap();
    assert!(out.to_vec(&stream).unwrap().iter().all(|&item| item < 2));
    // Thresholds past the end.
    let (total, _) = cdf.mass(&stream).unwrap();
    let at = upload(&stream, &[0, total - 1, total, u64::MAX]);
    cdf.search(&stream, at.view(), out.view_mut()).unwrap();
    assert_eq!(out.to_vec(&stream).unwrap(), [0, 1, NOTHING, NOTHING]);
    assert_eq!(cdf.check(&stream), Err(Error::Threshold { operation: "Cdf::search", position: 2 }));
    assert_eq!(cdf.check(&stream), Ok(()));
    // Weights on the device that are none.
    let mut weights = [1.0; 100];
    (weights[60], weights[70]) = (-1.0, f32::INFINITY);
    let wrong = upload(&stream, &weights);
    cdf.build(&stream, wrong.view()).unwrap();
    cdf.sample(&stream, &mut draws, out.view_mut()).unwrap();
    assert_eq!(out.to_vec(&stream).unwrap(), [NOTHING; 4]);
    assert_eq!(cdf.check(&stream), Err(invalid(60, -1.0).into()));
    assert_eq!(cdf.mass(&stream).unwrap().0, 0);
    // Too little scratch, and the wrong number of words.
    let mut larger = Cdf::with_capacity(&stream, 5000).unwrap();
    larger.build_from_host(&stream, &vec![1.0; 5000]).unwrap();
    let scheme = Scheme::Stratified;
    let refused = ancestors(&stream, &larger, scheme, Random::Stream(&mut draws), &mut scratch, out.view_mut());
    let (operation, what) = ("resample::ancestors", "scratch");
    assert_eq!(refused, Err(per_core::Error::LengthMismatch { operation, what, expected: 5000, got: 100 }.into()));
    let words = upload(&stream, &[0_u64; 3]);
    let refused = ancestors(&stream, &cdf, scheme, Random::Words(words.view()), &mut scratch, out.view_mut());
    let length = LaunchError::Length { kernel: "resample_stratified_f32", argument: "words", expected: 4, got: 3 };
    assert_eq!(refused, Err(Error::Gpu(length.into())));
}

#[test]
fn a_build_that_was_only_captured_is_none() {
    let stream = stream();
    let mut scratch = Scratch::new(&stream, 10_000).unwrap();
    for (before, captured) in [(100, 10_000), (10_000, 100), (0, 100)] {
        let mut cdf = Cdf::with_capacity(&stream, 10_000).unwrap();
        if before > 0 {
            cdf.build_from_host(&stream, &vec![1.0; before]).unwrap();
        }
        let weights = upload(&stream, &vec![3.0; captured]);
        let graph = Graph::capture(&stream, |stream| cdf.build(stream, weights.view())).unwrap();
        assert_eq!(cdf.mass(&stream).unwrap().0, 0);
        let mut draw = |scheme| {
            let mut position = Draws::new(&stream, 1, 2, 0).unwrap();
            let (mut out, random) = (room::<u32>(&stream, 500), Random::Stream(&mut position));
            ancestors(&stream, &cdf, scheme, random, &mut scratch, out.view_mut()).unwrap();
            out.to_vec(&stream).unwrap()
        };
        for scheme in SCHEMES {
            assert_eq!(draw(scheme), [NOTHING; 500], "{scheme:?}: {captured} after {before}");
        }
        graph.launch(&stream).unwrap();
        for scheme in SCHEMES {
            let drawn = draw(scheme);
            assert!(drawn.iter().all(|&item| (item as usize) < captured), "{scheme:?}: {captured} after {before}");
        }
    }
}
