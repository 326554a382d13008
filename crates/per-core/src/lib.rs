//! Sampling by weight, exactly: cumulative sums, trees and samplers for prioritized replay and particle filters.
//!
//! Weights are `f32`, finite and `>= 0`. Their sums are integers: each weight becomes a `u64` in fixed point
//! ([`arith::fixed`]), and integers add exactly in any order. So a cumulative sum never fails to reach its end, never
//! stops growing, a weight of zero is never drawn, and the bits of every result are the same for any number of
//! threads, any tiling and any instruction set.
//!
//! | Type | What it does |
//! |---|---|
//! | [`Cdf`] | cumulative sums of a slice of weights: build, search, draw |
//! | [`resample`] | multinomial, stratified, systematic and residual resampling over a [`Cdf`] |
//! | [`SumTree`] | priorities that change, and draws in proportion to them |
//! | [`MinTree`], [`MaxTree`] | the smallest priority above zero and the largest |
//! | [`replay`] | prioritized experience replay: a ring of transitions, drawn by priority |
//! | [`Error`] | what can be wrong with an input; the object is then as it was |
//! | `cuda` | with the feature of this name: the same on CUDA devices |
//!
//! ```
//! use arith::random::Stream;
//! use per_core::Cdf;
//!
//! let mut cdf = Cdf::new();
//! cdf.build(&[10.0, 0.0, 5.0, 2.0])?;
//!
//! // The mass is exact: 17 units, of which item 2 has those from 10 up to (not including) 15.
//! let unit = cdf.total() / 17;
//! assert_eq!(cdf.prefix(1)?, 10 * unit);
//! assert_eq!(cdf.find(10 * unit - 1)?, 0);
//! assert_eq!(cdf.find(10 * unit)?, 2);
//! assert_eq!(cdf.find(15 * unit)?, 3);
//!
//! // Draws have an address, not a generator: the same (seed, stream, index) gives the same item for ever.
//! let mut items = [0; 1000];
//! cdf.sample(&Stream::new(1, 0), 0, &mut items)?;
//! assert!(items.iter().all(|&i| i != 1));
//! # Ok::<(), per_core::Error>(())
//! ```

mod cdf;
#[cfg(feature = "cuda")]
pub mod cuda;
mod error;
mod memory;
#[doc(hidden)]
pub mod oracle;
pub mod replay;
pub mod resample;
mod tree;

pub use cdf::Cdf;
pub use error::Error;
pub use replay::PrioritizedReplay;
pub use tree::{DistinctScratch, MaxTree, MinTree, SumTree};
