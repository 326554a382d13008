//! The exponential function and the argument reduction that others share.

use super::fma;

/// 1.5 * 2^23: adding it rounds to an integer and leaves that integer in the low bits.
pub(super) const MAGIC: f32 = 12_582_912.0;
const LOG2_E: f32 = core::f32::consts::LOG2_E;
/// ln 2 = `LN_2_HI` + `LN_2_LO`, each to the nearest.
const LN_2_HI: f32 = f32::from_bits(0x3f31_7218);
const LN_2_LO: f32 = f32::from_bits(0xb102_e308);

/// `e^x = 2^n * (1 + p)`, |ln(1 + p)| <= ln(2) / 2 (Cody and Waite).
///
/// Returns `(bits, p)`: the low nine bits of `bits` are `n + BIAS`, and bits 10 to 21 are zero.
#[inline(always)]
fn reduce<const BIAS: u32>(x: f32) -> (u32, f32) {
    let magic = MAGIC + BIAS as f32;
    let shifted = fma(x, LOG2_E, magic);
    let n = shifted - magic;
    let r = fma(n, -LN_2_LO, fma(n, -LN_2_HI, x));
    (shifted.to_bits(), exp_m1(r))
}

/// [`reduce`] of `-a`. The signs sit in the constants: a negation would be moved up into the caller's selects.
#[inline(always)]
pub(super) fn reduce_negative<const BIAS: u32>(a: f32) -> (u32, f32) {
    let magic = MAGIC + BIAS as f32;
    let shifted = fma(a, -LOG2_E, magic);
    let n = shifted - magic;
    let r = fma(n, -LN_2_LO, fma(n, -LN_2_HI, -a));
    (shifted.to_bits(), exp_m1(r))
}

/// `e^-a` for 0 <= a <= 104 as `(scale, p)`: `scale + scale * p`, where the scale may be subnormal or zero.
#[inline(always)]
pub(super) fn decay(a: f32) -> (f32, f32) {
    // 2^30 of head room keep the exponent field positive.
    let (bits, p) = reduce_negative::<157>(a);
    (f32::from_bits(bits << 23) * (1.0 / 1_073_741_824.0), p)
}

/// `min(|x|, limit)`; a NaN stays.
#[inline(always)]
pub(super) fn clamped_magnitude(x: f32, limit: f32) -> f32 {
    let a = f32::from_bits(x.to_bits() & 0x7fff_ffff);
    if a > limit { limit } else { a }
}

/// `exp(r) - 1` for |r| <= 0.347: minimax of degree 6, relative error of `1 + p` below 2^-28.2.
///
/// Estrin's scheme: as many operations as Horner's here (the square is needed anyway), and a shorter chain, which the
/// scheduler's window needs more than anything else.
#[inline(always)]
fn exp_m1(r: f32) -> f32 {
    let square = r * r;
    let low = fma(f32::from_bits(0x3e2a_aa49), r, f32::from_bits(0x3eff_fffe));
    let high = fma(f32::from_bits(0x3c09_1cc7), r, f32::from_bits(0x3d2a_ac58));
    let high = fma(f32::from_bits(0x3ab5_26b0), square, high);
    fma(fma(high, square, low), square, r)
}

/// `e^x`.
///
/// Error below 1.04 ulp. `exp(-inf) = +0`, `exp(inf) = inf`, NaN stays NaN; above 88.722839 the result overflows to
/// infinity, and below -87.336548 it is subnormal and then (below -103.97208) zero.
///
/// ```
/// assert_eq!(arith::exp(0.0), 1.0);
/// assert_eq!(arith::exp(f32::NEG_INFINITY), 0.0);
/// ```
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    let x = if x > 89.0 { 89.0 } else { x };
    let x = if x < -104.0 { -104.0 } else { x };
    let (bits, p) = reduce::<254>(x);
    // 2^n in two factors, so that both are normal from the smallest subnormal to past the largest number.
    let first = bits >> 1;
    let second = bits.wrapping_sub(first);
    let scale = f32::from_bits(first << 23);
    fma(scale, p, scale) * f32::from_bits(second << 23)
}
