//! The loops that peers are compared at.

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
