//! The exponential function and the argument reduction that others share.

use super::fma;

/// 1.5 * 2^23: adding it rounds to an integer and leaves that integer in the low bits.
pub(super) const MAGIC: f32 = 12_582_912.0;
const LOG2_E: f32 = core::f32::consts::LOG2_E;
/// ln 2 = `LN_2_HI` + `LN_2_LO`, each to the nearest.
const LN_2_HI: f32 = f32::from_bits(0x3f31_7218);
const LN_2_LO: f32 = f32::from_bits(0xb102_e308);

/// `exp(x) = 2^n * (1 + p)`, |ln(1 + p)| <= ln(2) / 2 (Cody and Waite).
///
/// Returns `(bits, p)`, where the low nine bits of `bits` are `n + bias` and those from bit 10 to bit 21 are zero.
#[inline(always)]
pub(super) fn reduce<const BIAS: u32>(x: f32) -> (u32, f32) {
    let magic = MAGIC + BIAS as f32;
    let shifted = fma(x, LOG2_E, magic);
    let n = shifted - magic;
    let r = fma(n, -LN_2_LO, fma(n, -LN_2_HI, x));
    (shifted.to_bits(), exp_m1(r))
}

/// `exp(r) - 1` for |r| <= 0.347: minimax of degree 6, relative error of `1 + p` below 2^-28.2.
#[inline(always)]
fn exp_m1(r: f32) -> f32 {
    let q = f32::from_bits(0x3ab5_26b0);
    let q = fma(q, r, f32::from_bits(0x3c09_1cc7));
    let q = fma(q, r, f32::from_bits(0x3d2a_ac58));
    let q = fma(q, r, f32::from_bits(0x3e2a_aa49));
    let q = fma(q, r, f32::from_bits(0x3eff_fffe));
    fma(q, r * r, r)
}

/// `e^x`.
///
/// Error below TODO ulp. `exp(-inf) = +0`, `exp(inf) = inf`, NaN stays NaN; above 88.722839 the result overflows to
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
