//! The hyperbolic tangent.

use super::exp::{clamped_magnitude, reduce_negative};
use super::fma;

/// `tanh(x)`, exactly odd.
///
/// Error below 1.94 ulp, small arguments included: numerator, denominator and quotient round once each.
/// `tanh(±0) = ±0`, `tanh(±inf) = ±1`, NaN stays NaN; never outside [-1, 1].
///
/// ```
/// assert_eq!(arith::tanh(f32::INFINITY), 1.0);
/// assert_eq!(arith::tanh(-1e-40), -1e-40);
/// ```
#[inline(always)]
pub fn tanh(x: f32) -> f32 {
    let a = clamped_magnitude(x, 20.0);
    let (bits, p) = reduce_negative::<127>(2.0 * a);
    let scale = f32::from_bits(bits << 23);
    // (1 - t) / (1 + t), t = e^-2|x| = scale * (1 + p): 1 - scale is exact, so the numerator doesn't cancel.
    let q = fma(-scale, p, 1.0 - scale) / fma(scale, p, 1.0 + scale);
    f32::from_bits(q.to_bits() | (x.to_bits() & 0x8000_0000))
}
