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

/// [`ratio`] by integer division.
#[cold]
fn exact(part: u64, total: u64) -> f32 {
    if part == 0 {
        return 0.0;
    }
    let (part, total) = (u128::from(part), u128::from(total));
    // The shift that gives the quotient 24 bits, or 25 where it divides high: 2^23 <= part * 2^shift / total < 2^25.
    let shift = 24 + total.ilog2() - part.ilog2();
    let (mut quotient, mut rest, mut shift) = ((part << shift) / total, (part << shift) % total, shift);
    let mut divisor = total;
    if quotient >= 1 << 24 {
        rest += (quotient & 1) * total;
        divisor *= 2;
        quotient >>= 1;
        shift -= 1;
    }
    let up = 2 * rest > divisor || (2 * rest == divisor && quotient & 1 == 1);
    let mantissa = quotient as u32 + u32::from(up);
    // At most 2^24, and 2^-shift >= 2^-87: both factors and the product are exact.
    mantissa as f32 * f32::from_bits((127 - shift) << 23)
}
