//! Two scales: the one that is shown, a function of the leaves alone, and the one at which sums are stored.
//!
//! The stored sums are, at every moment, the sums of `stored.quantize(leaf)`. They serve as the sums at the shown scale
//! if every leaf is a multiple of the unit of both: then `shown.quantize(leaf) = stored.quantize(leaf) * 2^shift` without
//! any rounding, `shift` = shown exponent - stored exponent, and the same holds for sums. If not, the tree stores its
//! sums anew, at the shown scale. So the stored scale is a matter of speed and can't be seen.

use super::exponents::Exponents;
use arith::fixed::{FixedError, Scale};

/// Bits of a leaf: more than `Scale` promises to convert are never asked of it.
const MOST_BITS: i32 = 52;

/// The two scales of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Storage {
    shown: Scale,
    stored: Scale,
    /// `ceil(log2 capacity)` as a scale sees it: the bits of a leaf that [`Scale::new`] gives.
    room: i32,
    capacity: usize,
}

impl Storage {
    /// The scales of a tree of zeros.
    pub(super) fn new(capacity: usize) -> Result<Self, FixedError> {
        // The scale of zeros is that of 1, which is below 2^1.
        let shown = Scale::new(0.0, capacity)?;
        let mut storage = Self { shown, stored: shown, room: shown.exponent() + 1, capacity };
        storage.stored = storage.roomy(1);
        Ok(storage)
    }

    /// What priorities are converted with for the outside.
    #[inline(always)]
    pub(super) fn shown(&self) -> Scale {
        self.shown
    }

    /// What priorities are converted with for the sums.
    #[inline(always)]
    pub(super) fn stored(&self) -> Scale {
        self.stored
    }

    /// A stored sum at the shown scale.
    #[inline(always)]
    pub(super) fn reveal(&self, sum: u64) -> u64 {
        let (left, right) = self.shifts();
        sum << left >> right
    }

    /// The stored sum up to which (not including) a threshold at the shown scale reaches: `p > t` at the shown scale if
    /// and only if `p > hide(t)` at the stored one.
    #[inline(always)]
    pub(super) fn hide(&self, threshold: u64) -> u64 {
        let (left, right) = self.shifts();
        threshold << right >> left
    }

    /// Left and right shift from stored to shown; one of them is 0. A sum that isn't 0 keeps below 2^63 on both sides,
    /// so neither reaches 63; with nothing but zeros they are 0.
    #[inline(always)]
    fn shifts(&self) -> (u32, u32) {
        let shift = self.shown.exponent() - self.stored.exponent();
        if shift >= 0 { (shift as u32, 0) } else { (0, shift.unsigned_abs()) }
    }

    /// Follows the leaves. False if the stored sums don't serve: [`Self::store_as_shown`] and make them anew.
    pub(super) fn follow(&mut self, leaves: &Exponents) -> bool {
        let Some((low, high)) = leaves.range() else {
            // Sums of zeros are zero at every scale.
            self.shown = self.scale_below(1);
            self.stored = self.roomy(1);
            return true;
        };
        self.shown = self.scale_below(high);
        if self.shown.exponent() == self.stored.exponent() {
            return true;
        }
        // All leaves are multiples of this power of two (there are no f32 below 2^-149).
        let unit = (low - 24).max(-149);
        unit >= -self.shown.exponent().min(self.stored.exponent())
    }

    pub(super) fn store_as_shown(&mut self) {
        self.stored = self.roomy(self.room - self.shown.exponent());
    }

    /// The scale of weights below 2^e, the largest of which is at least half of that.
    fn scale_below(&self, e: i32) -> Scale {
        scale(e, self.capacity)
    }

    /// The same exponent, but with room for larger weights, if there is a scale like that.
    fn roomy(&self, e: i32) -> Scale {
        let above = e + MOST_BITS - self.room;
        // A single weight is given 52 bits.
        if above <= 128 { scale(above, 1) } else { scale(e, self.capacity) }
    }
}

/// [`Scale::new`] of 2^(e - 1), for e in -148..=128.
fn scale(e: i32, leaves: usize) -> Scale {
    // A power of two in the range of f32, made as an f64 (of which it is a normal one).
    let largest = f64::from_bits(((e - 1 + 1023) as u64) << 52) as f32;
    match Scale::new(largest, leaves) {
        Ok(scale) => scale,
        Err(error) => unreachable!("2^{} is a weight and {leaves} leaves are few enough: {error}", e - 1),
    }
}
