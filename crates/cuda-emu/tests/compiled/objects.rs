//! What C++ does beyond arithmetic.

use crate::common::{Arg, Bench};
use crate::nvcc::each_target;
use cuda_emu::Grid;

#[test]
fn objects() {
    each_target("objects", Some(include_str!("objects.ptx")), |ptx, _| {
        let bench = Bench::load(ptx);
        shapes(&bench);
        exhausted(&bench);
        on_stack(&bench);
        structures(&bench);
        wide(&bench);
        print(bench);
    });
}

fn shapes(bench: &Bench) {
    let out = bench.buffer(&[0.0_f32; 64]);
    // Twice, so that what has been freed is used again.
    for _ in 0..2 {
        bench.run("shapes", &Grid::linear(1, 64), &[Arg::U64(out)]);
    }
    let area = |i: u32| {
        let side = i as f32;
        if i % 2 == 1 { side * side } else { 2.0 * side * side + 2.0 * side }
    };
    assert_eq!(bench.read::<f32>(out, 64), (0..64).map(area).collect::<Vec<_>>());
}

fn exhausted(bench: &Bench) {
    // The heap has 8 MiB.
    for (bytes, wanted) in [(1 << 10, 32), (1 << 20, 8), (9 << 20, 0)] {
        let out = bench.buffer(&[0_i32; 32]);
        bench.run("exhausted", &Grid::linear(1, 32), &[Arg::U64(out), Arg::U64(bytes)]);
        assert_eq!(bench.read::<i32>(out, 32).iter().sum::<i32>(), wanted, "{bytes}");
    }
}

fn on_stack(bench: &Bench) {
    let sizes: Vec<i32> = (0..32).map(|i| 1 + i * 5 % 13).collect();
    let (pointer, out) = (bench.buffer(&sizes), bench.buffer(&[0_u32; 32]));
    bench.run("on_stack", &Grid::linear(1, 32), &[Arg::U64(out), Arg::U64(pointer)]);
    let sum = |t: u32, n: u32| -> u32 { (0..3).flat_map(|round| (0..n).map(move |i| i * 7 % n * t + round)).sum() };
    let wanted: Vec<u32> = (0..32).map(|t| sum(t, sizes[t as usize] as u32)).collect();
    assert_eq!(bench.read::<u32>(out, 32), wanted);
}

fn structures(bench: &Bench) {
    let out = bench.buffer(&[0.0_f64; 32]);
    bench.run("structures", &Grid::linear(1, 32), &[Arg::U64(out), Arg::U32(9)]);
    let value = |t: usize| {
        let mut list: Vec<(i8, f64, i16)> =
            (0..4_u8).map(|i| (i as i8, f64::from(i) + 0.25 * t as f64, 100 * i16::from(i))).collect();
        for i in 0..9_usize {
            let (letter, number, tail) = list[i & 3];
            list[(i + t) & 3] = (letter + i as i8, number * 1.5, tail - i as i16);
        }
        list.iter().fold(0.0, |sum, &(letter, number, tail)| sum + (f64::from(letter) + number + f64::from(tail)))
    };
    assert_eq!(bench.read::<f64>(out, 32), (0..32).map(value).collect::<Vec<_>>());
}

fn wide(bench: &Bench) {
    let a: Vec<i128> = (0..32).map(|i| (i - 9) * 0x1234_5678_9abc_def0_1122_3344_5566_i128).collect();
    let b: Vec<u128> = (0..32).map(|i| u128::MAX / (i * i + 1)).collect();
    let split = |v: u128| [v as u64, (v >> 64) as u64];
    let upload = |v: Vec<u128>| bench.buffer(&v.into_iter().flat_map(split).collect::<Vec<u64>>());
    let (pa, pb) = (upload(a.iter().map(|&v| v as u128).collect()), upload(b.clone()));
    bench.run("wide", &Grid::linear(1, 32), &[Arg::U64(pa), Arg::U64(pb)]);
    let join =
        |p| bench.read::<u64>(p, 64).chunks(2).map(|w| u128::from(w[0]) | u128::from(w[1]) << 64).collect::<Vec<_>>();
    let wanted: Vec<u128> =
        a.iter().zip(&b).map(|(a, b)| a.wrapping_mul(3).wrapping_sub((b / 7) as i128) as u128).collect();
    assert_eq!(join(pa), wanted);
    assert_eq!(join(pb), b.iter().enumerate().map(|(i, b)| b ^ b >> (i % 128)).collect::<Vec<_>>());
}

fn print(bench: Bench) {
    let bench = bench.threads(1);
    let out = bench.buffer(&[0_i32; 3]);
    bench.run("print", &Grid::linear(1, 3), &[Arg::U64(out)]);
    let line =
        |i: i32| format!("{i:3}|abc   |{:08.3}|-1.000000e-03|z|0x10|18446744073709551615|%\n", 1.5 * f64::from(i));
    assert_eq!(bench.device.take_output(), (0..3).map(line).collect::<String>());
    // The number of arguments.
    assert_eq!(bench.read::<i32>(out, 3), [7; 3]);
}
