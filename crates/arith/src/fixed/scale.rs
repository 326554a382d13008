//! The power-of-two scale of a set of weights, and the conversion into fixed point.

use super::{FixedError, is_weight};

/// The largest number of weights that can share a scale: at least 2^31 - 1, and all that a 32-bit index can name.
pub const MAX_LEAVES: usize = if usize::BITS > 32 { u32::MAX as usize } else { i32::MAX as usize };

/// Bits of a single weight, however few the leaves: the conversion through f64 has 53.
const MOST_BITS: i32 = 52;

/// A power-of-two scale: `q = round(w * 2^exponent)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Scale {
    /// S of the formula.
    exponent: i32,
    /// Weights below `2^limit` fit.
    limit: i32,
}

impl Scale {
    /// The scale for `leaves` weights of which none is above `largest`.
    ///
    /// With `largest < 2^e` (the smallest such e) a weight takes `b = min(52, 63 - ceil(log2 leaves))` bits at most,
    /// and S = b - e. So a total is at most `leaves * (2^b - 1) < 2^63`, and weights of at least `largest / 2^(b - 24)`
    /// are represented exactly: `largest / 2^19` at 2^20 leaves. For `largest = 0` the scale is that of 1.
    ///
    /// # Errors
    /// [`FixedError::InvalidLargest`] if `largest` is NaN, infinite or negative; [`FixedError::TooManyLeaves`] beyond
    /// [`MAX_LEAVES`].
    #[inline]
    pub const fn new(largest: f32, leaves: usize) -> Result<Self, FixedError> {
        if !is_weight(largest) {
            return Err(FixedError::InvalidLargest { value: largest });
        }
        if leaves > MAX_LEAVES {
            return Err(FixedError::TooManyLeaves { leaves, limit: MAX_LEAVES });
        }
        let limit = if largest == 0.0 { 1 } else { exponent_above(largest) };
        // At most MAX_LEAVES, which is at most u32::MAX.
        Ok(Self::below(limit, leaves as u32))
    }

    /// The scale for `leaves` weights of which none reaches `2^e`: that of [`new`](Self::new) if `e` is the smallest that
    /// holds for the largest. There are weights for e in `-148..=128`; others count as the nearest of these.
    ///
    /// ```
    /// use arith::fixed::Scale;
    /// assert_eq!(Scale::new(3.0, 1000), Ok(Scale::below(2, 1000)));
    /// ```
    #[inline]
    pub const fn below(e: i32, leaves: u32) -> Self {
        let limit = if e < -148 { -148 } else { e };
        let limit = if limit > 128 { 128 } else { limit };
        // ceil(log2 leaves)
        let depth = if leaves <= 1 { 0 } else { u32::BITS - (leaves - 1).leading_zeros() };
        let room = 63 - depth as i32;
        let room = if room > MOST_BITS { MOST_BITS } else { room };
        Self { exponent: room - limit, limit }
    }

    /// S, the base-2 logarithm of the factor.
    #[inline(always)]
    pub const fn exponent(self) -> i32 {
        self.exponent
    }

    /// 2^S.
    #[inline(always)]
    pub const fn factor(self) -> f64 {
        f64::from_bits(((1023 + self.exponent) as u64) << 52)
    }

    /// 2^-S, what a unit of the fixed point is worth.
    #[inline(always)]
    pub const fn unit(self) -> f64 {
        f64::from_bits(((1023 - self.exponent) as u64) << 52)
    }

    /// Whether `weight` is a weight (finite and >= 0) that this scale has room for.
    #[inline(always)]
    pub const fn fits(self, weight: f32) -> bool {
        // Also false for NaN. 2^limit is infinite as an f32 where every weight fits.
        is_weight(weight) && (weight as f64) < f64::from_bits(((1023 + self.limit) as u64) << 52)
    }

    /// `round(weight * 2^S)`, ties to even, and at least 1 unless `weight` is ±0.
    ///
    /// The same integer by two routes: through f64 on hosts (exact product; one addition rounds), which takes half the
    /// time there, and by integer operations on devices, whose f64 can be slow. Both are branch-free and vectorize.
    /// For a weight that doesn't [fit](Self::fits) the result is unspecified.
    #[inline(always)]
    pub const fn quantize(self, weight: f32) -> u64 {
        if cfg!(target_arch = "nvptx64") { self.quantize_by_integers(weight) } else { self.quantize_by_floats(weight) }
    }

    #[inline(always)]
    const fn quantize_by_floats(self, weight: f32) -> u64 {
        // 2^52: adding it to less than 2^52 rounds to an integer and leaves that integer in the significand.
        const MAGIC: f64 = 4_503_599_627_370_496.0;
        let x = weight as f64 * self.factor();
        let x = if (x > 0.0) & (x < 1.0) { 1.0 } else { x };
        (x + MAGIC).to_bits().wrapping_sub(MAGIC.to_bits())
    }

    /// [`quantize`](Self::quantize) by integer operations alone.
    #[doc(hidden)]
    #[inline(always)]
    pub const fn quantize_by_integers(self, weight: f32) -> u64 {
        let bits = weight.to_bits() & 0x7fff_ffff;
        let normal = bits >= 0x80_0000;
        let exponent = if normal { bits >> 23 } else { 1 } as i32;
        let significand = (bits & 0x7f_ffff) | if normal { 0x80_0000 } else { 0 };
        // weight * 2^S = significand * 2^(exponent - 150 + S) = wide / 2^right. Only where the largest weight is
        // subnormal do 39 places not suffice.
        let right = 189 - exponent - self.exponent;
        let more = if right < 0 { -right } else { 0 };
        let more = if more > 24 { 24 } else { more } as u32;
        let wide = (significand as u64) << (39 + more);
        let right = if right < 0 { 0 } else { right };
        let right = if right > 63 { 63 } else { right } as u32;
        let odd = (wide >> right) & 1;
        let below_half = ((1_u64 << right) >> 1).wrapping_sub((right != 0) as u64);
        let rounded = wide.wrapping_add(below_half).wrapping_add(odd & (right != 0) as u64) >> right;
        let least = (bits != 0) as u64;
        if rounded > least { rounded } else { least }
    }
}

/// The smallest e with `x < 2^e`, for finite x > 0.
const fn exponent_above(x: f32) -> i32 {
    // Every f32 is a normal f64.
    ((x as f64).to_bits() >> 52) as i32 - 1022
}
