//! Sine and cosine.

use super::exp::MAGIC;
use super::fma;

/// pi / 2 = `PI_2_A` + `PI_2_B` + `PI_2_C` + `PI_2_D` to 2^-88. B has 11 bits: n * B is exact for |n| < 2^13.
const PI_2_A: f32 = f32::from_bits(0x3fc9_0fdb);
const PI_2_B: f32 = f32::from_bits(0xb33b_c000);
const PI_2_C: f32 = f32::from_bits(0x2c34_611a);
const PI_2_D: f32 = f32::from_bits(0x1fc4_c663);
/// Largest argument that the reduction takes.
const LIMIT: f32 = 1_048_576.0;

/// `(quadrant, sin r, cos r)`: x = quadrant * pi / 2 + r, |r| <= pi / 4, only the low two bits of the quadrant count.
#[inline(always)]
fn reduced(x: f32) -> (u32, f32, f32) {
    let shifted = fma(x, core::f32::consts::FRAC_2_PI, MAGIC);
    let n = shifted - MAGIC;
    // `a` is exact: a multiple of 2^-23 below 1. So is a - r: r is exact where it is small, and near a elsewhere.
    let a = fma(n, -PI_2_A, x);
    let r = fma(n, -PI_2_B, a);
    let low = fma(n, -PI_2_D, fma(n, -PI_2_C, fma(n, -PI_2_B, a - r)));

    let z = r * r;
    let s = f32::from_bits(0xb94c_8e13);
    let s = fma(s, z, f32::from_bits(0x3c08_8363));
    let s = fma(s, z, f32::from_bits(0xbe2a_aaa2));
    let sin = r + fma(s, z * r, low);

    let c = f32::from_bits(0x37cc_f38c);
    let c = fma(c, z, f32::from_bits(0xbab6_0613));
    let c = fma(c, z, f32::from_bits(0x3d2a_aaa5));
    let head = fma(z, -0.5, 1.0);
    let lost = fma(z, -0.5, 1.0 - head);
    let cos = head + (lost + fma(c, z * z, -r * low));
    (shifted.to_bits(), sin, cos)
}

#[inline(always)]
fn pick(x: f32, quadrant: u32, odd: f32, even: f32) -> f32 {
    let value = if quadrant & 1 == 0 { even } else { odd };
    let value = f32::from_bits(value.to_bits() ^ ((quadrant & 2) << 30));
    // False for NaN too.
    if x.abs() <= LIMIT { value } else { f32::NAN }
}

/// `sin(x)`, x in radians; exactly odd.
///
/// Error below 0.91 ulp for |x| <= 2^13. Up to 2^20 the absolute error stays below 7e-7 (seen in samples, not in a
/// sweep). Beyond 2^20 and for infinities the result is NaN. `sin(±0) = ±0`.
#[inline(always)]
pub fn sin(x: f32) -> f32 {
    let (quadrant, sin, cos) = reduced(x);
    let value = pick(x, quadrant, cos, sin);
    if x == 0.0 { x } else { value }
}

/// `cos(x)`, x in radians; exactly even.
///
/// Error below 0.88 ulp for |x| <= 2^13; beyond, as for [`sin`]. `cos(0) = 1`.
#[inline(always)]
pub fn cos(x: f32) -> f32 {
    let (quadrant, sin, cos) = reduced(x);
    pick(x, quadrant.wrapping_add(1), cos, sin)
}
