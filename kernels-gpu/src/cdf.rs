//! Cumulative sums of weights, as `per-core`'s `Cdf` stores them: see `crates/per-core/src/cdf/layout.rs`.
//!
//! ```text
//! weights: (n) f32, the caller's, which draws read again
//! nodes:   (all levels' nodes, 16) u64, level 0 first; element i of level l is the sum of the weights before weight
//!          i * 16^(l + 1), and 2^63 - 1 past the last one
//! head:    one [`Head`], zero at first
//! tiles:   (ceil(n / 4096), 2) u64, scratch
//! ```
//!
//! A build is two launches, [`cdf_survey_f32`] and [`cdf_build_f32`]: the scale follows from the largest of all weights, which
//! must be known before the first of them becomes an integer. The second is a scan in a single pass.

#[cfg(feature = "cdf")]
mod build;
mod descend;
#[cfg(feature = "cdf")]
mod search;
#[cfg(feature = "cdf")]
mod survey;

#[cfg(feature = "cdf")]
pub use build::cdf_build_f32;
pub(crate) use descend::Cdf;
#[cfg(feature = "cdf")]
pub use search::{cdf_sample_f32, cdf_search_f32};
#[cfg(feature = "cdf")]
pub use survey::cdf_survey_f32;

/// Index of a draw where there is nothing to draw.
pub const NOTHING: u32 = u32::MAX;

/// What a CDF knows of its weights as a whole: 32 bytes, aligned to 8.
#[repr(C)]
pub struct Head {
    /// Sum of all weights at the scale `Scale::new(largest, n)`.
    pub total: u64,
    /// The largest weight.
    pub largest: f32,
    /// 1 if the CDF is built, 0 if not or if a weight isn't one.
    pub ready: u32,
    /// While a survey runs: rank of the largest weight so far.
    pub running: u32,
    /// Blocks of threads of the survey that have finished.
    pub done: u32,
    /// While a build runs: tiles that were taken.
    pub taken: u32,
    /// Weights of the present CDF. A kernel that is launched for another number of them finds nothing.
    pub n: u32,
}
