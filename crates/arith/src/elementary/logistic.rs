//! The logistic function.

use super::exp::{clamped_magnitude, decay};
use super::fma;

/// `1 / (1 + e^-x)`.
///
/// Error below 1.87 ulp, tails included: they keep their relative precision down to the subnormals (+0 below -103.63).
/// Without the correction of the denominator it would be above 2, for a seventh less time.
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
    let (scale, p) = decay(clamped_magnitude(x, 104.0));
    // small = t / (1 + t), t = e^-|x|. What rounding 1 + t loses goes into the numerator before that is rounded.
    let t = fma(scale, p, scale);
    let d = 1.0 + t;
    let lost = t - (d - 1.0);
    let small = fma(scale, p - lost, scale) / d;
    let large = 1.0 - small;
    // The sign bit decides, for a NaN too: an integer comparison leaves the floating-point pipes alone.
    if (x.to_bits() as i32) < 0 { (small, large) } else { (large, small) }
}
