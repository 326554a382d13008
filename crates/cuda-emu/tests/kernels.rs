//! Kernels as one writes them, with all checks on: results against plain Rust, and no false alarms.

mod common;

use common::{Arg, Bench};
use cuda_emu::Grid;

const ADD: &str = include_str!("ptx/vector_add.ptx");
const GEMM: &str = include_str!("ptx/gemm_tiled.ptx");
const REDUCE: &str = include_str!("ptx/reduce.ptx");
const SCAN: &str = include_str!("ptx/scan.ptx");
const HISTOGRAM: &str = include_str!("ptx/histogram.ptx");
const CALLS: &str = include_str!("ptx/calls.ptx");
const LOOPS: &str = include_str!("ptx/loops.ptx");

#[test]
fn vector_add_at_sizes_around_the_block() {
    for n in [0_u32, 1, 31, 32, 33, 127, 128, 129, 1000] {
        let bench = Bench::load(ADD);
        let a: Vec<f32> = (0..n).map(|i| i as f32 * 0.5).collect();
        let b: Vec<f32> = (0..n).map(|i| 3.0 - i as f32).collect();
        let (pa, pb) = (bench.buffer(&[a.clone(), vec![0.0]].concat()), bench.buffer(&[b.clone(), vec![0.0]].concat()));
        let pc = bench.buffer(&vec![-1.0_f32; n as usize + 1]);
        let grid = Grid::linear(n.div_ceil(128).max(1), 128);
        bench.run("vector_add", &grid, &[Arg::U64(pa), Arg::U64(pb), Arg::U64(pc), Arg::U32(n)]);
        let mut wanted: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
        wanted.push(-1.0);
        assert_eq!(bench.read::<f32>(pc, n as usize + 1), wanted, "n = {n}");
    }
}

#[test]
fn gemm_in_tiles_keeps_the_chain_over_k() {
    let (m, n, k) = (32_usize, 48, 64);
    let bench = Bench::load(GEMM);
    let a: Vec<f32> = (0..m * k).map(|i| ((i * 37 % 101) as f32 - 50.0) / 16.0).collect();
    let b: Vec<f32> = (0..k * n).map(|i| ((i * 53 % 97) as f32 - 48.0) / 32.0).collect();
    let (pa, pb, pc) = (bench.buffer(&a), bench.buffer(&b), bench.buffer(&vec![0.0_f32; m * n]));
    let grid = Grid { blocks: [n as u32 / 16, m as u32 / 16, 1], threads: [16, 16, 1], shared_bytes: 0 };
    let parameters = [Arg::U64(pa), Arg::U64(pb), Arg::U64(pc), Arg::U32(n as u32), Arg::U32(k as u32)];
    let counters = bench.run("gemm_tiled", &grid, &parameters);
    let mut wanted = vec![0.0_f32; m * n];
    for i in 0..m {
        for j in 0..n {
            for l in 0..k {
                wanted[i * n + j] = a[i * k + l].mul_add(b[l * n + j], wanted[i * n + j]);
            }
        }
    }
    assert_eq!(bench.read::<f32>(pc, m * n), wanted);
    // Two barriers for each of k / 16 tiles, by 8 warps of 6 blocks.
    assert_eq!(counters.barriers, 2 * 4 * 8 * 6);
    assert_eq!(counters.blocks, 6);
    assert_eq!(counters.divergent_branches, 0);
    // All 48 warps do the same.
    assert_eq!(
        (counters.longest_warp * 48, counters.longest_block * 6),
        (counters.instructions, counters.instructions)
    );
    // Each warp loads two rows of 16 floats of each matrix for each tile: 2 x 2 sectors.
    assert_eq!(counters.global_load_sectors, 2 * 4 * 4 * 8 * 6);
}

#[test]
fn reduction_by_shuffles_and_shared_memory() {
    for n in [1_u32, 255, 256, 257, 5000] {
        let bench = Bench::load(REDUCE).threads(1);
        let a: Vec<u32> = (0..n).map(|i| i.wrapping_mul(2_654_435_761) >> 7).collect();
        let (pa, pout) = (bench.buffer(&a), bench.buffer(&[0_u32]));
        bench.run("reduce", &Grid::linear(4, 256), &[Arg::U64(pa), Arg::U64(pout), Arg::U32(n)]);
        let wanted = a.iter().fold(0, |sum: u32, &x| sum.wrapping_add(x));
        assert_eq!(bench.read::<u32>(pout, 1), [wanted], "n = {n}");
    }
}

#[test]
fn inclusive_scan_for_every_interleaving() {
    for seed in [None, Some(1), Some(2), Some(3)] {
        let mut bench = Bench::load(SCAN);
        bench.options.seed = seed;
        let a: Vec<i32> = (0..256).map(|i| i * 7 % 31 - 15).collect();
        let pa = bench.buffer(&a);
        bench.run("scan", &Grid { shared_bytes: 1024, ..Grid::linear(1, 256) }, &[Arg::U64(pa)]);
        let mut sum = 0;
        let wanted: Vec<i32> = a
            .iter()
            .map(|x| {
                sum += x;
                sum
            })
            .collect();
        assert_eq!(bench.read::<i32>(pa, 256), wanted, "{seed:?}");
    }
}

#[test]
fn histogram_with_shared_and_global_atomics() {
    let bench = Bench::load(HISTOGRAM).seed(7);
    let data: Vec<u8> = (0..10_000_u32).map(|i| ((i * i) >> 3) as u8).collect();
    let (pd, ph) = (bench.buffer(&data), bench.buffer(&[0_u32; 64]));
    let counters =
        bench.run("histogram", &Grid::linear(8, 128), &[Arg::U64(pd), Arg::U64(ph), Arg::U32(data.len() as u32)]);
    let mut wanted = [0_u32; 64];
    for &byte in &data {
        wanted[usize::from(byte >> 2)] += 1;
    }
    assert_eq!(bench.read::<u32>(ph, 64), wanted);
    assert_eq!(counters.atomics, 10_000 + 8 * 64);
}

#[test]
fn calls_recursion_and_calls_through_pointers() {
    let bench = Bench::load(CALLS);
    let p = bench.buffer(&[0_u32; 64]);
    bench.run("calls", &Grid::linear(1, 64), &[Arg::U64(p)]);
    let factorial = |n: u32| (1..=n).product::<u32>();
    let wanted: Vec<u32> = (0..64).map(|i| factorial(i % 8) + if i % 2 == 0 { i + 10 } else { i * 3 }).collect();
    assert_eq!(bench.read::<u32>(p, 64), wanted);
}

#[test]
fn lanes_leave_a_loop_one_after_the_other() {
    let bench = Bench::load(LOOPS);
    let p = bench.buffer(&[0_u32; 64]);
    let counters = bench.run("collatz", &Grid::linear(1, 64), &[Arg::U64(p)]);
    let steps = |mut n: u32| {
        let mut steps = 0;
        while n > 1 {
            n = if n.is_multiple_of(2) { n / 2 } else { 3 * n + 1 };
            steps += 1;
        }
        steps
    };
    let wanted: Vec<u32> = (0..64).map(steps).collect();
    assert_eq!(bench.read::<u32>(p, 64), wanted);
    assert!(counters.divergent_branches > 0);
}

#[test]
fn local_arrays_belong_to_their_threads() {
    let bench = Bench::load(LOOPS);
    let p = bench.buffer(&[0_u32; 96]);
    bench.run("local_sort", &Grid::linear(1, 96), &[Arg::U64(p)]);
    // Eight numbers (t * k * 5 + k * 3) % 17, sorted; the thread gives the third smallest times 100 plus the largest.
    let wanted: Vec<u32> = (0..96_u32)
        .map(|t| {
            let mut numbers: Vec<u32> = (0..8).map(|k| (t * k * 5 + k * 3) % 17).collect();
            numbers.sort_unstable();
            numbers[2] * 100 + numbers[7]
        })
        .collect();
    assert_eq!(bench.read::<u32>(p, 96), wanted);
}

#[test]
fn counts_do_not_depend_on_threads_or_interleaving() {
    let run = |threads, seed| {
        let mut bench = Bench::load(GEMM).threads(threads);
        bench.options.seed = seed;
        let p = bench.buffer(&vec![1.0_f32; 64 * 64]);
        let q = bench.buffer(&vec![0.0_f32; 64 * 64]);
        let grid = Grid { blocks: [4, 4, 1], threads: [16, 16, 1], shared_bytes: 0 };
        bench.run("gemm_tiled", &grid, &[Arg::U64(p), Arg::U64(p), Arg::U64(q), Arg::U32(64), Arg::U32(64)])
    };
    let one = run(1, None);
    for (threads, seed) in [(2, None), (1, Some(5)), (4, Some(9))] {
        assert_eq!(run(threads, seed), one);
    }
}
