//! 16-bit floats. Sums and products of halves are exact in `f64`, so that rounding them once is the oracle.

use crate::common::eval::{agrees, next, pairs, table};

/// A finite half by its definition.
fn exact(bits: u64) -> f64 {
    let (sign, field, fraction) = (bits >> 15 & 1, bits >> 10 & 31, (bits & 0x3ff) as f64);
    let magnitude = match field {
        0 => fraction * 2.0_f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2.0_f64.powi(field as i32 - 25),
    };
    if sign == 1 { -magnitude } else { magnitude }
}

/// The nearest half, ties to even: by looking at the two around it.
fn nearest(value: f64) -> u64 {
    if value.is_nan() {
        return 0x7fff;
    }
    let sign = u64::from(value.is_sign_negative()) << 15;
    let magnitude = value.abs();
    if magnitude >= 65520.0 {
        return sign | 0x7c00;
    }
    // The greatest half that isn't above.
    let (mut low, mut high) = (0_u64, 0x7c00);
    while high - low > 1 {
        let middle = (low + high) / 2;
        if exact(middle) <= magnitude { low = middle } else { high = middle }
    }
    let above = if high == 0x7c00 { 65536.0 } else { exact(high) };
    let (down, up) = (magnitude - exact(low), above - magnitude);
    sign | if down < up || down == up && low % 2 == 0 { low } else { high }
}

fn cases() -> Vec<Vec<u64>> {
    let edges =
        [0_u64, 0x8000, 1, 0x8001, 0x3ff, 0x400, 0x3c00, 0xbc00, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x3c01];
    let mut cases: Vec<Vec<u64>> = pairs(&edges).into_iter().map(|p| vec![p[0], p[1], 0x0001]).collect();
    let mut state = 3;
    cases.extend((0..2000).map(|_| (0..3).map(|_| next(&mut state) & 0xffff).collect()));
    cases
}

#[test]
fn arithmetic_rounds_once() {
    let two = ["f16", "f16"];
    agrees("add.f16 %d, %a, %b;", "f16", &two, &cases(), |c| nearest(exact(c[0]) + exact(c[1])));
    agrees("sub.rn.f16 %d, %a, %b;", "f16", &two, &cases(), |c| nearest(exact(c[0]) - exact(c[1])));
    agrees("mul.f16 %d, %a, %b;", "f16", &two, &cases(), |c| nearest(exact(c[0]) * exact(c[1])));
    // Products have 22 bits; with a third number of a near exponent the sum is exact in 53.
    let near: Vec<Vec<u64>> = cases()
        .into_iter()
        .filter(|c| {
            let (product, c) = (exact(c[0]) * exact(c[1]), exact(c[2]));
            !product.is_finite() || !c.is_finite() || (product + c) - product == c && (product + c) - c == product
        })
        .collect();
    assert!(near.len() > 1000);
    agrees("fma.rn.f16 %d, %a, %b, %c;", "f16", &["f16"; 3], &near, |c| {
        let sum = exact(c[0]) * exact(c[1]) + exact(c[2]);
        nearest(sum)
    });
    // 1 + 2^-11 is half-way; a product far below decides.
    table(
        "fma.rn.f16 %d, %a, %b, %c;",
        "f16",
        &["f16"; 3],
        &[&[0x1000, 0x1000, 0x3c00, 0x3c00], &[0x3c01, 0x3c01, 0x0001, 0x3c02]],
    );
}

#[test]
fn pairs_are_two_halves() {
    let pack = |c: &[u64]| vec![c[0] | c[1] << 16, c[1] | c[2] << 16];
    let packed: Vec<Vec<u64>> = cases().iter().map(|c| pack(c)).collect();
    agrees("mul.f16x2 %d, %a, %b;", "b32", &["b32", "b32"], &packed, |c| {
        let part = |shift: u32| nearest(exact(c[0] >> shift & 0xffff) * exact(c[1] >> shift & 0xffff));
        part(0) | part(16) << 16
    });
    table("setp.lt.f16x2 %d|%q, %a, %b;", "pred", &["b32", "b32"], &[&[0x4000_3c00, 0x3c00_4000, 1]]);
    table("setp.lt.f16x2 %q|%d, %a, %b;", "pred", &["b32", "b32"], &[&[0x4000_3c00, 0x3c00_4000, 0]]);
}

#[test]
fn saturation_relu_flush_and_extremes() {
    table(
        "add.sat.f16 %d, %a, %b;",
        "f16",
        &["f16", "f16"],
        &[&[0x4000, 0x4000, 0x3c00], &[0xc000, 0, 0], &[0x7e00, 0, 0]],
    );
    table("add.ftz.f16 %d, %a, %b;", "f16", &["f16", "f16"], &[&[0x8001, 0x8001, 0x8000]]);
    table("fma.rn.relu.f16 %d, %a, %b, %c;", "f16", &["f16"; 3], &[&[0xbc00, 0x3c00, 0, 0], &[0x7e00, 0, 0, 0x7fff]]);
    table(
        "min.f16 %d, %a, %b;",
        "f16",
        &["f16", "f16"],
        &[&[0, 0x8000, 0x8000], &[0x7e00, 0x3c00, 0x3c00], &[0x7e00, 0x7e00, 0x7fff]],
    );
    table(
        "max.NaN.bf16 %d, %a, %b;",
        "bf16",
        &["bf16", "bf16"],
        &[&[0x7fc0, 0x3f80, 0x7fff], &[0xbf80, 0x3f80, 0x3f80]],
    );
    table("neg.f16 %d, %a;", "f16", &["f16"], &[&[0x3c00, 0xbc00]]);
    table("abs.bf16 %d, %a;", "bf16", &["bf16"], &[&[0xbf80, 0x3f80]]);
    table(
        "fma.rn.bf16 %d, %a, %b, %c;",
        "bf16",
        &["bf16"; 3],
        &[&[0x3f81, 0x3f81, 0, 0x3f82], &[0x3f80, 0x3f80, 0x3b80, 0x3f80], &[0x3f80, 0x3f80, 0x3c00, 0x3f81]],
    );
}
