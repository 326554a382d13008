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

/// Advantages of 256 environments, whose episodes are cut off now and then.
fn advantages(kernel: &str, off_policy: bool) -> Row {
    let (steps, batch) = (128, 256);
    let bench = Bench::counting("advantage");
    let n = steps * batch;
    let (numbers, flags) = (bench.buffer(&vec![0.5_f32; n]), bench.buffer(&vec![0_u8; n]));
    let cut: Vec<u8> = (0..n).map(|i| u8::from(i / batch % 50 == 49)).collect();
    let (cut, last, failed) = (bench.buffer(&cut), bench.buffer(&vec![0.5_f32; batch]), bench.buffer(&[u32::MAX]));
    let (advantages, returns) = (bench.room::<f32>(n), bench.room::<f32>(n));
    let mut args: Vec<Arg> = [&numbers, &numbers].map(Arg::from).to_vec();
    args.extend([Arg::from(&flags), (&cut).into(), (&numbers).into()]);
    args.extend(off_policy.then_some(Arg::from(&numbers)));
    args.extend([&last, &advantages, &returns].map(Arg::from));
    args.extend([Arg::from(&failed), Arg::U32(steps as u32), Arg::U32(batch as u32), Arg::F32(0.9), Arg::F32(0.8)]);
    args.extend(off_policy.then_some([Arg::F32(1.0); 2]).into_iter().flatten());
    let counters = bench.run(kernel, batch, 64, &args);
    // Rewards, values, flags and perhaps ratios in, both results out; what stands for values where episodes are cut off.
    let arrays = 4 + usize::from(off_policy);
    let least = n * (4 * arrays + 2) + 4 * batch * (1 + steps / 50);
    Row::new(kernel, format!("(T, B) = ({steps}, {batch})"), counters, Some(least as u64))
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
        advantages("gae_f32", false),
        advantages("vtrace_f32", true),
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
