//! Draws from a categorical policy, by a warp for one row: `Logits::sample` of crate `trainer`.

use crate::categorical::{for_each_of_lane, largest, softmax, sum};
use crate::device::shared::SharedArray;
use crate::device::warp::{ALL, LANES, lane_id, warp_shuffle_idx, warp_shuffle_up, warp_shuffle_xor, warp_vote_ballot};

/// Whether the first n elements are finite.
///
/// # Safety
/// All lanes come here; there are so many elements, which aren't written now.
#[inline(always)]
pub(super) unsafe fn all_finite(x: SharedArray<f32>, n: u32) -> bool {
    let mut finite = true;
    // SAFETY: the caller's.
    for_each_of_lane(n, |i| finite &= unsafe { x.read(i) }.is_finite());
    // SAFETY: the caller's.
    unsafe { warp_vote_ballot(ALL, finite) == ALL }
}

/// Action and log-probability that `word` draws from `count` finite logits. `weights` has room for a number for each action.
///
/// # Safety
/// All lanes come here, and the warp alone has `logits` and `weights`.
#[inline(always)]
pub(super) unsafe fn draw(logits: SharedArray<f32>, weights: SharedArray<f32>, count: u32, word: u32) -> (u32, f32) {
    let scale = softmax::scale(count as usize);
    let mut total = 0_u32;
    // SAFETY: the caller's; a lane reads only weights that it wrote.
    unsafe {
        let largest = largest(count, |action| logits.read(action));
        let sum = sum(count, |action| {
            let exp = arith::exp(logits.read(action) - largest);
            let weight = softmax::weight(exp * scale);
            total += weight;
            weights.write(action, f32::from_bits(weight));
            exp
        });
        let mut step = 1;
        while step < LANES {
            total += warp_shuffle_xor(ALL, total, step, LANES);
            step *= 2;
        }
        let action = count_up_to(softmax::threshold(word, total), weights, count);
        (action, softmax::log_prob(logits.read(action) - largest, arith::ln(sum)))
    }
}

/// How many running totals of the weights don't exceed `threshold`.
///
/// # Safety
/// As [`draw`].
#[inline(always)]
unsafe fn count_up_to(threshold: u32, weights: SharedArray<f32>, count: u32) -> u32 {
    let (lane, mut before, mut chosen, mut first) = (lane_id(), 0, 0, 0);
    while first < count {
        let there = first + lane < count;
        // SAFETY: the caller's; this lane wrote it.
        let mut running = if there { unsafe { weights.read(first + lane) }.to_bits() } else { 0 };
        let mut step = 1;
        while step < LANES {
            // SAFETY: all lanes come here.
            let left = unsafe { warp_shuffle_up(ALL, running, step, LANES) };
            running += if lane >= step { left } else { 0 };
            step *= 2;
        }
        running += before;
        // SAFETY: all lanes come here.
        chosen += unsafe { warp_vote_ballot(ALL, there && running <= threshold) }.count_ones();
        // SAFETY: all lanes come here.
        before = unsafe { warp_shuffle_idx(ALL, running, LANES - 1, LANES) };
        first += LANES;
    }
    chosen
}
