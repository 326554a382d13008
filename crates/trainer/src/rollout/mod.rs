//! Rollouts: T steps of N environments, in groups that never wait for each other.
//!
//! A group of [`GROUP`] environments takes all its steps in one task, advantages included: the policy's rows are
//! independent, so groups need no barrier at a step, and neither their number nor the threads can be seen in the
//! result.

#[cfg(test)]
mod tests;

use std::ops::Range;

use arith::random::Stream;
use arith::simd::Isa;
use linalg::Par;
use mingru::{StackStep, StepScratch};
use rayon::prelude::*;

use crate::advantage::{Discount, Trajectories, gae};
use crate::config::Config;
use crate::env::{Env, Episode, Slot, Transition, VecEnv, step_group};
use crate::error::Error;
use crate::loss::{Logits, explained_variance};
use crate::params::Layout;
use crate::policy::Packed;
use crate::streams::{self, Kind};
use crate::tuning::GROUP;

/// The last rollout, and what the groups carry from one to the next.
pub(crate) struct Rollout {
    pub(crate) groups: Vec<Group>,
    segments_per_environment: usize,
    segment_steps: usize,
    /// Returns and values of all rows, (N, T) each.
    returns: Vec<f32>,
    values: Vec<f32>,
}

/// One segment's rows, (steps, ..) each, and the states before its first step, (L, H).
pub(crate) struct Segment<'a> {
    pub(crate) observations: &'a [f32],
    pub(crate) actions: &'a [u32],
    pub(crate) log_probs: &'a [f32],
    pub(crate) values: &'a [f32],
    pub(crate) advantages: &'a [f32],
    pub(crate) returns: &'a [f32],
    pub(crate) keep: &'a [f32],
    pub(crate) state: &'a [f32],
}

/// What does not change during a rollout.
pub(crate) struct Context<'a> {
    pub(crate) isa: Isa,
    pub(crate) config: &'a Config,
    pub(crate) packed: &'a Packed,
    /// Environment steps that each environment had taken before: the address of the first draw.
    pub(crate) first_step: u64,
}

impl Rollout {
    pub(crate) fn new(config: &Config, layout: &Layout, packed: &Packed, observation: usize) -> Result<Self, Error> {
        let mut groups = Vec::new();
        let mut first = 0;
        while first < config.environments {
            let count = GROUP.min(config.environments - first);
            groups.push(Group::new(config, layout, packed, observation, first, count)?);
            first += count;
        }
        let segment_steps = config.segment_steps();
        let zeros = || vec![0.0; config.environments * config.horizon];
        Ok(Self {
            groups,
            segments_per_environment: config.horizon / segment_steps,
            segment_steps,
            returns: zeros(),
            values: zeros(),
        })
    }

    /// Takes T steps of every environment and computes advantages.
    ///
    /// On an error the rollout is unfinished and its rows are not to be trained on; of several groups' errors the
    /// first group's is returned.
    pub(crate) fn run<E: Env>(&mut self, context: &Context<'_>, envs: &mut VecEnv<E>, par: Par) -> Result<(), Error> {
        let slots = envs.slots_mut();
        let run = |(group, slots): (&mut Group, &mut [Slot<E>])| group.error = group.run(context, slots).err();
        match par {
            Par::Serial => self.groups.iter_mut().zip(slots.chunks_mut(GROUP)).for_each(run),
            Par::Rayon => self.groups.par_iter_mut().zip(slots.par_chunks_mut(GROUP)).with_max_len(1).for_each(run),
        }
        match self.groups.iter_mut().find_map(|group| group.error.take()) {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// How much of the returns' variance the values explain, over all rows of the rollout.
    pub(crate) fn explained_variance(&mut self, isa: Isa) -> f32 {
        let mut start = 0;
        for group in &self.groups {
            let end = start + group.row_returns.len();
            self.returns[start..end].copy_from_slice(&group.row_returns);
            self.values[start..end].copy_from_slice(&group.row_values);
            start = end;
        }
        explained_variance(isa, &self.returns, &self.values)
    }

    /// The episodes that ended, by step, then environment.
    pub(crate) fn finished(&self) -> impl Iterator<Item = Episode> {
        let steps = self.segments_per_environment * self.segment_steps;
        (0..steps).flat_map(|t| self.groups.iter().flat_map(move |group| group.finished_at(t)))
    }

    /// States (L, N, H) and keep flags (N) that the next rollout starts from.
    pub(crate) fn carried(&self, state: &mut [f32], keep: &mut [f32]) {
        for group in &self.groups {
            for (at, from) in group.state_places(state.len()) {
                state[at].copy_from_slice(&group.state[from]);
            }
            keep[group.first..group.first + group.count].copy_from_slice(&group.keep);
        }
    }

    /// Starts the next rollout from these, as [`Rollout::carried`] gives them.
    pub(crate) fn carry(&mut self, state: &[f32], keep: &[f32]) {
        for group in &mut self.groups {
            for (at, to) in group.state_places(state.len()) {
                group.state[to].copy_from_slice(&state[at]);
            }
            group.keep.copy_from_slice(&keep[group.first..group.first + group.count]);
        }
    }

    /// Segment `index`: segments are in order of environment, then time.
    pub(crate) fn segment(&self, index: usize) -> Segment<'_> {
        let environment = index / self.segments_per_environment;
        let within = index % self.segments_per_environment;
        let group = &self.groups[environment / GROUP];
        let local = environment % GROUP;
        let start = local * group.horizon + within * self.segment_steps;
        let rows = start..start + self.segment_steps;
        let state = (local * self.segments_per_environment + within) * group.state_len;
        let d = group.observation;
        Segment {
            observations: &group.observations[rows.start * d..rows.end * d],
            actions: &group.actions[rows.clone()],
            log_probs: &group.log_probs[rows.clone()],
            values: &group.row_values[rows.clone()],
            advantages: &group.row_advantages[rows.clone()],
            returns: &group.row_returns[rows.clone()],
            keep: &group.row_keep[rows],
            state: &group.states[state..state + group.state_len],
        }
    }

    /// `sum |advantage|` of each segment.
    pub(crate) fn magnitudes(&self, scratch: &mut [f32], out: &mut [f32]) {
        for (index, out) in out.iter_mut().enumerate() {
            for (s, a) in scratch.iter_mut().zip(self.segment(index).advantages) {
                *s = a.abs();
            }
            *out = arith::sum::sum(scratch);
        }
    }
}

/// Up to [`GROUP`] environments.
pub(crate) struct Group {
    first: usize,
    count: usize,
    horizon: usize,
    observation: usize,
    outputs: usize,
    width: usize,
    layers: usize,
    /// Elements of one environment's states, L H.
    state_len: usize,
    error: Option<Error>,

    // Carried from one rollout to the next.
    /// States after the last step, (L, G, H).
    pub(crate) state: Vec<f32>,
    /// (G): 0 where the current observation begins an episode.
    pub(crate) keep: Vec<f32>,

    // The rollout, by environment: row = (environment, step).
    observations: Vec<f32>,
    actions: Vec<u32>,
    log_probs: Vec<f32>,
    row_keep: Vec<f32>,
    row_values: Vec<f32>,
    row_advantages: Vec<f32>,
    row_returns: Vec<f32>,
    /// (G, segments per environment, L, H).
    states: Vec<f32>,
    /// Steps at which episodes ended, and the episodes, by step, then environment.
    finished: Vec<(usize, Episode)>,

    // The rollout by time, (T, G).
    rewards: Vec<f32>,
    values: Vec<f32>,
    terminated: Vec<bool>,
    truncated: Vec<bool>,
    bootstrap: Vec<f32>,
    advantages: Vec<f32>,
    returns: Vec<f32>,
    /// (G).
    last_values: Vec<f32>,

    // One step's intermediates.
    current: Vec<f32>,
    hidden: [Vec<f32>; 2],
    features: Vec<f32>,
    h: Vec<f32>,
    output: Vec<f32>,
    probe_state: Vec<f32>,
    probe_keep: Vec<f32>,
    final_observations: Vec<f32>,
    cut: Vec<usize>,
    words: Vec<u32>,
    step_actions: Vec<u32>,
    step_log_probs: Vec<f32>,
    transitions: Vec<Transition>,
    scratch: StepScratch,
}

impl Group {
    fn new(
        config: &Config,
        layout: &Layout,
        packed: &Packed,
        observation: usize,
        first: usize,
        count: usize,
    ) -> Result<Self, Error> {
        let rows = count * config.horizon;
        let zeros = |n: usize| vec![0.0_f32; n];
        let state_len = layout.layers * layout.hidden;
        let segments = count * (config.horizon / config.segment_steps());
        Ok(Self {
            first,
            count,
            horizon: config.horizon,
            observation,
            outputs: layout.actions + 1,
            width: layout.hidden,
            layers: layout.layers,
            state_len,
            error: None,
            state: zeros(count * state_len),
            keep: zeros(count),
            observations: zeros(rows * observation),
            actions: vec![0; rows],
            log_probs: zeros(rows),
            row_keep: zeros(rows),
            row_values: zeros(rows),
            row_advantages: zeros(rows),
            row_returns: zeros(rows),
            states: zeros(segments * state_len),
            finished: Vec::with_capacity(rows),
            rewards: zeros(rows),
            values: zeros(rows),
            terminated: vec![false; rows],
            truncated: vec![false; rows],
            bootstrap: zeros(rows),
            advantages: zeros(rows),
            returns: zeros(rows),
            last_values: zeros(count),
            current: zeros(count * observation),
            hidden: packed.hidden.stride.map(|n| zeros(count * n)),
            features: zeros(count * layout.hidden),
            h: zeros(count * layout.hidden),
            output: zeros(count * (layout.actions + 1)),
            probe_state: zeros(count * state_len),
            probe_keep: vec![1.0; count],
            final_observations: zeros(count * observation),
            cut: Vec::with_capacity(count),
            words: vec![0; count],
            step_actions: vec![0; count],
            step_log_probs: zeros(count),
            transitions: vec![Transition::default(); count],
            scratch: packed.stack.step_scratch(count)?,
        })
    }

    fn run<E: Env>(&mut self, context: &Context<'_>, slots: &mut [Slot<E>]) -> Result<(), Error> {
        let (n, d, outputs, steps) = (self.count, self.observation, self.outputs, self.horizon);
        let segment_steps = context.config.segment_steps();
        self.finished.clear();
        for t in 0..steps {
            for (i, slot) in slots.iter().enumerate() {
                let row = i * steps + t;
                self.current[i * d..(i + 1) * d].copy_from_slice(slot.observation());
                self.observations[row * d..(row + 1) * d].copy_from_slice(slot.observation());
                self.row_keep[row] = self.keep[i];
            }
            if t % segment_steps == 0 {
                self.save_states(t / segment_steps, steps / segment_steps);
            }
            self.policy(context, n)?;
            self.sample(context, t)?;
            step_group(context.isa, slots, &self.step_actions, &mut self.transitions, &mut self.final_observations)?;
            self.record(t);
            if !self.cut.is_empty() {
                self.bootstrap_truncated(context, t)?;
            }
        }
        for (i, slot) in slots.iter().enumerate() {
            self.current[i * d..(i + 1) * d].copy_from_slice(slot.observation());
        }
        // The value after the segment. The next rollout starts from the same states, so the probe works on a copy.
        self.probe_state.copy_from_slice(&self.state);
        self.policy(context, n)?;
        self.state.copy_from_slice(&self.probe_state);
        for i in 0..n {
            self.last_values[i] = self.output[(i + 1) * outputs - 1];
            if !self.last_values[i].is_finite() {
                return Err(Error::PolicyOutput { environment: self.first + i, step: steps });
            }
        }
        self.compute_advantages(context)
    }

    /// The episodes that ended at step `t`.
    fn finished_at(&self, t: usize) -> impl Iterator<Item = Episode> {
        let first = self.finished.partition_point(|&(step, _)| step < t);
        self.finished[first..].iter().take_while(move |&&(step, _)| step == t).map(|&(_, episode)| episode)
    }

    /// Where each layer's states lie: in (L, N, H), `total` elements in all, and in the group's own (L, G, H).
    fn state_places(&self, total: usize) -> impl Iterator<Item = (Range<usize>, Range<usize>)> + use<> {
        let (layers, block) = (self.layers, self.count * self.width);
        let (first, whole) = (self.first * self.width, total.checked_div(layers).unwrap_or(0));
        (0..layers).map(move |l| {
            let at = l * whole + first;
            (at..at + block, l * block..(l + 1) * block)
        })
    }

    /// Draws every environment's action from the policy's output.
    fn sample(&mut self, context: &Context<'_>, t: usize) -> Result<(), Error> {
        let (outputs, steps) = (self.outputs, self.horizon);
        for (i, out) in self.output.chunks_exact(outputs).enumerate() {
            let environment = self.first + i;
            if !out.iter().fold(true, |all, x| all & x.is_finite()) {
                return Err(Error::PolicyOutput { environment, step: t });
            }
            let stream = Stream::new(context.config.seed, streams::address(Kind::Action, environment as u64));
            self.words[i] = stream.block(context.first_step + t as u64)[0];
        }
        Logits::new(&self.output, outputs, outputs - 1)?.sample(
            context.isa,
            &self.words,
            &mut self.step_actions,
            &mut self.step_log_probs,
        )?;
        for i in 0..self.count {
            let row = i * steps + t;
            let value = self.output[(i + 1) * outputs - 1];
            self.actions[row] = self.step_actions[i];
            self.log_probs[row] = self.step_log_probs[i];
            self.row_values[row] = value;
            self.values[t * self.count + i] = value;
        }
        Ok(())
    }

    /// Files the transitions of step `t`; `cut` becomes the environments whose episode was cut off.
    fn record(&mut self, t: usize) {
        let d = self.observation;
        self.cut.clear();
        for (i, transition) in self.transitions.iter().enumerate() {
            let (at, step) = (t * self.count + i, transition.step);
            self.rewards[at] = step.reward;
            self.terminated[at] = step.terminated;
            self.truncated[at] = step.truncated;
            self.bootstrap[at] = 0.0;
            self.keep[i] = f32::from(!step.done());
            if step.bootstraps() {
                // The observations of the cut episodes move up to the first rows; row >= cut.len() always.
                self.final_observations.copy_within(i * d..(i + 1) * d, self.cut.len() * d);
                self.cut.push(i);
            }
            if let Some(episode) = transition.finished {
                self.finished.push((t, episode));
            }
        }
    }

    /// One step of the policy for the first `rows` of `current`, `keep` and `state`; the result is in `output`.
    fn policy(&mut self, context: &Context<'_>, rows: usize) -> Result<(), Error> {
        let Context { isa, packed, .. } = *context;
        let [even, odd] = &mut self.hidden;
        packed.encode(isa, rows, &self.current[..rows * self.observation], &mut [even, odd], &mut self.features)?;
        let h = if self.layers > 0 {
            let x = &self.features[..rows * self.width];
            let step = StackStep { batch: rows, weights: &packed.mingru, x, keep: &self.keep[..rows] };
            packed.stack.step(&step, &mut self.state, &mut self.h, &mut self.scratch)?;
            &self.h
        } else {
            &self.features
        };
        packed.decode(isa, rows, &h[..rows * self.width], &mut self.output[..rows * self.outputs])
    }

    /// Values of the final observations of the environments in `cut`, from the states before their reset.
    fn bootstrap_truncated(&mut self, context: &Context<'_>, t: usize) -> Result<(), Error> {
        let Context { isa, packed, .. } = *context;
        let (n, h, rows) = (self.count, self.width, self.cut.len());
        let [even, odd] = &mut self.hidden;
        let x = &self.final_observations[..rows * self.observation];
        let (features, out) = (&mut self.features[..rows * h], &mut self.h[..rows * h]);
        packed.encode(isa, rows, x, &mut [even, odd], features)?;
        let decoded = if self.layers > 0 {
            for layer in 0..self.layers {
                for (row, &i) in self.cut.iter().enumerate() {
                    let from = (layer * n + i) * h;
                    let to = (layer * rows + row) * h;
                    self.probe_state[to..to + h].copy_from_slice(&self.state[from..from + h]);
                }
            }
            let step = StackStep { batch: rows, weights: &packed.mingru, x: features, keep: &self.probe_keep[..rows] };
            packed.stack.step(&step, &mut self.probe_state[..rows * self.state_len], out, &mut self.scratch)?;
            &*out
        } else {
            &*features
        };
        let output = &mut self.output[..rows * self.outputs];
        packed.decode(isa, rows, decoded, output)?;
        for (row, &i) in self.cut.iter().enumerate() {
            let value = output[(row + 1) * self.outputs - 1];
            if !value.is_finite() {
                return Err(Error::PolicyOutput { environment: self.first + i, step: t });
            }
            self.bootstrap[t * n + i] = value;
        }
        Ok(())
    }

    /// Keeps the states before the first step of segment `within` of every environment.
    fn save_states(&mut self, within: usize, segments: usize) {
        let (n, h) = (self.count, self.width);
        for i in 0..n {
            for layer in 0..self.layers {
                let from = (layer * n + i) * h;
                let to = (i * segments + within) * self.state_len + layer * h;
                self.states[to..to + h].copy_from_slice(&self.state[from..from + h]);
            }
        }
    }

    /// Advantages and returns from the rollout by time, filed by environment.
    fn compute_advantages(&mut self, context: &Context<'_>) -> Result<(), Error> {
        let (n, steps) = (self.count, self.horizon);
        let input = Trajectories {
            steps,
            batch: n,
            rewards: &self.rewards,
            values: &self.values,
            terminated: &self.terminated,
            truncated: &self.truncated,
            bootstrap: &self.bootstrap,
            last_values: &self.last_values,
        };
        let discount = Discount { gamma: context.config.gamma, lambda: context.config.lambda };
        gae(context.isa, &discount, &input, &mut self.advantages, &mut self.returns)?;
        for i in 0..n {
            for t in 0..steps {
                self.row_advantages[i * steps + t] = self.advantages[t * n + i];
                self.row_returns[i * steps + t] = self.returns[t * n + i];
            }
        }
        Ok(())
    }
}
