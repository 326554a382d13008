//! Statistics over a minibatch or a rollout: normalised advantages, explained variance.

use arith::simd::{Isa, Kernel};
use arith::sum;

use super::sum::sum_chunks;

/// Added to the standard deviation, so that equal advantages become 0 and not NaN.
const EPSILON: f32 = 1e-8;

/// Above this, 2^40, values are scaled before they are squared.
const LARGE: f32 = f32::from_bits((127 + 40) << 23);

/// Brings `values` to mean 0 and (population) standard deviation 1, in place.
///
/// ```text
/// d_i = x_i - x_0;  m = sum(d) / n;  y_i = d_i - m;  s = sqrt(sum(y^2) / n);  x_i <- y_i * (1 / (s + 1e-8))
/// ```
/// Sums in the contract's order. Taking x_0 off first is exact for values that are close to each other, so a single
/// value, or equal ones, give exactly 0. Where an |x| reaches 2^40, all are first scaled by the power of two that brings
/// the largest to [1, 2), so that no square overflows. A NaN or an infinity among the values makes all of them NaN.
///
/// ```
/// let mut advantages = [0.1, 0.1, 0.1];
/// trainer::loss::normalize(arith::simd::Isa::detect(), &mut advantages);
/// assert_eq!(advantages, [0.0; 3]);
/// ```
pub fn normalize(isa: Isa, values: &mut [f32]) {
    let Some(&first) = values.first() else { return };
    let n = values.len() as f32;
    let largest = isa.run(Largest(values));
    if largest >= LARGE {
        let exponent = ((largest.to_bits() >> 23) as i32 - 127).min(126);
        let scale = f32::from_bits(((127 - exponent) as u32) << 23);
        isa.run(Affine { values, minus: 0.0, times: scale });
        isa.run(Affine { values, minus: first * scale, times: 1.0 });
    } else {
        isa.run(Affine { values, minus: first, times: 1.0 });
    }
    let mean = sum::sum_with(isa, values) / n;
    isa.run(Affine { values, minus: mean, times: 1.0 });
    let deviation = arith::sqrt(sum::sum_of_squares_with(isa, values) / n);
    isa.run(Affine { values, minus: 0.0, times: 1.0 / (deviation + EPSILON) });
}

/// `max |x|`, NaNs left out.
struct Largest<'a>(&'a [f32]);

impl Kernel for Largest<'_> {
    type Output = f32;

    #[inline(always)]
    fn run(self) -> f32 {
        // Bits of numbers that are not negative are in the numbers' order; integers, so that LLVM may regroup them.
        let mut largest = 0;
        for x in self.0 {
            let bits = x.to_bits() & 0x7fff_ffff;
            let bits = if bits > 0x7f80_0000 { 0 } else { bits };
            largest = if bits > largest { bits } else { largest };
        }
        f32::from_bits(largest)
    }
}

/// `x <- (x - minus) * times`.
struct Affine<'a> {
    values: &'a mut [f32],
    minus: f32,
    times: f32,
}

impl Kernel for Affine<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for x in self.values {
            *x = (*x - self.minus) * self.times;
        }
    }
}

/// `1 - var(R - v) / var(R)` over equally long `returns` R and `values` v (population variances, contract-order sums);
/// 0 where the returns do not vary or the lengths differ.
///
/// ```
/// let isa = arith::simd::Isa::detect();
/// let returns = [1.0, 2.0, 3.0, 4.0];
/// assert_eq!(trainer::loss::explained_variance(isa, &returns, &[0.5, 1.5, 2.5, 3.5]), 1.0);
/// assert_eq!(trainer::loss::explained_variance(isa, &returns, &[7.0; 4]), 0.0);
/// ```
pub fn explained_variance(isa: Isa, returns: &[f32], values: &[f32]) -> f32 {
    if returns.is_empty() || returns.len() != values.len() {
        return 0.0;
    }
    let residuals = spread(isa, returns.len(), |i| returns[i] - values[i]);
    let all = spread(isa, returns.len(), |i| returns[i]);
    if all > 0.0 { 1.0 - residuals / all } else { 0.0 }
}

/// `sum (d_i - mean d)^2`, `d_i = x_i - x_0`, for n > 0.
fn spread(isa: Isa, n: usize, x: impl Fn(usize) -> f32) -> f32 {
    let first = x(0);
    let fill = |start: usize, out: &mut [f32], mean: f32| {
        for (i, out) in (start..).zip(out) {
            *out = (x(i) - first) - mean;
        }
    };
    let mean = sum_chunks(n, |x| sum::sum_with(isa, x), |start, out| fill(start, out, 0.0)) / n as f32;
    sum_chunks(n, |x| sum::sum_of_squares_with(isa, x), |start, out| fill(start, out, mean))
}
