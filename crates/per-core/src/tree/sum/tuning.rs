//! The numbers that decide speed and nothing else.

/// Updates that go up the tree together, level by level, while the leaves of the next ones are fetched.
pub(super) const CHUNK: usize = 64;
/// A batch of more than one in so many leaves is written into the leaves, and all sums are made anew.
pub(super) const REBUILD_ONE_IN: usize = 16;
/// Searches that go down the tree together, so that one waits for memory while the others work.
pub(super) const BATCH: usize = 32;
