//! Cumulative sums on the device against those of per-core.

use arith::random::Stream;
use kernels_tests::{Bench, DeviceCdf, fault, levels};
use per_core::Cdf;
use std::num::NonZero;

/// Sizes around full blocks, full nodes, full levels and full tiles (4,096).
const SIZES: [usize; 14] = [1, 2, 15, 16, 17, 255, 256, 257, 4095, 4096, 4097, 8192, 12_289, 140_001];

/// Weights of kind 0: alike; 1: of all magnitudes, zeros of both signs among them; 2: tiny ones; 3: one that counts.
fn weights(n: usize, kind: u32) -> Vec<f32> {
    let stream = Stream::new(n as u64, u64::from(kind));
    let weight = |i: usize| {
        let [a, b, ..] = stream.block(i as u64);
        match (kind, b % 6) {
            (0, _) => 1.0 + (a >> 9) as f32 * f32::EPSILON,
            (1, 0) => 0.0,
            (1, 1) => -0.0,
            (1, _) => f32::from_bits(a % 0x7f80_0000),
            (2, _) => f32::from_bits(a % 1000),
            _ => {
                if i == n / 2 {
                    3.0
                } else {
                    0.0
                }
            }
        }
    };
    (0..n).map(weight).collect()
}

fn build(weights: &[f32]) -> (DeviceCdf, Cdf) {
    let (device, mut host) = (DeviceCdf::new(Bench::new("cdf"), weights), Cdf::new());
    device.build();
    host.build(weights).unwrap();
    (device, host)
}

fn check(device: &DeviceCdf, host: &Cdf) {
    let head = device.head();
    assert_eq!((head.total, head.ready, head.done, head.running), (host.total(), 1, 0, 0));
    let nodes = device.bench.read(&device.nodes);
    let (mut start, mut stride) = (0, 16);
    for elements in levels(device.n.div_ceil(16)) {
        let level = &nodes[start..start + elements.next_multiple_of(16)];
        for (i, &key) in level.iter().enumerate() {
            let before = (i * stride).checked_sub(1).map_or(0, |last| host.prefix(last.min(device.n - 1)).unwrap());
            let expected = if i < elements { before } else { i64::MAX as u64 };
            assert_eq!(key, expected, "element {i} of {elements}");
        }
        start += level.len();
        stride *= 16;
    }
    assert_eq!(start, nodes.len());
}

#[test]
fn builds_are_those_of_the_host() {
    for n in SIZES {
        for kind in 0..4 {
            let (device, host) = build(&weights(n, kind));
            check(&device, &host);
            assert_eq!(device.bench.read(&device.status), [0]);
        }
    }
}

#[test]
fn builds_are_the_same_in_every_order_and_again() {
    for seed in 0..8 {
        let all = weights(45_000, 0);
        let mut device = DeviceCdf::new(Bench::new("cdf"), &all);
        device.bench.options.seed = Some(seed);
        device.bench.options.threads = NonZero::new(1 + seed as usize % 4);
        let mut host = Cdf::new();
        for round in 0..3 {
            let other: Vec<_> = all.iter().map(|w| w * (1 << round) as f32 - round as f32).collect();
            device.bench.write(&device.weights, &other);
            device.build();
            host.build(&other).unwrap();
            check(&device, &host);
        }
    }
}

#[test]
fn searches_find_the_same_items() {
    for n in SIZES {
        for kind in 0..4 {
            let (device, host) = build(&weights(n, kind));
            let stream = Stream::new(5, 5);
            let ends = [0, 1, host.total() / 2, host.total() - 1];
            let edge = |j: u64| host.prefix(stream.bounded(1000 + j, n as u64) as usize).unwrap();
            let edges = (0..40).map(edge).flat_map(|prefix| [prefix.saturating_sub(1), prefix]);
            let random = (0..101).map(|j| stream.bounded(j, host.total()));
            let thresholds: Vec<_> =
                ends.into_iter().chain(edges).chain(random).filter(|&t| t < host.total()).collect();
            let mut expected = vec![0; thresholds.len()];
            host.search(&thresholds, &mut expected).unwrap();
            assert_eq!(device.search(&thresholds), expected, "{n} of kind {kind}");
        }
    }
}

#[test]
fn thresholds_past_the_end_are_told() {
    let (device, host) = build(&[1.0, 2.0]);
    let total = host.total();
    assert_eq!(device.search(&[0, total - 1, total, 5, u64::MAX]), [0, 1, u32::MAX, 0, u32::MAX]);
    assert_eq!(fault(device.bench.read(&device.status)[0]), Some((2, Err(total as u32))));
}

#[test]
fn draws_are_the_same() {
    for n in [1, 17, 300, 9000] {
        let (device, host) = build(&weights(n, 1));
        let mut first = u64::MAX - 9;
        device.bench.write(&device.position, &[first, 0]);
        for m in [1, 7, 333] {
            let mut expected = vec![0; m];
            host.sample(&Stream::new(3, 9), first, &mut expected).unwrap();
            assert_eq!(device.draw("cdf_sample_f32", m, None, (3, 9)), expected);
            first = first.wrapping_add(m as u64);
            assert_eq!(device.bench.read(&device.position), [first, 0]);
        }
    }
}

#[test]
fn without_mass_or_with_what_is_no_weight_nothing_is_drawn() {
    let draws = |device: &DeviceCdf| device.draw("cdf_sample_f32", 3, None, (3, 9));
    let device = DeviceCdf::new(Bench::new("cdf"), &[0.0; 5000]);
    // Not built yet.
    assert_eq!(draws(&device), [u32::MAX; 3]);
    device.build();
    assert_eq!((device.head().ready, draws(&device)), (1, vec![u32::MAX; 3]));
    for wrong in [f32::NAN, f32::INFINITY, -1.0, -f32::MIN_POSITIVE] {
        let mut weights = vec![1.0; 5000];
        let device = DeviceCdf::new(Bench::new("cdf"), &weights);
        device.build();
        assert_ne!(draws(&device), [u32::MAX; 3]);
        (weights[4999], weights[4500]) = (wrong, wrong);
        device.bench.write(&device.weights, &weights);
        device.build();
        assert_eq!((device.head().ready, draws(&device)), (0, vec![u32::MAX; 3]));
        assert_eq!(fault(device.bench.read(&device.status)[0]), Some((4500, Ok(wrong.to_bits()))));
        assert_eq!(device.bench.read(&device.position), [3, 0]);
        // And with weights again there is a CDF again.
        weights[4500..].fill(2.0);
        device.bench.write(&device.weights, &weights);
        device.build();
        assert_ne!(draws(&device), [u32::MAX; 3]);
    }
}
