//! minGRU's scan and highway, given the projections, beside a plain copy of the same bytes.
//!
//! Bytes that forward and backward read and write, in elements of the storage type, N = B T H: forward reads `combined`
//! (3N) and `x` (N) and writes `out` (N); backward reads `combined`, `x` and `d_out` (5N) and writes `d_combined` and
//! `d_x` (4N); each passes over the f32 checkpoints (N / K) once. States, gradients of states and `keep` are not
//! counted. A copy of m bytes reads m and writes m, so the copy beside them is of half the sum: 7N and N / K.
//!
//! One thread: `cargo bench -p lockstep-benches --bench mingru -- serial`; two: `-- 2_threads`.

use arith::random::{Stream, uniform};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use mingru::{Backward, Forward, Gradients, MinGruStack, Outputs, Par, Shape, StackStep, Step, Storage, bf16};
use std::hint::black_box;
use std::time::Duration;

const INTERVAL: usize = 8;

/// Numbers in [-spread, spread).
fn numbers<S: Storage>(stream: u64, spread: f32, n: usize) -> Vec<S> {
    let stream = Stream::new(1, stream);
    (0..n).map(|i| S::store((2.0 * uniform(stream.block(i as u64)[0]) - 1.0) * spread)).collect()
}

/// All operands of one shape.
struct Operands<S> {
    shape: Shape,
    combined: Vec<S>,
    x: Vec<S>,
    keep: Vec<f32>,
    h0: Vec<f32>,
    d_out: Vec<S>,
    out: Vec<S>,
    checkpoints: Vec<f32>,
    h_last: Vec<f32>,
    d_combined: Vec<S>,
    d_x: Vec<S>,
    d_h0: Vec<f32>,
}

impl<S: Storage> Operands<S> {
    fn new(shape: Shape) -> Self {
        let rows = shape.batch * shape.time;
        let (n, states) = (rows * shape.hidden, shape.batch * shape.hidden);
        let checkpoints = mingru::checkpoints_len(shape, INTERVAL).expect("a small shape");
        Self {
            shape,
            combined: numbers(1, 3.0, 3 * n),
            x: numbers(2, 1.0, n),
            keep: (0..rows).map(|i| f32::from(u8::from(i % 100 != 37))).collect(),
            h0: numbers(3, 1.0, states),
            d_out: numbers(4, 1.0, n),
            // Written once here, so that no page is touched first inside a timed region.
            out: numbers(5, 1.0, n),
            checkpoints: vec![1.0; checkpoints],
            h_last: vec![1.0; states],
            d_combined: numbers(6, 1.0, 3 * n),
            d_x: numbers(7, 1.0, n),
            d_h0: vec![1.0; states],
        }
    }

    fn forward(&mut self, par: Par) {
        let Self { combined, x, keep, h0, .. } = self;
        let input = Forward { shape: self.shape, interval: INTERVAL, combined, x, keep, h0 };
        let output = Outputs { out: &mut self.out, checkpoints: &mut self.checkpoints, h_last: &mut self.h_last };
        mingru::forward(&input, output, par).expect("operands that fit");
    }

    fn backward(&mut self, par: Par) {
        let Self { combined, x, keep, checkpoints, d_out, h0, .. } = self;
        let (shape, d_h_last) = (self.shape, h0);
        let input = Backward { shape, interval: INTERVAL, combined, x, keep, checkpoints, d_out, d_h_last };
        let output = Gradients { d_combined: &mut self.d_combined, d_x: &mut self.d_x, d_h0: &mut self.d_h0 };
        mingru::backward(&input, output, par).expect("operands that fit");
    }
}

fn shape_benches<S: Storage>(c: &mut Criterion, storage: &str, shape: Shape, par: Par, threads: &str) {
    let mut operands = Operands::<S>::new(shape);
    let name = format!("mingru_{storage}_{}x{}x{}_{threads}", shape.batch, shape.time, shape.hidden);
    let mut group = c.benchmark_group(name);
    let (sequence, checkpoints) = (size_of_val(&*operands.x), size_of_val(&*operands.checkpoints));
    let (forward, backward) = (5 * sequence + checkpoints, 9 * sequence + checkpoints);
    let bytes = forward + backward;
    group.throughput(Throughput::Bytes(forward as u64));
    group.bench_function("forward", |b| b.iter(|| operands.forward(par)));
    group.throughput(Throughput::Bytes(backward as u64));
    group.bench_function("backward", |b| b.iter(|| operands.backward(par)));
    group.throughput(Throughput::Bytes(bytes as u64));
    group.bench_function("forward_backward", |b| {
        b.iter(|| {
            operands.forward(par);
            operands.backward(par);
        })
    });
    let from = vec![1_u8; bytes / 2];
    let mut to = vec![2_u8; bytes / 2];
    group.bench_function("copy_of_the_same_bytes", |b| {
        b.iter(|| match par {
            Par::Serial => black_box(&mut to).copy_from_slice(black_box(&from)),
            _ => {
                let half = from.len() / 2;
                let ((a, b), (x, y)) = (to.split_at_mut(half), from.split_at(half));
                rayon::join(|| black_box(a).copy_from_slice(x), || black_box(b).copy_from_slice(y));
            }
        })
    });
    group.finish();
}

fn scans(c: &mut Criterion) {
    rayon::ThreadPoolBuilder::new().num_threads(2).build_global().expect("the only global pool");
    for (batch, time, hidden) in [(64, 128, 256), (256, 64, 128), (8, 1024, 256), (1, 16_384, 64)] {
        let shape = Shape { batch, time, hidden };
        for (par, threads) in [(Par::Serial, "serial"), (Par::Rayon, "2_threads")] {
            shape_benches::<f32>(c, "f32", shape, par, threads);
            shape_benches::<bf16>(c, "bf16", shape, par, threads);
        }
    }
    // Widths that leave tails.
    for hidden in [1, 3, 33] {
        let shape = Shape { batch: 64, time: 128, hidden };
        shape_benches::<f32>(c, "f32", shape, Par::Serial, "serial");
    }
}

fn steps(c: &mut Criterion) {
    let mut group = c.benchmark_group("mingru_step");
    for (batch, hidden) in [(64, 64), (64, 128), (256, 256)] {
        let name = format!("{batch}x{hidden}");
        let (combined, x) = (numbers::<f32>(1, 3.0, batch * 3 * hidden), numbers::<f32>(2, 1.0, batch * hidden));
        let (keep, mut h, mut out) = (vec![1.0; batch], vec![0.0; batch * hidden], vec![0.0; batch * hidden]);
        group.bench_function(BenchmarkId::new("given_projections", &name), |b| {
            let input = Step { batch, hidden, combined: &combined, x: &x, keep: &keep };
            b.iter(|| mingru::step(&input, &mut h, &mut out).expect("operands that fit"));
        });
        let stack = MinGruStack::new(1, hidden).expect("a small stack");
        let mut packed = stack.packed_weights().expect("a small stack");
        stack.pack(&numbers::<f32>(3, 0.2, stack.weights_len()), &mut packed).expect("weights that fit");
        let mut scratch = stack.step_scratch(batch).expect("a small batch");
        group.bench_function(BenchmarkId::new("one_layer", &name), |b| {
            let input = StackStep { batch, weights: &packed, x: &x, keep: &keep };
            b.iter(|| stack.step(&input, &mut h, &mut out, &mut scratch).expect("operands that fit"));
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(2));
    targets = scans, steps
}
criterion_main!(benches);
