//! Lane-instructions per second of a tiled GEMM on one thread, and on all: `cargo bench -p cuda-emu`.
#![allow(missing_docs)]

use std::hint::black_box;
use std::num::NonZero;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use cuda_emu::{Checks, Device, Grid, Module, Options};

/// Side of the matrices.
const SIDE: u32 = 128;

fn gemm(c: &mut Criterion) {
    let module = Module::load(include_str!("../tests/ptx/gemm_tiled.ptx")).expect("the kernel loads");
    let device = Device::new();
    let bytes = 4 * u64::from(SIDE * SIDE);
    let [a, b, d] = [(); 3].map(|()| {
        let matrix = device.allocate(bytes).expect("there is memory");
        device.fill(matrix, &1.5_f32.to_le_bytes(), u64::from(SIDE * SIDE)).expect("it fits");
        matrix
    });
    let mut parameters: Vec<u8> = [a, b, d].iter().flat_map(|pointer| pointer.to_le_bytes()).collect();
    parameters.extend([SIDE, SIDE].iter().flat_map(|side| side.to_le_bytes()));
    let grid = Grid { blocks: [SIDE / 16, SIDE / 16, 1], threads: [16, 16, 1], shared_bytes: 0 };
    let mut group = c.benchmark_group("gemm_tiled");
    group.sample_size(10).measurement_time(Duration::from_secs(2)).warm_up_time(Duration::from_millis(500));
    let one = NonZero::new(1);
    for (name, checks, counters, threads) in [
        ("plain", Checks::NONE, false, one),
        ("counters", Checks::NONE, true, one),
        ("counters, all threads", Checks::NONE, true, None),
        ("all checks", Checks::ALL, true, one),
        ("all checks, all threads", Checks::ALL, true, None),
    ] {
        let options = Options { checks, counters, threads, ..Options::default() };
        let counted = Options { counters: true, ..options.clone() };
        let run = |options: &Options| device.launch(&module, "gemm_tiled", &grid, &parameters, options);
        let instructions = run(&counted).expect("the kernel runs").lane_instructions;
        group.throughput(Throughput::Elements(instructions));
        group.bench_function(name, |bencher| bencher.iter(|| black_box(run(&options))));
    }
    group.finish();
}

criterion_group!(benches, gemm);
criterion_main!(benches);
