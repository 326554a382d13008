//! Integer draws.

/// A uniform integer in `[0, total)` from one 64-bit random word; 0 if `total` is 0.
///
/// The high half of `word * total` (Lemire, "Fast Random Integer Generation in an Interval", 2019, without the
/// rejection step): one word per draw, always. An interval of `k` of the `total` integers is drawn with a
/// probability within 2^-64 of `k / total`.
///
/// ```
/// assert_eq!(arith::fixed::bounded(0, 17), 0);
/// assert_eq!(arith::fixed::bounded(u64::MAX, 17), 16);
/// ```
#[inline(always)]
pub const fn bounded(word: u64, total: u64) -> u64 {
    ((word as u128 * total as u128) >> 64) as u64
}
