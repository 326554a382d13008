//! Categorical policies by warps: a row each, whose lanes are those of the contract's sums. The formulas are the source of
//! crate `trainer`.

#[path = "../../crates/trainer/src/loss/softmax.rs"]
#[allow(dead_code, reason = "a draw needs others than a loss")]
pub mod softmax;

use crate::device::warp::{ALL, LANES, lane_id, warp_shuffle_idx, warp_shuffle_xor};
use crate::join::join;

/// Calls `f` for the lane's elements of n: number `lane`, `lane + 32`, ...
#[inline(always)]
pub fn for_each_of_lane(n: u32, mut f: impl FnMut(u32)) {
    let mut i = lane_id();
    while i < n {
        f(i);
        i += LANES;
    }
}

/// The largest of the logits (up to 1,024), in all lanes; NaNs don't count.
///
/// # Safety
/// All lanes of the warp come here.
#[inline(always)]
pub unsafe fn largest(count: u32, logit: impl Fn(u32) -> f32) -> f32 {
    let mut largest = f32::NEG_INFINITY;
    for_each_of_lane(count, |action| largest = softmax::larger(logit(action), largest));
    let mut step = 1;
    while step < LANES {
        // It doesn't matter which of +0 and -0 it is: both leave 0, whose exponential is 1.
        // SAFETY: the caller's.
        largest = softmax::larger(unsafe { warp_shuffle_xor(ALL, largest, step, LANES) }, largest);
        step *= 2;
    }
    largest
}

/// The sum of a term for each action (up to 1,024) in the contract's order, in all lanes.
///
/// # Safety
/// All lanes of the warp come here.
#[inline(always)]
pub unsafe fn sum(count: u32, mut term: impl FnMut(u32) -> f32) -> f32 {
    let mut sum = 0.0;
    for_each_of_lane(count, |action| sum += term(action));
    // SAFETY: the caller's.
    unsafe { warp_shuffle_idx(ALL, join(sum, lane_id(), LANES), 0, LANES) }
}
