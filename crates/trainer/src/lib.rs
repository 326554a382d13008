//! A compiled PPO update loop with minGRU policies, deterministic to the bit.
//!
//! A run is a rollout (T steps of N environments), advantages, then minibatches of whole segments: forward, loss,
//! backward, gradient clipping, Adam. Every buffer is allocated when the [`UpdatePlan`] is compiled; running it
//! allocates nothing, and the weights are the same bits for any number of threads.
//!
//! [`Trainer`] is the whole of it; its parts can be used alone.

mod activation;
pub mod advantage;
mod config;
pub mod env;
mod error;
mod evaluate;
pub mod loss;
mod memory;
mod metrics;
pub mod optim;
#[cfg(test)]
mod oracle;
mod params;
mod policy;
mod rollout;
pub mod schedule;
mod snapshot;
mod streams;
mod trainer;
mod tuning;
mod update;

pub use checkpoint;
pub use config::{Config, PolicyConfig, PriorityConfig};
pub use error::Error;
pub use evaluate::Evaluation;
pub use metrics::Metrics;
pub use params::{Affine, Layout, Parameter};
pub use snapshot::checkpoint_environment;
pub use trainer::Trainer;
pub use update::{Learner, Operation, UpdatePlan};
