//! Integer arithmetic: formulas in 128 bits, which hold every exact result.

use crate::common::eval::{agrees, pairs, table, triples};

const EDGES: [u64; 13] = [
    0,
    1,
    2,
    0x7f,
    0x7fff,
    0x8000,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x1234_5678_9abc_def0,
    0x8000_0000_0000_0000,
    0xffff_ffff_ffff_ffff,
];

/// Value of the low `bits` bits.
fn value(raw: u64, bits: u32, signed: bool) -> i128 {
    let low = i128::from(raw) & ((1 << bits) - 1);
    if signed && low >> (bits - 1) & 1 == 1 { low - (1 << bits) } else { low }
}

fn wrapped(exact: i128, bits: u32) -> u64 {
    (exact & ((1 << bits) - 1)) as u64
}

const TYPES: [(&str, u32, bool); 6] = [
    ("u16", 16, false),
    ("s16", 16, true),
    ("u32", 32, false),
    ("s32", 32, true),
    ("u64", 64, false),
    ("s64", 64, true),
];

#[test]
fn sums_products_and_extremes() {
    for (ty, bits, signed) in TYPES {
        let check = |op: &str, f: &dyn Fn(i128, i128) -> i128| {
            agrees(&format!("{op}.{ty} %d, %a, %b;"), ty, &[ty, ty], &pairs(&EDGES), |case| {
                wrapped(f(value(case[0], bits, signed), value(case[1], bits, signed)), bits)
            });
        };
        check("add", &|a, b| a + b);
        check("sub", &|a, b| a - b);
        check("min", &|a, b| a.min(b));
        check("max", &|a, b| a.max(b));
        check("mul.lo", &|a, b| a.wrapping_mul(b));
        if bits < 64 {
            check("mul.hi", &|a, b| (a * b).div_euclid(1 << bits));
        }
    }
}

#[test]
fn high_halves_of_64_bits() {
    agrees("mul.hi.u64 %d, %a, %b;", "u64", &["u64", "u64"], &pairs(&EDGES), |case| {
        // Schoolbook, in halves of 32 bits.
        let (a, b) = ([case[0] & 0xffff_ffff, case[0] >> 32], [case[1] & 0xffff_ffff, case[1] >> 32]);
        let low = a[0] * b[0];
        let first = a[1] * b[0] + (low >> 32);
        let second = a[0] * b[1] + (first & 0xffff_ffff);
        a[1] * b[1] + (first >> 32) + (second >> 32)
    });
    table(
        "mul.hi.s64 %d, %a, %b;",
        "s64",
        &["s64", "s64"],
        &[
            &[u64::MAX, u64::MAX, 0],
            &[u64::MAX, 1, u64::MAX],
            &[1 << 63, 1 << 63, 1 << 62],
            &[1 << 63, 2, u64::MAX],
            &[1 << 62, 4, 1],
        ],
    );
}

#[test]
fn wide_products_and_mad() {
    for (ty, wide, bits, signed) in
        [("u16", "u32", 16, false), ("s16", "s32", 16, true), ("u32", "u64", 32, false), ("s32", "s64", 32, true)]
    {
        agrees(&format!("mul.wide.{ty} %d, %a, %b;"), wide, &[ty, ty], &pairs(&EDGES), |case| {
            wrapped(value(case[0], bits, signed) * value(case[1], bits, signed), 2 * bits)
        });
        agrees(&format!("mad.wide.{ty} %d, %a, %b, %c;"), wide, &[ty, ty, wide], &triples(&EDGES), |case| {
            let c = value(case[2], 2 * bits, signed);
            wrapped(value(case[0], bits, signed) * value(case[1], bits, signed) + c, 2 * bits)
        });
        agrees(&format!("mad.hi.{ty} %d, %a, %b, %c;"), ty, &[ty, ty, ty], &triples(&EDGES), |case| {
            let high = (value(case[0], bits, signed) * value(case[1], bits, signed)).div_euclid(1 << bits);
            wrapped(high + value(case[2], bits, signed), bits)
        });
    }
    agrees("mad.hi.sat.s32 %d, %a, %b, %c;", "s32", &["s32", "s32", "s32"], &triples(&EDGES), |case| {
        let high = (value(case[0], 32, true) * value(case[1], 32, true)).div_euclid(1 << 32);
        wrapped((high + value(case[2], 32, true)).clamp(-(1 << 31), (1 << 31) - 1), 32)
    });
}

#[test]
fn saturating_sums() {
    for (op, sign) in [("add", 1), ("sub", -1)] {
        agrees(&format!("{op}.sat.s32 %d, %a, %b;"), "s32", &["s32", "s32"], &pairs(&EDGES), |case| {
            let exact = value(case[0], 32, true) + sign * value(case[1], 32, true);
            wrapped(exact.clamp(-(1 << 31), (1 << 31) - 1), 32)
        });
    }
}

#[test]
fn quotients_truncate_and_rests_follow_the_dividend() {
    for (ty, bits, signed) in TYPES {
        let cases: Vec<Vec<u64>> = pairs(&EDGES).into_iter().filter(|c| wrapped(c[1].into(), bits) != 0).collect();
        for (op, rest) in [("div", false), ("rem", true)] {
            agrees(&format!("{op}.{ty} %d, %a, %b;"), ty, &[ty, ty], &cases, |case| {
                let (a, b) = (value(case[0], bits, signed), value(case[1], bits, signed));
                let magnitude = a.abs() / b.abs();
                let quotient = if (a < 0) != (b < 0) { -magnitude } else { magnitude };
                wrapped(if rest { a - quotient * b } else { quotient }, bits)
            });
        }
    }
}

#[test]
fn signs_and_differences() {
    let each: Vec<Vec<u64>> = EDGES.iter().map(|&e| vec![e]).collect();
    for (ty, bits) in [("s16", 16), ("s32", 32), ("s64", 64)] {
        agrees(&format!("abs.{ty} %d, %a;"), ty, &[ty], &each, |c| wrapped(value(c[0], bits, true).abs(), bits));
        agrees(&format!("neg.{ty} %d, %a;"), ty, &[ty], &each, |c| wrapped(-value(c[0], bits, true), bits));
    }
    for (ty, bits, signed) in TYPES {
        agrees(&format!("sad.{ty} %d, %a, %b, %c;"), ty, &[ty, ty, ty], &triples(&EDGES), |case| {
            let difference = (value(case[0], bits, signed) - value(case[1], bits, signed)).abs();
            wrapped(difference + value(case[2], bits, signed), bits)
        });
    }
}

#[test]
fn products_of_24_bits() {
    for (ty, signed) in [("u32", false), ("s32", true)] {
        for (part, shift) in [("lo", 0), ("hi", 16)] {
            agrees(&format!("mul24.{part}.{ty} %d, %a, %b;"), ty, &[ty, ty], &pairs(&EDGES), |case| {
                wrapped((value(case[0], 24, signed) * value(case[1], 24, signed)) >> shift, 32)
            });
        }
    }
}

#[test]
fn dot_products_of_bytes() {
    let bytes = |x: u64, signed: bool| (0..4).map(move |i| value(x >> (8 * i), 8, signed)).collect::<Vec<_>>();
    let cases = triples(&[0, 0x8080_8080, 0x7f80_ff01, 0xffff_ffff, 0x0102_0304]);
    for (a, sa) in [("u32", false), ("s32", true)] {
        for (b, sb) in [("u32", false), ("s32", true)] {
            agrees(&format!("dp4a.{a}.{b} %d, %a, %b, %c;"), "u32", &["b32", "b32", "b32"], &cases, |case| {
                let sum: i128 = bytes(case[0], sa).iter().zip(bytes(case[1], sb)).map(|(x, y)| x * y).sum();
                wrapped(sum + i128::from(case[2]), 32)
            });
            for (part, first) in [("lo", 0), ("hi", 2)] {
                agrees(&format!("dp2a.{part}.{a}.{b} %d, %a, %b, %c;"), "u32", &["b32"; 3], &cases, |case| {
                    let y = bytes(case[1], sb);
                    let sum = value(case[0], 16, sa) * y[first] + value(case[0] >> 16, 16, sa) * y[first + 1];
                    wrapped(sum + i128::from(case[2]), 32)
                });
            }
        }
    }
}

#[test]
fn pairs_of_16_bits() {
    table("add.u16x2 %d, %a, %b;", "b32", &["b32", "b32"], &[&[0xffff_0001, 0x0001_ffff, 0x0000_0000]]);
    table("min.s16x2 %d, %a, %b;", "b32", &["b32", "b32"], &[&[0x8000_0001, 0x0001_ffff, 0x8000_ffff]]);
    table("max.u16x2 %d, %a, %b;", "b32", &["b32", "b32"], &[&[0x8000_0001, 0x0001_ffff, 0x8000_ffff]]);
}
