//! The formulas of a categorical policy, for one action of one row. They need nothing but `arith`: kernels for GPUs are
//! compiled from this source too.

/// The larger of a logit and the largest so far, which stays if the logit is a NaN.
#[inline(always)]
pub(crate) fn larger(z: f32, largest: f32) -> f32 {
    if z > largest { z } else { largest }
}

/// `ln p_a = d_a - ln s`, with `d_a = z_a - max z` and `s = sum_a exp(d_a)`.
#[inline(always)]
pub(crate) fn log_prob(shifted: f32, log_sum: f32) -> f32 {
    shifted - log_sum
}

/// `p_a = e_a * (1 / s)`.
#[inline(always)]
pub(crate) fn prob(exp: f32, inverse: f32) -> f32 {
    exp * inverse
}

/// `-(p_a * ln p_a)`: what an action adds to the entropy, 0 if it has no probability.
#[inline(always)]
pub(crate) fn entropy_term(prob: f32, log_prob: f32) -> f32 {
    let term = -(prob * log_prob);
    if prob == 0.0 { 0.0 } else { term }
}

/// `2^S`: 2^31 over the next power of two of the number of actions (1 to 1,024), at most 2^30, so that weights fit i32
/// and their totals u32.
#[inline(always)]
pub(crate) fn scale(actions: usize) -> f32 {
    f32::from_bits((127 + 31 - actions.max(2).next_power_of_two().trailing_zeros()) << 23)
}

/// `x = exp(d_a) * 2^S` in [0, 2^30] to the nearest integer, halves up, but 1 for what would round to 0 and isn't. A NaN
/// gives 0.
#[inline(always)]
pub(crate) fn weight(x: f32) -> u32 {
    let floor = x as i32;
    let up = x - floor as f32 >= 0.5;
    let rounded = floor + i32::from(up);
    (if (rounded == 0) & (x > 0.0) { 1 } else { rounded }) as u32
}

/// The integer below `total` that a random word draws. The action drawn is the first whose running total of weights
/// exceeds it, and so the number of those whose running total doesn't.
#[inline(always)]
pub(crate) fn threshold(word: u32, total: u32) -> u32 {
    ((u64::from(word) * u64::from(total)) >> 32) as u32
}
