//! Barriers in memory, pipelines, locks, atomics.

use crate::common::{Arg, Bench};
use crate::nvcc::each_target;
use cuda_emu::Grid;

#[test]
fn barriers() {
    each_target("barriers", Some(include_str!("barriers.ptx")), |ptx, _| {
        for seed in [None, Some(3)] {
            let mut bench = Bench::load(ptx);
            bench.options.seed = seed;
            turn_around(&bench);
            producers(&bench);
            stages(&bench);
            group_copy(&bench);
            locks(&bench);
            all_atomics(&bench);
        }
    });
}

fn turn_around(bench: &Bench) {
    let a: Vec<i32> = (0..128).map(|i| i * i).collect();
    let (input, out) = (bench.buffer(&a), bench.buffer(&[0_i32; 128]));
    bench.run("turn_around", &Grid::linear(1, 128), &[Arg::U64(input), Arg::U64(out), Arg::U32(5)]);
    // Five rounds turn it around and add 0 + 1 + 2 + 3 + 4.
    assert_eq!(bench.read::<i32>(out, 128), a.iter().rev().map(|v| v + 10).collect::<Vec<_>>());
}

fn producers(bench: &Bench) {
    let a: Vec<i32> = (0..256).map(|i| i * 13 % 101).collect();
    let (input, out) = (bench.buffer(&a), bench.buffer(&[0_i32; 64]));
    bench.run("producers", &Grid::linear(1, 128), &[Arg::U64(input), Arg::U64(out)]);
    let wanted: Vec<i32> = (0..64).map(|i| (0..4).fold(0, |sum, k| sum * 3 + a[k * 64 + 63 - i])).collect();
    assert_eq!(bench.read::<i32>(out, 64), wanted);
}

fn stages(bench: &Bench) {
    let a: Vec<i32> = (0..1024).map(|i| i * 31 % 509).collect();
    let (input, out) = (bench.buffer(&a), bench.buffer(&[0_i32; 256]));
    bench.run("stages", &Grid::linear(1, 64), &[Arg::U64(input), Arg::U64(out)]);
    let wanted: Vec<i32> = (0..256)
        .map(|i| {
            let column = (0..4).map(|k| a[k * 256 + i]);
            match i % 4 {
                0 => column.sum(),
                1 => -column.sum::<i32>(),
                2 => column.fold(0, |x, v| x ^ v),
                _ => 2 * column.sum::<i32>(),
            }
        })
        .collect();
    assert_eq!(bench.read::<i32>(out, 256), wanted);
}

fn group_copy(bench: &Bench) {
    let a: Vec<i32> = (0..512).map(|i| i * 3 % 511).collect();
    let (input, out) = (bench.buffer(&a), bench.buffer(&[0_i32; 64]));
    bench.run("group_copy", &Grid::linear(1, 64), &[Arg::U64(input), Arg::U64(out)]);
    let wanted: Vec<i32> = (0..64).map(|i| a[i * 5 % 256] * 1000 + a[511 - i]).collect();
    assert_eq!(bench.read::<i32>(out, 64), wanted);
}

fn locks(bench: &Bench) {
    let (lock, value) = (bench.buffer(&[0_i32]), bench.buffer(&[1_i32]));
    bench.run("locks", &Grid::linear(2, 48), &[Arg::U64(lock), Arg::U64(value)]);
    let wanted = (0..96).fold(1, |v, _| v * 3 % 1009 + 1);
    assert_eq!(bench.read::<i32>(value, 1), [wanted]);
    // The holder has left the loop in which the other lanes of its warp wait.
    bench.run("spin", &Grid::linear(1, 4), &[Arg::U64(lock), Arg::U64(value)]);
    assert_eq!(bench.read::<i32>(value, 1), [wanted + 4]);
}

fn all_atomics(bench: &Bench) {
    let n = 40;
    let a = bench.buffer(&[0_i32; 5]);
    let (b, c) = (bench.buffer(&[0_i64]), bench.buffer(&[0.0_f64]));
    let d = bench.buffer(&(0..42).map(|i| i as f32).collect::<Vec<f32>>());
    let (u, s) = (bench.buffer(&[0, 0, 0, 0, u32::MAX, 0]), bench.buffer(&[7_u16, 0]));
    bench.run("all_atomics", &Grid::linear(1, n), &[a, b, c, d, u, s].map(Arg::U64));
    assert_eq!(bench.read::<i32>(a, 5), [780, 80, -39, 49, -780]);
    assert_eq!((bench.read::<i64>(b, 1), bench.read::<f64>(c, 1)), (vec![39_000], vec![20.0]));
    let singles: Vec<f32> = (0..42).map(|i| [40.0, 81.0].get(i).copied().unwrap_or(2.0 * i as f32 + 1.0)).collect();
    assert_eq!(bench.read::<f32>(d, 42), singles);
    // 32 threads set each bit, 8 clear theirs again; 40 increments modulo 21; 40 decrements from 0 on, modulo 21 as well.
    let low: u32 = (1 << 31) - 1;
    assert_eq!(bench.read::<u32>(u, 6), [!0xff, 40 % 21, 42 - 40, low, !low, 77]);
    assert_eq!(bench.read::<u16>(s, 2), [7, 9]);
}
