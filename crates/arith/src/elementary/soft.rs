//! Software `fma` and `sqrt` for hosts without `std` and without the instructions: the same bits, more slowly.

/// `a * b + c` with a single rounding, through `f64` with rounding to odd.
///
/// The product of two 24-bit significands is exact in `f64`. Its sum with `c` is rounded to odd (inexact results get
/// an odd last bit), and 53 >= 24 + 2 bits rounded to odd then round to `f32` as the exact sum would, subnormal
/// results included (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", IEEE TC 57(4), 2008).
#[inline(always)]
pub fn fma(a: f32, b: f32, c: f32) -> f32 {
    let product = f64::from(a) * f64::from(b);
    let c = f64::from(c);
    let sum = product + c;
    // Knuth's TwoSum: sum + error == product + c exactly. Not finite where the sum isn't, and then no bit moves.
    let c_part = sum - product;
    let error = (product - (sum - c_part)) + (c - c_part);
    let bits = sum.to_bits();
    let inexact = (error < 0.0) | (error > 0.0);
    let even = bits & 1 == 0;
    // The neighbour towards the error is the odd one; the magnitude grows if the error has the sum's sign.
    let away = (error < 0.0) == (sum < 0.0);
    let moved = if away { bits.wrapping_add(1) } else { bits.wrapping_sub(1) };
    f64::from_bits(if inexact & even { moved } else { bits }) as f32
}

/// The correctly rounded square root, by the digit recurrence on the significand.
#[inline(always)]
pub fn sqrt(x: f32) -> f32 {
    let scaled = if x < f32::MIN_POSITIVE { x * 16_777_216.0 } else { x };
    let bits = scaled.to_bits();
    // scaled = m * 2^(2 * half), m in [2^48, 2^50): the root has 25 bits, one more than the result.
    let exponent = (bits >> 23) as i32 - 127;
    let odd = (exponent & 1) as u32;
    let mut rest = u64::from((bits & 0x7f_ffff) | 0x80_0000) << (25 + odd);
    let half = (exponent - odd as i32) / 2 - if x < f32::MIN_POSITIVE { 12 } else { 0 };
    let mut root = 0_u64;
    let mut bit = 24;
    while bit >= 0 {
        let trial = (2 * root + (1 << bit)) << bit;
        let fits = trial <= rest;
        rest -= if fits { trial } else { 0 };
        root += if fits { 1 << bit } else { 0 };
        bit -= 1;
    }
    // Never a tie: the square of a 25-bit odd number has more bits than any argument.
    let rounded = ((root + 1) >> 1) as u32;
    let value = f32::from_bits(rounded.wrapping_add(((half + 126) as u32) << 23));
    let special = if x < 0.0 { f32::NAN } else { x };
    if (x > 0.0) & (x < f32::INFINITY) { value } else { special }
}
