//! The settings of a run, as TOML has them.

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use trainer::schedule::Schedule;

/// Settings of DQN. Steps are steps of one environment; schedules go by them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Options {
    /// Of everything that is random.
    pub(crate) seed: u64,
    /// Steps to train for.
    pub(crate) total_steps: u64,
    /// Environments that take their steps together.
    pub(crate) environments: usize,
    /// Updates after each such step.
    pub(crate) updates: usize,
    /// Units of each hidden layer.
    pub(crate) hidden: Vec<usize>,

    /// Transitions that the replay holds.
    pub(crate) capacity: usize,
    /// Transitions of an update.
    pub(crate) batch: usize,
    /// Transitions in the replay before the first update.
    pub(crate) warmup: usize,
    /// Transitions are drawn in proportion to `(|td error| + epsilon)^alpha`; 0 is uniform replay.
    pub(crate) alpha: f32,
    /// Added to a TD error's size.
    pub(crate) priority_epsilon: f32,
    /// Exponent of the importance weights at the start; it grows to 1 over `total_steps`.
    pub(crate) beta: f32,

    /// Discount of a step.
    pub(crate) discount: f32,
    /// Rewards in a return before it bootstraps.
    pub(crate) n_step: usize,
    /// Whether the online network chooses the action that the target network values (van Hasselt et al. 2016).
    pub(crate) double: bool,
    /// The loss is square up to a TD error of this size, and grows in proportion to it from there on. Values of CartPole
    /// reach 100: at the usual 1, uniform replay gives the few transitions in which the pole falls too little weight.
    pub(crate) huber: f32,
    /// Probability of a random action.
    pub(crate) epsilon: Schedule,
    /// Adam's.
    pub(crate) learning_rate: Schedule,
    /// The gradient is clipped to this norm.
    pub(crate) max_grad_norm: f32,
    /// Updates from one change of the target network to the next.
    pub(crate) target_interval: u64,
    /// How far it then goes towards the online network: 1 copies (Mnih et al. 2015), a small rate with an interval of 1
    /// is Polyak's average (Lillicrap et al. 2016).
    pub(crate) target_rate: f32,

    /// Steps from one evaluation to the next.
    pub(crate) evaluate_every: u64,
    /// Greedy episodes of an evaluation.
    pub(crate) evaluation_episodes: usize,
    /// CartPole-v1 counts as solved at this mean return.
    pub(crate) score: f64,
}

impl Default for Options {
    /// Those of `dqn/cartpole.toml`.
    fn default() -> Self {
        toml::from_str(include_str!("cartpole.toml")).expect("a test reads the shipped configuration")
    }
}

impl Options {
    /// The options of a TOML file's text; fields that it lacks have their defaults.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let mut table = toml::Table::try_from(Self::default())?;
        table.extend(text.parse::<toml::Table>()?);
        table.try_into().context("not a configuration")
    }

    /// Refuses what can't be. The replay, the optimizer and the environments check what is theirs.
    pub(crate) fn check(&self) -> Result<()> {
        // What is allocated stays bounded, and so do the addresses of draws.
        let sizes = [
            ("environments", self.environments, 1 << 16),
            ("updates", self.updates, 1 << 16),
            ("capacity", self.capacity, 1 << 30),
            ("batch", self.batch, 1 << 20),
            ("evaluation_episodes", self.evaluation_episodes, 1 << 16),
        ];
        for (name, value, most) in sizes {
            ensure!((1..=most).contains(&value), "{name} is {value}, expected 1 to {most}");
        }
        ensure!(self.hidden.len() <= 16, "hidden has {} layers, expected at most 16", self.hidden.len());
        for &units in &self.hidden {
            ensure!((1..=1 << 12).contains(&units), "hidden has a layer of {units} units, expected 1 to 4096");
        }
        ensure!(self.warmup <= self.capacity, "warmup is {}, above the capacity {}", self.warmup, self.capacity);
        ensure!(self.total_steps > 0 && self.total_steps <= 1 << 48, "total_steps is {}", self.total_steps);
        ensure!(self.target_interval > 0, "target_interval is 0, expected at least 1");
        ensure!(self.evaluate_every > 0, "evaluate_every is 0, expected at least 1");
        let huber = self.huber;
        ensure!(huber > 0.0 && huber < f32::INFINITY, "huber is {huber}, expected above 0 and finite");
        let rate = self.target_rate;
        ensure!(rate > 0.0 && rate <= 1.0, "target_rate is {rate}, expected above 0, at most 1");
        for step in [0, self.total_steps] {
            let epsilon = self.epsilon.value(step);
            ensure!((0.0..=1.0).contains(&epsilon), "epsilon is {epsilon} at step {step}, expected 0 to 1");
        }
        Ok(())
    }
}
