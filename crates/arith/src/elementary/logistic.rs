//! The logistic function.

use super::exp::reduce;
use super::fma;

/// `1 / (1 + e^-x)`.
///
/// Error below TODO ulp, tails included: they keep their relative precision down to the smallest subnormal.
/// `sigmoid(0) = 0.5` exactly, `sigmoid(-inf) = +0`, `sigmoid(inf) = 1`, NaN stays NaN; never outside [0, 1].
///
/// ```
/// assert_eq!(arith::sigmoid(0.0), 0.5);
/// assert_eq!(arith::sigmoid(-17.0), 4.1399375e-8);
/// ```
#[inline(always)]
pub fn sigmoid(x: f32) -> f32 {
    sigmoid_pair(x).0
}

/// `(sigmoid(x), sigmoid(-x))` from one exponential and one division: the second is `1 - sigmoid(x)` without
/// cancellation.
///
/// Each component has the bits of [`sigmoid`] at `x` and at `-x`.
#[inline(always)]
pub fn sigmoid_pair(x: f32) -> (f32, f32) {
    // 2^-30 of head room keeps the scale normal where the result is subnormal.
    const DOWN: f32 = 1.0 / 1_073_741_824.0;
    let a = f32::from_bits(x.to_bits() | 0x8000_0000);
    let a = if a < -104.0 { -104.0 } else { a };
    let (bits, p) = reduce::<157>(a);
    let scale = f32::from_bits(bits << 23);
    // small = t / (1 + t), t = e^-|x|. What rounding 1 + t loses goes back into the numerator, before its rounding.
    let t = fma(scale, p, scale);
    let d = fma(t, DOWN, 1.0);
    let lost = fma(t, DOWN, 1.0 - d);
    let small = fma(scale, p - lost, scale) / d * DOWN;
    let large = 1.0 - small;
    if x >= 0.0 { (large, small) } else { (small, large) }
}
