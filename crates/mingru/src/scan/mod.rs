//! The scan over given projections.
mod backward;
mod forward;
mod row;
mod step;
mod tiles;

pub use backward::{Backward, Gradients, backward, backward_on};
pub use forward::{Forward, Outputs, forward, forward_on};
pub use step::{Step, step, step_on};
