//! From words to distributions.

/// 2^-24
const STEP: f32 = 1.0 / 16_777_216.0;

/// A uniform draw in [0, 1) on the grid of multiples of 2^-24.
#[inline(always)]
pub fn uniform(word: u32) -> f32 {
    (word >> 8) as f32 * STEP
}

/// A uniform draw in (0, 1] on the grid of multiples of 2^-24.
#[inline(always)]
pub fn uniform_positive(word: u32) -> f32 {
    ((word >> 8) + 1) as f32 * STEP
}

/// Two independent standard normal draws from two words (Box and Muller, "A Note on the Generation of Random Normal
/// Deviates", 1958): `sqrt(-2 ln u) (cos 2 pi v, sin 2 pi v)` with u in (0, 1], v in [0, 1).
///
/// The largest absolute value is sqrt(48 ln 2) = 5.77.
#[inline(always)]
pub fn normal_pair(w0: u32, w1: u32) -> (f32, f32) {
    // (0, 1]: the logarithm stays finite.
    let r = crate::sqrt(-2.0 * crate::ln(uniform_positive(w0)));
    let t = uniform(w1) * core::f32::consts::TAU;
    (r * crate::cos(t), r * crate::sin(t))
}
