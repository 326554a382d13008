//! Back from fixed point, correctly rounded.

use super::Scale;

/// `q / 2^S` to the nearest f64, ties to even.
#[inline(always)]
pub const fn to_f64(q: u64, scale: Scale) -> f64 {
    // |S| < 256, so the product is a normal number and exact.
    q as f64 * scale.unit()
}

/// `q / 2^S` to the nearest f32, ties to even; subnormal results and overflow to infinity included.
#[inline(always)]
pub const fn to_f32(q: u64, scale: Scale) -> f32 {
    // To f64 with rounding to odd first (the low 11 bits leave a sticky bit), which makes the second rounding the
    // only one. Below 2^53 the conversion is exact as it is.
    let sticky = if q & 0x7ff != 0 { 0x800 } else { 0 };
    let odd = (q & !0x7ff) | sticky;
    let exact = if q >> 53 == 0 { q } else { odd };
    (exact as f64 * scale.unit()) as f32
}
