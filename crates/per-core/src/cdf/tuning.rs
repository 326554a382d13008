//! The numbers that decide speed and nothing else.

/// Nodes of level 0 (256 weights each) in a tile of a parallel build: 32,768 weights, 128 KiB.
pub(super) const BUILD_TILE: usize = 128;
/// Below this many tiles a parallel build is left to one thread.
pub(super) const BUILD_MIN_TILES: usize = 4;
/// Tiles whose keys a thread shifts at a time: 2^20 weights.
pub(super) const SHIFT_MIN_TILES: usize = 32;
/// Searches or draws that a thread takes at a time in the parallel versions; a multiple of `BATCH`.
pub(super) const SEARCH_TILE: usize = 1024;
/// Searches that go down the tree together, so that one waits for memory while the others work.
pub(crate) const BATCH: usize = 32;
