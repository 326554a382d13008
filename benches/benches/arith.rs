//! The elementary functions over 2^20 elements, against the same loop with `std`'s.

use arith::random::Stream;
use arith::slice;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use std::time::Duration;

const N: usize = 1 << 20;

type Function = fn(f32) -> f32;
type Map = fn(&[f32], &mut [f32]) -> Result<(), slice::LengthMismatch>;

fn functions(c: &mut Criterion) {
    let stream = Stream::new(1, 0);
    let mut signed = vec![0.0; N];
    stream.fill_normal(0, &mut signed);
    signed.iter_mut().for_each(|x| *x *= 3.0);
    let positive: Vec<f32> = signed.iter().map(|x| x.abs() + 1e-6).collect();
    let mut out = vec![0.0; N];

    let cases: [(&str, &[f32], Map, Function); 9] = [
        ("exp", &signed, slice::exp, f32::exp),
        ("sigmoid", &signed, slice::sigmoid, |x| 1.0 / (1.0 + (-x).exp())),
        ("tanh", &signed, slice::tanh, f32::tanh),
        ("ln", &positive, slice::ln, f32::ln),
        ("ln_1p", &positive, slice::ln_1p, f32::ln_1p),
        ("softplus", &signed, slice::softplus, |x| x.max(0.0) + (-x.abs()).exp().ln_1p()),
        ("sin", &signed, slice::sin, f32::sin),
        ("cos", &signed, slice::cos, f32::cos),
        ("powf", &positive, |x, y| slice::powf(x, 0.6, y), |x| x.powf(0.6)),
    ];
    for (name, x, ours, theirs) in cases {
        let mut group = c.benchmark_group(name);
        group.throughput(Throughput::Elements(N as u64));
        group.bench_function("arith", |b| b.iter(|| ours(black_box(x), black_box(&mut out))));
        group.bench_function("std", |b| {
            b.iter(|| {
                for (y, &x) in black_box(&mut out).iter_mut().zip(black_box(x)) {
                    *y = theirs(x);
                }
            });
        });
        // The bar for `exp` and `sigmoid`: four times faster than this loop.
        group.bench_function("f32::exp", |b| {
            b.iter(|| {
                for (y, x) in black_box(&mut out).iter_mut().zip(black_box(x)) {
                    *y = x.exp();
                }
            });
        });
        group.finish();
    }
}

fn weights(c: &mut Criterion) {
    let stream = Stream::new(2, 0);
    let mut weights = vec![0.0; N];
    stream.fill_uniform(0, &mut weights);
    let mut group = c.benchmark_group("weights");
    group.throughput(Throughput::Elements(N as u64));
    group.bench_function("largest_weight", |b| b.iter(|| arith::fixed::largest_weight(black_box(&weights))));
    group.bench_function("sum", |b| b.iter(|| arith::sum::sum(black_box(&weights))));
    group.bench_function("dot", |b| b.iter(|| arith::sum::dot(black_box(&weights), black_box(&weights))));
    group.finish();
}

fn draws(c: &mut Criterion) {
    let stream = Stream::new(3, 0);
    let (mut words, mut wide, mut out) = (vec![0; N], vec![0; N], vec![0.0; N]);
    let mut group = c.benchmark_group("draws");
    group.throughput(Throughput::Elements(N as u64));
    group.bench_function("words", |b| b.iter(|| stream.fill_words(black_box(0), &mut words)));
    group.bench_function("uniform", |b| b.iter(|| stream.fill_uniform(black_box(0), &mut out)));
    group.bench_function("normal", |b| b.iter(|| stream.fill_normal(black_box(0), &mut out)));
    group.bench_function("bounded", |b| b.iter(|| stream.fill_bounded(black_box(0), 1 << 50, &mut wide)));
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
    targets = functions, weights, draws
}
criterion_main!(benches);
