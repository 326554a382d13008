//! One step of the estimates, for one environment. Kernels for GPUs are compiled from this source too.

use arith::fma;

/// `delta_t = fma(gamma, n_t, r_t) - v_t`, with n_t what the step led to is worth.
#[inline(always)]
pub(crate) fn difference(gamma: f32, next: f32, reward: f32, value: f32) -> f32 {
    fma(gamma, next, reward) - value
}

/// `min(ratio, bar)`; a ratio that is NaN or below 0 becomes NaN, and so does what it weighs.
#[inline(always)]
pub(crate) fn clipped_ratio(ratio: f32, bar: f32) -> f32 {
    let ratio = if ratio >= 0.0 { ratio } else { f32::NAN };
    if ratio > bar { bar } else { ratio }
}

/// `A_t = fma(decay, carry_t, delta_t)`.
#[inline(always)]
pub(crate) fn advantage(decay: f32, carry: f32, difference: f32) -> f32 {
    fma(decay, carry, difference)
}

/// `return_t = A_t + v_t`.
#[inline(always)]
pub(crate) fn estimated_return(advantage: f32, value: f32) -> f32 {
    advantage + value
}
