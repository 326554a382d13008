//! The samplers on CUDA devices: the CPU's API over device buffers, and the CPU's bits.
//!
//! | Type | What it does |
//! |---|---|
//! | [`SumTree`] | priorities that change, and draws in proportion to them |
//! | [`MinTree`], [`MaxTree`] | the smallest priority above zero and the largest |
//! | [`replay`] | prioritized experience replay: a ring of transitions, drawn by priority |
//! | [`Cdf`] | cumulative sums of weights: build, search, draw |
//! | [`resample`] | multinomial, stratified, systematic and residual resampling over a [`Cdf`], or of many rows of weights |
//! | [`Draws`] | where a stream of random numbers is, on the device |
//! | [`Error`] | what can be wrong |
//!
//! # What is submitted, and what waits
//! Methods that take views submit launches to a stream and return: they allocate nothing and wait for nothing, so all of
//! them can be part of a [`gpu::Graph`]. What must change from one replay of a graph to the next lies in the device's
//! memory: priorities, scales, positions of streams. Methods that take or give numbers of the host wait for the stream;
//! they can't be captured.
//!
//! All work on an object is of one stream, or ordered by events, as always on a device.
//!
//! # Errors
//! What the host can see (lengths, capacities, its own slices) is refused as on the CPU, and nothing has changed. What lies
//! in the device's memory is seen when the kernel runs: a batch with a faulty element, and priorities of a whole tree of which
//! one is faulty, are refused as a whole there, as on the CPU, and `check` of the object tells, with the CPU's error: the
//! position of the first one, and the index or value there. (Of several refused batches it tells what comes first in all of
//! them.) What comes after goes on as if a refused batch had never been submitted, in a graph too.
//! Where there is nothing to draw, all draws are [`NOTHING`], and an update of `NOTHING` is none.

mod cdf;
mod draws;
mod error;
mod extremes;
pub mod replay;
pub mod resample;
mod staging;
mod status;
mod sum_tree;

pub use cdf::Cdf;
pub use draws::Draws;
pub use error::Error;
pub use extremes::{MaxTree, MinTree};
pub use replay::PrioritizedReplay;
pub use sum_tree::{DistinctScratch, Mass, SumTree};

/// What is drawn where nothing can be: an item that doesn't exist.
pub const NOTHING: u32 = u32::MAX;
