//! Quotients of integers, correctly rounded to `f32`. Part of the GPU's kernels too.

/// `part / total` rounded to nearest, ties to even, for `part <= total`, `0 < total < 2^63`.
pub(crate) fn ratio(part: u64, total: u64) -> f32 {
    let near = part as f64 / total as f64;
    if is_hard(near) { exact(part, total) } else { near as f32 }
}

/// Whether a quotient in f64 may lie on the wrong side of the middle between two neighbouring f32.
///
/// Each operand and the division round once, by at most 2^-53 of the value each: together less than 3.1 ulp of f64.
/// The 29 bits that f32 drops are 2^28 in the middle.
#[inline(always)]
pub(crate) fn is_hard(near: f64) -> bool {
    let dropped = near.to_bits() & ((1 << 29) - 1);
    dropped.wrapping_sub((1 << 28) - 4) <= 8
}

/// [`ratio`] by integers, a bit at a time.
// Kernels have no calls.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
#[cfg_attr(not(target_arch = "nvptx64"), cold)]
fn exact(part: u64, total: u64) -> f32 {
    if part == 0 {
        return 0.0;
    }
    // The quotient of these two lies between 1/2 and 2; the first is below 2^63 as well.
    let lift = part.leading_zeros() - total.leading_zeros();
    let mut rest = part << lift;
    let mut quotient = u32::from(rest >= total);
    rest -= u64::from(quotient) * total;
    // 24 bits more: 2^23 <= quotient < 2^25, and rest < total.
    for _ in 0..24 {
        rest *= 2;
        let more = rest >= total;
        rest -= if more { total } else { 0 };
        quotient = quotient << 1 | u32::from(more);
    }
    let (mut divisor, mut shift) = (total, 24 + lift);
    if quotient >= 1 << 24 {
        rest += u64::from(quotient & 1) * total;
        divisor *= 2;
        quotient >>= 1;
        shift -= 1;
    }
    // Whether the rest is more than half of the divisor.
    let other = divisor - rest;
    let up = rest > other || (rest == other && quotient & 1 == 1);
    let mantissa = quotient + u32::from(up);
    // At most 2^24, and 2^-shift >= 2^-87: both factors and the product are exact.
    mantissa as f32 * f32::from_bits((127 - shift) << 23)
}
