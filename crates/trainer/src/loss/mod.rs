//! Losses: categorical policies from logits, the clipped PPO loss and its gradient, Gaussian helpers.

pub mod categorical;
mod error;
mod formula;
pub mod gaussian;
mod normalize;
mod ppo;
mod softmax;
pub(crate) mod sum;
mod terms;
#[expect(clippy::needless_range_loop, reason = "loops over lanes are written alike, whatever they index")]
mod tile;

pub use categorical::Logits;
pub use error::Error;
pub use formula::LossSettings;
pub use normalize::{explained_variance, normalize};
pub use ppo::{Ppo, PpoRows, ppo_rows};
pub use terms::{Statistics, TermRows, Terms};
