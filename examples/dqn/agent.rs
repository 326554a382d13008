//! DQN's loop: act, remember, draw, learn, tell the replay what was learned.

use anyhow::{Result, ensure};
use linalg::Par;
use per_core::replay::{Batch, BetaSchedule, Column, Columns, Config, Episodes, NStep, PrioritizedReplay};
use trainer::env::{Env, Transition, VecEnv};

use crate::learner::{Figures, Learner, Sample, argmax};
use crate::network::{Activations, Network};
use crate::options::Options;
use crate::streams;

/// What a transition consists of.
#[derive(Clone, Copy)]
pub(crate) struct Fields {
    pub(crate) observation: Column<f32>,
    pub(crate) action: Column<i32>,
    pub(crate) reward: Column<f32>,
    pub(crate) next_observation: Column<f32>,
    pub(crate) terminated: Column<u8>,
    pub(crate) truncated: Column<u8>,
}

/// Environments, replay and learner. A step allocates nothing once the first update is made.
pub(crate) struct Agent<E> {
    options: Options,
    beta: BetaSchedule,
    envs: VecEnv<E>,
    pub(crate) replay: PrioritizedReplay,
    pub(crate) fields: Fields,
    batch: Batch,
    pub(crate) learner: Learner,
    pass: Activations,
    rows: Rows,
    steps: u64,
    figures: Figures,
    /// Sum of the returns of the training episodes that ended, and how many did.
    returns: (f64, u64),
}

/// One row for each environment.
struct Rows {
    observations: Vec<f32>,
    next_observations: Vec<f32>,
    final_observations: Vec<f32>,
    actions: Vec<u32>,
    taken: Vec<i32>,
    rewards: Vec<f32>,
    terminated: Vec<u8>,
    truncated: Vec<u8>,
    transitions: Vec<Transition>,
}

impl Rows {
    fn new(environments: usize, observation: usize) -> Self {
        Self {
            observations: vec![0.0; environments * observation],
            next_observations: vec![0.0; environments * observation],
            final_observations: vec![0.0; environments * observation],
            actions: vec![0; environments],
            taken: vec![0; environments],
            rewards: vec![0.0; environments],
            terminated: vec![0; environments],
            truncated: vec![0; environments],
            transitions: vec![Transition::default(); environments],
        }
    }
}

impl<E: Env> Agent<E> {
    /// An agent for the environments that `make` makes.
    pub(crate) fn new(options: Options, par: Par, make: impl FnMut(usize) -> E) -> Result<Self> {
        options.check()?;
        let environments = options.environments;
        let stream = |i: usize| streams::of(options.seed, streams::Use::Environment, i as u64);
        let envs = VecEnv::new(environments, make, stream)?;
        let (observation, actions) = (envs.spec().observation, envs.spec().actions as usize);

        let mut columns = Columns::new();
        let fields = Fields {
            observation: columns.add("observation", observation)?,
            action: columns.add("action", 1)?,
            reward: columns.add("reward", 1)?,
            // With n-step returns a batch has that of the last of the n transitions.
            next_observation: columns.add_last("next_observation", observation)?,
            terminated: columns.add("terminated", 1)?,
            truncated: columns.add("truncated", 1)?,
        };
        let config = Config {
            alpha: options.alpha,
            epsilon: options.priority_epsilon,
            seed: options.seed,
            stream: streams::address(streams::Use::Replay, 0),
            environments,
            episodes: Some(Episodes { terminated: fields.terminated, truncated: Some(fields.truncated) }),
            // One step too: so the replay computes what a terminated and a truncated episode bootstrap on.
            n_step: Some(NStep { steps: options.n_step, discount: options.discount, reward: fields.reward }),
            ..Config::new(options.capacity)
        };
        let replay = PrioritizedReplay::new(config, columns)?;
        let learner = Learner::new(&options, observation, actions, par)?;
        Ok(Self {
            beta: BetaSchedule::new(options.beta, 1.0, options.total_steps)?,
            batch: replay.batch(options.batch)?,
            pass: learner.online.activations(environments),
            rows: Rows::new(environments, observation),
            envs,
            replay,
            fields,
            learner,
            steps: 0,
            figures: Figures::default(),
            returns: (0.0, 0),
            options,
        })
    }

    /// Steps taken, over all environments.
    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }

    /// The last update's.
    pub(crate) fn figures(&self) -> Figures {
        self.figures
    }

    /// Probability of a random action in the next step.
    pub(crate) fn epsilon(&self) -> f32 {
        self.options.epsilon.value(self.steps)
    }

    /// Exponent of the next update's importance weights.
    pub(crate) fn beta(&self) -> f32 {
        self.beta.at(self.steps)
    }

    /// Mean return of the training episodes that ended since the last call, if any did.
    pub(crate) fn take_mean_return(&mut self) -> Option<f64> {
        let (sum, count) = std::mem::take(&mut self.returns);
        (count > 0).then(|| sum / count as f64)
    }

    /// One step in every environment, then the updates.
    pub(crate) fn step(&mut self) -> Result<()> {
        self.act()?;
        self.remember()?;
        if self.replay.len() >= self.options.warmup {
            for _ in 0..self.options.updates {
                self.learn()?;
            }
        }
        Ok(())
    }

    /// Takes one action in every environment: the best one, or a random one with probability epsilon.
    fn act(&mut self) -> Result<()> {
        let (epsilon, Rows { observations, actions, transitions, final_observations, .. }) =
            (self.options.epsilon.value(self.steps), &mut self.rows);
        self.envs.observations(observations)?;
        let spec = self.envs.spec();
        let explore = streams::of(self.options.seed, streams::Use::Explore, 0);
        let q = self.learner.online.forward(observations, actions.len(), &mut self.pass)?;
        for (i, (action, q)) in (0_u64..).zip(actions.iter_mut().zip(q.chunks_exact(spec.actions as usize))) {
            // A block of four words for each step of each environment.
            let block = self.steps + i;
            *action = if explore.uniform(4 * block) < epsilon {
                explore.bounded(2 * block + 1, spec.actions.into()) as u32
            } else {
                argmax(q) as u32
            };
        }
        self.envs.step(actions, transitions, final_observations)?;
        self.steps += actions.len() as u64;
        Ok(())
    }

    /// Puts the transitions into the replay.
    fn remember(&mut self) -> Result<()> {
        let rows = &mut self.rows;
        let width = self.envs.spec().observation;
        // Where an episode ended, the environment shows the next one's first observation already: the transition leads
        // to the final observation, on which it bootstraps if the episode was cut off.
        self.envs.observations(&mut rows.next_observations)?;
        for (i, transition) in rows.transitions.iter().enumerate() {
            let step = transition.step;
            rows.taken[i] = rows.actions[i] as i32;
            rows.rewards[i] = step.reward;
            rows.terminated[i] = step.terminated.into();
            rows.truncated[i] = step.truncated.into();
            if step.done() {
                let own = i * width..(i + 1) * width;
                rows.next_observations[own.clone()].copy_from_slice(&rows.final_observations[own]);
            }
            if let Some(episode) = transition.finished {
                self.returns.0 += episode.total;
                self.returns.1 += 1;
            }
        }
        let fields = self.fields;
        self.replay.insert_batch(&[
            fields.observation.rows(&rows.observations),
            fields.action.rows(&rows.taken),
            fields.reward.rows(&rows.rewards),
            fields.next_observation.rows(&rows.next_observations),
            fields.terminated.rows(&rows.terminated),
            fields.truncated.rows(&rows.truncated),
        ])?;
        Ok(())
    }

    /// Draws a batch, learns from it, and sets its priorities.
    fn learn(&mut self) -> Result<()> {
        let beta = self.beta();
        let (batch, fields) = (&mut self.batch, self.fields);
        self.replay.sample_proportional(batch, beta)?;
        let sample = Sample {
            observations: batch.rows(fields.observation)?,
            actions: batch.rows(fields.action)?,
            returns: batch.returns(),
            discounts: batch.discounts(),
            next_observations: batch.rows(fields.next_observation)?,
            weights: batch.weights(),
        };
        self.figures = self.learner.update(&sample, self.options.learning_rate.value(self.steps))?;
        self.replay.update_priorities(batch.handles(), self.learner.td_errors())?;
        Ok(())
    }
}

/// Mean return of greedy episodes `first..first + count` under `seed`: each has draws of its own.
pub(crate) fn evaluate<E: Env>(
    network: &Network,
    seed: u64,
    first: u64,
    count: usize,
    make: impl FnMut(usize) -> E,
) -> Result<f64> {
    ensure!(count > 0, "no episodes to evaluate on");
    let stream = |i: usize| streams::of(seed, streams::Use::Evaluate, first + i as u64);
    let mut envs = VecEnv::new(count, make, stream)?;
    let (width, actions) = (envs.spec().observation, envs.spec().actions as usize);
    let mut rows = Rows::new(count, width);
    let mut pass = network.activations(count);
    let mut returns = vec![None; count];
    // Environments whose episode is over play on, unheard, until the last one is done.
    while returns.iter().any(Option::is_none) {
        envs.observations(&mut rows.observations)?;
        let q = network.forward(&rows.observations, count, &mut pass)?;
        for (action, q) in rows.actions.iter_mut().zip(q.chunks_exact(actions)) {
            *action = argmax(q) as u32;
        }
        envs.step(&rows.actions, &mut rows.transitions, &mut rows.final_observations)?;
        for (total, transition) in returns.iter_mut().zip(&rows.transitions) {
            *total = total.or(transition.finished.map(|episode| episode.total));
        }
    }
    Ok(returns.iter().flatten().sum::<f64>() / count as f64)
}
