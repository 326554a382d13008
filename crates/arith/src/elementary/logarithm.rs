//! Natural logarithms.

use super::exp::{clamped_magnitude, decay};
use super::fma;

/// ln 2 in two parts; the first has trailing zeros, so that its product with an exponent is exact.
const LN_2_HI: f32 = f32::from_bits(0x3f31_7200);
const LN_2_LO: f32 = f32::from_bits(0x35bf_be8e);
/// Bits of sqrt(1/2): significands are taken from [sqrt(1/2), sqrt(2)).
const SPLIT: u32 = 0x3f35_04f3;

/// `(n, m)` with `x = m * 2^n`, m in [sqrt(1/2), sqrt(2)), for the bits of a positive normal `x`.
#[inline(always)]
fn split(bits: u32) -> (i32, f32) {
    let offset = bits.wrapping_sub(SPLIT);
    ((offset as i32) >> 23, f32::from_bits((offset & 0x7f_ffff).wrapping_add(SPLIT)))
}

/// `n ln 2 + ln(1 + f)`, 1 + f in [sqrt(1/2), sqrt(2)); relative error of the polynomial below 2^-30.2.
#[inline(always)]
fn assemble(n: f32, f: f32) -> f32 {
    // Estrin's scheme.
    let square = f * f;
    let c01 = fma(f32::from_bits(0xbe80_0003), f, f32::from_bits(0x3eaa_aaa4));
    let c23 = fma(f32::from_bits(0xbe2a_ae22), f, f32::from_bits(0x3e4c_d23b));
    let c45 = fma(f32::from_bits(0xbdfe_146f), f, f32::from_bits(0x3e11_9dd2));
    let c67 = fma(f32::from_bits(0xbdef_0072), f, f32::from_bits(0x3df3_5ff9));
    let q = fma(f32::from_bits(0x3d8a_3902), square, c67);
    let q = fma(fma(fma(q, square, c45), square, c23), square, c01);
    let tail = fma(n, LN_2_LO, q * (f * square));
    fma(n, LN_2_HI, f + fma(square, -0.5, tail))
}

/// `ln(x)`.
///
/// Error below 0.81 ulp, subnormal arguments included. `ln(±0) = -inf`, `ln(x < 0)` is NaN, `ln(inf) = inf`, NaN
/// stays NaN, `ln(1) = +0`.
///
/// ```
/// assert_eq!(arith::ln(1.0), 0.0);
/// assert_eq!(arith::ln(0.0), f32::NEG_INFINITY);
/// ```
#[inline(always)]
pub fn ln(x: f32) -> f32 {
    let subnormal = x < f32::MIN_POSITIVE;
    let scaled = if subnormal { x * 8_388_608.0 } else { x };
    let (n, m) = split(scaled.to_bits());
    let n = n as f32 - if subnormal { 23.0 } else { 0.0 };
    let value = assemble(n, m - 1.0);
    let special = if x < 0.0 { f32::NAN } else { x };
    let special = if x == 0.0 { f32::NEG_INFINITY } else { special };
    if (x > 0.0) & (x < f32::INFINITY) { value } else { special }
}

/// `ln(1 + x)`, precise near zero.
///
/// Error below 1.39 ulp. `ln_1p(±0) = ±0`, `ln_1p(-1) = -inf`, NaN below -1, `ln_1p(inf) = inf`, NaN stays NaN.
///
/// ```
/// assert_eq!(arith::ln_1p(1e-20), 1e-20);
/// ```
#[inline(always)]
pub fn ln_1p(x: f32) -> f32 {
    let value = ln_1p_finite(x);
    let special = if x < -1.0 { f32::NAN } else { x };
    let special = if x == -1.0 { f32::NEG_INFINITY } else { special };
    if (x > -1.0) & (x < f32::INFINITY) & (x != 0.0) { value } else { special }
}

/// [`ln_1p`] for finite x > -1; `ln_1p(-0)` is +0 here.
#[inline(always)]
fn ln_1p_finite(x: f32) -> f32 {
    // u + lost == 1 + x exactly (TwoSum), and what was lost joins the reduced argument.
    let u = 1.0 + x;
    let x_part = u - 1.0;
    ln_of_sum(u, (1.0 - (u - x_part)) + (x - x_part))
}

/// `ln(u + lost)`, where u = fl(u + lost) > 0 is normal.
#[inline(always)]
fn ln_of_sum(u: f32, lost: f32) -> f32 {
    let (n, m) = split(u.to_bits());
    // Beyond 2^126 nothing that was lost matters, and 2^-n has no encoding.
    let down = if n > 126 { 126 } else { n };
    let scale = f32::from_bits((127_i32.wrapping_sub(down) as u32) << 23);
    assemble(n as f32, fma(lost, scale, m - 1.0))
}

/// `ln(1 + e^x)`.
///
/// Error below 1.69 ulp, tails included. `softplus(-inf) = +0`, `softplus(inf) = inf`, NaN stays NaN.
///
/// ```
/// assert_eq!(arith::softplus(100.0), 100.0);
/// assert_eq!(arith::softplus(-20.0), arith::exp(-20.0));
/// ```
#[inline(always)]
pub fn softplus(x: f32) -> f32 {
    let (scale, p) = decay(clamped_magnitude(x, 104.0));
    let t = fma(scale, p, scale);
    let u = 1.0 + t;
    let tail = ln_of_sum(u, t - (u - 1.0));
    let linear = if x < 0.0 { 0.0 } else { x };
    linear + tail
}
