//! bf16 as a storage format: round to nearest even on the way in, exact on the way out.

use half::bf16;

/// The nearest bf16, ties to even.
///
/// Subnormals are kept, values past the largest bf16 round to infinity, and a NaN stays a NaN (its payload is cut
/// and its quiet bit set).
///
/// ```
/// use half::bf16;
/// assert_eq!(arith::bf16::from_f32(1.0 + 1.0 / 256.0), bf16::ONE); // a tie
/// assert!(arith::bf16::from_f32(f32::NAN).is_nan());
/// ```
#[inline(always)]
pub const fn from_f32(x: f32) -> bf16 {
    let bits = x.to_bits();
    // Half of the last place that stays, less one where that place is even.
    let rounded = (bits.wrapping_add(0x7fff + ((bits >> 16) & 1))) >> 16;
    let quiet = (bits >> 16) | 0x40;
    bf16::from_bits(if bits & 0x7fff_ffff > 0x7f80_0000 { quiet } else { rounded } as u16)
}

/// The same value as an f32.
#[inline(always)]
pub const fn to_f32(x: bf16) -> f32 {
    f32::from_bits((x.to_bits() as u32) << 16)
}
