//! One minibatch: its rows, gathered from the rollout, and the activations and gradients over them.

use arith::simd::Isa;
use linalg::Par;

use crate::error::Error;
use crate::loss::{Logits, Ppo, PpoRows, TermRows, Terms, ppo_rows};
use crate::params::Layout;
use crate::policy::Packed;
use crate::rollout::Rollout;
use crate::tuning::BLOCK_ROWS;

/// Buffers for a minibatch of up to `capacity` rows; row = (segment, step).
pub(crate) struct Batch {
    segment_steps: usize,
    pub(crate) segments: usize,
    pub(crate) rows: usize,
    pub(crate) observation: usize,
    pub(crate) outputs: usize,
    pub(crate) width: usize,
    pub(crate) layers: usize,
    pub(crate) stride: [usize; 2],

    pub(crate) observations: Vec<f32>,
    pub(crate) keep: Vec<f32>,
    pub(crate) states: Vec<f32>,
    pub(crate) actions: Vec<u32>,
    pub(crate) old_log_probs: Vec<f32>,
    pub(crate) old_values: Vec<f32>,
    pub(crate) advantages: Vec<f32>,
    pub(crate) returns: Vec<f32>,
    pub(crate) weights: Vec<f32>,

    pub(crate) hidden: [Vec<f32>; 2],
    pub(crate) features: Vec<f32>,
    /// The stack's output; empty without a stack, where the features are decoded.
    pub(crate) h: Vec<f32>,
    pub(crate) h_last: Vec<f32>,
    pub(crate) output: Vec<f32>,

    pub(crate) d_output: Vec<f32>,
    pub(crate) d_h: Vec<f32>,
    pub(crate) d_h_last: Vec<f32>,
    pub(crate) d_states: Vec<f32>,
    pub(crate) d_features: Vec<f32>,
    pub(crate) d_hidden: [Vec<f32>; 2],
    /// What each row adds to the statistics.
    pub(crate) terms: Terms,
}

impl Batch {
    pub(crate) fn new(layout: &Layout, packed: &Packed, observation: usize, segments: usize, steps: usize) -> Self {
        let capacity = segments * steps;
        let stack = if layout.layers > 0 { capacity } else { 0 };
        let outputs = layout.actions + 1;
        let stride = packed.hidden.stride;
        let zeros = |n: usize| vec![0.0_f32; n];
        let state = || zeros(layout.layers * segments * layout.hidden);
        Self {
            segment_steps: steps,
            segments: 0,
            rows: 0,
            observation,
            outputs,
            width: layout.hidden,
            layers: layout.layers,
            stride,
            observations: zeros(capacity * observation),
            keep: zeros(capacity),
            states: state(),
            actions: vec![0; capacity],
            old_log_probs: zeros(capacity),
            old_values: zeros(capacity),
            advantages: zeros(capacity),
            returns: zeros(capacity),
            weights: zeros(capacity),
            hidden: stride.map(|n| zeros(capacity * n)),
            features: zeros(capacity * layout.hidden),
            h: zeros(stack * layout.hidden),
            h_last: state(),
            output: zeros(capacity * outputs),
            d_output: zeros(capacity * outputs),
            d_h: zeros(stack * layout.hidden),
            d_h_last: state(),
            d_states: state(),
            d_features: zeros(capacity * layout.hidden),
            d_hidden: stride.map(|n| zeros(capacity * n)),
            terms: Terms::new(capacity),
        }
    }

    /// Copies the rows of `segments` and their importance weights (by segment of the rollout).
    pub(crate) fn gather(&mut self, rollout: &Rollout, segments: &[u32], importance: &[f32]) {
        let (steps, d, h) = (self.segment_steps, self.observation, self.width);
        self.segments = segments.len();
        self.rows = segments.len() * steps;
        for (i, &segment) in segments.iter().enumerate() {
            let source = rollout.segment(segment as usize);
            let to = i * steps..(i + 1) * steps;
            self.observations[to.start * d..to.end * d].copy_from_slice(source.observations);
            self.actions[to.clone()].copy_from_slice(source.actions);
            self.old_log_probs[to.clone()].copy_from_slice(source.log_probs);
            self.old_values[to.clone()].copy_from_slice(source.values);
            self.advantages[to.clone()].copy_from_slice(source.advantages);
            self.returns[to.clone()].copy_from_slice(source.returns);
            self.weights[to.clone()].fill(importance[segment as usize]);
            if self.layers > 0 {
                self.keep[to].copy_from_slice(source.keep);
                // (S, L, H) -> (L, B, H)
                for (layer, state) in source.state.chunks_exact(h).enumerate() {
                    let at = (layer * segments.len() + i) * h;
                    self.states[at..at + h].copy_from_slice(state);
                }
            }
        }
    }

    /// The whole minibatch as one block of rows.
    pub(crate) fn block(&mut self) -> Block<'_> {
        let (rows, h) = (self.rows, self.width);
        let [hidden0, hidden1] = &mut self.hidden;
        let [d_hidden0, d_hidden1] = &mut self.d_hidden;
        let [stride0, stride1] = self.stride;
        let stack = if self.layers > 0 { rows } else { 0 };
        Block {
            first: 0,
            rows,
            shape: Columns { observation: self.observation, outputs: self.outputs, width: h, stride: self.stride },
            observations: &self.observations[..rows * self.observation],
            hidden: [&mut hidden0[..rows * stride0], &mut hidden1[..rows * stride1]],
            features: &mut self.features[..rows * h],
            h: &mut self.h[..stack * h],
            output: &mut self.output[..rows * self.outputs],
            d_output: &mut self.d_output[..rows * self.outputs],
            d_h: &mut self.d_h[..stack * h],
            d_features: &mut self.d_features[..rows * h],
            d_hidden: [&mut d_hidden0[..rows * stride0], &mut d_hidden1[..rows * stride1]],
            terms: self.terms.rows(rows),
            samples: Samples {
                actions: &self.actions[..rows],
                old_log_probs: &self.old_log_probs[..rows],
                old_values: &self.old_values[..rows],
                advantages: &self.advantages[..rows],
                returns: &self.returns[..rows],
                weights: &self.weights[..rows],
            },
        }
    }
}

/// Columns of a block's matrices.
#[derive(Clone, Copy)]
pub(crate) struct Columns {
    observation: usize,
    outputs: usize,
    width: usize,
    stride: [usize; 2],
}

/// A range of a minibatch's rows, small enough that its activations stay in the cache between the layers.
pub(crate) struct Block<'a> {
    /// First row within the minibatch.
    pub(crate) first: usize,
    pub(crate) rows: usize,
    shape: Columns,
    pub(crate) observations: &'a [f32],
    pub(crate) hidden: [&'a mut [f32]; 2],
    pub(crate) features: &'a mut [f32],
    pub(crate) h: &'a mut [f32],
    pub(crate) output: &'a mut [f32],
    pub(crate) d_output: &'a mut [f32],
    pub(crate) d_h: &'a mut [f32],
    pub(crate) d_features: &'a mut [f32],
    pub(crate) d_hidden: [&'a mut [f32]; 2],
    terms: TermRows<'a>,
    samples: Samples<'a>,
}

/// What the loss reads of each row, beside the policy's output.
#[derive(Clone, Copy)]
struct Samples<'a> {
    actions: &'a [u32],
    old_log_probs: &'a [f32],
    old_values: &'a [f32],
    advantages: &'a [f32],
    returns: &'a [f32],
    weights: &'a [f32],
}

impl Samples<'_> {
    fn split(self, rows: usize) -> (Self, Self) {
        let actions = self.actions.split_at(rows);
        let old_log_probs = self.old_log_probs.split_at(rows);
        let old_values = self.old_values.split_at(rows);
        let advantages = self.advantages.split_at(rows);
        let returns = self.returns.split_at(rows);
        let weights = self.weights.split_at(rows);
        (
            Self {
                actions: actions.0,
                old_log_probs: old_log_probs.0,
                old_values: old_values.0,
                advantages: advantages.0,
                returns: returns.0,
                weights: weights.0,
            },
            Self {
                actions: actions.1,
                old_log_probs: old_log_probs.1,
                old_values: old_values.1,
                advantages: advantages.1,
                returns: returns.1,
                weights: weights.1,
            },
        )
    }
}

impl<'a> Block<'a> {
    fn split(self, rows: usize) -> (Self, Self) {
        let s = self.shape;
        let stack = if self.h.is_empty() { 0 } else { rows };
        let [hidden0, hidden1] = self.hidden;
        let [d_hidden0, d_hidden1] = self.d_hidden;
        let observations = self.observations.split_at(rows * s.observation);
        let hidden0 = hidden0.split_at_mut(rows * s.stride[0]);
        let hidden1 = hidden1.split_at_mut(rows * s.stride[1]);
        let features = self.features.split_at_mut(rows * s.width);
        let h = self.h.split_at_mut(stack * s.width);
        let output = self.output.split_at_mut(rows * s.outputs);
        let d_output = self.d_output.split_at_mut(rows * s.outputs);
        let d_h = self.d_h.split_at_mut(stack * s.width);
        let d_features = self.d_features.split_at_mut(rows * s.width);
        let d_hidden0 = d_hidden0.split_at_mut(rows * s.stride[0]);
        let d_hidden1 = d_hidden1.split_at_mut(rows * s.stride[1]);
        let terms = self.terms.split_at(rows);
        let samples = self.samples.split(rows);
        (
            Self {
                first: self.first,
                rows,
                shape: s,
                observations: observations.0,
                hidden: [hidden0.0, hidden1.0],
                features: features.0,
                h: h.0,
                output: output.0,
                d_output: d_output.0,
                d_h: d_h.0,
                d_features: d_features.0,
                d_hidden: [d_hidden0.0, d_hidden1.0],
                terms: terms.0,
                samples: samples.0,
            },
            Self {
                first: self.first + rows,
                rows: self.rows - rows,
                shape: s,
                observations: observations.1,
                hidden: [hidden0.1, hidden1.1],
                features: features.1,
                h: h.1,
                output: output.1,
                d_output: d_output.1,
                d_h: d_h.1,
                d_features: d_features.1,
                d_hidden: [d_hidden0.1, d_hidden1.1],
                terms: terms.1,
                samples: samples.1,
            },
        )
    }

    /// Runs `work` on blocks of [`BLOCK_ROWS`] rows. Rows are independent, so the blocks' size and order can't be seen
    /// in the result.
    pub(crate) fn for_each(
        self,
        par: Par,
        work: &(impl Fn(Block<'_>) -> Result<(), Error> + Sync),
    ) -> Result<(), Error> {
        if self.rows <= BLOCK_ROWS {
            return work(self);
        }
        let half = (self.rows / 2).next_multiple_of(BLOCK_ROWS).min(self.rows - 1);
        let (a, b) = self.split(half);
        match par {
            Par::Serial => {
                a.for_each(par, work)?;
                b.for_each(par, work)
            }
            Par::Rayon => {
                let (x, y) = rayon::join(|| a.for_each(par, work), || b.for_each(par, work));
                x.and(y)
            }
        }
    }

    pub(crate) fn encode(&mut self, isa: Isa, packed: &Packed) -> Result<(), Error> {
        packed.encode(isa, self.rows, self.observations, &mut self.hidden, self.features)
    }

    /// Decodes the stack's output, or the features where there is no stack.
    pub(crate) fn decode(&mut self, isa: Isa, packed: &Packed) -> Result<(), Error> {
        let h = if self.h.is_empty() { &*self.features } else { &*self.h };
        packed.decode(isa, self.rows, h, self.output)
    }

    /// The loss's gradient to the output, and each row's terms; `total` is the number of rows of the minibatch.
    pub(crate) fn loss(&mut self, isa: Isa, ppo: &Ppo, total: usize) -> Result<(), Error> {
        let (s, outputs) = (self.samples, self.shape.outputs);
        let rows = PpoRows {
            output: Logits::new(self.output, outputs, outputs - 1)?,
            actions: s.actions,
            old_log_probs: s.old_log_probs,
            old_values: s.old_values,
            advantages: s.advantages,
            returns: s.returns,
            weights: s.weights,
        };
        ppo_rows(isa, ppo, total, &rows, self.d_output, self.terms.reborrow())?;
        Ok(())
    }

    pub(crate) fn decode_backward(&mut self, packed: &Packed) -> Result<(), Error> {
        let d_h = if self.d_h.is_empty() { &mut *self.d_features } else { &mut *self.d_h };
        packed.decode_backward(self.rows, self.d_output, d_h)
    }

    pub(crate) fn encode_backward(&mut self, isa: Isa, packed: &Packed) -> Result<(), Error> {
        packed.encode_backward(isa, self.rows, &self.hidden, self.features, &mut self.d_hidden, self.d_features)
    }
}
