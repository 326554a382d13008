//! Log-softmax of a tile of rows, one row per SIMD lane.
//!
//! The only place where a policy's probabilities are computed: rollouts and training share it, so that log-probabilities
//! of equal logits are equal bits.

use super::categorical::Logits;
use super::softmax;

/// Rows that are worked on together.
pub(super) const LANES: usize = 16;

/// One number per row of the tile.
pub(super) type Lane = [f32; LANES];

/// `CAP` is the largest number of actions. Lanes beyond the tile's rows repeat its last row.
pub(super) struct Tile<const CAP: usize> {
    /// Number of rows, from 1 to `LANES`.
    pub(super) rows: usize,
    /// `z_a - max z`, -inf where masked.
    pub(super) shifted: [Lane; CAP],
    /// `exp(shifted)`.
    pub(super) exps: [Lane; CAP],
    /// `ln(sum exps)`.
    pub(super) log_sum: Lane,
    /// `1 / sum exps`.
    pub(super) inverse: Lane,
    sum: ActionSum,
}

impl<const CAP: usize> Tile<CAP> {
    #[inline(always)]
    pub(super) fn new() -> Self {
        Self {
            rows: 0,
            shifted: [[0.0; LANES]; CAP],
            exps: [[0.0; LANES]; CAP],
            log_sum: [0.0; LANES],
            inverse: [0.0; LANES],
            sum: ActionSum { partial: [[0.0; LANES]; 32] },
        }
    }

    /// Loads rows `first..` and computes their log-softmax. `first` must be a row.
    #[inline(always)]
    pub(super) fn load(&mut self, logits: &Logits<'_>, first: usize) {
        let actions = logits.actions();
        self.rows = (logits.rows() - first).min(LANES);
        let mut largest = [f32::NEG_INFINITY; LANES];
        for lane in 0..LANES {
            let row = first + lane.min(self.rows - 1);
            let z = logits.row(row);
            for (shifted, &z) in self.shifted[..actions].iter_mut().zip(z) {
                shifted[lane] = z;
            }
            if let Some(legal) = logits.legal_row(row) {
                for (shifted, &legal) in self.shifted[..actions].iter_mut().zip(legal) {
                    shifted[lane] = if legal { shifted[lane] } else { f32::NEG_INFINITY };
                }
            }
        }
        for z in &self.shifted[..actions] {
            lanes_only();
            for lane in 0..LANES {
                largest[lane] = softmax::larger(z[lane], largest[lane]);
            }
        }
        for (a, (z, e)) in self.shifted[..actions].iter_mut().zip(&mut self.exps).enumerate() {
            lanes_only();
            let partial = self.sum.lanes(a);
            for lane in 0..LANES {
                z[lane] -= largest[lane];
                e[lane] = arith::exp(z[lane]);
                partial[lane] += e[lane];
            }
        }
        let sum = self.sum.finish(actions);
        for lane in 0..LANES {
            self.log_sum[lane] = arith::ln(sum[lane]);
            self.inverse[lane] = 1.0 / sum[lane];
        }
    }

    /// `ln p_a`; -inf where masked.
    #[inline(always)]
    pub(super) fn log_prob(&self, action: usize, lane: usize) -> f32 {
        softmax::log_prob(self.shifted[action][lane], self.log_sum[lane])
    }

    /// `p_a`.
    #[inline(always)]
    pub(super) fn prob(&self, action: usize, lane: usize) -> f32 {
        softmax::prob(self.exps[action][lane], self.inverse[lane])
    }

    /// Log-probability of each row's action; NaN where there is no such action.
    #[inline(always)]
    pub(super) fn log_prob_of(&self, actions: usize, chosen: &[u32; LANES]) -> Lane {
        let mut out = [f32::NAN; LANES];
        for (a, z) in (0_u32..).zip(&self.shifted[..actions]) {
            lanes_only();
            for lane in 0..LANES {
                let log_prob = softmax::log_prob(z[lane], self.log_sum[lane]);
                out[lane] = if chosen[lane] == a { log_prob } else { out[lane] };
            }
        }
        out
    }

    /// `-sum p ln p`, in nats; an action without probability adds 0.
    #[inline(always)]
    pub(super) fn entropy(&mut self, actions: usize) -> Lane {
        for a in 0..actions {
            lanes_only();
            let partial = self.sum.lanes(a);
            for lane in 0..LANES {
                let p = softmax::prob(self.exps[a][lane], self.inverse[lane]);
                partial[lane] += softmax::entropy_term(p, softmax::log_prob(self.shifted[a][lane], self.log_sum[lane]));
            }
        }
        self.sum.finish(actions)
    }
}

/// A sum over up to 1024 actions in the contract's order, for each lane.
struct ActionSum {
    partial: [Lane; 32],
}

impl ActionSum {
    /// What action `a` is to be added to, after all actions before it: +0 for the first 32 actions.
    #[inline(always)]
    fn lanes(&mut self, a: usize) -> &mut Lane {
        let lanes = &mut self.partial[a % 32];
        if a < 32 {
            *lanes = [0.0; LANES];
        }
        lanes
    }

    /// Joins the partial sums. Those from the number of actions on are +0, and adding that changes nothing (none is
    /// -0), so the tree is as narrow as the actions allow.
    #[inline(always)]
    fn finish(&mut self, actions: usize) -> Lane {
        let partial = &mut self.partial;
        let mut width = if actions < 32 { actions.next_power_of_two() } else { 32 };
        for a in actions..width {
            partial[a] = [0.0; LANES];
        }
        while width > 1 {
            width /= 2;
            for i in 0..width {
                lanes_only();
                for lane in 0..LANES {
                    partial[i][lane] = partial[2 * i][lane] + partial[2 * i + 1][lane];
                }
            }
        }
        partial[0]
    }
}

/// Writes the tile's rows, the first `out.len()` lanes.
#[inline(always)]
pub(super) fn store<T: Copy>(out: &mut [T], lanes: &[T; LANES]) {
    match out.first_chunk_mut() {
        Some(whole) => *whole = *lanes,
        None => out.copy_from_slice(&lanes[..out.len()]),
    }
}

/// Keeps LLVM from vectorizing the loop it is in, which is over actions, instead of the loop over lanes within; it costs
/// no instruction.
#[inline(always)]
pub(super) fn lanes_only() {
    std::sync::atomic::compiler_fence(std::sync::atomic::Ordering::SeqCst);
}
