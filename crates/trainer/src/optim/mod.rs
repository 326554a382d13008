//! Optimization: clipping by the global gradient norm, Adam and AdamW.

mod adam;
mod clip;
mod error;
mod formula;

pub use adam::{Adam, AdamConfig, step, step_on};
pub use clip::{Clip, clip_gradient, global_norm};
pub use error::Error;
pub use formula::AdamStep;
