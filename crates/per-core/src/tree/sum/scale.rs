//! Two scales: the one that is shown, a function of the leaves alone, and the one at which sums are stored. Part of the
//! GPU's kernels too.
//!
//! The stored sums are, at every moment, the sums of `stored.quantize(leaf)`. They serve as the sums at the shown scale
//! if every leaf is a multiple of the unit of both: then `shown.quantize(leaf) = stored.quantize(leaf) * 2^shift` without
//! any rounding, `shift` = shown exponent - stored exponent, and the same holds for sums. If not, the tree stores its
//! sums anew, at the shown scale. So the stored scale is a matter of speed and can't be seen.

use arith::fixed::Scale;

/// Bits of a leaf: more than `Scale` promises to convert are never asked of it.
const MOST_BITS: i32 = 52;

/// The two scales of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Storage {
    shown: Scale,
    stored: Scale,
    below: Below,
    capacity: u32,
}

/// What the scales of a tree of some capacity follow from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Below {
    /// The largest leaf is below 2^shown, and at least half of that.
    pub(super) shown: i32,
    /// The same when sums were made anew for the last time.
    pub(super) stored: i32,
}

impl Storage {
    /// The scales of a tree of zeros.
    pub(super) fn new(capacity: u32) -> Self {
        // The scale of zeros is that of 1, which is below 2^1.
        Self::of(Below { shown: 1, stored: 1 }, capacity)
    }

    /// The scales that follow from this.
    #[inline(always)]
    pub(super) fn of(below: Below, capacity: u32) -> Self {
        Self { shown: Scale::below(below.shown, capacity), stored: roomy(below.stored, capacity), below, capacity }
    }

    /// What the scales follow from. (The host keeps the scales themselves.)
    #[inline(always)]
    #[allow(dead_code)]
    pub(super) fn below(&self) -> Below {
        self.below
    }

    /// What priorities are converted with for the outside.
    #[inline(always)]
    #[allow(dead_code)]
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

    /// Follows the leaves, of which those above zero have these e ([`super::bins::exponent`]), the smallest and the largest.
    /// False if the stored sums don't serve: [`Self::store_as_shown`] and make them anew.
    #[inline(always)]
    pub(super) fn follow(&mut self, leaves: Option<(i32, i32)>) -> bool {
        let Some((low, high)) = leaves else {
            // Sums of zeros are zero at every scale.
            *self = Self::new(self.capacity);
            return true;
        };
        *self = Self::of(Below { shown: high, ..self.below }, self.capacity);
        if self.shown.exponent() == self.stored.exponent() {
            return true;
        }
        // All leaves are multiples of this power of two (there are no f32 below 2^-149).
        let unit = (low - 24).max(-149);
        unit >= -self.shown.exponent().min(self.stored.exponent())
    }

    #[inline(always)]
    pub(super) fn store_as_shown(&mut self) {
        *self = Self::of(Below { stored: self.below.shown, ..self.below }, self.capacity);
    }
}

/// The exponent of the scale of `capacity` weights below 2^e, but with room for larger ones, if there is a scale like that.
#[inline(always)]
fn roomy(e: i32, capacity: u32) -> Scale {
    // The bits of a leaf are e + exponent.
    let room = e + Scale::below(e, capacity).exponent();
    let above = e + MOST_BITS - room;
    // A single weight is given 52 bits.
    if above <= 128 { Scale::below(above, 1) } else { Scale::below(e, capacity) }
}
