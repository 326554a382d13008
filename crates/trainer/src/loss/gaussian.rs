//! Gaussian policies with and without a tanh at the end: densities that stay finite.

use std::f32::consts::LN_2;

/// Range that every logarithm of a standard deviation is clamped to (Haarnoja et al. 2018): densities and samples of
/// any finite input stay finite.
pub const LOG_STD_RANGE: [f32; 2] = [-20.0, 2.0];

/// ln(2 pi) / 2.
const HALF_LN_TAU: f32 = 0.918_938_5;

/// `log_std` within [`LOG_STD_RANGE`]; NaN stays NaN.
#[inline(always)]
pub fn clamp_log_std(log_std: f32) -> f32 {
    let [low, high] = LOG_STD_RANGE;
    let x = if log_std < low { low } else { log_std };
    if x > high { high } else { x }
}

/// `ln N(x; mean, exp(log_std)^2)` with a clamped `log_std`:
/// `-(z^2 / 2) - log_std - ln(2 pi) / 2`, `z = (x - mean) * exp(-log_std)`. Finite for |x - mean| below 1e10.
///
/// ```
/// assert!(trainer::loss::gaussian::log_prob(0.5, 0.0, -110.0).is_finite());
/// ```
#[inline(always)]
pub fn log_prob(x: f32, mean: f32, log_std: f32) -> f32 {
    let log_std = clamp_log_std(log_std);
    let z = (x - mean) * arith::exp(-log_std);
    arith::fma(z, z * -0.5, -log_std) - HALF_LN_TAU
}

/// Entropy of a Gaussian with a clamped `log_std`, in nats: `log_std + (1 + ln(2 pi)) / 2`.
#[inline(always)]
pub fn entropy(log_std: f32) -> f32 {
    clamp_log_std(log_std) + (0.5 + HALF_LN_TAU)
}

/// `ln(1 - tanh(u)^2)`, the log-derivative of the squashing: `2 (ln 2 - |u| - ln(1 + e^(-2 |u|)))`, and
/// `ln_1p(-tanh(u)^2)` for |u| below 1/2, where the former cancels.
///
/// ```
/// assert!((trainer::loss::gaussian::tanh_log_det(10.0) + 18.6137).abs() < 1e-4);
/// ```
#[inline(always)]
pub fn tanh_log_det(u: f32) -> f32 {
    let a = u.abs();
    let far = 2.0 * ((LN_2 - a) - arith::ln_1p(arith::exp(-2.0 * a)));
    let t = arith::tanh(u);
    let near = arith::ln_1p(-(t * t));
    if a < 0.5 { near } else { far }
}

/// Log-density of `tanh(u)` where u is Gaussian: `log_prob(u) - tanh_log_det(u)`.
#[inline(always)]
pub fn squashed_log_prob(u: f32, mean: f32, log_std: f32) -> f32 {
    log_prob(u, mean, log_std) - tanh_log_det(u)
}
