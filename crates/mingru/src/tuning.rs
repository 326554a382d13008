//! Sizes that decide speed and nothing else.

/// Units of a tile: a tile's factors of a whole chunk stay in the first-level cache.
pub(crate) const TILE: usize = 64;
