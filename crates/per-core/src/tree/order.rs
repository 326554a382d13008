//! Orders of priorities, as integers of which the smallest wins.

/// The key of a leaf that doesn't count, and of one that doesn't exist.
pub(super) const NONE: u32 = u32::MAX;

/// An order of priorities: the smaller key wins. What isn't above zero (not NaN) has the key [`NONE`], and nothing else.
pub(crate) trait Order: Copy {
    /// The key of a priority.
    fn key(priority: f32) -> u32;
    /// The priority above zero of a key that isn't [`NONE`].
    fn priority(key: u32) -> f32;
}

/// Priorities in their own order: that of their bits. One less makes the last of zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ascending;

impl Order for Ascending {
    #[inline(always)]
    fn key(priority: f32) -> u32 {
        bits_above_zero(priority).wrapping_sub(1)
    }

    #[inline(always)]
    fn priority(key: u32) -> f32 {
        f32::from_bits(key.wrapping_add(1))
    }
}

/// The larger priority first; zero is the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Descending;

impl Order for Descending {
    #[inline(always)]
    fn key(priority: f32) -> u32 {
        !bits_above_zero(priority)
    }

    #[inline(always)]
    fn priority(key: u32) -> f32 {
        f32::from_bits(!key)
    }
}

/// The bits of a priority, 0 unless it is above zero.
#[inline(always)]
fn bits_above_zero(priority: f32) -> u32 {
    // The sign of a float is that of its bits: -0 and below are negative integers.
    let bits = priority.to_bits().cast_signed();
    (if bits > 0 { bits } else { 0 }).cast_unsigned()
}
