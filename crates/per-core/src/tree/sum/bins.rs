//! Magnitudes of weights. Part of the GPU's kernels too.

/// Bins: 0 for a weight of zero, `e + 149` for weights in `[2^(e-1), 2^e)`, of which e is in `-148..=128`.
pub(super) const BINS: usize = 278;

/// The bin of a weight that isn't -0.
#[inline(always)]
pub(super) fn bin(weight: f32) -> u32 {
    // Every f32 but zero is a normal f64. Signed, and the comparison written out: so it vectorizes.
    let field = ((f64::from(weight).to_bits() >> 52) as i32) - 873;
    (if field > 0 { field } else { 0 }) as u32
}

/// The e of a bin other than 0: its weights are below `2^e` and multiples of `2^(e-24)`.
#[inline(always)]
pub(super) fn exponent(bin: usize) -> i32 {
    bin as i32 - 149
}
