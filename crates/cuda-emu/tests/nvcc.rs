//! PTX that nvcc made of ordinary CUDA C++ (`nvcc/ordinary.cu`), with all checks on.

mod common;

use common::{Arg, Bench};
use cuda_emu::Grid;

const PTX: &str = include_str!("nvcc/ordinary.ptx");

#[test]
fn device_functions_recursion_pointers_constants_and_printf() {
    let bench = Bench::load(PTX).threads(1);
    let out = bench.buffer(&[0.0_f32; 64]);
    bench.run("calls", &Grid::linear(2, 32), &[Arg::U64(out), Arg::U32(50)]);
    let value = |i: usize| {
        let x = 0.5 * i as f32;
        let polynomial = [1.0_f32, 2.0, 3.0, 4.0].iter().fold(0.0_f32, |r, c| r.mul_add(x, *c));
        let function = if i.is_multiple_of(2) { 2.0 * i as f32 } else { (i * i) as f32 };
        let factorial: usize = (1..=i % 7).product();
        polynomial + function + factorial as f32 + [10.0, 20.0, 30.0, 40.0][i % 4]
    };
    let wanted: Vec<f32> = (0..64).map(|i| if i < 50 { value(i) } else { 0.0 }).collect();
    assert_eq!(bench.read::<f32>(out, 64), wanted);
    let lines: Vec<String> =
        [3, 19, 35].map(|i| format!("thread {i}: {:.2} is here {}|    7|ff", value(i), 1_u64 << 40)).to_vec();
    assert_eq!(bench.device.take_output().lines().collect::<Vec<_>>(), lines);
}

#[test]
fn a_reduction_over_blocks() {
    let bench = Bench::load(PTX).seed(4);
    let a: Vec<i32> = (0..10_000).map(|i| i * 31 % 1009 - 500).collect();
    let (pa, out) = (bench.buffer(&a), bench.buffer(&[0_i32]));
    bench.run("sum", &Grid::linear(6, 256), &[Arg::U64(pa), Arg::U64(out), Arg::U32(10_000)]);
    assert_eq!(bench.read::<i32>(out, 1), [a.iter().sum::<i32>()]);
}

/// Distance in units of the last place.
fn distance(a: f64, b: f64) -> u64 {
    a.to_bits().abs_diff(b.to_bits())
}

#[test]
fn functions_of_doubles() {
    let bench = Bench::load(PTX);
    let x: Vec<f64> = (0..64).map(|i| 0.05 + f64::from(i) * 0.37).collect();
    let (px, out) = (bench.buffer(&x), bench.buffer(&[0.0_f64; 512]));
    bench.run("doubles", &Grid::linear(1, 64), &[Arg::U64(px), Arg::U64(out)]);
    let got = bench.read::<f64>(out, 512);
    for (v, got) in x.iter().zip(got.chunks(8)) {
        let wanted = [v.sqrt(), v.exp(), v.ln(), (v * 1000.0).sin(), v.powf(1.5), v / 3.0, v % 0.7, v.atan2(2.0)];
        for (i, (&got, wanted)) in got.iter().zip(wanted).enumerate() {
            // The programming guide states 0, 1, 1, 2, 2, 0, 0 and 2 units for these; the host's own may be off by one.
            let bound = [0, 2, 2, 3, 3, 0, 0, 3][i];
            assert!(distance(got, wanted) <= bound, "{i}: f({v}) = {got:e}, not {wanted:e}");
        }
    }
}

#[test]
fn functions_of_singles() {
    let bench = Bench::load(PTX);
    let x: Vec<f32> = (0..64).map(|i| 0.05 + i as f32 * 0.17).collect();
    let (px, out) = (bench.buffer(&x), bench.buffer(&[0.0_f32; 512]));
    bench.run("singles", &Grid::linear(1, 64), &[Arg::U64(px), Arg::U64(out)]);
    let got = bench.read::<f32>(out, 512);
    for (&x, got) in x.iter().zip(got.chunks(8)) {
        let v = f64::from(x);
        let wanted = [
            v.sqrt(),
            v.exp(),
            v.ln(),
            f64::from(x * 100_000.0).sin(),
            v.powf(1.5),
            v / 3.0,
            v.tanh(),
            f64::from((x * 10.0).round_ties_even()),
        ];
        for (i, (&got, wanted)) in got.iter().zip(wanted).enumerate() {
            // The programming guide states 0, 1, 1, 2, 4, 0, 2 and 0 units; rounding the oracle adds one half.
            let bound = [0, 2, 2, 3, 5, 0, 3, 0][i];
            let distance = got.to_bits().abs_diff((wanted as f32).to_bits());
            assert!(distance <= bound, "{i}: f({v}) = {got:e}, not {wanted:e}");
        }
    }
}

#[test]
fn pairs_of_halves_and_bfloat16() {
    let bench = Bench::load(PTX);
    // 1.0 and 0.5 + i / 4 in binary16, for small i.
    let quarter = |i: u32| -> u32 {
        let n = i + 2;
        let exponent = n.ilog2();
        (exponent + 13) << 10 | ((n << (10 - exponent)) & 0x3ff)
    };
    let a: Vec<u32> = (0..32).map(|i| 0x3c00 | quarter(i) << 16).collect();
    let (pa, pb, out) = (bench.buffer(&a), bench.buffer(&[0_u16; 32]), bench.buffer(&[0_u32; 32]));
    bench.run("halves", &Grid::linear(1, 32), &[Arg::U64(pa), Arg::U64(pb), Arg::U64(out)]);
    // 2 * 1 + 0.5, and 2 * (0.5 + i / 4) + 0.5 = (2 i + 6) / 4.
    let wanted: Vec<u32> = (0..32).map(|i| 0x4100 | quarter(2 * i + 4) << 16).collect();
    assert_eq!(bench.read::<u32>(out, 32), wanted);
    // Their sum is (2 i + 16) / 4, which has at most 7 bits.
    let wanted: Vec<u16> =
        (0..32).map(|i| ((2 * i + 16) as f32 / 4.0).to_bits()).map(|bits| (bits >> 16) as u16).collect();
    assert_eq!(bench.read::<u16>(pb, 32), wanted);
}

#[test]
fn integers_of_all_sizes() {
    let bench = Bench::load(PTX);
    let a: Vec<i64> = (0..64_i64).map(|i| i.wrapping_mul(0x1234_5678_9abc_def1).wrapping_sub(1 << 40)).collect();
    let c: Vec<u8> = (0..64).map(|i| i * 3).collect();
    let s: Vec<u16> = (0..64).map(|i| i * 1001).collect();
    let (pa, out) = (bench.buffer(&a), bench.buffer(&[0_i64; 64]));
    let (pc, ps) = (bench.buffer(&c), bench.buffer(&s));
    bench.run("integers", &Grid::linear(1, 64), &[Arg::U64(pa), Arg::U64(out), Arg::U64(pc), Arg::U64(ps)]);
    let wanted: Vec<i64> = (0..64)
        .map(|i| {
            let v = a[i];
            let bytes = v.to_le_bytes();
            let (low, high) = (v as u32, (v >> 32) as u32);
            let r = i64::from(bytes[i & 7]);
            match i & 7 {
                0 => r + v / 7,
                1 => r + v % 1_000_003,
                2 => r + i64::from(v.count_ones()),
                3 => r + i64::from(v.leading_zeros()),
                4 => r.wrapping_add(v.reverse_bits()),
                5 => r.wrapping_add(((u128::from(v as u64) * u128::from(v as u64)) >> 64) as i64),
                6 => r + i64::from(u32::from_be_bytes([bytes[1], bytes[3], bytes[5], bytes[7]])),
                _ => r - i64::from(((u64::from(high) << 32 | u64::from(low)) << 5 >> 32) as u32),
            }
        })
        .collect();
    assert_eq!(bench.read::<i64>(out, 64), wanted);
    let sums: Vec<u8> = (0..64).map(|i| c[i].wrapping_add(a[i] as u8)).collect();
    assert_eq!(bench.read::<u8>(pc, 64), sums);
    let wanted: Vec<u16> = (0..64).map(|i| s[i].wrapping_mul(3).wrapping_add(sums[i] as i8 as u16)).collect();
    assert_eq!(bench.read::<u16>(ps, 64), wanted);
}
