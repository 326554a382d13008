//! Evaluation: whole episodes with fixed parameters.

use arith::simd::Isa;
use linalg::Par;
use mingru::{StackStep, StepScratch};
use rayon::prelude::*;

use crate::env::{Env, Episode, Slot, Transition, VecEnv, step_group};
use crate::error::Error;
use crate::loss::Logits;
use crate::params::Layout;
use crate::policy::Packed;
use crate::tuning::GROUP;

/// What whole episodes gave, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// The episodes.
    pub episodes: Vec<Episode>,
}

impl Evaluation {
    /// Mean return; NaN without episodes.
    pub fn mean_return(&self) -> f64 {
        self.episodes.iter().map(|e| e.total).sum::<f64>() / self.episodes.len() as f64
    }

    /// Mean length, in steps; NaN without episodes.
    pub fn mean_length(&self) -> f64 {
        self.episodes.iter().map(|e| e.length as f64).sum::<f64>() / self.episodes.len() as f64
    }
}

/// Plays the first episode of every environment, taking the likeliest action at each step.
pub(crate) fn run<E: Env>(
    layout: &Layout,
    parameters: &[f32],
    envs: &mut VecEnv<E>,
    par: Par,
) -> Result<Evaluation, Error> {
    let mut packed = Packed::new(layout)?;
    packed.pack(layout, parameters)?;
    let isa = Isa::detect();
    let play = |(group, slots): (usize, &mut [Slot<E>])| Player::new(layout, &packed, slots)?.play(isa, group, slots);
    let slots = envs.slots_mut();
    let groups: Result<Vec<Vec<Episode>>, Error> = match par {
        Par::Serial => slots.chunks_mut(GROUP).enumerate().map(play).collect(),
        Par::Rayon => slots.par_chunks_mut(GROUP).enumerate().map(play).collect(),
    };
    Ok(Evaluation { episodes: groups?.concat() })
}

/// Buffers for a group of environments.
struct Player<'a> {
    packed: &'a Packed,
    layers: usize,
    hidden: [Vec<f32>; 2],
    observations: Vec<f32>,
    final_observations: Vec<f32>,
    features: Vec<f32>,
    state: Vec<f32>,
    keep: Vec<f32>,
    h: Vec<f32>,
    output: Vec<f32>,
    actions: Vec<u32>,
    transitions: Vec<Transition>,
    scratch: StepScratch,
}

impl<'a> Player<'a> {
    fn new<E: Env>(layout: &Layout, packed: &'a Packed, slots: &[Slot<E>]) -> Result<Self, Error> {
        let n = slots.len();
        let observation = slots.first().map_or(0, |slot| slot.observation().len());
        let zeros = |columns: usize| vec![0.0_f32; n * columns];
        Ok(Self {
            packed,
            layers: layout.layers,
            hidden: packed.hidden.stride.map(zeros),
            observations: zeros(observation),
            final_observations: zeros(observation),
            features: zeros(layout.hidden),
            state: zeros(layout.layers * layout.hidden),
            keep: zeros(1),
            h: zeros(layout.hidden),
            output: zeros(layout.actions + 1),
            actions: vec![0; n],
            transitions: vec![Transition::default(); n],
            scratch: packed.stack.step_scratch(n)?,
        })
    }

    fn play<E: Env>(mut self, isa: Isa, group: usize, slots: &mut [Slot<E>]) -> Result<Vec<Episode>, Error> {
        let n = slots.len();
        let (d, outputs) = (self.observations.len() / n.max(1), self.output.len() / n.max(1));
        let mut finished: Vec<Option<Episode>> = vec![None; n];
        let mut step = 0;
        // Environments whose episode is over play on, unheard, until the last one is done.
        while finished.iter().any(Option::is_none) {
            for (row, slot) in self.observations.chunks_exact_mut(d).zip(slots.iter()) {
                row.copy_from_slice(slot.observation());
            }
            let [even, odd] = &mut self.hidden;
            self.packed.encode(isa, n, &self.observations, &mut [even, odd], &mut self.features)?;
            let h = if self.layers > 0 {
                let weights = &self.packed.mingru;
                let input = StackStep { batch: n, weights, x: &self.features, keep: &self.keep };
                self.packed.stack.step(&input, &mut self.state, &mut self.h, &mut self.scratch)?;
                &self.h
            } else {
                &self.features
            };
            self.packed.decode(isa, n, h, &mut self.output)?;
            for (i, row) in self.output.chunks_exact(outputs).enumerate() {
                if !row.iter().all(|x| x.is_finite()) {
                    return Err(Error::PolicyOutput { environment: group * GROUP + i, step });
                }
            }
            Logits::new(&self.output, outputs, outputs - 1)?.greedy(&mut self.actions)?;
            step_group(isa, slots, &self.actions, &mut self.transitions, &mut self.final_observations)?;
            for ((transition, finished), keep) in self.transitions.iter().zip(&mut finished).zip(&mut self.keep) {
                *keep = f32::from(!transition.step.done());
                *finished = finished.or(transition.finished);
            }
            step += 1;
        }
        Ok(finished.into_iter().flatten().collect())
    }
}
