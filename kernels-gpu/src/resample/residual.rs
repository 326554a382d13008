//! Residual resampling: whole offspring at once, and the rest by a base scheme.
//!
//! With `m * prefix(i) = k * total + r` and c the whole offspring of the items up to and with i, these items own the first
//! `k - c` strata of what remains, and r of the next one: k + 1 draws if the offset in that stratum is below r, k if not.

use super::expand::{Draws, expand};
use super::split::Divider;
use super::{Work, nothing};
use crate::cdf::{Cdf, Head};
use crate::device::warp::lane_id;
use crate::draws::{Position, Words, advance};
use arith::fixed::bounded;

/// The offset in a stratum, below the total.
trait Offset: Copy {
    /// # Safety
    /// There is such a stratum.
    unsafe fn at(self, stratum: u64) -> u64;
}

/// The items of a CDF, whose counts are their whole offspring.
#[derive(Clone, Copy)]
struct Whole<O> {
    cdf: Cdf,
    divider: Divider,
    offset: O,
}

impl<O: Offset> Whole<O> {
    /// Draws of the items whose weights sum to `prefix`, and whose whole offspring are `counts`.
    ///
    /// # Safety
    /// There are such items.
    #[inline(always)]
    unsafe fn draws(self, prefix: u64, counts: u64) -> u32 {
        let (whole, rest) = self.divider.split(prefix);
        // Without a rest there may be no such stratum any more.
        // SAFETY: a rest lies in a stratum.
        let one = rest > 0 && unsafe { self.offset.at(whole - counts) } < rest;
        // At most m.
        whole as u32 + u32::from(one)
    }
}

impl<O: Offset> Draws for Whole<O> {
    #[inline(always)]
    unsafe fn count(self, first: u32) -> u64 {
        // SAFETY: the caller's.
        self.divider.split(unsafe { self.cdf.weight(first + lane_id()) }).0
    }

    #[inline(always)]
    unsafe fn end(self, first: u32, counts: u64) -> u32 {
        // SAFETY: the caller's.
        unsafe { self.draws(self.cdf.prefix(first), counts) }
    }

    #[inline(always)]
    unsafe fn start(self, first: u32, counts: u64) -> u32 {
        // SAFETY: the caller's.
        unsafe { self.draws(self.cdf.before(first), counts) }
    }
}

/// One of its own in each stratum.
#[derive(Clone, Copy)]
struct Each {
    words: Words,
    total: u64,
}

impl Offset for Each {
    #[inline(always)]
    unsafe fn at(self, stratum: u64) -> u64 {
        // SAFETY: there are as many words as draws, and no more strata.
        bounded(unsafe { self.words.word(stratum) }, self.total)
    }
}

/// The same one everywhere.
#[derive(Clone, Copy)]
struct Same(u64);

impl Offset for Same {
    #[inline(always)]
    unsafe fn at(self, _: u64) -> u64 {
        self.0
    }
}

/// Writes m ancestors; whether there was something to draw.
///
/// # Safety
/// As the kernels.
#[inline(always)]
unsafe fn residual<O: Offset>(cdf: Cdf, work: Work, out: *mut u32, m: u32, offset: impl Fn(u64) -> O) -> bool {
    let total = cdf.total();
    // The same for all threads.
    if total == 0 {
        // SAFETY: the caller's.
        unsafe { nothing(out, m) };
        return false;
    }
    let items = Whole { cdf, divider: Divider::new(m, total), offset: offset(total) };
    // SAFETY: the caller's.
    unsafe { expand(items, work, out, cdf.len(), m) };
    true
}

/// Residual resampling whose rest is stratified: `Scheme::Residual(Base::Stratified)`; ancestors in ascending order.
///
/// Inputs: `weights`, `nodes`, `head` of a CDF ([`crate::cdf`]); `words` (m), or null, and the stream as of
/// [`resample_stratified_f32`](super::resample_stratified_f32): m words are taken, of which the first are used. Scratch:
/// `tiles`, `work` (the module's text). Output: `out` (m), ancestors, or `u32::MAX` if there is nothing to draw.
///
/// Blocks of 256 threads, ceil(n / 4096) of them.
///
/// # Safety
/// The crate's conventions, and the CDF is as its module says.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn resample_residual_stratified_f32(
    weights: *const f32,
    nodes: *const u64,
    head: *const Head,
    position: *mut Position,
    words: *const u64,
    tiles: *mut u64,
    work: *mut u32,
    out: *mut u32,
    n: u32,
    m: u32,
    seed: u64,
    stream: u64,
) {
    // SAFETY: the caller's.
    unsafe {
        let source = Words::from(position, seed, stream).or(words);
        let (cdf, work) = (Cdf::new(weights, nodes, head, n), Work { tiles, words: work });
        let any = residual(cdf, work, out, m, |total| Each { words: source, total });
        advance(position, if any && words.is_null() { m } else { 0 });
    }
}

/// Residual resampling whose rest is systematic: `Scheme::Residual(Base::Systematic)`; ancestors in ascending order.
///
/// Parameters as of [`resample_residual_stratified_f32`], with one word in all.
///
/// # Safety
/// As [`resample_residual_stratified_f32`].
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn resample_residual_systematic_f32(
    weights: *const f32,
    nodes: *const u64,
    head: *const Head,
    position: *mut Position,
    words: *const u64,
    tiles: *mut u64,
    work: *mut u32,
    out: *mut u32,
    n: u32,
    m: u32,
    seed: u64,
    stream: u64,
) {
    // SAFETY: the caller's.
    unsafe {
        let source = Words::from(position, seed, stream).or(words);
        let (cdf, work) = (Cdf::new(weights, nodes, head, n), Work { tiles, words: work });
        let any = residual(cdf, work, out, m, |total| Same(bounded(source.word(0), total)));
        advance(position, u32::from(any && words.is_null()));
    }
}
