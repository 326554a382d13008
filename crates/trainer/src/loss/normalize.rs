//! Statistics over a minibatch or a rollout: normalised advantages, explained variance.

use arith::simd::{Isa, Kernel};

use super::sum::sum_map;

/// Added to the standard deviation, so that equal advantages become 0 and not NaN.
const EPSILON: f32 = 1e-8;

/// Brings `values` to mean 0 and (population) standard deviation 1, in place.
///
/// ```text
/// d_i = x_i - x_0;  m = sum(d) / n;  y_i = d_i - m;  s = sqrt(sum(y^2) / n);  x_i <- y_i * (1 / (s + 1e-8))
/// ```
/// Sums in the contract's order. Taking x_0 off first is exact for values that are close to each other, so a single
/// value, or equal ones, give exactly 0. Values whose squares would overflow are scaled by a power of two first. A NaN
/// or an infinity among the values makes all of them NaN.
///
/// ```
/// let mut advantages = [0.1, 0.1, 0.1];
/// trainer::loss::normalize(arith::simd::Isa::detect(), &mut advantages);
/// assert_eq!(advantages, [0.0; 3]);
/// ```
pub fn normalize(isa: Isa, values: &mut [f32]) {
    let Some(&first) = values.first() else { return };
    let (mut mean, mut deviation) = isa.run(Moments { values, first, scale: 1.0 });
    let mut scale = 1.0;
    if !(deviation < f32::INFINITY) {
        // 2^-100: the squares of any f32s then add up.
        scale = f32::from_bits((127 - 100) << 23);
        (mean, deviation) = isa.run(Moments { values, first: first * scale, scale });
    }
    let inverse = 1.0 / (deviation + EPSILON);
    isa.run(Rescale { values, first: first * scale, scale, mean, inverse });
}

/// Mean of `scale x - first` and its standard deviation.
struct Moments<'a> {
    values: &'a [f32],
    first: f32,
    scale: f32,
}

impl Kernel for Moments<'_> {
    type Output = (f32, f32);

    #[inline(always)]
    fn run(self) -> (f32, f32) {
        let Self { values, first, scale } = self;
        let n = values.len();
        let mean = sum_map(n, |i| values[i] * scale - first) / n as f32;
        let variance = sum_map(n, |i| {
            let y = (values[i] * scale - first) - mean;
            y * y
        }) / n as f32;
        (mean, arith::sqrt(variance))
    }
}

struct Rescale<'a> {
    values: &'a mut [f32],
    first: f32,
    scale: f32,
    mean: f32,
    inverse: f32,
}

impl Kernel for Rescale<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for x in self.values {
            *x = ((*x * self.scale - self.first) - self.mean) * self.inverse;
        }
    }
}

/// `1 - var(R - v) / var(R)` over equally long `returns` R and `values` v (population variances, contract-order sums);
/// 0 where the returns do not vary or the lengths differ.
pub fn explained_variance(isa: Isa, returns: &[f32], values: &[f32]) -> f32 {
    if returns.is_empty() || returns.len() != values.len() {
        return 0.0;
    }
    isa.run(Explained { returns, values })
}

struct Explained<'a> {
    returns: &'a [f32],
    values: &'a [f32],
}

impl Kernel for Explained<'_> {
    type Output = f32;

    #[inline(always)]
    fn run(self) -> f32 {
        let (r, v) = (self.returns, self.values);
        let n = r.len();
        let residual = |i: usize| r[i] - v[i];
        let first = residual(0);
        let mean = sum_map(n, |i| residual(i) - first) / n as f32;
        let unexplained = sum_map(n, |i| {
            let y = (residual(i) - first) - mean;
            y * y
        });
        let mean = sum_map(n, |i| r[i] - r[0]) / n as f32;
        let all = sum_map(n, |i| {
            let y = (r[i] - r[0]) - mean;
            y * y
        });
        if all > 0.0 { 1.0 - unexplained / all } else { 0.0 }
    }
}
