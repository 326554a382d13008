//! From a priority to its power, which is what draws are made by. Part of the GPU's kernels too.

/// The smallest power of a priority above zero.
const SMALLEST: f32 = f32::from_bits(1);

/// `priority^alpha`, at least [`SMALLEST`] for a priority above zero, 0 for an absent item.
#[inline(always)]
pub(super) fn power(priority: f32, alpha: f32) -> f32 {
    clean(priority, arith::powf(priority, alpha))
}

/// [`power`] from [`arith::powf`], which is NaN for an absent item.
#[inline(always)]
pub(super) fn clean(priority: f32, power: f32) -> f32 {
    let power = if priority > 0.0 && power < SMALLEST { SMALLEST } else { power };
    if priority < 0.0 { 0.0 } else { power }
}
