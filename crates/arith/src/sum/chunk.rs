//! Inside a chunk: lanes, and the tree that joins them.

/// Elements of a chunk.
pub const CHUNK: usize = 1024;
/// Lanes of a chunk.
pub const LANES: usize = 32;

/// The lanes' partial sums.
pub type Lanes = [f32; LANES];

/// Joins the lanes by a tree of adjacent pairs: ((0 + 1) + (2 + 3)) + ...
#[inline(always)]
pub fn join_lanes(lanes: &Lanes) -> f32 {
    let mut sums = *lanes;
    let mut width = LANES / 2;
    while width > 0 {
        for i in 0..width {
            sums[i] = sums[2 * i] + sums[2 * i + 1];
        }
        width /= 2;
    }
    sums[0]
}
