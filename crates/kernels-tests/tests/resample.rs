//! Resampling on the device against per-core.

use arith::random::Stream;
use kernels_tests::{Bench, DeviceCdf};
use per_core::Cdf;
use per_core::resample::{Base, Random, Scheme, Scratch, ancestors};

const SCHEMES: [(Scheme, &str); 6] = [
    (Scheme::Multinomial, "cdf_sample_f32"),
    (Scheme::Stratified, "resample_stratified_f32"),
    (Scheme::Systematic, "resample_systematic_f32"),
    (Scheme::Residual(Base::Multinomial), "resample_remainders_f32"),
    (Scheme::Residual(Base::Stratified), "resample_residual_stratified_f32"),
    (Scheme::Residual(Base::Systematic), "resample_residual_systematic_f32"),
];

/// Weights of very different sizes, zeros among them.
fn weights(n: usize, kind: u64) -> Vec<f32> {
    let stream = Stream::new(n as u64, kind);
    let weight = |i: usize| {
        let [a, b, ..] = stream.block(i as u64);
        match (kind, b % 5) {
            (_, 0) => 0.0,
            (0, _) => arith::random::uniform_positive(a),
            _ => f32::from_bits(a % 0x7f80_0000),
        }
    };
    // Something counts.
    std::iter::once(0.5).chain((1..n).map(weight)).collect()
}

fn build(weights: &[f32]) -> (DeviceCdf, Cdf) {
    let device = DeviceCdf::new(Bench::new("cdf").with("resample"), weights);
    device.build();
    let mut host = Cdf::new();
    host.build(weights).unwrap();
    (device, host)
}

#[test]
fn ancestors_are_those_of_the_host() {
    for n in [1, 2, 16, 100, 257, 4096, 4099] {
        for kind in 0..2 {
            let weights = weights(n, kind);
            let (mut device, host) = build(&weights);
            let mut first = u64::MAX - 20;
            device.bench.write(&device.position, &[first, 0]);
            for m in [1, 10, n, 3 * n / 2 + 1, n / 5 + 3] {
                let words: Vec<u64> = (0..m as u64).map(|j| Stream::new(8, 8).double_word(j)).collect();
                device.bench.options.seed = Some(m as u64);
                for (scheme, kernel) in SCHEMES {
                    // A search a draw is half a warp: some of them tell as much as many.
                    if m > 700 && !matches!(scheme, Scheme::Residual(_)) {
                        continue;
                    }
                    let mut expected = vec![0; m];
                    let stream = Random::Stream { stream: Stream::new(3, 9), first_index: first };
                    ancestors(&host, scheme, stream, &mut Scratch::new(), &mut expected).unwrap();
                    assert_eq!(device.draw(kernel, m, None, (3, 9)), expected, "{scheme:?}: {m} of {n}");
                    first = first.wrapping_add(scheme.words(m) as u64);
                    assert_eq!(device.bench.read(&device.position), [first, 0]);
                    let words = &words[..scheme.words(m)];
                    ancestors(&host, scheme, Random::Words(words), &mut Scratch::new(), &mut expected).unwrap();
                    assert_eq!(device.draw(kernel, m, Some(words), (0, 0)), expected, "{scheme:?}: {m} of {n}");
                    assert_eq!(device.bench.read(&device.position), [first, 0]);
                }
            }
        }
    }
}

#[test]
fn one_item_may_have_all_draws_and_all_may_have_one() {
    for n in [4500, 8192] {
        let one = |i: usize| if i == 4321 { 2.0 } else { 0.0 };
        for weights in [(0..n).map(one).collect(), vec![0.7; n]] {
            let (device, host) = build(&weights);
            for (scheme, kernel) in SCHEMES.into_iter().filter(|(scheme, _)| matches!(scheme, Scheme::Residual(_))) {
                let mut expected = vec![0; n];
                let stream = Random::Stream { stream: Stream::new(1, 1), first_index: 0 };
                ancestors(&host, scheme, stream, &mut Scratch::new(), &mut expected).unwrap();
                device.bench.write(&device.position, &[0, 0]);
                assert_eq!(device.draw(kernel, n, None, (1, 1)), expected, "{scheme:?}");
            }
        }
    }
}

#[test]
fn without_mass_nothing_is_drawn() {
    let device = DeviceCdf::new(Bench::new("cdf").with("resample"), &[0.0; 5000]);
    for built in [false, true] {
        for (_, kernel) in SCHEMES {
            assert_eq!(device.draw(kernel, 700, None, (1, 1)), [u32::MAX; 700]);
            assert_eq!(device.bench.read(&device.position), [0, 0]);
        }
        if !built {
            device.build();
        }
    }
}
