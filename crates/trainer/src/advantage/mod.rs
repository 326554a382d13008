//! Advantages: generalized advantage estimation, with V-trace's clipped importance ratios where data is off-policy.

mod check;
mod error;
mod estimate;
mod formula;

pub use error::Error;
pub use estimate::{Discount, OffPolicy, Trajectories, gae, vtrace};
