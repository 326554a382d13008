//! An update of the Q network from a batch of transitions.
//!
//! Mnih et al. 2015 (the target network), van Hasselt et al. 2016 (double DQN), Schaul et al. 2016 (importance weights):
//!
//! ```text
//! a*    = argmax_a q(s', a)                       double DQN; else argmax_a q_target(s', a)
//! delta = R + D q_target(s', a*) - q(s, a)        the TD error; R and D as the replay gives them
//! loss  = 1/B sum w huber(delta)                  huber(d) = d^2 / 2 where |d| <= k, else k (|d| - k / 2)
//! ```

use std::ops::Range;

use anyhow::{Result, ensure};
use linalg::Par;
use trainer::optim::{self, Adam, AdamConfig};

use crate::network::{Activations, Network};
use crate::options::Options;
use crate::streams;

/// A batch of B transitions.
#[derive(Clone, Copy)]
pub(crate) struct Sample<'a> {
    /// s, (B, observation).
    pub(crate) observations: &'a [f32],
    /// a, (B).
    pub(crate) actions: &'a [i32],
    /// R: rewards up to s', (B).
    pub(crate) returns: &'a [f32],
    /// D: what the value of s' counts, 0 where the episode terminated, (B).
    pub(crate) discounts: &'a [f32],
    /// s', (B, observation).
    pub(crate) next_observations: &'a [f32],
    /// w, importance weights, (B).
    pub(crate) weights: &'a [f32],
}

/// What an update tells.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Figures {
    /// The loss before the update.
    pub(crate) loss: f32,
    /// The gradient's norm before clipping.
    pub(crate) grad_norm: f32,
}

/// Both networks, the optimizer, and the buffers of an update.
pub(crate) struct Learner {
    pub(crate) online: Network,
    target: Network,
    adam: Adam,
    names: Vec<(String, Range<usize>)>,
    gradient: Vec<f32>,
    actions: usize,
    /// s, then s': (2 B, observation), as the online network sees both.
    states: Vec<f32>,
    online_pass: Activations,
    target_pass: Activations,
    td_errors: Vec<f32>,
    losses: Vec<f32>,
    updates: u64,
    double: bool,
    /// k.
    huber: f32,
    max_grad_norm: f32,
    target_interval: u64,
    target_rate: f32,
}

impl Learner {
    pub(crate) fn new(options: &Options, observation: usize, actions: usize, par: Par) -> Result<Self> {
        let sizes: Vec<usize> = [&[observation], options.hidden.as_slice(), &[actions]].concat();
        let online = Network::new(&sizes, streams::of(options.seed, streams::Use::Initialize, 0), par)?;
        let (len, batch) = (online.parameters().len(), options.batch);
        Ok(Self {
            target: online.clone(),
            adam: Adam::new(len, AdamConfig::default())?,
            names: online.names(),
            gradient: vec![0.0; len],
            actions,
            states: vec![0.0; 2 * batch * observation],
            online_pass: online.activations(2 * batch),
            target_pass: online.activations(batch),
            td_errors: vec![0.0; batch],
            losses: vec![0.0; batch],
            updates: 0,
            double: options.double,
            huber: options.huber,
            max_grad_norm: options.max_grad_norm,
            target_interval: options.target_interval,
            target_rate: options.target_rate,
            online,
        })
    }

    /// Updates made.
    pub(crate) fn updates(&self) -> u64 {
        self.updates
    }

    /// The TD errors of the last update's batch, as they were before it: the next priorities.
    pub(crate) fn td_errors(&self) -> &[f32] {
        &self.td_errors
    }

    /// One update with learning rate `rate`.
    pub(crate) fn update(&mut self, sample: &Sample<'_>, rate: f32) -> Result<Figures> {
        let loss = self.differentiate(sample)?;
        let Self { online, adam, names, gradient, max_grad_norm, .. } = self;
        let grad_norm = online.change(|p| optim::step(adam, rate, *max_grad_norm, names, gradient, p))??;
        self.updates += 1;
        if self.updates.is_multiple_of(self.target_interval) {
            self.target.follow(&self.online, self.target_rate)?;
        }
        Ok(Figures { loss, grad_norm })
    }

    /// The loss; its gradient goes to `self.gradient`.
    pub(crate) fn differentiate(&mut self, sample: &Sample<'_>) -> Result<f32> {
        let (batch, half) = (self.td_errors.len(), self.states.len() / 2);
        ensure!(
            [sample.actions.len(), sample.returns.len(), sample.discounts.len(), sample.weights.len()] == [batch; 4]
                && [sample.observations.len(), sample.next_observations.len()] == [half; 2],
            "the sample doesn't have the {batch} transitions that the learner was made for"
        );
        self.states[..half].copy_from_slice(sample.observations);
        self.states[half..].copy_from_slice(sample.next_observations);
        // One pass for both; only double DQN asks for the second half.
        let rows = if self.double { 2 * batch } else { batch };
        let choice_from = self.online.forward(&self.states, rows, &mut self.online_pass)?;
        let q_next = self.target.forward(&self.states[half..], batch, &mut self.target_pass)?;
        let actions = self.actions;
        let choices = if self.double { &choice_from[batch * actions..] } else { q_next };
        let rows = choices.chunks_exact(actions).zip(q_next.chunks_exact(actions));
        for (j, (delta, (choice, value))) in self.td_errors.iter_mut().zip(rows).enumerate() {
            // The target; q(s, a) is taken off below.
            *delta = arith::fma(sample.discounts[j], value[argmax(choice)], sample.returns[j]);
        }
        let (d_q, q) = self.online_pass.q_gradient(batch);
        d_q.fill(0.0);
        let (k, share) = (self.huber, 1.0 / batch as f32);
        for (j, (delta, loss)) in self.td_errors.iter_mut().zip(&mut self.losses).enumerate() {
            let action = usize::try_from(sample.actions[j]).ok().filter(|&a| a < actions);
            let Some(action) = action else { anyhow::bail!("action {} of transition {j}", sample.actions[j]) };
            let at = j * actions + action;
            *delta -= q[at];
            let size = delta.abs();
            let weight = sample.weights[j] * share;
            *loss = weight * if size <= k { 0.5 * size * size } else { k * (size - 0.5 * k) };
            d_q[at] = -weight * delta.clamp(-k, k);
        }
        self.online.backward(&self.states, batch, &mut self.online_pass, &mut self.gradient)?;
        Ok(arith::sum::sum(&self.losses))
    }

    /// The last gradient.
    #[allow(dead_code)] // The test of it asks.
    pub(crate) fn gradient(&self) -> &[f32] {
        &self.gradient
    }
}

/// The action of the largest value, the first one of equals.
pub(crate) fn argmax(values: &[f32]) -> usize {
    let mut best = 0;
    for (action, &value) in values.iter().enumerate() {
        if value > values[best] {
            best = action;
        }
    }
    best
}
