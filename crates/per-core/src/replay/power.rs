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

#[cfg(test)]
mod tests {
    use super::*;

    /// What kernels rely on: there, powers up to 1 aren't looked at before they are set.
    #[test]
    fn powers_up_to_1_of_finite_priorities_are_finite() {
        let near_1 = (0..4096).map(|ulps| f32::from_bits(1.0_f32.to_bits() - ulps));
        for alpha in near_1.chain((0..=1000).map(|i| i as f32 / 1000.0)) {
            for priority in [f32::MAX, f32::from_bits(f32::MAX.to_bits() - 1), 1e38, 1.5, 1.0, f32::MIN_POSITIVE, 0.0] {
                let power = power(priority, alpha);
                assert!((0.0..=priority.max(1.0)).contains(&power), "{priority:e}^{alpha} = {power:e}");
            }
        }
    }
}
