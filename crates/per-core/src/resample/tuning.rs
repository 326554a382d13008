//! The numbers that decide speed and nothing else.

use crate::cdf::BATCH;

/// Offsets of strata that are made at a time.
pub(super) const WINDOW: usize = 8 * BATCH;
/// With fewer draws than one in this many weights, each is searched for; with more, a pass over the weights is faster.
pub(super) const WEIGHTS_PER_SEARCH: usize = 16;
/// Draws that are searched for before they are counted.
pub(super) const COUNTED: usize = 32 * BATCH;
