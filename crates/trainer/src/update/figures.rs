//! Means over the minibatches of an update.

use arith::sum::sum;

use crate::loss::Statistics;
use crate::metrics::Metrics;

/// Figures of the minibatches so far, one element each.
pub(super) struct Figures {
    first: Statistics,
    policy_loss: Vec<f32>,
    value_loss: Vec<f32>,
    entropy: Vec<f32>,
    approx_kl: Vec<f32>,
    clip_fraction: Vec<f32>,
    grad_norm: Vec<f32>,
}

impl Figures {
    /// Room for `minibatches` of them.
    pub(super) fn new(minibatches: usize) -> Self {
        let room = || Vec::with_capacity(minibatches);
        Self {
            first: Statistics::default(),
            policy_loss: room(),
            value_loss: room(),
            entropy: room(),
            approx_kl: room(),
            clip_fraction: room(),
            grad_norm: room(),
        }
    }

    pub(super) fn clear(&mut self) {
        let Self { policy_loss, value_loss, entropy, approx_kl, clip_fraction, grad_norm, .. } = self;
        for column in [policy_loss, value_loss, entropy, approx_kl, clip_fraction, grad_norm] {
            column.clear();
        }
    }

    pub(super) fn add(&mut self, one: &Statistics) {
        if self.policy_loss.is_empty() {
            self.first = *one;
        }
        self.policy_loss.push(one.policy_loss);
        self.value_loss.push(one.value_loss);
        self.entropy.push(one.entropy);
        self.approx_kl.push(one.approx_kl);
        self.clip_fraction.push(one.clip_fraction);
    }

    pub(super) fn add_norm(&mut self, norm: f32) {
        self.grad_norm.push(norm);
    }

    /// Their means, in contract order.
    pub(super) fn metrics(&self) -> Metrics {
        let mean = |column: &[f32]| sum(column) / column.len() as f32;
        Metrics {
            policy_loss: mean(&self.policy_loss),
            value_loss: mean(&self.value_loss),
            entropy: mean(&self.entropy),
            approx_kl: mean(&self.approx_kl),
            clip_fraction: mean(&self.clip_fraction),
            grad_norm: mean(&self.grad_norm),
            first_ratio: [self.first.min_ratio, self.first.max_ratio],
            first_kl: self.first.approx_kl,
            ..Metrics::default()
        }
    }
}
