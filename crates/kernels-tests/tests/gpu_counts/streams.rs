//! Kernels that read arrays and write arrays: nothing may be moved twice.

use kernels_tests::table::Row;
use kernels_tests::{Arg, Bench};

/// Elements: whole warps and blocks, so that what is counted is the kernel and not its end.
const N: usize = 1 << 16;
const BYTES: u64 = 4 * N as u64;

fn map(kernel: &str, inputs: usize) -> Row {
    let bench = Bench::counting("map");
    let inputs: Vec<_> = (0..inputs).map(|_| bench.buffer(&vec![0.5_f32; N])).collect();
    let out = bench.room::<f32>(N);
    let mut args: Vec<Arg> = inputs.iter().map(Arg::from).collect();
    args.extend([Arg::from(&out), Arg::U32(N as u32)]);
    let least = (inputs.len() as u64 + 1) * BYTES;
    Row::new(kernel, format!("{N}"), bench.run(kernel, N, 256, &args), Some(least))
}

fn fill(kernel: &str) -> Row {
    let bench = Bench::counting("random");
    let out = bench.room::<f32>(N);
    let args = [Arg::U64(1), Arg::U64(2), Arg::U64(0), (&out).into(), Arg::U32(N as u32)];
    Row::new(kernel, format!("{N}"), bench.run(kernel, N / 4, 256, &args), Some(BYTES))
}

fn sum(kernel: &str, inputs: usize) -> Row {
    let bench = Bench::counting("sum");
    let chunks = N / 1024;
    let inputs: Vec<_> = (0..inputs).map(|_| bench.buffer(&vec![0.5_f32; N])).collect();
    let sums = bench.room::<f32>(chunks);
    let mut args: Vec<Arg> = inputs.iter().map(Arg::from).collect();
    args.extend([Arg::from(&sums), Arg::U32(N as u32)]);
    let least = inputs.len() as u64 * BYTES + 4 * chunks as u64;
    Row::new(kernel, format!("{N}"), bench.run(kernel, 32 * chunks, 128, &args), Some(least))
}

/// The rows of the document.
pub(crate) fn rows() -> Vec<Row> {
    vec![
        map("exp_f32", 1),
        map("tanh_f32", 1),
        map("powf_f32", 2),
        map("fma_f32", 3),
        fill("fill_uniform_f32"),
        fill("fill_normal_f32"),
        sum("sum_chunks_f32", 1),
        sum("dot_chunks_f32", 2),
    ]
}

#[test]
fn arrays_are_moved_once() {
    for row in rows() {
        assert!(row.excess().unwrap() <= 1.1, "{row:?}");
        assert_eq!(row.counters.shared_bank_conflicts, 0, "{row:?}");
        assert_eq!(row.counters.local_requests, 0, "{row:?}");
    }
}

/// A warp's 32 floats are 4 sectors, and what is no whole request would be fewer of them.
#[test]
fn accesses_are_coalesced() {
    for row in [map("exp_f32", 1), map("powf_f32", 2), map("fma_f32", 3)] {
        assert_eq!(row.sectors_per_request(), [4.0, 4.0], "{row:?}");
    }
}
