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

#[cfg(feature = "cuda")]
pub(crate) use check::check_batch;
pub(crate) use extremes::Extremes;
#[cfg(feature = "cuda")]
pub(crate) use extremes::priority_of;
#[cfg(feature = "cuda")]
pub(crate) use layout::check_capacity;
pub(crate) use layout::{Block, FANOUT, MAX_CAPACITY, prefetch};
pub use max::MaxTree;
pub use min::MinTree;
pub(crate) use order::{Ascending, Descending};
pub(crate) use sum::Drawn;
#[cfg(feature = "cuda")]
pub(crate) use sum::shown;
pub use sum::{DistinctScratch, SumTree};
