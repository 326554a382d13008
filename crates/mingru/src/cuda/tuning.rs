//! Sizes that decide speed and nothing else.

/// Threads of a block of the forward scan. A unit is one thread, which goes through all steps: narrow blocks spread few units
/// over many multiprocessors.
pub(super) const FORWARD_BLOCK: u32 = 64;

/// Threads of a block of the backward scan: a warp for each 4 steps, as long as there are so many, and for each 4 of an
/// interval at least; 16 at most.
pub(super) fn backward_block(time: usize, interval: usize) -> u32 {
    let warps = time.div_ceil(4).max(interval.div_ceil(4)).clamp(1, 16);
    32 * warps as u32
}
