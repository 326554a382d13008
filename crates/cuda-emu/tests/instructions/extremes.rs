//! Minimum, maximum, comparisons and signs of 16-bit floats, alone and in pairs, and of packed integers.

use crate::common::eval::{agrees, eval, next, pairs};

/// Value of `f16` or `bf16` bits.
fn value(ty: &str, bits: u64) -> f64 {
    if ty.starts_with("bf") {
        return f64::from(f32::from_bits((bits as u32) << 16));
    }
    let (field, fraction) = (bits >> 10 & 31, (bits & 0x3ff) as f64);
    let magnitude = match field {
        0 => fraction * 2.0_f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2.0_f64.powi(field as i32 - 25),
    };
    if bits >> 15 & 1 == 1 { -magnitude } else { magnitude }
}

fn edges(ty: &str) -> Vec<u64> {
    let (one, infinity, most) = if ty.starts_with("bf") { (0x3f80, 0x7f80, 0x7f7f) } else { (0x3c00, 0x7c00, 0x7bff) };
    let positive = [0, 1, 0x3f, one, one + 1, most, infinity, infinity + 1, 0x7fff];
    positive.into_iter().flat_map(|bits| [bits, bits | 0x8000]).collect()
}

/// Subnormals to zero.
fn flushed(bits: u64) -> u64 {
    if bits & 0x7c00 == 0 { bits & 0x8000 } else { bits }
}

/// The smaller one by value, then by sign; `greatest` turns signs around.
fn chosen(ty: &str, a: u64, b: u64, greatest: bool, nan: bool) -> u64 {
    let (x, y) = (value(ty, a), value(ty, b));
    match (x.is_nan(), y.is_nan()) {
        (true, true) => 0x7fff,
        (true, false) | (false, true) if nan => 0x7fff,
        (true, false) => b,
        (false, true) => a,
        _ => {
            let a_is_less = x.total_cmp(&y).is_le();
            if a_is_less != greatest { a } else { b }
        }
    }
}

#[test]
fn minimum_and_maximum() {
    for ty in ["f16", "bf16"] {
        let cases = pairs(&edges(ty));
        for (op, greatest) in [("min", false), ("max", true)] {
            for nan in [false, true] {
                let dot = if nan { ".NaN" } else { "" };
                agrees(&format!("{op}{dot}.{ty} %d, %a, %b;"), ty, &[ty, ty], &cases, |c| {
                    chosen(ty, c[0], c[1], greatest, nan)
                });
                agrees(&format!("{op}{dot}.xorsign.abs.{ty} %d, %a, %b;"), ty, &[ty, ty], &cases, |c| {
                    let d = chosen(ty, c[0] & 0x7fff, c[1] & 0x7fff, greatest, nan);
                    if value(ty, d).is_nan() { d } else { d | (c[0] ^ c[1]) & 0x8000 }
                });
                if ty == "f16" {
                    agrees(&format!("{op}.ftz{dot}.{ty} %d, %a, %b;"), ty, &[ty, ty], &cases, |c| {
                        chosen(ty, flushed(c[0]), flushed(c[1]), greatest, nan)
                    });
                }
                // Both halves of a pair, which have different operands.
                let packed: Vec<Vec<u64>> = cases
                    .iter()
                    .zip(cases.iter().rev())
                    .map(|(l, h)| vec![l[0] | h[0] << 16, l[1] | h[1] << 16])
                    .collect();
                agrees(&format!("{op}{dot}.{ty}x2 %d, %a, %b;"), "b32", &["b32", "b32"], &packed, |c| {
                    let part = |shift: u32| chosen(ty, c[0] >> shift & 0xffff, c[1] >> shift & 0xffff, greatest, nan);
                    part(0) | part(16) << 16
                });
            }
        }
    }
}

#[test]
fn comparisons_and_sets() {
    for ty in ["f16", "bf16"] {
        let cases = pairs(&edges(ty));
        let one: u64 = if ty == "bf16" { 0x3f80 } else { 0x3c00 };
        for (op, holds) in [
            ("eq", (|o| o == Some(0)) as fn(Option<i32>) -> bool),
            ("ne", |o| matches!(o, Some(-1 | 1))),
            ("lt", |o| o == Some(-1)),
            ("ge", |o| matches!(o, Some(0 | 1))),
            ("equ", |o| matches!(o, None | Some(0))),
            ("neu", |o| o != Some(0)),
            ("leu", |o| o != Some(1)),
            ("gtu", |o| matches!(o, None | Some(1))),
            ("num", |o| o.is_some()),
            ("nan", |o| o.is_none()),
        ] {
            let test = |a: u64, b: u64| holds(value(ty, a).partial_cmp(&value(ty, b)).map(|o| o as i32));
            agrees(&format!("setp.{op}.{ty} %d, %a, %b;"), "pred", &[ty, ty], &cases, |c| test(c[0], c[1]).into());
            agrees(&format!("set.{op}.{ty}.{ty} %d, %a, %b;"), ty, &[ty, ty], &cases, |c| {
                if test(c[0], c[1]) { one } else { 0 }
            });
            agrees(&format!("set.{op}.u32.{ty} %d, %a, %b;"), "u32", &[ty, ty], &cases, |c| {
                if test(c[0], c[1]) { 0xffff_ffff } else { 0 }
            });
            let packed: Vec<Vec<u64>> =
                cases.iter().zip(cases.iter().rev()).map(|(l, h)| vec![l[0] | h[0] << 16, l[1] | h[1] << 16]).collect();
            let halves = |c: &[u64]| [test(c[0] & 0xffff, c[1] & 0xffff), test(c[0] >> 16, c[1] >> 16)].map(u64::from);
            agrees(&format!("set.{op}.{ty}x2.{ty}x2 %d, %a, %b;"), "b32", &["b32", "b32"], &packed, |c| {
                let [low, high] = halves(c);
                low * one + high * (one << 16)
            });
            agrees(&format!("set.{op}.u32.{ty}x2 %d, %a, %b;"), "u32", &["b32", "b32"], &packed, |c| {
                let [low, high] = halves(c);
                low * 0xffff + high * 0xffff_0000
            });
        }
    }
    // With subnormals to zero the smallest number equals zero.
    let cases: [&[u64]; 1] = [&[0x0001_0001, 0x8000_0000]];
    assert_eq!(eval("set.eq.ftz.f16x2.f16x2 %d, %a, %b;", "b32", &["b32", "b32"], &cases), [0x3c00_3c00]);
    assert_eq!(eval("set.eq.f16x2.f16x2 %d, %a, %b;", "b32", &["b32", "b32"], &cases), [0]);
}

#[test]
fn signs() {
    for ty in ["f16", "bf16"] {
        let each: Vec<Vec<u64>> = edges(ty).into_iter().map(|e| vec![e]).collect();
        agrees(&format!("neg.{ty} %d, %a;"), ty, &[ty], &each, |c| c[0] ^ 0x8000);
        agrees(&format!("abs.{ty} %d, %a;"), ty, &[ty], &each, |c| c[0] & 0x7fff);
        let packed = pairs(&edges(ty)).into_iter().map(|p| vec![p[0] | p[1] << 16]).collect::<Vec<_>>();
        agrees(&format!("neg.{ty}x2 %d, %a;"), "b32", &["b32"], &packed, |c| c[0] ^ 0x8000_8000);
        agrees(&format!("abs.{ty}x2 %d, %a;"), "b32", &["b32"], &packed, |c| c[0] & 0x7fff_7fff);
    }
}

/// Sums and products of bfloat16 are exact in `f64`, so that one rounding of that is the oracle.
#[test]
fn bfloat16_rounds_once() {
    let ty = "bf16";
    let mut cases = pairs(&edges(ty));
    let mut state = 5;
    // Exponents near each other, so that sums have at most 53 bits.
    let mut draw = move || next(&mut state) % 0x800 + 0x3c00 + (next(&mut state) & 1) * 0x8000;
    cases.extend((0..2000).map(|_| vec![draw(), draw()]));
    let exact = |op: fn(f64, f64) -> f64, c: &[u64]| {
        let value = op(value(ty, c[0]), value(ty, c[1]));
        if value.is_nan() { 0x7fff } else { rounded(value) }
    };
    agrees("add.rn.bf16 %d, %a, %b;", ty, &[ty, ty], &cases, |c| exact(|a, b| a + b, c));
    agrees("sub.bf16 %d, %a, %b;", ty, &[ty, ty], &cases, |c| exact(|a, b| a - b, c));
    agrees("mul.rn.bf16 %d, %a, %b;", ty, &[ty, ty], &cases, |c| exact(|a, b| a * b, c));
}

/// The nearest bfloat16, ties to even, by looking at the two around it.
fn rounded(value: f64) -> u64 {
    let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
    let magnitude = value.abs();
    let at = |bits: u64| f64::from(f32::from_bits((bits as u32) << 16));
    let (mut low, mut high) = (0, 0x7f80);
    while high - low > 1 {
        let middle = (low + high) / 2;
        if at(middle) <= magnitude { low = middle } else { high = middle }
    }
    let above = if high == 0x7f80 { 2.0_f64.powi(128) } else { at(high) };
    let (down, up) = (magnitude - at(low), above - magnitude);
    sign | if magnitude == f64::INFINITY || up < down || up == down && low % 2 == 1 { high } else { low }
}

#[test]
fn parts_of_words() {
    let mut state = 11;
    let mut cases: Vec<Vec<u64>> = pairs(&[0, 0x7f80_ff01, 0x8080_8080, 0x7fff_8000, 0xffff_ffff]);
    cases.extend((0..200).map(|_| vec![next(&mut state) & 0xffff_ffff, next(&mut state) & 0xffff_ffff]));
    let cases: Vec<Vec<u64>> = cases.into_iter().map(|c| vec![c[0], c[1], 0x0102_0304]).collect();
    for (parts, bits) in [(2_u32, 16_u32), (4, 8)] {
        let signed = |word: u64, i: u32| {
            let part = (word >> (bits * i)) as i64 & ((1 << bits) - 1);
            if part >> (bits - 1) == 1 { part - (1 << bits) } else { part }
        };
        let unsigned = |word: u64, i: u32| (word >> (bits * i)) as i64 & ((1 << bits) - 1);
        for (op, f) in [
            ("vadd", (|a, b| a + b) as fn(i64, i64) -> i64),
            ("vsub", |a, b| a - b),
            ("vabsdiff", |a, b| (a - b).abs()),
            ("vmin", i64::min),
            ("vmax", i64::max),
        ] {
            let join = |c: &[u64], part: &dyn Fn(u32) -> i64, sum: bool| {
                if sum {
                    return (0..parts).fold(c[2], |d, i| d.wrapping_add(part(i) as u64)) & 0xffff_ffff;
                }
                (0..parts).fold(0, |d, i| d | (part(i) as u64 & ((1 << bits) - 1)) << (bits * i))
            };
            let types = ["b32", "b32", "b32"];
            let text = |suffix: &str| format!("{op}{parts}.{suffix} %d, %a, %b, %c;");
            agrees(&text("u32.u32.u32"), "b32", &types, &cases, |c| {
                join(c, &|i| f(unsigned(c[0], i), unsigned(c[1], i)), false)
            });
            agrees(&text("s32.s32.s32.sat"), "b32", &types, &cases, |c| {
                let most = (1 << (bits - 1)) - 1;
                join(c, &|i| f(signed(c[0], i), signed(c[1], i)).clamp(-most - 1, most), false)
            });
            agrees(&text("u32.s32.u32.sat"), "b32", &types, &cases, |c| {
                join(c, &|i| f(signed(c[0], i), unsigned(c[1], i)).clamp(0, (1 << bits) - 1), false)
            });
            agrees(&text("s32.s32.s32.add"), "b32", &types, &cases, |c| {
                join(c, &|i| f(signed(c[0], i), signed(c[1], i)), true)
            });
        }
    }
    for (op, f) in [("min", i16::min as fn(i16, i16) -> i16), ("max", i16::max)] {
        let pair = |c: &[u64], f: &dyn Fn(i16, i16) -> i16| {
            let part = |shift: u32| u64::from(f((c[0] >> shift) as i16, (c[1] >> shift) as i16) as u16) << shift;
            part(0) | part(16)
        };
        agrees(&format!("{op}.s16x2 %d, %a, %b;"), "b32", &["b32", "b32"], &cases, |c| pair(c, &f));
        agrees(&format!("{op}.relu.s16x2 %d, %a, %b;"), "b32", &["b32", "b32"], &cases, |c| {
            pair(c, &|a, b| f(a, b).max(0))
        });
    }
}
