//! Trees over priorities that change one by one or in batches.
//!
//! [`layout`] is how they lie in memory and [`check`] what a batch must be. `sum` is the tree of sums; `lowest` is the
//! tree of smallest keys, of which `min` and `max` are two readings.

mod check;
mod layout;
mod lowest;
mod max;
mod min;
mod sum;

pub use max::MaxTree;
pub use min::MinTree;
pub use sum::{DistinctScratch, SumTree};
