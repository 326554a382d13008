//! Intrinsics.

use crate::common::{Arg, Bench};
use crate::nvcc::each_target;
use cuda_emu::Grid;

#[test]
fn scalars() {
    each_target("scalars", None, |ptx, target| {
        let bench = Bench::load(ptx);
        packed(&bench);
        warps(&bench, target);
        roundings(&bench);
        half_pairs(&bench, target);
    });
}

/// Applies a function to each byte of both.
fn bytes(x: u32, y: u32, f: impl Fn(i32, i32) -> i32) -> u32 {
    let (x, y) = (x.to_le_bytes(), y.to_le_bytes());
    u32::from_le_bytes(std::array::from_fn(|i| f(x[i].into(), y[i].into()) as u8))
}

fn packed(bench: &Bench) {
    let a: Vec<u32> = (0..32_u32).map(|i| i.wrapping_mul(0x9e37_79b9)).collect();
    let b: Vec<u32> = (0..32_u32).map(|i| (i + 77).wrapping_mul(0x85eb_ca6b)).collect();
    let (pa, pb, out) = (bench.buffer(&a), bench.buffer(&b), bench.buffer(&[0_u32; 384]));
    bench.run("packed", &Grid::linear(1, 32), &[pa, pb, out].map(Arg::U64));
    for (i, got) in bench.read::<u32>(out, 384).chunks(12).enumerate() {
        let (x, y) = (a[i], b[i]);
        let (low, high) = ((x as i16, y as i16), ((x >> 16) as i16, (y >> 16) as i16));
        let pair =
            |f: fn(i16, i16) -> i16| u32::from(f(low.0, low.1) as u16) | u32::from(f(high.0, high.1) as u16) << 16;
        let (xs, ys) = (x.to_le_bytes(), y.to_le_bytes());
        let dot: i32 = (0..4).map(|i| i32::from(xs[i] as i8) * i32::from(ys[i] as i8)).sum();
        let sad: u32 = (0..4).map(|i| u32::from(xs[i].abs_diff(ys[i]))).sum();
        let wanted = [
            bytes(x, y, |a, b| (a - b).abs()),
            bytes(x, y, |a, b| a + b),
            pair(i16::max),
            bytes(x, y, |a, b| if a > b { 255 } else { 0 }),
            sad,
            pair(i16::saturating_add),
            (dot + 7) as u32,
            (x & 0xffff).wrapping_mul(y & 0xff).wrapping_add((x >> 16).wrapping_mul(y >> 8 & 0xff)).wrapping_add(7),
            u32::from_le_bytes([xs[2], ys[3], xs[1], ys[2]]),
            x.abs_diff(y).wrapping_add(3),
            (x as i32).wrapping_add(y as i32).max(5) as u32,
            bytes(x, y, |a, b| (a + b + 1) / 2),
        ];
        assert_eq!(got, wanted, "{x:x} {y:x}");
    }
}

fn warps(bench: &Bench, target: u32) {
    let a: Vec<u32> = (0..32).map(|i| i * 29 % 67).collect();
    let (input, out) = (bench.buffer(&a), bench.buffer(&[0_u32; 256]));
    bench.run("warps", &Grid::linear(1, 32), &[input, out].map(Arg::U64));
    let mask = |test: &dyn Fn(u32) -> bool| (0..32).filter(|&i| test(a[i])).map(|i| 1_u32 << i).sum::<u32>();
    for (i, got) in bench.read::<u32>(out, 256).chunks(8).enumerate() {
        let x = a[i];
        let second = (0..32).filter(|b| x >> b & 1 == 1).nth(1).unwrap_or(u32::MAX);
        let reduced = a.iter().sum::<u32>() ^ a.iter().max().unwrap() ^ a.iter().fold(0, |s, v| s ^ v);
        let first = if x == 0 { 0 } else { x.trailing_zeros() + 1 };
        let wanted = [
            mask(&|v| v % 5 == x % 5),
            0, // all lanes have 0, and the predicate adds one to the mask of all
            mask(&|v| v % 2 == 1),
            second,
            if i % 16 >= 3 { a[i - 3] } else { x },
            u32::from(a.contains(&3)) * 2 + 1,
            x.reverse_bits() ^ first ^ x.leading_zeros() ^ x.count_ones(),
            if target >= 80 { reduced } else { 0 },
        ];
        assert_eq!(got, wanted, "lane {i}");
    }
}

fn roundings(bench: &Bench) {
    let a: Vec<f32> = (0..32).map(|i| (i as f32 - 11.3) * 0.37).collect();
    let b: Vec<f64> = (0..32).map(|i| (f64::from(i) - 17.7) * 0.731).collect();
    let (pa, pb) = (bench.buffer(&a), bench.buffer(&b));
    let (out, wide, whole) = (bench.buffer(&[0.0_f32; 256]), bench.buffer(&[0.0_f64; 64]), bench.buffer(&[0_i32; 128]));
    bench.run("roundings", &Grid::linear(1, 32), &[pa, pb, out, wide, whole].map(Arg::U64));
    let (out, wide, whole) = (bench.read::<f32>(out, 256), bench.read::<f64>(wide, 64), bench.read::<i32>(whole, 128));
    // The last number on its side of an exact value.
    let below = |d: f32, exact: f64| f64::from(d) <= exact && f64::from(d.next_up()) > exact;
    let above = |d: f32, exact: f64| f64::from(d) >= exact && f64::from(d.next_down()) < exact;
    let toward_zero = |d: f32, exact: f64| if exact < 0.0 { above(d, exact) } else { below(d, exact) };
    for i in 0..32 {
        let (x, y) = (a[i], a[(i + 1) % 32]);
        let (fx, fy) = (f64::from(x), f64::from(y));
        let d = &out[8 * i..];
        assert!(toward_zero(d[0], fx + fy) && above(d[1], fx * fy), "{i}");
        assert!(below(d[2], fx / fy) && toward_zero(d[3], fx * fy + f64::from(0.3_f32)), "{i}");
        assert!(above(d[4], fx.abs().sqrt()) && below(d[5], b[i]), "{i}");
        assert_eq!(d[6], x.min(y) + 1.0_f32.copysign(x));
        assert_eq!(d[7], x.clamp(0.0, 1.0) + y.trunc() + x.round_ties_even());
        assert!(wide[2 * i] >= b[i] + 1e-9 && wide[2 * i] - (b[i] + 1e-9) < 1e-14, "{i}");
        assert!((wide[2 * i + 1].abs() * 3.0) <= b[i].abs() * (1.0 + 1e-15), "{i}");
        assert_eq!(whole[4 * i], x.ceil() as i32);
        assert_eq!(whole[4 * i + 1], y.abs().floor() as i32);
        assert_eq!(whole[4 * i + 2], (b[i] * 1e6).round_ties_even() as i32);
        assert_eq!(whole[4 * i + 3], 0x4eff_ffff);
    }
}

/// A finite half's value.
fn half(bits: u32) -> f32 {
    let (sign, field, fraction) = (bits >> 15 & 1, bits >> 10 & 31, (bits & 0x3ff) as f32);
    let magnitude =
        if field == 0 { fraction * 2.0_f32.powi(-24) } else { (1024.0 + fraction) * 2.0_f32.powi(field as i32 - 25) };
    if sign == 1 { -magnitude } else { magnitude }
}

fn half_pairs(bench: &Bench, target: u32) {
    // Quarters, so that everything is exact.
    let a: Vec<f32> = (0..32).map(|i| (i as f32 - 13.0) * 0.25).collect();
    let (input, out) = (bench.buffer(&a), bench.buffer(&[0_u32; 256]));
    bench.run("half_pairs", &Grid::linear(1, 32), &[input, out].map(Arg::U64));
    let truth = |condition: bool| if condition { 1.0 } else { 0.0 };
    for (i, got) in bench.read::<u32>(out, 256).chunks(8).enumerate() {
        for (part, (x, y)) in [(a[i], 1.5), (a[(i + 7) % 32], -2.0)].into_iter().enumerate() {
            let value = |j: usize| half(got[j] >> (16 * part) & 0xffff);
            let wanted = [(x + y).clamp(0.0, 1.0), x * y, x.max(y), truth(x == y), truth(x > y), x.round_ties_even()];
            assert_eq!([0, 1, 2, 3, 4, 5].map(value), wanted, "{x} {y}");
        }
        if target >= 80 {
            for (part, (p, q)) in [(a[i], 0.25_f32), (3.0, 3.0)].into_iter().enumerate() {
                let value = |j: usize| f32::from_bits(got[j] >> (16 * part) << 16);
                assert_eq!([value(6), value(7)], [p.mul_add(q, p), truth(p <= q)], "{p} {q}");
            }
        }
    }
}
