//! Log-softmax of a tile of rows, one row per SIMD lane.
//!
//! The only place where a policy's probabilities are computed: rollouts and training share it, so that log-probabilities
//! of equal logits are equal bits.

use super::categorical::Logits;

/// Rows that are worked on together.
pub(super) const LANES: usize = 32;

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
            for lane in 0..LANES {
                largest[lane] = if z[lane] > largest[lane] { z[lane] } else { largest[lane] };
            }
        }
        for (z, e) in self.shifted[..actions].iter_mut().zip(&mut self.exps) {
            for lane in 0..LANES {
                z[lane] -= largest[lane];
                e[lane] = arith::exp(z[lane]);
            }
        }
        let exps = &self.exps;
        let sum = sum_actions(actions, |a, lane| exps[a][lane]);
        for lane in 0..LANES {
            self.log_sum[lane] = arith::ln(sum[lane]);
            self.inverse[lane] = 1.0 / sum[lane];
        }
    }

    /// `ln p_a`; -inf where masked.
    #[inline(always)]
    pub(super) fn log_prob(&self, action: usize, lane: usize) -> f32 {
        self.shifted[action][lane] - self.log_sum[lane]
    }

    /// `p_a`.
    #[inline(always)]
    pub(super) fn prob(&self, action: usize, lane: usize) -> f32 {
        self.exps[action][lane] * self.inverse[lane]
    }

    /// Log-probability of each row's action; NaN where there is no such action.
    #[inline(always)]
    pub(super) fn log_prob_of(&self, actions: usize, chosen: &[u32; LANES]) -> Lane {
        let mut out = [f32::NAN; LANES];
        for (a, z) in (0_u32..).zip(&self.shifted[..actions]) {
            for lane in 0..LANES {
                let log_prob = z[lane] - self.log_sum[lane];
                out[lane] = if chosen[lane] == a { log_prob } else { out[lane] };
            }
        }
        out
    }

    /// `-sum p ln p`, in nats; an action without probability adds 0.
    #[inline(always)]
    pub(super) fn entropy(&self, actions: usize) -> Lane {
        sum_actions(actions, |a, lane| {
            let p = self.prob(a, lane);
            let term = -(p * self.log_prob(a, lane));
            if p == 0.0 { 0.0 } else { term }
        })
    }
}

/// `sum_a f(a, lane)` in the contract's order, for up to 1024 actions.
#[inline(always)]
fn sum_actions(actions: usize, f: impl Fn(usize, usize) -> f32) -> Lane {
    let mut partial = [[0.0_f32; LANES]; 32];
    for a in 0..actions {
        for lane in 0..LANES {
            partial[a % 32][lane] += f(a, lane);
        }
    }
    // Partial sums from `actions` on are +0, and adding that changes nothing: none is -0.
    let mut width = actions.min(32).next_power_of_two();
    while width > 1 {
        width /= 2;
        for i in 0..width {
            for lane in 0..LANES {
                partial[i][lane] = partial[2 * i][lane] + partial[2 * i + 1][lane];
            }
        }
    }
    partial[0]
}
