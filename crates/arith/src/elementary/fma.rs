//! The two correctly rounded operations that `core` lacks.

/// `a * b + c` with a single rounding.
///
/// One instruction where the code is compiled for FMA (see [`crate::simd`]) and on devices (`fma.rn.f32`). Elsewhere
/// the same bits from the platform's `fmaf` or, without `std`, from [`crate::elementary::soft::fma`].
#[inline(always)]
pub fn fma(a: f32, b: f32, c: f32) -> f32 {
    #[cfg(target_arch = "nvptx64")]
    return core::f32::math::mul_add(a, b, c);
    #[cfg(all(feature = "std", not(target_arch = "nvptx64")))]
    return a.mul_add(b, c);
    #[cfg(not(any(feature = "std", target_arch = "nvptx64")))]
    return super::soft::fma(a, b, c);
}

/// The correctly rounded square root (`sqrt.rn.f32` on devices); NaN below zero, and `sqrt(-0) = -0`.
#[inline(always)]
pub fn sqrt(x: f32) -> f32 {
    #[cfg(target_arch = "nvptx64")]
    return core::f32::math::sqrt(x);
    #[cfg(all(feature = "std", not(target_arch = "nvptx64")))]
    return x.sqrt();
    #[cfg(not(any(feature = "std", target_arch = "nvptx64")))]
    return super::soft::sqrt(x);
}
