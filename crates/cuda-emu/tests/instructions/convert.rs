//! `cvt`: ranges, roundings, saturation, NaN.

use crate::common::eval::{agrees, table};

fn each(values: &[u64]) -> Vec<Vec<u64>> {
    values.iter().map(|&v| vec![v]).collect()
}

const INTEGERS: [(&str, u32, bool); 8] = [
    ("u8", 8, false),
    ("s8", 8, true),
    ("u16", 16, false),
    ("s16", 16, true),
    ("u32", 32, false),
    ("s32", 32, true),
    ("u64", 64, false),
    ("s64", 64, true),
];

fn value(raw: u64, bits: u32, signed: bool) -> i128 {
    let low = i128::from(raw) & ((1 << bits) - 1);
    if signed && low >> (bits - 1) & 1 == 1 { low - (1 << bits) } else { low }
}

#[test]
fn between_integers() {
    let cases =
        each(&[0, 1, 0x7f, 0x80, 0xff, 0x8000, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 1 << 63, u64::MAX]);
    for (from, from_bits, from_signed) in INTEGERS {
        for (to, to_bits, to_signed) in INTEGERS {
            // The registers of 8-bit types have 16 bits, and a narrow result is extended to them.
            let seen = to_bits.max(16);
            agrees(&format!("cvt.{to}.{from} %d, %a;"), to, &[from], &cases, |c| {
                let truncated = value(value(c[0], from_bits, from_signed) as u64, to_bits, to_signed);
                (truncated & ((1 << seen) - 1)) as u64
            });
            let (least, most) = if to_signed {
                (-(1_i128 << (to_bits - 1)), (1 << (to_bits - 1)) - 1)
            } else {
                (0, (1 << to_bits) - 1)
            };
            agrees(&format!("cvt.sat.{to}.{from} %d, %a;"), to, &[from], &cases, |c| {
                (value(c[0], from_bits, from_signed).clamp(least, most) & ((1 << seen) - 1)) as u64
            });
        }
    }
    // A result is extended to a wider register by its type.
    table("cvt.s8.s32 %d, %a;", "b32", &["s32"], &[&[0x80, 0xffff_ff80]]);
    table("cvt.u8.u32 %d, %a;", "b32", &["u32"], &[&[0x180, 0x80]]);
}

#[test]
fn floats_to_integers() {
    let values = [
        0.0_f32,
        -0.0,
        0.5,
        1.5,
        2.5,
        -0.5,
        -1.5,
        0.99,
        1e10,
        -1e10,
        1e20,
        -1e20,
        f32::INFINITY,
        f32::NEG_INFINITY,
        255.5,
        2_147_483_648.0,
    ];
    let cases = each(&values.map(|v| u64::from(v.to_bits())));
    for (to, bits, signed) in INTEGERS {
        let (least, most) =
            if signed { (-(1_i128 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
        for (mode, round) in [
            ("rni", f64::round_ties_even as fn(f64) -> f64),
            ("rzi", f64::trunc),
            ("rmi", f64::floor),
            ("rpi", f64::ceil),
        ] {
            agrees(&format!("cvt.{mode}.{to}.f32 %d, %a;"), to, &["f32"], &cases, |c| {
                let exact = round(f64::from(f32::from_bits(c[0] as u32)));
                let clamped = if exact >= 2.0_f64.powi(100) { most } else { (exact as i128).clamp(least, most) };
                (clamped & ((1 << bits.max(16)) - 1)) as u64
            });
        }
    }
    let (nan, double_nan) = (0x7fc0_0000, f64::NAN.to_bits());
    table("cvt.rzi.s32.f32 %d, %a;", "s32", &["f32"], &[&[nan, 0]]);
    table("cvt.rzi.u64.f32 %d, %a;", "u64", &["f32"], &[&[nan, 1 << 63]]);
    table("cvt.rzi.s64.f32 %d, %a;", "s64", &["f32"], &[&[nan, 1 << 63]]);
    table("cvt.rni.s32.f64 %d, %a;", "s32", &["f64"], &[&[double_nan, 0x8000_0000], &[2.5_f64.to_bits(), 2]]);
    table("cvt.rni.u64.f64 %d, %a;", "u64", &["f64"], &[&[double_nan, 1 << 63], &[(-1.0_f64).to_bits(), 0]]);
    // A subnormal rounds up to 1 unless it is flushed first.
    table("cvt.rpi.s32.f32 %d, %a;", "s32", &["f32"], &[&[1, 1]]);
    table("cvt.rpi.ftz.s32.f32 %d, %a;", "s32", &["f32"], &[&[1, 0]]);
}

#[test]
fn integers_to_floats() {
    let values = [
        0_u64,
        1,
        0x0100_0001,
        0x0100_0003,
        0x7fff_ffff,
        0x8000_0000,
        0xffff_ffff,
        0x8000_0080_0000_0001,
        u64::MAX,
        0xffff_ff7f_ffff_ffff,
    ];
    for (from, bits, signed) in &INTEGERS[4..] {
        agrees(&format!("cvt.rn.f32.{from} %d, %a;"), "f32", &[from], &each(&values), |c| {
            u64::from((value(c[0], *bits, *signed) as f32).to_bits())
        });
        agrees(&format!("cvt.rn.f64.{from} %d, %a;"), "f64", &[from], &each(&values), |c| {
            (value(c[0], *bits, *signed) as f64).to_bits()
        });
        for (mode, towards) in [("rz", 0), ("rm", -1), ("rp", 1)] {
            agrees(&format!("cvt.{mode}.f32.{from} %d, %a;"), "f32", &[from], &each(&values), |c| {
                let exact = value(c[0], *bits, *signed);
                let mut d = exact as f32;
                // Every candidate is an integer below 2^65.
                let direction = if towards == 0 { -exact.signum() } else { towards };
                if direction < 0 && d as i128 > exact {
                    d = d.next_down();
                }
                if direction > 0 && (d as i128) < exact {
                    d = d.next_up();
                }
                u64::from(d.to_bits())
            });
        }
    }
    table("cvt.rn.f16.u32 %d, %a;", "f16", &["u32"], &[&[2049, 0x6800], &[65519, 0x7bff], &[65520, 0x7c00]]);
}

#[test]
fn between_floats() {
    let one = 0x3f80_0000_u64;
    table(
        "cvt.rn.f16.f32 %d, %a;",
        "f16",
        &["f32"],
        &[
            &[one, 0x3c00],
            &[one + 0x1000, 0x3c00], // half-way, to even
            &[one + 0x1001, 0x3c01],
            &[one + 0x3000, 0x3c02],
            &[0x477f_f000, 0x7c00], // 65520 rounds to infinity
            &[0x477f_efff, 0x7bff],
            &[0x3300_0000, 0], // 2^-25, half of the smallest
            &[0x3300_0001, 1],
            &[0xff80_0000, 0xfc00],
            &[0x7fc0_0000, 0x7fff],
        ],
    );
    table("cvt.rz.f16.f32 %d, %a;", "f16", &["f32"], &[&[one + 0x1fff, 0x3c00], &[0x7f7f_ffff, 0x7bff]]);
    table("cvt.rn.satfinite.f16.f32 %d, %a;", "f16", &["f32"], &[&[0x7f80_0000, 0x7bff], &[0xff80_0000, 0xfbff]]);
    table("cvt.rn.relu.f16.f32 %d, %a;", "f16", &["f32"], &[&[0xbf80_0000, 0], &[one, 0x3c00], &[0x7fc0_0000, 0x7fff]]);
    table(
        "cvt.rn.bf16.f32 %d, %a;",
        "bf16",
        &["f32"],
        &[&[one + 0x8000, 0x3f80], &[one + 0x18000, 0x3f82], &[0x7f7f_ffff, 0x7f80], &[1, 0], &[0x7f80_0001, 0x7fff]],
    );
    table("cvt.rz.bf16.f32 %d, %a;", "bf16", &["f32"], &[&[0x7f7f_ffff, 0x7f7f]]);
    table(
        "cvt.f32.f16 %d, %a;",
        "f32",
        &["f16"],
        &[
            &[1, 0x3380_0000],
            &[0x03ff, 0x387f_c000],
            &[0x7bff, 0x477f_e000],
            &[0xfc00, 0xff80_0000],
            &[0x8000, 0x8000_0000],
            &[0x7c01, 0x7fff_ffff],
        ],
    );
    table("cvt.f32.bf16 %d, %a;", "f32", &["bf16"], &[&[0x3f80, one], &[0x0001, 0x0001_0000]]);
    table(
        "cvt.rn.f32.f64 %d, %a;",
        "f32",
        &["f64"],
        &[&[1e300_f64.to_bits(), 0x7f80_0000], &[(1.0_f64 + 2.0_f64.powi(-24)).to_bits(), one]],
    );
    table(
        "cvt.rz.f32.f64 %d, %a;",
        "f32",
        &["f64"],
        &[&[1e300_f64.to_bits(), 0x7f7f_ffff], &[1e-300_f64.to_bits(), 0]],
    );
    table(
        "cvt.rp.f32.f64 %d, %a;",
        "f32",
        &["f64"],
        &[&[1e-300_f64.to_bits(), 1], &[(-1e300_f64).to_bits(), 0xff7f_ffff]],
    );
    table("cvt.f64.f32 %d, %a;", "f64", &["f32"], &[&[1, 2.0_f64.powi(-149).to_bits()]]);
    table("cvt.ftz.f64.f32 %d, %a;", "f64", &["f32"], &[&[0x8000_0001, 1 << 63]]);
    table("cvt.rna.tf32.f32 %d, %a;", "b32", &["f32"], &[&[one + 0x1000, one + 0x2000], &[one + 0xfff, one]]);
    table("cvt.sat.f32.f32 %d, %a;", "f32", &["f32"], &[&[0x4000_0000, one], &[0xbf80_0000, 0], &[0x7fc0_0000, 0]]);
    table("cvt.rn.f16x2.f32 %d, %a, %b;", "b32", &["f32", "f32"], &[&[one, 0x4000_0000, 0x3c00_4000]]);
    table("cvt.rn.bf16x2.f32 %d, %a, %b;", "b32", &["f32", "f32"], &[&[one, 0x4000_0000, 0x3f80_4000]]);
}

#[test]
fn floats_to_integral_floats() {
    let values = [0.5_f32, 1.5, -0.5, -1.5, 2.5, 1e30, -0.0, 0.999, f32::INFINITY];
    for (mode, round) in
        [("rni", f32::round_ties_even as fn(f32) -> f32), ("rzi", f32::trunc), ("rmi", f32::floor), ("rpi", f32::ceil)]
    {
        agrees(
            &format!("cvt.{mode}.f32.f32 %d, %a;"),
            "f32",
            &["f32"],
            &each(&values.map(|v| v.to_bits().into())),
            |c| round(f32::from_bits(c[0] as u32)).to_bits().into(),
        );
    }
    table("cvt.rpi.f16.f16 %d, %a;", "f16", &["f16"], &[&[0x3c01, 0x4000], &[0xb800, 0x8000], &[1, 0x3c00]]);
}
