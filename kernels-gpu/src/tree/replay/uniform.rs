//! The items of a replay in the order of their slots, where all are equally likely.

use super::window::Window;
use crate::blocks::FANOUT;
use crate::device::warp::{ALL, lane_id, warp_vote_ballot};

/// Leaves that half a warp looks at before it votes.
const AT_ONCE: u32 = 8;

/// The slot of item number `rank`, of `present` items, in the order of the slots. Where some were removed, half a warp looks
/// through all of them.
///
/// # Safety
/// All lanes of the warp come here; `rank` is the same in all lanes of a half and below `present`. `raw` holds the ring's
/// capacity.
#[inline(always)]
pub(super) unsafe fn slot_of_rank(raw: *const f32, window: &Window, present: u32, rank: u32) -> u32 {
    let capacity = window.capacity as u32;
    if u64::from(present) == window.next.min(u64::from(capacity)) {
        // None was removed. Filled from slot 0 on.
        return rank;
    }
    let (lane, child) = (lane_id(), lane_id() % FANOUT);
    let (mut first, mut before, mut found) = (0_u32, 0, None);
    // SAFETY: all lanes come here.
    while unsafe { warp_vote_ballot(ALL, found.is_none() && first < capacity) } != 0 {
        let there = |k: u32| {
            let slot = first + k * FANOUT + child;
            // SAFETY: below the capacity.
            slot < capacity && unsafe { *raw.add(slot as usize) } >= 0.0
        };
        let there = unrolled!([0 1 2 3 4 5 6 7] |k| there(k));
        for k in 0..AT_ONCE {
            // SAFETY: all lanes come here.
            let items = unsafe { warp_vote_ballot(ALL, there[k as usize]) } >> (lane & FANOUT) & 0xffff;
            let count = items.count_ones();
            if found.is_none() && rank < before + count {
                found = Some(first + k * FANOUT + bit(items, rank - before));
            }
            before += count;
        }
        first += AT_ONCE * FANOUT;
    }
    found.unwrap_or(super::super::NOTHING)
}

/// Which bit of `bits` is set as number `rank`.
#[inline(always)]
fn bit(mut bits: u32, rank: u32) -> u32 {
    for _ in 0..rank {
        bits &= bits - 1;
    }
    bits.trailing_zeros()
}
