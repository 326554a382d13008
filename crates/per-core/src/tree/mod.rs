//! Trees over priorities that change one by one or in batches.
//!
//! [`layout`] is how they lie in memory and [`check`] what a batch must be. `sum` is the tree of sums; `extremes` are
//! nodes that know the first priority in an [`order`], over leaves that live elsewhere; `lowest` is a tree with leaves
//! that does, of which `min` and `max` are two readings.

mod check;
mod extremes;
mod layout;
mod lowest;
mod max;
mod min;
mod order;
mod sum;

pub(crate) use extremes::Extremes;
pub(crate) use layout::{Block, FANOUT, MAX_CAPACITY, prefetch};
pub use max::MaxTree;
pub use min::MinTree;
pub(crate) use order::{Ascending, Descending};
pub(crate) use sum::Drawn;
pub use sum::{DistinctScratch, SumTree};
