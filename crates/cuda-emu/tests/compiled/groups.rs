//! Cooperative groups.

use crate::common::{Arg, Bench};
use crate::nvcc::each_target;
use cuda_emu::Grid;

#[test]
fn groups() {
    each_target("groups", Some(include_str!("groups.ptx")), |ptx, _| {
        for seed in [None, Some(2)] {
            let mut bench = Bench::load(ptx);
            bench.options.seed = seed;
            tiles(&bench);
            aggregated(&bench);
            grid(bench);
        }
    });
}

fn tiles(bench: &Bench) {
    let a: Vec<i32> = (0..64).map(|i| i * 37 % 41).collect();
    let (input, out) = (bench.buffer(&a), bench.buffer(&[0_i32; 512]));
    bench.run("tiles", &Grid::linear(1, 64), &[Arg::U64(input), Arg::U64(out)]);
    let of_warp = |i: usize, test: &dyn Fn(i32) -> bool| -> Vec<usize> {
        (i / 32 * 32..i / 32 * 32 + 32).filter(|&j| test(a[j])).collect()
    };
    for (i, got) in bench.read::<i32>(out, 512).chunks(8).enumerate() {
        let tile = i / 8 * 8;
        let part = of_warp(i, &|v| (v % 3 == 0) == (a[i] % 3 == 0));
        let odd = of_warp(i, &|v| v % 2 == 1);
        let label = of_warp(i, &|v| v % 4 == a[i] % 4);
        let wanted = [
            a[tile..tile + 8].iter().sum(),
            a[tile..=i].iter().sum(),
            *a[i / 32 * 32..i / 32 * 32 + 32].iter().max().unwrap(),
            a[tile + ((i - tile) ^ 3)] + (tile / 8) as i32,
            i32::from(a[tile..tile + 8].contains(&7)),
            (part.len() * 100 + part.iter().position(|&j| j == i).unwrap()) as i32,
            if a[i] % 2 == 1 { odd.iter().map(|&j| a[j]).sum() } else { -1 },
            label.iter().take_while(|&&j| j < i).map(|&j| a[j]).sum(),
        ];
        assert_eq!(got, wanted, "thread {i}");
    }
}

fn aggregated(bench: &Bench) {
    let (counter, tickets) = (bench.buffer(&[5_u32]), bench.buffer(&[0_u32; 200]));
    bench.run("aggregated", &Grid::linear(4, 50), &[Arg::U64(counter), Arg::U64(tickets)]);
    let mut got = bench.read::<u32>(tickets, 200);
    got.sort_unstable();
    assert_eq!(got, (5..205).collect::<Vec<_>>());
}

/// More blocks than threads of the host wait for each other.
fn grid(bench: Bench) {
    let bench = bench.threads(2);
    let n = 8 * 64;
    let first: Vec<u32> = (0..n).map(|i| i * i).collect();
    let (arrived, values) = (bench.buffer(&[0_u32]), bench.buffer(&[first.clone(), vec![0; 3 * n as usize]].concat()));
    bench.run("grid", &Grid::linear(8, 64), &[Arg::U64(arrived), Arg::U64(values)]);
    let turned = |values: &[u32], round: u32| values.iter().rev().map(|v| v + round).collect::<Vec<_>>();
    let mut wanted = turned(&turned(&first, 1), 2);
    wanted.rotate_left(64);
    assert_eq!(bench.read::<u32>(values + u64::from(12 * n), n as usize), wanted);
}
