//! Draws from a categorical policy, by a warp for one row: `Logits::sample` of crate `trainer`.

use super::softmax;
use crate::device::shared::SharedArray;
use crate::device::warp::{ALL, LANES, lane_id, warp_shuffle_idx, warp_shuffle_up, warp_shuffle_xor, warp_vote_ballot};
use crate::join::join;

/// The lane's elements of n: number `lane`, `lane + 32`, ...
macro_rules! shared_by_lanes {
    ($i:ident < $n:expr; $body:block) => {
        let mut $i = lane_id();
        while $i < $n {
            $body
            $i += LANES;
        }
    };
}

/// Whether the first n elements are finite.
///
/// # Safety
/// All lanes come here; there are so many elements, which aren't written now.
#[inline(always)]
pub(super) unsafe fn all_finite(x: SharedArray<f32>, n: u32) -> bool {
    let mut finite = true;
    shared_by_lanes!(i < n; {
        // SAFETY: the caller's.
        finite &= unsafe { x.read(i) }.is_finite();
    });
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
    // The lanes of the warp are those of the sum.
    let (mut sum, mut total) = (0.0, 0_u32);
    // SAFETY: the caller's; a lane reads only weights that it wrote.
    unsafe {
        let largest = largest(logits, count);
        shared_by_lanes!(action < count; {
            let exp = arith::exp(logits.read(action) - largest);
            sum += exp;
            let weight = softmax::weight(exp * scale);
            total += weight;
            weights.write(action, f32::from_bits(weight));
        });
        let mut step = 1;
        while step < LANES {
            total += warp_shuffle_xor(ALL, total, step, LANES);
            step *= 2;
        }
        let log_sum = arith::ln(warp_shuffle_idx(ALL, join(sum, lane_id(), LANES), 0, LANES));
        let action = count_up_to(softmax::threshold(word, total), weights, count);
        (action, softmax::log_prob(logits.read(action) - largest, log_sum))
    }
}

/// The largest logit.
///
/// # Safety
/// As [`draw`].
#[inline(always)]
unsafe fn largest(logits: SharedArray<f32>, count: u32) -> f32 {
    let mut largest = f32::NEG_INFINITY;
    shared_by_lanes!(action < count; {
        // SAFETY: the caller's.
        largest = softmax::larger(unsafe { logits.read(action) }, largest);
    });
    let mut step = 1;
    while step < LANES {
        // Logits are finite, and it doesn't matter which of +0 and -0 it is: both leave 0, whose exponential is 1.
        // SAFETY: all lanes come here.
        largest = softmax::larger(unsafe { warp_shuffle_xor(ALL, largest, step, LANES) }, largest);
        step *= 2;
    }
    largest
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
