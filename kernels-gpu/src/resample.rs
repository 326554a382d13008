//! Resampling by a [`cdf`](crate::cdf): `per-core`'s schemes, bit for bit. Multinomial resampling is
//! [`cdf_sample_f32`](crate::cdf).
//!
//! What scans needs scratch, which is zero at first and again after each launch:
//!
//! ```text
//! tiles: (ceil(n / 4096), 2) u64
//! work:  (2) u32
//! ```

mod expand;
mod remainders;
mod residual;
mod rows;
mod scan;
#[path = "../../crates/per-core/src/resample/split.rs"]
#[allow(dead_code)]
mod split;

pub use expand::resample_expand_u32;
pub use remainders::{resample_draw_remainders_f32, resample_remainders_f32};
pub use residual::{resample_residual_stratified_f32, resample_residual_systematic_f32};
pub use rows::{resample_rows_f32, resample_survey_rows_f32};

use crate::cdf::NOTHING;
use crate::cdf::{Cdf, Head};
use crate::device::thread::{block_dim_x, grid_dim_x, index_1d};
use crate::draws::{Position, Words, advance};
use crate::strata::in_stratum;
use arith::fixed::bounded;

/// The scratch of a scan.
#[derive(Clone, Copy)]
struct Work {
    /// The tiles' sums.
    tiles: *mut u64,
    /// Tiles that were taken, and blocks that have finished.
    words: *mut u32,
}

/// Where there is nothing to draw.
///
/// # Safety
/// `out` holds m.
#[inline(always)]
unsafe fn nothing(out: *mut u32, m: u32) {
    let mut j = index_1d();
    while j < m as usize {
        // SAFETY: below m, and no other thread has this j.
        unsafe { *out.add(j) = NOTHING };
        j += grid_dim_x() as usize * block_dim_x() as usize;
    }
}

/// One draw from each of m equal strata of the mass, in ascending order: `Scheme::Stratified`.
///
/// Inputs: `weights`, `nodes`, `head` of a CDF ([`crate::cdf`]); `words` (m), random 64-bit integers, or null for those of the
/// Philox stream (`seed`, `stream`) from block `position.next` on, one a draw, which then grows by m. Output: `out` (m),
/// ancestors, or `u32::MAX` if the total is 0 or the CDF isn't built; then the position stays.
///
/// Half a warp a draw, so the grid has 16 threads for each.
///
/// # Safety
/// The crate's conventions, and the CDF is as its module says.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn resample_stratified_f32(
    weights: *const f32,
    nodes: *const u64,
    head: *const Head,
    position: *mut Position,
    words: *const u64,
    out: *mut u32,
    n: u32,
    m: u32,
    seed: u64,
    stream: u64,
) {
    // SAFETY: the caller's.
    unsafe {
        let source = Words::from(position, seed, stream).or(words);
        let threshold = |j, total| in_stratum(j, bounded(source.word(u64::from(j)), total), total, m);
        let drawn = Cdf::new(weights, nodes, head, n).draw(out, m, threshold);
        advance(position, if drawn && words.is_null() { m } else { 0 });
    }
}

/// One draw from each of m equal strata of the mass, at the same place in all, in ascending order: `Scheme::Systematic`.
///
/// Parameters and results as of [`resample_stratified_f32`], with one word in all.
///
/// # Safety
/// As [`resample_stratified_f32`].
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn resample_systematic_f32(
    weights: *const f32,
    nodes: *const u64,
    head: *const Head,
    position: *mut Position,
    words: *const u64,
    out: *mut u32,
    n: u32,
    m: u32,
    seed: u64,
    stream: u64,
) {
    // SAFETY: the caller's.
    unsafe {
        let source = Words::from(position, seed, stream).or(words);
        let threshold = |j, total| in_stratum(j, bounded(source.word(0), total), total, m);
        let drawn = Cdf::new(weights, nodes, head, n).draw(out, m, threshold);
        advance(position, u32::from(drawn && words.is_null()));
    }
}
