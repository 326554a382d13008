//! Advantages, loss and optimizer on one thread.
//!
//! GAE at the shapes that `benches/peers` measures; the loss on minibatches of 2,048 rows; Adam
//! with clipping over whole parameter buffers.

use std::hint::black_box;

use arith::random::{Stream, uniform};
use arith::simd::Isa;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use trainer::advantage::{Discount, OffPolicy, Trajectories, gae, vtrace};
use trainer::loss::{Logits, Ppo, PpoRows, Terms, normalize, ppo_rows};
use trainer::optim::{Adam, AdamConfig, step};

/// Uniform draws in [low, high).
fn draws(n: usize, stream: u64, low: f32, high: f32) -> Vec<f32> {
    let stream = Stream::new(1, stream);
    (0..n as u64).map(|i| low + (high - low) * uniform(stream.block(i)[0])).collect()
}

fn flags(n: usize, stream: u64, share: f32) -> Vec<bool> {
    draws(n, stream, 0.0, 1.0).iter().map(|&u| u < share).collect()
}

fn advantages(c: &mut Criterion) {
    let mut group = c.benchmark_group("gae");
    let isa = Isa::detect();
    for (steps, batch) in [(128, 1024), (2048, 64), (128, 32)] {
        let n = steps * batch;
        let (rewards, values) = (draws(n, 1, -1.0, 1.0), draws(n, 2, -1.0, 1.0));
        let (bootstrap, last_values) = (draws(n, 3, -1.0, 1.0), draws(batch, 4, -1.0, 1.0));
        // Episodes of 100 steps or so, one in twenty of them cut off.
        let (terminated, truncated) = (flags(n, 5, 0.01), flags(n, 6, 0.0005));
        let ratios = draws(n, 7, 0.5, 1.5);
        let input = Trajectories {
            steps,
            batch,
            rewards: &rewards,
            values: &values,
            terminated: &terminated,
            truncated: &truncated,
            bootstrap: &bootstrap,
            last_values: &last_values,
        };
        let discount = Discount { gamma: 0.99, lambda: 0.95 };
        let off_policy = OffPolicy { ratios: &ratios, rho_bar: 1.0, c_bar: 1.0 };
        let (mut a, mut r) = (vec![0.0; n], vec![0.0; n]);
        group.throughput(Throughput::Elements(n as u64));
        let shape = format!("{steps}x{batch}");
        group.bench_function(BenchmarkId::new("gae", &shape), |b| {
            b.iter(|| gae(isa, &discount, black_box(&input), &mut a, &mut r).unwrap());
        });
        group.bench_function(BenchmarkId::new("vtrace", &shape), |b| {
            b.iter(|| vtrace(isa, &discount, &off_policy, black_box(&input), &mut a, &mut r).unwrap());
        });
    }
    group.finish();
}

fn loss(c: &mut Criterion) {
    let mut group = c.benchmark_group("loss");
    let (isa, ppo) = (Isa::detect(), Ppo::default());
    for (n, actions) in [(2048, 2), (128, 2), (2048, 6), (2048, 18), (2048, 64)] {
        let width = actions + 1;
        let output = draws(n * width, 1, -1.0, 1.0);
        let logits = Logits::new(&output, width, actions).unwrap();
        let words: Vec<u32> = (0..n as u64).map(|i| Stream::new(1, 2).block(i)[0]).collect();
        let (mut taken, mut log_probs) = (vec![0; n], vec![0.0; n]);
        group.throughput(Throughput::Elements(n as u64));
        let shape = format!("{n}x{actions}");
        group.bench_function(BenchmarkId::new("sample", &shape), |b| {
            b.iter(|| logits.sample(isa, black_box(&words), &mut taken, &mut log_probs).unwrap());
        });
        for (old, u) in log_probs.iter_mut().zip(draws(n, 3, -0.3, 0.3)) {
            *old += u;
        }
        let (old_values, returns) = (draws(n, 4, -1.0, 1.0), draws(n, 5, -1.0, 1.0));
        let (mut advantages, weights) = (draws(n, 6, -1.0, 1.0), vec![1.0; n]);
        group.bench_function(BenchmarkId::new("normalize", &shape), |b| {
            b.iter(|| normalize(isa, black_box(&mut advantages)));
        });
        let rows = PpoRows {
            output: logits,
            actions: &taken,
            old_log_probs: &log_probs,
            old_values: &old_values,
            advantages: &advantages,
            returns: &returns,
            weights: &weights,
        };
        let (mut gradient, mut terms) = (vec![0.0; n * width], Terms::new(n));
        group.bench_function(BenchmarkId::new("ppo_rows", &shape), |b| {
            b.iter(|| ppo_rows(isa, &ppo, n, black_box(&rows), &mut gradient, terms.rows(n)).unwrap());
        });
        group.bench_function(BenchmarkId::new("reduce", &shape), |b| b.iter(|| black_box(&terms).reduce(n)));
    }
    group.finish();
}

fn adam(c: &mut Criterion) {
    let mut group = c.benchmark_group("adam");
    for n in [10_000, 100_000, 1_000_000] {
        let gradient = draws(n, 1, -1.0, 1.0);
        let mut parameters = draws(n, 2, -1.0, 1.0);
        let mut adam = Adam::new(n, AdamConfig::default()).unwrap();
        let names = [("all".to_owned(), 0..n)];
        group.throughput(Throughput::Elements(n as u64));
        group.bench_function(BenchmarkId::new("step", n), |b| {
            b.iter(|| step(&mut adam, 1e-4, 0.5, &names, black_box(&gradient), &mut parameters).unwrap());
        });
    }
    group.finish();
}

criterion_group!(benches, advantages, loss, adam);
criterion_main!(benches);
