//! The update, compiled: a fixed list of operations over buffers that exist before the first one runs.

mod batch;
mod draw;
mod figures;
#[cfg(test)]
mod tests;

use std::ops::Range;

use arith::simd::Isa;
use linalg::{MatMut, MatRef, Par, Scratch, gemm_tn, sum_rows};
use mingru::{StackForward, StackGradients, Tape};

use self::batch::Batch;
use self::draw::Drawer;
use self::figures::Figures;
use crate::config::Config;
use crate::env::{Env, Spec, VecEnv};
use crate::error::Error;
use crate::loss::{self, Ppo};
use crate::memory;
use crate::metrics::Metrics;
use crate::optim::{self, Adam, AdamConfig};
use crate::params::{Affine, Layout};
use crate::policy::Packed;
use crate::rollout::{Context, Rollout};

/// Steps between the checkpoints of the minGRU scan.
const INTERVAL: usize = 8;

/// Name of the call, in errors.
const RUN: &str = "UpdatePlan::run";

/// Steps of an environment that draws have addresses for, generously below 2^64.
const MOST_STEPS: u64 = 1 << 53;

/// One operation of an update. The list is fixed when the plan is compiled; each entry is what a GPU runs as one node
/// (or a few) of its graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Operation {
    /// Lay the parameters out for products.
    Pack,
    /// Take T steps of N environments, and compute their advantages.
    Rollout,
    /// Turn advantages into priorities and importance weights of segments.
    Prioritize,
    /// Draw the segments of an epoch.
    Draw {
        /// The epoch, from 0.
        epoch: usize,
    },
    /// Copy the rows of segments `first..last` of the epoch's order; normalise their advantages.
    Gather {
        /// First segment, as a place in the order.
        first: usize,
        /// One past the last.
        last: usize,
    },
    /// Encoder, stack and decoder over the minibatch, the loss's gradient, and back to every pre-activation.
    Differentiate,
    /// Gradients of the weights: one product and one sum of rows per affine layer.
    Reduce,
    /// Clip the gradient by its global norm and take a step of Adam.
    Step,
}

/// A compiled update: every buffer, and the list of operations over them. Running it allocates nothing (on threads of
/// a rayon pool, once the pool runs).
pub struct UpdatePlan {
    config: Config,
    spec: Spec,
    layout: Layout,
    isa: Isa,
    par: Par,
    operations: Vec<Operation>,
    packed: Packed,
    pub(crate) rollout: Rollout,
    drawer: Drawer,
    batch: Batch,
    tape: Tape,
    magnitudes: Vec<f32>,
    magnitude_scratch: Vec<f32>,
    gradient: Vec<f32>,
    names: Vec<(String, Range<usize>)>,
    scratch: Scratch,
    figures: Figures,
}

/// What an update changes beside the environments.
#[derive(Clone, Debug, PartialEq)]
pub struct Learner {
    /// All parameters, as [`Layout`] places them.
    pub parameters: Vec<f32>,
    /// Moments and step count.
    pub adam: Adam,
}

impl Learner {
    /// Initial parameters for `layout` under `config`, and an optimizer that has not taken a step.
    ///
    /// # Errors
    /// [`Error::Optim`] where the configuration's constants are wrong.
    pub fn new(layout: &Layout, config: &Config) -> Result<Self, Error> {
        let adam = AdamConfig {
            beta1: config.adam_beta1,
            beta2: config.adam_beta2,
            epsilon: config.adam_epsilon,
            weight_decay: config.weight_decay,
        };
        let adam = Adam::new(layout.len, adam)?;
        Ok(Self { parameters: layout.initialize(config.seed), adam })
    }
}

impl UpdatePlan {
    /// Compiles the update of `config` for environments of `spec`. `parallel`: use the rayon pool that
    /// [`UpdatePlan::run`] is called in; the bits are the same either way.
    ///
    /// # Errors
    /// [`Error::Config`] where the configuration is wrong, [`Error::Argument`] where the environments are too large for
    /// it or have more than [`MAX_ACTIONS`](loss::categorical::MAX_ACTIONS) actions, [`Error::Memory`] where the buffers
    /// don't fit the memory.
    pub fn compile(config: &Config, spec: &Spec, parallel: bool) -> Result<Self, Error> {
        config.validate()?;
        config.check_environment(spec)?;
        let actions = spec.actions as usize;
        memory::check(config, spec.observation, actions)?;
        let layout = Layout::new(&config.policy, spec.observation, actions)?;
        let packed = Packed::new(&layout)?;
        let rollout = Rollout::new(config, &layout, &packed, spec.observation)?;
        let (segments, steps) = (config.segments(), config.segment_steps());
        let largest = segments.div_ceil(config.minibatches);
        let batch = Batch::new(&layout, &packed, spec.observation, largest, steps);
        let tape = packed.stack.tape(if layout.layers > 0 { largest } else { 0 }, steps, INTERVAL)?;

        let mut operations = vec![Operation::Pack, Operation::Rollout, Operation::Prioritize];
        for epoch in 0..config.epochs {
            operations.push(Operation::Draw { epoch });
            for minibatch in 0..config.minibatches {
                let first = minibatch * segments / config.minibatches;
                let last = (minibatch + 1) * segments / config.minibatches;
                operations.push(Operation::Gather { first, last });
                operations.extend([Operation::Differentiate, Operation::Reduce, Operation::Step, Operation::Pack]);
            }
        }
        // The last minibatch's parameters are packed by the next update.
        operations.pop();
        Ok(Self {
            isa: Isa::detect(),
            par: if parallel { Par::Rayon } else { Par::Serial },
            operations,
            packed,
            rollout,
            drawer: Drawer::new(segments),
            batch,
            tape,
            magnitudes: vec![0.0; segments],
            magnitude_scratch: vec![0.0; steps],
            gradient: vec![0.0; layout.len],
            names: layout.parameters.iter().map(|p| (p.name.clone(), p.range.clone())).collect(),
            scratch: Scratch::new(),
            figures: Figures::new(config.epochs * config.minibatches),
            config: config.clone(),
            spec: spec.clone(),
            layout,
        })
    }

    /// The operations of one update, in order.
    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// Where each parameter lies.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Runs update number `update` (from 0): every schedule and every draw is addressed by it. The metrics lack what
    /// only a whole run knows (steps, episodes and their returns; see [`crate::Trainer::update`]).
    ///
    /// # Errors
    /// [`Error::Argument`] and [`Error::Config`] where environments or learner are not those that the plan was compiled
    /// for, or a schedule has left its range: nothing was changed. What the environments return; [`Error::PolicyOutput`]
    /// and [`Error::Optim`] where numbers stop being finite: the learner is then as the last complete minibatch left it.
    pub fn run<E: Env>(&mut self, update: u64, envs: &mut VecEnv<E>, learner: &mut Learner) -> Result<Metrics, Error> {
        self.check(update, envs, learner)?;
        let at = |schedule: &crate::schedule::Schedule| schedule.value(update);
        let ppo = Ppo {
            clip: at(&self.config.clip),
            value_clip: (self.config.value_clip > 0.0).then_some(self.config.value_clip),
            value_coefficient: self.config.value_coefficient,
            entropy_coefficient: at(&self.config.entropy_coefficient),
        };
        let rate = at(&self.config.learning_rate);
        let beta = at(&self.config.priority.beta);
        self.figures.clear();
        for index in 0..self.operations.len() {
            match self.operations[index] {
                Operation::Pack => self.packed.pack(&self.layout, &learner.parameters)?,
                Operation::Rollout => {
                    let context = Context {
                        isa: self.isa,
                        config: &self.config,
                        packed: &self.packed,
                        first_step: update.wrapping_mul(self.config.horizon as u64),
                    };
                    self.rollout.run(&context, envs, self.par)?;
                }
                Operation::Prioritize => {
                    self.rollout.magnitudes(&mut self.magnitude_scratch, &mut self.magnitudes);
                    self.drawer.prioritize(&self.magnitudes, self.config.priority.alpha, beta)?;
                }
                Operation::Draw { epoch } => {
                    let prioritized = self.config.priority.alpha > 0.0;
                    self.drawer.draw(self.config.seed, update, epoch as u64, prioritized)?;
                }
                Operation::Gather { first, last } => {
                    self.batch.gather(&self.rollout, &self.drawer.order[first..last], &self.drawer.weights);
                    if self.config.normalize_advantages {
                        loss::normalize(self.isa, &mut self.batch.advantages[..self.batch.rows]);
                    }
                }
                Operation::Differentiate => {
                    self.differentiate(&ppo, learner)?;
                    self.figures.add(&self.batch.terms.reduce(self.batch.rows));
                }
                Operation::Reduce => self.reduce()?,
                Operation::Step => self.step(rate, learner)?,
            }
        }
        let mut metrics = self.figures.metrics();
        metrics.update = update;
        metrics.learning_rate = rate;
        metrics.explained_variance = self.rollout.explained_variance(self.isa);
        Ok(metrics)
    }

    /// Whether the plan was compiled for these.
    pub(crate) fn check<E: Env>(&self, update: u64, envs: &VecEnv<E>, learner: &Learner) -> Result<(), Error> {
        if update.checked_mul(self.config.horizon as u64).is_none_or(|steps| steps > MOST_STEPS) {
            return Err(Error::argument(RUN, "update", "at most 2^53 steps of an environment", update));
        }
        same("environments", self.config.environments, envs.count())?;
        let spec = envs.spec();
        same("elements of an observation", self.spec.observation, spec.observation)?;
        same("actions", self.spec.actions as usize, spec.actions as usize)?;
        if spec.name != self.spec.name {
            return Err(Error::argument(RUN, "the task", &self.spec.name, &spec.name));
        }
        for slot in envs.slots() {
            // Slots can be exchanged.
            same("elements of a slot's observation", self.spec.observation, slot.observation().len())?;
        }
        same("parameters", self.layout.len, learner.parameters.len())?;
        same("parameters of the optimizer", self.layout.len, learner.adam.first_moments().len())?;
        self.config.validate_schedules(update)
    }

    /// Forward, loss and backward over the minibatch: all gradients but the weights'.
    fn differentiate(&mut self, ppo: &Ppo, learner: &Learner) -> Result<(), Error> {
        let Self { packed, batch, isa, par, layout, tape, gradient, .. } = self;
        let (isa, par, packed) = (*isa, *par, &*packed);
        let (rows, segments) = (batch.rows, batch.segments);
        if layout.layers == 0 {
            // Nothing couples the rows: each block goes all the way while it is in the cache.
            return batch.block().for_each(par, &|mut block| {
                block.encode(isa, packed)?;
                block.decode(isa, packed)?;
                block.loss(isa, ppo, rows)?;
                block.decode_backward(packed)?;
                block.encode_backward(isa, packed)
            });
        }
        batch.block().for_each(par, &|mut block| block.encode(isa, packed))?;
        let h = layout.hidden;
        let (sequence, states) = (rows * h, layout.layers * segments * h);
        let weights = &learner.parameters[layout.mingru.clone()];
        let steps = rows / segments;
        packed.stack.forward(
            &StackForward {
                batch: segments,
                time: steps,
                weights,
                x: &batch.features[..sequence],
                keep: &batch.keep[..rows],
                h0: &batch.states[..states],
            },
            tape,
            &mut batch.h[..sequence],
            &mut batch.h_last[..states],
            par,
        )?;
        batch.block().for_each(par, &|mut block| {
            block.decode(isa, packed)?;
            block.loss(isa, ppo, rows)?;
            block.decode_backward(packed)
        })?;
        packed.stack.backward(
            weights,
            tape,
            &batch.d_h[..sequence],
            &batch.d_h_last[..states],
            StackGradients {
                weights: &mut gradient[layout.mingru.clone()],
                x: &mut batch.d_features[..sequence],
                h0: &mut batch.d_states[..states],
            },
            par,
        )?;
        batch.block().for_each(par, &|mut block| block.encode_backward(isa, packed))
    }

    /// Clips the gradient and takes a step of Adam.
    fn step(&mut self, rate: f32, learner: &mut Learner) -> Result<(), Error> {
        let Learner { parameters, adam } = learner;
        let max_norm = self.config.max_grad_norm;
        self.figures.add_norm(optim::step_on(self.isa, adam, rate, max_norm, &self.names, &self.gradient, parameters)?);
        Ok(())
    }

    /// Gradients of the affine layers: `dW = dy^T x` and `db = sum of dy's rows`, each over all rows of the minibatch.
    fn reduce(&mut self) -> Result<(), Error> {
        let Self { packed, batch, layout, gradient, par, scratch, .. } = self;
        let rows = batch.rows;
        let hidden = &packed.hidden;
        let last = layout.encoder.len() - 1;
        for (i, affine) in layout.encoder.iter().enumerate() {
            let x = match i {
                0 => MatRef::new(&batch.observations, rows, affine.inputs)?,
                _ => hidden.read(i - 1, rows, &batch.hidden[(i - 1) % 2])?,
            };
            let dy = if i == last {
                MatRef::new(&batch.d_features, rows, affine.outputs)?
            } else {
                hidden.read(i, rows, &batch.d_hidden[i % 2])?
            };
            affine_gradient(affine, dy, x, gradient, *par, scratch)?;
        }
        let h = if layout.layers > 0 { &batch.h } else { &batch.features };
        let x = MatRef::new(h, rows, layout.hidden)?;
        let dy = MatRef::new(&batch.d_output, rows, layout.decoder.outputs)?;
        affine_gradient(&layout.decoder, dy, x, gradient, *par, scratch)
    }
}

fn same(what: &'static str, expected: usize, got: usize) -> Result<(), Error> {
    if expected == got { Ok(()) } else { Err(Error::argument(RUN, what, expected, got)) }
}

fn affine_gradient(
    affine: &Affine,
    dy: MatRef<'_>,
    x: MatRef<'_>,
    gradient: &mut [f32],
    par: Par,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let weight = MatMut::new(&mut gradient[affine.weight.clone()], affine.outputs, affine.inputs)?;
    gemm_tn(dy, x, weight, par, scratch)?;
    sum_rows(dy, &mut gradient[affine.bias.clone()], par)?;
    Ok(())
}
