//! Means over the minibatches of an update.

use crate::loss::Statistics;
use crate::metrics::Metrics;

/// Sums so far, in order of the minibatches.
#[derive(Default)]
pub(super) struct Sums {
    minibatches: u32,
    first: Statistics,
    total: Statistics,
    grad_norm: f32,
}

impl Sums {
    pub(super) fn add(&mut self, one: &Statistics) {
        if self.minibatches == 0 {
            self.first = *one;
        }
        self.minibatches += 1;
        self.total.policy_loss += one.policy_loss;
        self.total.value_loss += one.value_loss;
        self.total.entropy += one.entropy;
        self.total.approx_kl += one.approx_kl;
        self.total.clip_fraction += one.clip_fraction;
    }

    pub(super) fn add_norm(&mut self, norm: f32) {
        self.grad_norm += norm;
    }

    pub(super) fn metrics(&self) -> Metrics {
        let count = self.minibatches as f32;
        Metrics {
            policy_loss: self.total.policy_loss / count,
            value_loss: self.total.value_loss / count,
            entropy: self.total.entropy / count,
            approx_kl: self.total.approx_kl / count,
            clip_fraction: self.total.clip_fraction / count,
            grad_norm: self.grad_norm / count,
            first_ratio: [self.first.min_ratio, self.first.max_ratio],
            first_kl: self.first.approx_kl,
            ..Metrics::default()
        }
    }
}
