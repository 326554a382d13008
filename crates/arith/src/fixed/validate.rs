//! Checking weights and finding the largest, in one pass.

use super::FixedError;
use crate::simd::{Isa, Kernel};

/// Bits of the largest finite f32: a larger pattern is infinite, NaN or has the sign bit.
const MAX_BITS: u32 = 0x7f7f_ffff;
const NEGATIVE_ZERO: u32 = 0x8000_0000;

/// Whether `w` is finite and >= 0; -0 is, and counts as 0.
#[inline(always)]
pub const fn is_weight(w: f32) -> bool {
    rank(w) <= MAX_BITS
}

/// Orders weights as integers, and everything that isn't a weight after them.
#[inline(always)]
const fn rank(w: f32) -> u32 {
    let bits = w.to_bits();
    if bits == NEGATIVE_ZERO { 0 } else { bits }
}

/// The largest weight (0 if there are none).
///
/// # Errors
/// [`FixedError::InvalidWeight`] with the position of the first weight that is NaN, infinite or negative.
#[inline]
pub fn largest_weight(weights: &[f32]) -> Result<f32, FixedError> {
    largest_weight_with(Isa::detect(), weights)
}

/// [`largest_weight`] with a given instruction set.
///
/// # Errors
/// As [`largest_weight`].
#[inline]
pub fn largest_weight_with(isa: Isa, weights: &[f32]) -> Result<f32, FixedError> {
    struct Largest<'a>(&'a [f32]);
    impl Kernel for Largest<'_> {
        type Output = u32;
        #[inline(always)]
        fn run(self) -> u32 {
            largest_rank(self.0)
        }
    }
    check(isa.run(Largest(weights)), weights)
}

/// One pass without branches: whatever is wrong has a rank above every weight's.
#[inline(always)]
fn largest_rank(weights: &[f32]) -> u32 {
    let mut top = 0;
    // A loop and not `fold`, which may stay outside the copy compiled for the instruction set.
    for &w in weights {
        let rank = rank(w);
        top = if rank > top { rank } else { top };
    }
    top
}

fn check(top: u32, weights: &[f32]) -> Result<f32, FixedError> {
    if top > MAX_BITS
        && let Some(index) = weights.iter().position(|&w| !is_weight(w))
    {
        return Err(FixedError::InvalidWeight { index, value: weights[index] });
    }
    Ok(f32::from_bits(top))
}
