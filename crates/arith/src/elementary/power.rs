//! Powers.

/// `x^y` for x >= 0.
///
/// Through `f64`, with separate multiplications and additions, since hosts without FMA must give the same bits: the
/// logarithm is good to 2^-44, so its product with `y` (below 2^8 where the result is finite) is good to 2^-36.
///
/// Error below 0.505 ulp (every 61st `x` for 16 exponents from -10^6 to 10^8, and all near 1). Special values, in this order:
/// * `y = ±0` gives 1 for every `x`, and `x = 1` gives 1 for every `y`, NaN included (as IEEE 754's pow); so `0^0 = 1`;
/// * NaN in either argument, or `x < 0` (integer `y` too), gives NaN;
/// * `x = ±0` is +0: 0 for `y > 0`, infinity for `y < 0`; `x = inf`: infinity for `y > 0`, 0 for `y < 0`.
///
/// ```
/// assert_eq!(arith::powf(8.0, 2.0), 64.0);
/// assert_eq!(arith::powf(0.0, 0.0), 1.0);
/// ```
#[inline(always)]
pub fn powf(x: f32, y: f32) -> f32 {
    // 1.5 * 2^52: adding it rounds to an integer and leaves that integer in the low bits.
    const MAGIC: f64 = 6_755_399_441_055_744.0;

    let special = if x == 0.0 { f64::NEG_INFINITY } else { f64::from(x) };
    let special = if x < 0.0 { f64::NAN } else { special };
    let log = if (x > 0.0) & (x < f32::INFINITY) { log2(f64::from(x)) } else { special };

    // Past these the result is zero or infinite; a NaN passes.
    let z = f64::from(y) * log;
    let z = if z > 130.0 { 130.0 } else { z };
    let z = if z < -160.0 { -160.0 } else { z };
    let shifted = z + MAGIC;
    let f = z - (shifted - MAGIC);
    // 2^f, |f| <= 1/2: minimax of degree 7, relative error below 2^-34.5.
    let p = 1.520_185_967_273_167_5e-5;
    let p = p * f + 0.000_154_693_696_775_264_35;
    let p = p * f + 0.001_333_392_344_164_677_3;
    let p = p * f + 0.009_618_027_010_753_46;
    let p = p * f + 0.055_504_103_515_976_27;
    let p = p * f + 0.240_226_511_999_506_8;
    let p = p * f + 0.693_147_180_729_256_2;
    let p = p * f + 0.999_999_999_961_500_2;
    let scale = f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52);
    let power = (p * scale) as f32;
    if (y == 0.0) | (x == 1.0) { 1.0 } else { power }
}

/// log2 of a positive finite `f32`, which is a normal `f64`; relative error below 2^-44.
#[inline(always)]
fn log2(x: f64) -> f64 {
    // Significands from [sqrt(1/2), sqrt(2)); sqrt(1/2) is cut to the high word.
    const SPLIT: u64 = 0x3fe6_a09e_0000_0000;
    // 2^52 + 2^51, whose low bits hold an integer of either sign.
    const MAGIC_BITS: u64 = 0x4338_0000_0000_0000;
    let offset = x.to_bits().wrapping_sub(SPLIT);
    let m = f64::from_bits((offset & 0xf_ffff_ffff_ffff) + SPLIT);
    // The exponent without an arithmetic shift or a conversion of 64-bit integers, which AVX2 lacks.
    let biased = offset.wrapping_add(1024 << 52) >> 52;
    let n = f64::from_bits(biased.wrapping_add(MAGIC_BITS)) - (6_755_399_441_055_744.0 + 1024.0);
    // log2 m = 2 / ln 2 * atanh(s)
    let s = (m - 1.0) / (m + 1.0);
    let z = s * s;
    let q = 0.282_926_918_964_889;
    let q = q * z + 0.319_903_903_250_555_4;
    let q = q * z + 0.412_209_294_415_868_23;
    let q = q * z + 0.577_077_941_958_519_9;
    let q = q * z + 0.961_796_694_114_784_2;
    let q = q * z + 2.885_390_081_777_849;
    q * s + n
}
