//! Exact division of a part of the mass into strata. Part of the GPU's kernels too.

/// Splits `part * draws / total` into its whole and its rest, exactly and without a division.
///
/// With `T' = total * 2^s` in `[2^62, 2^63)` and `R = floor(draws * 2^94 / T')`, which is below 2^64, the estimate
/// `floor(part * 2^s * R / 2^94)` is below the true quotient by less than 2^-31 before its floor, so it is the true whole
/// or one less; the rest that it leaves, in `[0, 2 total)` and so below 2^64, tells which.
#[derive(Clone, Copy, Debug)]
pub(super) struct Divider {
    draws: u64,
    total: u64,
    shift: u32,
    reciprocal: u64,
}

impl Divider {
    /// For `0 < total < 2^63`.
    pub(super) fn new(draws: u32, total: u64) -> Self {
        let shift = total.leading_zeros() - 1;
        // A 128-bit division is a call, which kernels don't have.
        let by = if cfg!(target_arch = "nvptx64") { reciprocal_by_bits } else { reciprocal };
        Self { draws: draws.into(), total, shift, reciprocal: by(draws, total << shift) }
    }

    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// The whole w and the rest r with `part * draws = w * total + r`, `r < total`; for `part <= total`.
    #[inline(always)]
    pub(super) fn split(&self, part: u64) -> (u64, u64) {
        let product = u128::from(part << self.shift) * u128::from(self.reciprocal);
        let whole = (product >> 64) as u64 >> 30;
        let rest = part.wrapping_mul(self.draws).wrapping_sub(whole.wrapping_mul(self.total));
        let more = rest >= self.total;
        (whole + u64::from(more), rest - if more { self.total } else { 0 })
    }
}

/// `floor(draws * 2^94 / scaled)`.
#[inline(always)]
pub(super) fn reciprocal(draws: u32, scaled: u64) -> u64 {
    ((u128::from(draws) << 94) / u128::from(scaled)) as u64
}

/// [`reciprocal`], a bit at a time.
#[inline(always)]
pub(super) fn reciprocal_by_bits(draws: u32, scaled: u64) -> u64 {
    // Below 2^62 <= scaled, so that the first 30 of 94 bits are zeros. A rest is below 2^63.
    let (mut rest, mut quotient) = (u64::from(draws) << 30, 0);
    for _ in 0..64 {
        rest *= 2;
        let more = rest >= scaled;
        rest -= if more { scaled } else { 0 };
        quotient = quotient << 1 | u64::from(more);
    }
    quotient
}
