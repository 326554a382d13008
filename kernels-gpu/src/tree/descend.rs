//! The search: half a warp takes a threshold from the root to a leaf, a lane for each child of a node.

use super::scale::Storage;
use crate::blocks::{FANOUT, FANOUT_BITS};
use crate::device::warp::{ALL, lane_id, warp_shuffle_idx, warp_shuffle_up, warp_vote_ballot};

/// What a search finds; the same in all lanes of the half.
#[derive(Clone, Copy)]
pub(super) struct Found {
    pub(super) leaf: u32,
    /// The leaf in fixed point, at the shown scale.
    pub(super) weight: u64,
}

/// The leaf that holds `threshold`, at the shown scale: the i with `prefix[i - 1] <= threshold < prefix[i]`. Some leaf, where the threshold isn't
/// below the total. Both halves of a warp search at the same time, each with its own threshold.
///
/// # Safety
/// All lanes of the warp come here, with the same tree; its leaves and nodes are as the module says, and don't change.
#[inline(always)]
pub(super) unsafe fn descend(
    leaves: *const f32,
    nodes: *const u64,
    capacity: u32,
    storage: Storage,
    threshold: u64,
) -> Found {
    let blocks = capacity.div_ceil(FANOUT);
    // The top level: its first node, and its number.
    let (mut start, mut level) = (0, 0);
    let mut width = blocks.div_ceil(FANOUT);
    while width > 1 {
        start += width;
        level += 1;
        width = width.div_ceil(FANOUT);
    }
    let child = lane_id() % FANOUT;
    let (mut at, mut rest) = (0, storage.hide(threshold));
    loop {
        // SAFETY: a child that is chosen has a sum above zero (or is the first one, which there always is), and so exists.
        let part = unsafe { *nodes.add(((start + at) * FANOUT + child) as usize) };
        // SAFETY: the caller's.
        let (chosen, _, left) = unsafe { step(part, rest) };
        at = at * FANOUT + chosen;
        rest = left;
        if level == 0 {
            break;
        }
        // Nodes of the level below: ceil(blocks / 16^level).
        let shift = FANOUT_BITS * level;
        start -= (blocks + (1 << shift) - 1) >> shift;
        level -= 1;
    }
    // SAFETY: as above.
    let part = storage.stored().quantize(unsafe { *leaves.add((at * FANOUT + child) as usize) });
    // SAFETY: the caller's.
    let (chosen, weight, _) = unsafe { step(part, rest) };
    Found { leaf: at * FANOUT + chosen, weight: storage.reveal(weight) }
}

/// Each of 16 lanes has a part: the first whose running sum is above `rest`, that part, and `rest` less the sums before it.
///
/// # Safety
/// All lanes of the warp come here.
#[inline(always)]
unsafe fn step(part: u64, rest: u64) -> (u32, u64, u64) {
    let lane = lane_id();
    let mut running = part;
    let mut delta = 1;
    while delta < FANOUT {
        // SAFETY: the caller's.
        let below = unsafe { warp_shuffle_up(ALL, running, delta, FANOUT) };
        running += if lane % FANOUT >= delta { below } else { 0 };
        delta *= 2;
    }
    // SAFETY: the caller's.
    let passed = unsafe { warp_vote_ballot(ALL, running <= rest) };
    let passed = (passed >> (lane & FANOUT)) & 0xffff;
    // All 16, where the threshold isn't below the total: then the first one.
    let chosen = passed.count_ones() % FANOUT;
    // SAFETY: the caller's.
    let (through, part) =
        unsafe { (warp_shuffle_idx(ALL, running, chosen, FANOUT), warp_shuffle_idx(ALL, part, chosen, FANOUT)) };
    (chosen, part, rest - (through - part).min(rest))
}
