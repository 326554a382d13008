//! `cvt` between floats in every rounding. A result is looked up in the list of all numbers of its type: the oracle knows
//! the formats by their definition and rounds by comparing exact values.

use crate::common::eval::{agrees, eval, next, table};

/// A format by the bits of its exponent and its fraction.
#[derive(Clone, Copy)]
struct Format {
    name: &'static str,
    exponent: u32,
    fraction: u32,
    nan: u64,
}

const F16: Format = Format { name: "f16", exponent: 5, fraction: 10, nan: 0x7fff };
const BF16: Format = Format { name: "bf16", exponent: 8, fraction: 7, nan: 0x7fff };
const F32: Format = Format { name: "f32", exponent: 8, fraction: 23, nan: 0x7fff_ffff };
const F64: Format = Format { name: "f64", exponent: 11, fraction: 52, nan: 0xfff8_0000_0000_0000 };

impl Format {
    fn infinity(self) -> u64 {
        ((1 << self.exponent) - 1) << self.fraction
    }

    fn sign(self) -> u64 {
        1 << (self.exponent + self.fraction)
    }

    /// The value of a number, exact in `f64`.
    fn value(self, bits: u64) -> f64 {
        let magnitude = bits & (self.sign() - 1);
        let value = if magnitude > self.infinity() {
            f64::NAN
        } else if magnitude == self.infinity() {
            f64::INFINITY
        } else if self.fraction == 52 {
            f64::from_bits(magnitude)
        } else {
            let (field, fraction) = (magnitude >> self.fraction, magnitude & ((1 << self.fraction) - 1));
            let bias = (1 << (self.exponent - 1)) - 1;
            let leading = if field == 0 { 0 } else { 1 << self.fraction };
            // In two steps, so that no power is itself out of range.
            (fraction + leading) as f64 * 2.0_f64.powi(field.max(1) as i32 - bias) / 2.0_f64.powi(self.fraction as i32)
        };
        if bits & self.sign() == 0 { value } else { -value }
    }

    /// The number that a value is rounded to.
    fn rounded(self, mode: &str, value: f64) -> u64 {
        if value.is_nan() {
            return self.nan;
        }
        let (magnitude, negative) = (value.abs(), value.is_sign_negative());
        // The greatest number that isn't above.
        let (mut low, mut high) = (0, self.infinity());
        if magnitude == f64::INFINITY {
            low = high;
        }
        while high - low > 1 {
            let middle = (low + high) / 2;
            if self.value(middle) <= magnitude { low = middle } else { high = middle }
        }
        let exact = self.value(low) == magnitude;
        // Beyond the greatest number comes what would be the next one, if exponents went on.
        let above = if high == self.infinity() && low > 0 && low != high {
            2.0 * self.value(low) - self.value(low - 1)
        } else {
            self.value(high)
        };
        let (down, up) = (magnitude - self.value(low), above - magnitude);
        let raise = !exact
            && match mode {
                "rn" => up < down || up == down && low % 2 == 1,
                "rp" => !negative,
                "rm" => negative,
                _ => false,
            };
        (if raise { high } else { low }) | if negative { self.sign() } else { 0 }
    }
}

/// Numbers near powers of two, near the ends of the range of `to`, halfway between its numbers, and drawn ones.
fn cases(from: Format, to: Format) -> Vec<Vec<u64>> {
    let mut values = vec![0, 1, from.infinity(), from.infinity() - 1, from.infinity() + 1, 1 << from.fraction];
    if from.fraction > to.fraction && from.name != "f16" {
        let step = 1_u64 << (from.fraction - to.fraction);
        let mut state = 7;
        let edges = [0, 1, (1 << to.fraction) - 1, 1 << to.fraction, to.infinity() - 1, to.infinity() / 2];
        for bits in edges.into_iter().chain((0..60).map(|_| next(&mut state) % to.infinity())) {
            // The same value in the wider format, by its definition.
            let value = to.value(bits);
            let own = if from.name == "f64" { value.to_bits() } else { u64::from((value as f32).to_bits()) };
            for off in [0, 1, step / 2 - 1, step / 2, step / 2 + 1, step - 1] {
                values.push(own + off);
            }
        }
    }
    let mut state = 9;
    values.extend((0..400).map(|_| next(&mut state) % from.infinity()));
    values.into_iter().flat_map(|v| [vec![v], vec![v | from.sign()]]).collect()
}

#[test]
fn in_every_rounding() {
    for (from, to) in [(F32, F16), (F32, BF16), (F64, F16), (F64, BF16), (F64, F32), (BF16, F16), (F16, BF16)] {
        for mode in ["rn", "rz", "rm", "rp"] {
            let text = format!("cvt.{mode}.{}.{} %d, %a;", to.name, from.name);
            agrees(&text, to.name, &[from.name], &cases(from, to), |c| to.rounded(mode, from.value(c[0])));
        }
    }
    // To a wider format every number is exact. What a NaN becomes there, the ISA leaves open.
    for (from, to) in [(F16, F32), (BF16, F32), (F16, F64), (BF16, F64), (F32, F64)] {
        let text = format!("cvt.{}.{} %d, %a;", to.name, from.name);
        let numbers: Vec<Vec<u64>> = cases(from, to).into_iter().filter(|c| !from.value(c[0]).is_nan()).collect();
        agrees(&text, to.name, &[from.name], &numbers, |c| to.rounded("rz", from.value(c[0])));
        let nan = eval(&text, to.name, &[from.name], &[&[from.infinity() + 1]]);
        assert!(to.value(nan[0]).is_nan(), "{text}");
    }
}

#[test]
fn saturated_rectified_and_kept_finite() {
    for (from, to) in [(F32, F16), (F32, BF16)] {
        let greatest = to.infinity() - 1;
        for mode in ["rn", "rz"] {
            let text = |flag: &str| format!("cvt.{mode}.{flag}.{}.{} %d, %a;", to.name, from.name);
            let plain = |c: &[u64]| to.rounded(mode, from.value(c[0]));
            agrees(&text("relu"), to.name, &[from.name], &cases(from, to), |c| match plain(c) {
                negative if negative & to.sign() != 0 => 0,
                number => number,
            });
            agrees(&text("satfinite"), to.name, &[from.name], &cases(from, to), |c| match plain(c) {
                infinite if infinite & (to.sign() - 1) == to.infinity() => infinite & to.sign() | greatest,
                number => number,
            });
        }
    }
    let text = "cvt.rn.sat.f16.f32 %d, %a;";
    agrees(text, "f16", &["f32"], &cases(F32, F16), |c| {
        let value = F32.value(c[0]);
        F16.rounded("rn", if value > 0.0 { value.min(1.0) } else { 0.0 })
    });
}

#[test]
fn pairs_in_every_rounding() {
    for to in [F16, BF16] {
        for (mode, relu) in [("rn", ""), ("rz", ""), ("rn", ".relu"), ("rz", ".relu")] {
            let text = format!("cvt.{mode}{relu}.{}x2.f32 %d, %a, %b;", to.name);
            let all = cases(F32, to);
            let pairs: Vec<Vec<u64>> = all.iter().zip(all.iter().rev()).map(|(a, b)| vec![a[0], b[0]]).collect();
            agrees(&text, "b32", &["f32", "f32"], &pairs, |c| {
                let part = |bits: u64| match to.rounded(mode, F32.value(bits)) {
                    negative if negative & to.sign() != 0 && !relu.is_empty() => 0,
                    number => number,
                };
                part(c[0]) << 16 | part(c[1])
            });
        }
    }
}

#[test]
fn packed_integers_are_saturated() {
    let rows: [&[u64]; 4] = [
        &[0x12345, 0xffff_ffff, 0x7fff_ffff],
        &[1, 2, 0x1_0002],
        &[0x8000_0000, 0x7fff_ffff, 0x8000_7fff],
        &[0xffff_8000, 0x8000, 0x8000_7fff],
    ];
    table("cvt.pack.sat.s16.s32 %d, %a, %b;", "b32", &["s32", "s32"], &rows);
    table(
        "cvt.pack.sat.u16.s32 %d, %a, %b;",
        "b32",
        &["s32", "s32"],
        &[&[0x12345, 0xffff_ffff, 0xffff_0000], &[0xffff, 1, 0xffff_0001]],
    );
    table(
        "cvt.pack.sat.u8.s32.b32 %d, %a, %b, %c;",
        "b32",
        &["s32", "s32", "b32"],
        &[&[0x100, 0xffff_ffff, 0xabcd_1234, 0x1234_ff00]],
    );
    table(
        "cvt.pack.sat.s8.s32.b32 %d, %a, %b, %c;",
        "b32",
        &["s32", "s32", "b32"],
        &[&[0x80, 0xffff_ff7f, 0x5678, 0x5678_7f80], &[0xffff_ffff, 3, 0, 0xff03]],
    );
}
