//! The search: half a warp takes a threshold from the root to a weight, a lane for each child of a node.

use super::{Head, NOTHING};
#[cfg(feature = "resample")]
use crate::blocks::running;
use crate::blocks::{FANOUT, child as child_of, nodes_below, step, top};
use crate::device::thread::index_1d;
use crate::device::warp::{ALL, lane_id, warp_shuffle_idx, warp_vote_ballot};
use arith::fixed::Scale;

/// A CDF that is built, or not.
#[derive(Clone, Copy)]
pub(crate) struct Cdf {
    weights: *const f32,
    nodes: *const u64,
    n: u32,
    scale: Scale,
    total: u64,
}

impl Cdf {
    /// # Safety
    /// The CDF is as the module says, and doesn't change.
    #[inline(always)]
    pub(crate) unsafe fn new(weights: *const f32, nodes: *const u64, head: *const Head, n: u32) -> Self {
        // The CDF may be of another number of weights: after a capture, as long as the graph wasn't launched.
        // SAFETY: the caller's.
        let (largest, total) = unsafe {
            let built = (*head).ready != 0 && (*head).n == n;
            ((*head).largest, if built { (*head).total } else { 0 })
        };
        match Scale::new(largest, n as usize) {
            Ok(scale) => Self { weights, nodes, n, scale, total },
            Err(_) => Self { weights, nodes, n, scale: Scale::below(1, n), total: 0 },
        }
    }

    /// Number of weights.
    #[cfg(feature = "resample")]
    #[inline(always)]
    pub(crate) fn len(self) -> u32 {
        self.n
    }

    /// Sum of all weights; 0 too where it isn't built.
    #[inline(always)]
    pub(crate) fn total(self) -> u64 {
        self.total
    }

    /// Weight i in fixed point; 0 past the last one.
    ///
    /// # Safety
    /// As [`new`](Self::new).
    #[cfg(feature = "resample")]
    #[inline(always)]
    pub(crate) unsafe fn weight(self, i: u32) -> u64 {
        // SAFETY: below n.
        self.scale.quantize(if i < self.n { unsafe { *self.weights.add(i as usize) } } else { 0.0 })
    }

    /// Sum of the weights before number `first`, a multiple of 16 below n.
    ///
    /// # Safety
    /// There is such a weight, and the CDF is built.
    #[cfg(feature = "resample")]
    #[inline(always)]
    pub(crate) unsafe fn before(self, first: u32) -> u64 {
        // SAFETY: the element of level 0.
        unsafe { *self.nodes.add((first / FANOUT) as usize) }
    }

    /// Sum of the weights up to and with number `first + lane`; that of all past the last one.
    ///
    /// # Safety
    /// All lanes of the warp come here, with the same `first`, a multiple of 32; the CDF is built.
    #[cfg(feature = "resample")]
    #[inline(always)]
    pub(crate) unsafe fn prefix(self, first: u32) -> u64 {
        let i = first + lane_id();
        // SAFETY: all lanes come here.
        let within = unsafe { running(self.weight(i)) };
        if i >= self.n {
            return self.total;
        }
        // SAFETY: there is such a weight.
        within + unsafe { self.before(i) }
    }

    /// The item that holds `threshold`: the i with `prefix[i - 1] <= threshold < prefix[i]`. Some item, where the threshold
    /// isn't below the total. Both halves of a warp search at the same time, each with its own threshold.
    ///
    /// # Safety
    /// All lanes of the warp come here, and the total isn't 0.
    #[inline(always)]
    pub(crate) unsafe fn find(self, threshold: u64) -> u32 {
        let blocks = self.n.div_ceil(FANOUT);
        let (mut start, mut level) = top(blocks);
        let (lane, child) = (lane_id(), lane_id() % FANOUT);
        let mut at = 0;
        let before = loop {
            // SAFETY: a key that is at most a threshold belongs to a block that there is, and so does the first one.
            let key = unsafe { *self.nodes.add(((start + at) * FANOUT + child) as usize) };
            // SAFETY: all lanes come here.
            let passed = unsafe { warp_vote_ballot(ALL, key <= threshold) };
            // The keys ascend from one that is at most any threshold.
            let chosen = ((passed >> (lane & FANOUT)) & 0xffff).count_ones().max(1) - 1;
            at = child_of(blocks, level, at, chosen);
            if level == 0 {
                // SAFETY: as above.
                break unsafe { warp_shuffle_idx(ALL, key, chosen, FANOUT) };
            }
            start -= nodes_below(blocks, level);
            level -= 1;
        };
        let i = at * FANOUT + child;
        // SAFETY: below n.
        let weight = if i < self.n { unsafe { *self.weights.add(i as usize) } } else { 0.0 };
        // SAFETY: as above.
        let (chosen, ..) = unsafe { step(self.scale.quantize(weight), threshold.wrapping_sub(before)) };
        (at * FANOUT + chosen).min(self.n - 1)
    }

    /// Makes draw number j of m, by half a warp: `out[j]` is the item that holds `threshold(j, total)`, which is below the
    /// total, or [`NOTHING`]. Whether there was something to draw.
    ///
    /// # Safety
    /// All threads come here, 16 for each draw; `out` holds m; `threshold` may be called for j < m.
    #[inline(always)]
    pub(crate) unsafe fn draw(self, out: *mut u32, m: u32, threshold: impl Fn(u32, u64) -> u64) -> bool {
        let j = (index_1d() / FANOUT as usize) as u32;
        let mut found = NOTHING;
        // The same for all threads.
        let any = self.total > 0;
        if any && m > 0 {
            // Halves without work make the last draw, since warps go together.
            let threshold = threshold(j.min(m - 1), self.total);
            // SAFETY: all lanes come here.
            found = unsafe { self.find(threshold) };
        }
        if j < m && lane_id().is_multiple_of(FANOUT) {
            // SAFETY: j < m, and no other half-warp has this j.
            unsafe { *out.add(j as usize) = found };
        }
        any
    }
}
