//! The search: half a warp takes a threshold from the root to a leaf, a lane for each child of a node.

use super::scale::Storage;
use crate::blocks::{FANOUT, child as child_of, nodes_below, step, top};
use crate::device::warp::lane_id;

/// What a search finds; the same in all lanes of the half.
#[derive(Clone, Copy)]
pub(super) struct Found {
    pub(super) leaf: u32,
    /// The leaf in fixed point, at the shown scale.
    pub(super) weight: u64,
    /// Sum of all leaves before it, at the shown scale.
    pub(super) before: u64,
}

/// The leaf that holds `threshold`, at the shown scale: the i with `prefix[i - 1] <= threshold < prefix[i]`. Some leaf, where
/// the threshold isn't below the total. Both halves of a warp search at the same time, each with its own threshold.
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
    let (mut start, mut level) = top(blocks);
    let child = lane_id() % FANOUT;
    let hidden = storage.hide(threshold);
    let (mut at, mut rest) = (0, hidden);
    loop {
        // SAFETY: a child that is chosen has a sum above zero (or is the first one, which there always is), and so exists.
        let part = unsafe { *nodes.add(((start + at) * FANOUT + child) as usize) };
        // SAFETY: the caller's.
        let (chosen, _, left) = unsafe { step(part, rest) };
        at = child_of(blocks, level, at, chosen);
        rest = left;
        if level == 0 {
            break;
        }
        start -= nodes_below(blocks, level);
        level -= 1;
    }
    // SAFETY: as above.
    let part = storage.stored().quantize(unsafe { *leaves.add((at * FANOUT + child) as usize) });
    // SAFETY: the caller's.
    let (chosen, weight, rest) = unsafe { step(part, rest) };
    Found {
        leaf: (at * FANOUT + chosen).min(capacity - 1),
        weight: storage.reveal(weight),
        before: storage.reveal(hidden.wrapping_sub(rest)),
    }
}
