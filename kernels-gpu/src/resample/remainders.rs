//! Residual resampling whose remainders are independent draws: `Scheme::Residual(Base::Multinomial)`.
//!
//! Three launches, because each needs all of the one before: how many draws remain follows from all whole offspring, and where
//! an item's ancestors begin from all draws. [`resample_remainders_f32`] lays the rests of all items out on a line of strata,
//! [`resample_draw_remainders_f32`] draws on it, and [`resample_expand_u32`](super::resample_expand_u32) writes ancestors.
//!
//! ```text
//! counts:    (n) u32, offspring: the whole ones, then all
//! strata:    (n) u32, rests: (n) u64; the sum of the rests up to and with an item is strata * total + rests
//! remaining: (1) u32, draws that remain, which is the number of strata
//! ```

use super::Work;
use super::scan::{Items, scan};
use super::split::Divider;
use crate::cdf::{Cdf, Head};
use crate::device::atomic::fetch_add_u32;
use crate::device::thread::{block_dim_x, grid_dim_x, index_1d};
use crate::device::warp::lane_id;
use crate::draws::{Position, Words, advance};
use arith::fixed::bounded;

/// Writes whole offspring, and where the rests lie.
///
/// Inputs: `weights`, `nodes`, `head` of a CDF ([`crate::cdf`]). Scratch: `tiles`, `work`. Outputs: `counts`, `strata`, `rests`,
/// `remaining`; all counts 0 if there is nothing to draw.
///
/// Blocks of 256 threads, ceil(n / 4096) of them.
///
/// # Safety
/// The crate's conventions, and the CDF is as its module says.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn resample_remainders_f32(
    weights: *const f32,
    nodes: *const u64,
    head: *const Head,
    tiles: *mut u64,
    work: *mut u32,
    counts: *mut u32,
    strata: *mut u32,
    rests: *mut u64,
    remaining: *mut u32,
    n: u32,
    m: u32,
) {
    // SAFETY: the caller's.
    let cdf = unsafe { Cdf::new(weights, nodes, head, n) };
    // The same for all threads.
    if cdf.total() == 0 {
        // SAFETY: the caller's.
        unsafe { zero(counts, n, remaining) };
        return;
    }
    let divider = Divider::new(m, cdf.total());
    // SAFETY: all lanes call it.
    let count = |first: u32| divider.split(unsafe { cdf.weight(first + lane_id()) }).0;
    let each = |Items { first, through }: Items| {
        let i = (first + lane_id()) as usize;
        // SAFETY: all lanes call it.
        let (whole, rest) = divider.split(unsafe { cdf.prefix(first) });
        // Whole offspring are at most m, and so are strata.
        let own = count(first) as u32;
        let stratum = (whole - through) as u32;
        if i < n as usize {
            // SAFETY: below n, and no other thread has this i.
            unsafe {
                *counts.add(i) = own;
                *strata.add(i) = stratum;
                *rests.add(i) = rest;
                if i == n as usize - 1 {
                    *remaining = stratum;
                }
            }
        }
    };
    // SAFETY: the caller's.
    unsafe { scan(Work { tiles, words: work }, n, count, each, |_, _| ()) }
}

/// Where there is nothing to draw.
///
/// # Safety
/// `counts` holds n.
#[inline(always)]
unsafe fn zero(counts: *mut u32, n: u32, remaining: *mut u32) {
    let mut i = index_1d();
    if i == 0 {
        // SAFETY: no other thread writes it.
        unsafe { *remaining = 0 };
    }
    while i < n as usize {
        // SAFETY: below n, and no other thread has this i.
        unsafe { *counts.add(i) = 0 };
        i += grid_dim_x() as usize * block_dim_x() as usize;
    }
}

/// Draws what remains, and counts it: one thread a draw, of which only the first ones draw.
///
/// Inputs: `head` of the CDF; `strata`, `rests`, `remaining`; `words` (m), or null, and the stream as of
/// [`resample_stratified_f32`](super::resample_stratified_f32): m words are taken, of which the first are used. Changed:
/// `counts`.
///
/// # Safety
/// The crate's conventions, and all is as [`resample_remainders_f32`] has left it.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn resample_draw_remainders_f32(
    head: *const Head,
    position: *mut Position,
    words: *const u64,
    strata: *const u32,
    rests: *const u64,
    remaining: *const u32,
    counts: *mut u32,
    n: u32,
    m: u32,
    seed: u64,
    stream: u64,
) {
    let j = index_1d();
    // SAFETY: the caller's.
    let (source, remaining, total) = unsafe {
        let total = if (*head).ready != 0 { (*head).total } else { 0 };
        (Words::from(position, seed, stream).or(words), *remaining, total)
    };
    if j < remaining as usize {
        // u * R strata: the whole is the stratum, and the fraction is uniform in it.
        // SAFETY: fewer remain than are drawn.
        let product = u128::from(unsafe { source.word(j as u64) }) * u128::from(remaining);
        let (stratum, rest) = ((product >> 64) as u32, bounded(product as u64, total));
        // The first item that reaches beyond the draw: there is one, since the last reaches the end of all strata.
        let (mut low, mut high) = (0, n - 1);
        while low < high {
            let middle = low + (high - low) / 2;
            // SAFETY: below n.
            let at = unsafe { (*strata.add(middle as usize), *rests.add(middle as usize)) };
            if at > (stratum, rest) { high = middle } else { low = middle + 1 }
        }
        // SAFETY: below n; only atomic operations access it.
        unsafe { fetch_add_u32(counts.add(low as usize), 1) };
    }
    // SAFETY: all threads come here.
    unsafe { advance(position, if total > 0 && words.is_null() { m } else { 0 }) };
}
