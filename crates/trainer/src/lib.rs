//! A compiled PPO update loop with minGRU policies, deterministic to the bit.
//!
//! A run is a rollout (T steps of N environments), advantages, then minibatches of whole segments: forward, loss,
//! backward, gradient clipping, Adam. Every buffer is allocated when the update plan is compiled; running it
//! allocates nothing, and the weights are the same bits for any number of threads.

pub mod advantage;
pub mod checkpoint;
pub mod env;
pub mod loss;
pub mod optim;
pub mod schedule;
