//! The loops that peers are compared at.

use std::time::Instant;

use trainer::env::CartPole;
use trainer::{Config, Error, PolicyConfig, Trainer};

/// A loop over 64 CartPole environments x 128 steps, 4 minibatches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// Two hidden layers of 64, 4 epochs.
    Feedforward,
    /// A hidden layer of 64 and a minGRU layer of 64, 4 epochs.
    Recurrent,
    /// A hidden layer of 128 and a minGRU layer of 128, one epoch.
    RecurrentWide,
}

impl Variant {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Feedforward, Self::Recurrent, Self::RecurrentWide];

    /// Short name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Feedforward => "mlp64x2_4epochs",
            Self::Recurrent => "mingru64_4epochs",
            Self::RecurrentWide => "mingru128_1epoch",
        }
    }

    /// Its configuration.
    pub fn config(self) -> Config {
        let (encoder, layers, epochs) = match self {
            Self::Feedforward => (vec![64, 64], 0, 4),
            Self::Recurrent => (vec![64], 1, 4),
            Self::RecurrentWide => (vec![128], 1, 1),
        };
        Config {
            environments: 64,
            horizon: 128,
            // Longer than any bench.
            total_steps: 1 << 40,
            policy: PolicyConfig { encoder, layers },
            epochs,
            minibatches: 4,
            ..Config::default()
        }
    }
}

/// A run of `variant` on `threads` threads.
///
/// # Errors
/// Those of [`Trainer::new`].
pub fn trainer(variant: Variant, threads: usize) -> Result<Trainer<CartPole>, Error> {
    Trainer::new(variant.config(), threads, |_| CartPole::new())
}

/// How long CartPole took.
#[derive(Clone, Copy, Debug)]
pub struct Solved {
    /// Wall time, evaluations included, in seconds.
    pub seconds: f64,
    /// Environment steps trained.
    pub steps: u64,
    /// Mean return of the evaluation that ended it; below 475 if the steps ran out.
    pub mean_return: f64,
}

/// Which of mini_trainer's configurations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// A hidden layer of 64 and a minGRU layer of 64.
    MinGru,
    /// Two hidden layers of 64.
    Mlp,
}

impl Policy {
    /// Both.
    pub const ALL: [Self; 2] = [Self::MinGru, Self::Mlp];

    /// Short name.
    pub fn name(self) -> &'static str {
        match self {
            Self::MinGru => "mingru",
            Self::Mlp => "mlp",
        }
    }
}

/// Trains one of mini_trainer's CartPole configurations until 100 greedy episodes have a mean return of at least 475.
/// Evaluates after every second update once the sampled episodes' mean return is at least 300.
///
/// # Errors
/// Those of the trainer.
pub fn solve(policy: Policy, seed: u64, threads: usize) -> Result<Solved, Box<dyn std::error::Error>> {
    let text = match policy {
        Policy::MinGru => include_str!("../../examples/configs/cartpole.toml"),
        Policy::Mlp => include_str!("../../examples/configs/cartpole_mlp.toml"),
    };
    let config: Config = toml::from_str(text)?;
    let begin = Instant::now();
    let mut trainer = Trainer::new(Config { seed, ..config }, threads, |_| CartPole::new())?;
    let mut mean_return = f64::NAN;
    while !trainer.is_finished() {
        let metrics = trainer.update()?;
        if metrics.mean_return >= 300.0 && trainer.updates() % 2 == 0 {
            mean_return = trainer.evaluate(100, |_| CartPole::new())?.mean_return();
            if mean_return >= 475.0 {
                break;
            }
        }
    }
    Ok(Solved { seconds: begin.elapsed().as_secs_f64(), steps: trainer.steps(), mean_return })
}
