//! Sums on the device.

use arith::random::Stream;
use arith::sum::{dot, sum};
use kernels_tests::{Arg, Bench, assert_bits};

/// Values of very different sizes and both signs: every change of the order shows.
fn values(stream: u64, n: usize) -> Vec<f32> {
    let mut values = vec![0.0; n];
    Stream::new(7, stream).fill_normal(0, &mut values);
    values.iter().map(|v| v * v * v * if *v > 2.0 { 1e4 } else { 1.0 }).collect()
}

/// The sum, as the module's text says.
fn run(bench: &Bench, kernel: &str, arrays: &[&[f32]]) -> f32 {
    let n = arrays[0].len();
    let mut sums = bench.room::<f32>(n.div_ceil(1024));
    let arrays: Vec<_> = arrays.iter().map(|array| bench.buffer(array)).collect();
    let mut args: Vec<Arg> = arrays.iter().map(Arg::from).collect();
    args.extend([(&sums).into(), Arg::U32(n as u32)]);
    bench.run(kernel, n.div_ceil(1024) * 32, 128, &args);
    let mut count = n.div_ceil(1024);
    while count > 1 {
        let joined = bench.room::<f32>(count.div_ceil(1024));
        bench.run("join_sums_f32", count, 1024, &[(&sums).into(), (&joined).into(), Arg::U32(count as u32)]);
        (sums, count) = (joined, count.div_ceil(1024));
    }
    bench.read(&sums)[0]
}

#[test]
fn sums_have_the_contracts_order() {
    let bench = Bench::new("sum");
    // Ends of lanes and chunks; odd numbers of chunks, which move up; beyond a warp of chunks.
    for n in [1, 2, 31, 32, 33, 1023, 1024, 1025, 2048, 3 * 1024 + 5, 7 * 1024, 33 * 1024 + 1, 100_000] {
        let (x, y) = (values(0, n), values(1, n));
        assert_bits("sum", &[run(&bench, "sum_chunks_f32", &[&x])], &[sum(&x)]);
        assert_bits("dot", &[run(&bench, "dot_chunks_f32", &[&x, &y])], &[dot(&x, &y)]);
    }
    // So that the comparison can fail.
    let x = values(0, 100_000);
    assert_ne!(sum(&x).to_bits(), x.iter().sum::<f32>().to_bits());
}

#[test]
fn trees_of_more_than_one_launch() {
    let bench = Bench::new("sum");
    for n in [1023, 1024, 1025, 2049, 1024 * 3 + 33] {
        let sums = values(2, n);
        let groups = n.div_ceil(1024);
        let (from, joined, last) = (bench.buffer(&sums), bench.room::<f32>(groups), bench.room::<f32>(1));
        bench.run("join_sums_f32", n, 1024, &[(&from).into(), (&joined).into(), Arg::U32(n as u32)]);
        bench.run("join_sums_f32", groups, 1024, &[(&joined).into(), (&last).into(), Arg::U32(groups as u32)]);
        let expected = arith::sum::tree_sum(&mut sums.clone()).unwrap();
        assert_bits("join", &bench.read(&last), &[expected]);
    }
}
