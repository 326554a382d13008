//! How the lanes of a sum join in the contract's order.

use crate::device::warp::{ALL, LANES, warp_shuffle_down};

/// Joins the first `count` of the warp's values by the tree of adjacent pairs, an odd one out moving up unchanged. The
/// result is lane 0's; without values it is lane 0's own.
///
/// # Safety
/// All lanes of the warp come here.
#[inline(always)]
pub unsafe fn join(mut value: f32, lane: u32, count: u32) -> f32 {
    let mut step = 1;
    while step < LANES {
        // SAFETY: the caller's.
        let right = unsafe { warp_shuffle_down(ALL, value, step, LANES) };
        // Only lanes that are multiples of 2 * step matter from here on.
        if lane + step < count {
            value += right;
        }
        step *= 2;
    }
    value
}
