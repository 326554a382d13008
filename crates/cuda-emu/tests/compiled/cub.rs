//! CUB's collectives.

use crate::common::{Arg, Bench};
use crate::nvcc::each_target;
use cuda_emu::Grid;

fn numbers(n: usize) -> Vec<i32> {
    (0..n as i32).map(|i| i * 7919 % 2003 - 1000).collect()
}

#[test]
fn collectives() {
    each_target("cub", None, |ptx, _| {
        for seed in [None, Some(5)] {
            let mut bench = Bench::load(ptx);
            bench.options.seed = seed;
            reduce(&bench);
            scan(&bench);
            sort(&bench);
            warps(&bench);
            look_back(&bench);
        }
    });
}

fn reduce(bench: &Bench) {
    let a = numbers(3 * 128);
    let (input, out) = (bench.buffer(&a), bench.buffer(&[0_i32; 6]));
    bench.run("block_reduce", &Grid::linear(3, 128), &[Arg::U64(input), Arg::U64(out)]);
    let wanted: Vec<i32> =
        a.chunks(128).flat_map(|block| [block.iter().sum(), *block[..100].iter().max().unwrap()]).collect();
    assert_eq!(bench.read::<i32>(out, 6), wanted);
}

fn scan(bench: &Bench) {
    let a = numbers(384);
    let (input, out, total) = (bench.buffer(&a), bench.buffer(&[0_i64; 384]), bench.buffer(&[0_i32]));
    bench.run("block_scan", &Grid::linear(1, 128), &[Arg::U64(input), Arg::U64(out), Arg::U64(total)]);
    let prefix = |n: usize| a[..n].iter().map(|&x| i64::from(x)).sum::<i64>();
    assert_eq!(bench.read::<i64>(out, 384), (0..384).map(prefix).collect::<Vec<_>>());
    assert_eq!(bench.read::<i32>(total, 1), [prefix(384) as i32]);
}

fn sort(bench: &Bench) {
    let keys: Vec<u32> = (0..512_u32).map(|i| i.wrapping_mul(2_654_435_761) >> 20).collect();
    let values: Vec<i32> = (0..512).collect();
    let (k, v) = (bench.buffer(&keys), bench.buffer(&values));
    bench.run("radix_sort", &Grid::linear(1, 128), &[Arg::U64(k), Arg::U64(v)]);
    let mut wanted: Vec<(u32, i32)> = keys.into_iter().zip(values).collect();
    // The sort is stable.
    wanted.sort_by_key(|&(key, _)| std::cmp::Reverse(key));
    let got: Vec<(u32, i32)> = bench.read::<u32>(k, 512).into_iter().zip(bench.read::<i32>(v, 512)).collect();
    assert_eq!(got, wanted);
}

fn warps(bench: &Bench) {
    let a: Vec<f32> = (0..128).map(|i| (i % 9) as f32 * 0.25).collect();
    let (input, out, heads) = (bench.buffer(&a), bench.buffer(&[0.0_f32; 128]), bench.buffer(&[0_i32; 128]));
    bench.run("warp_scan", &Grid::linear(1, 128), &[Arg::U64(input), Arg::U64(out), Arg::U64(heads)]);
    // Quarters are exact, in any order.
    let wanted: Vec<f32> = (0..128).map(|i| a[i / 32 * 32..=i].iter().sum()).collect();
    assert_eq!(bench.read::<f32>(out, 128), wanted);
    let is_head = |i: usize| i.is_multiple_of(5) || i.is_multiple_of(32);
    let sum = |i: usize| (i..i / 32 * 32 + 32).take_while(|&j| j == i || !is_head(j)).sum::<usize>() as i32;
    let wanted: Vec<i32> = (0..128).map(|i| if is_head(i) { sum(i) } else { 0 }).collect();
    assert_eq!(bench.read::<i32>(heads, 128), wanted);
}

/// Blocks wait for those before them, which may begin later when a seed says so.
fn look_back(bench: &Bench) {
    let blocks = 12;
    let a = numbers(blocks * 128);
    let (input, out) = (bench.buffer(&a), bench.buffer(&vec![0_i32; a.len()]));
    let status = bench.buffer(&vec![0_u64; blocks]);
    let parameters = [Arg::U64(input), Arg::U64(out), Arg::U64(status)];
    bench.run("look_back", &Grid::linear(blocks as u32, 128), &parameters);
    let wanted: Vec<i32> = (0..a.len()).map(|i| a[..=i].iter().sum()).collect();
    assert_eq!(bench.read::<i32>(out, a.len()), wanted);
}
