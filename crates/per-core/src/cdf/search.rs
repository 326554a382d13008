//! The search: which item holds a threshold.

use super::layout::{BLOCK, FANOUT, Node};
use super::steps::{self, Plain, Steps};
use super::tuning::{BATCH, SEARCH_TILE};
use super::{Cdf, View, check_len};
use crate::error::Error;
use arith::simd::{Isa, Kernel};
use rayon::prelude::*;

impl Cdf {
    /// The item that holds `threshold`: the i with `prefix(i - 1) <= threshold < prefix(i)`.
    ///
    /// It is numpy's `searchsorted(prefix, threshold, side="right")`, and its weight is never zero.
    ///
    /// # Errors
    /// [`Error::ThresholdOutOfRange`] unless `threshold < total`.
    pub fn find(&self, threshold: u64) -> Result<u32, Error> {
        self.check_threshold("Cdf::find", 0, 0, threshold)?;
        let view = self.view();
        let mut at = 0;
        let mut rest = threshold;
        for &start in view.starts.iter().rev() {
            let Node(keys) = &view.nodes[start + at];
            let child = Plain.last_at_most(keys, threshold);
            at = at * FANOUT + child;
            rest = threshold - keys[child];
        }
        let parts = view.blocks[at].quantize(view.scale);
        Ok(item(at, Plain.sums_at_most(&parts, rest)))
    }

    /// [`find`](Self::find) for many thresholds.
    ///
    /// `thresholds`: (m), each in `0..total`; `out`: (m). From 2^20 weights some 13 ns each (one
    /// thread, Zen 4 with AVX-512; `cargo bench --bench cdf`).
    ///
    /// # Errors
    /// [`Error::LengthMismatch`]; [`Error::ThresholdOutOfRange`] with the position of the first one.
    pub fn search(&self, thresholds: &[u64], out: &mut [u32]) -> Result<(), Error> {
        self.check_search("Cdf::search", 0, thresholds, out)?;
        self.run(Isa::detect(), false, &Given { thresholds, less: 0 }, out);
        Ok(())
    }

    /// [`search`](Self::search) on the current rayon pool: the same items.
    ///
    /// # Errors
    /// As [`search`](Self::search).
    pub fn search_par(&self, thresholds: &[u64], out: &mut [u32]) -> Result<(), Error> {
        self.check_search("Cdf::search_par", 0, thresholds, out)?;
        self.run(Isa::detect(), true, &Given { thresholds, less: 0 }, out);
        Ok(())
    }

    /// The other convention for thresholds that fall on a boundary: the i with `prefix(i - 1) < threshold <= prefix(i)`.
    ///
    /// It is numpy's `searchsorted(prefix, threshold, side="left")` for thresholds in `1..=total`. Zero is refused:
    /// there it would give item 0 whatever its weight.
    ///
    /// # Errors
    /// As [`search`](Self::search).
    pub fn search_left(&self, thresholds: &[u64], out: &mut [u32]) -> Result<(), Error> {
        self.check_search("Cdf::search_left", 1, thresholds, out)?;
        self.run(Isa::detect(), false, &Given { thresholds, less: 1 }, out);
        Ok(())
    }

    /// That a threshold lies in `min..total + min`.
    fn check_threshold(&self, operation: &'static str, min: u64, position: usize, threshold: u64) -> Result<(), Error> {
        let end = self.total + min;
        if (min..end).contains(&threshold) {
            return Ok(());
        }
        Err(Error::ThresholdOutOfRange { operation, position, threshold, min, end })
    }

    fn check_search(&self, operation: &'static str, min: u64, thresholds: &[u64], out: &[u32]) -> Result<(), Error> {
        check_len(operation, "out", thresholds.len(), out.len())?;
        let (mut low, mut high) = (u64::MAX, 0);
        for &t in thresholds {
            low = low.min(t);
            high = high.max(t);
        }
        if thresholds.is_empty() || (low >= min && high < self.total + min) {
            return Ok(());
        }
        thresholds.iter().enumerate().try_for_each(|(i, &t)| self.check_threshold(operation, min, i, t))
    }

    /// Fills `out` with the items of `source`'s thresholds; there is some mass, or `out` is empty.
    pub(crate) fn run(&self, isa: Isa, parallel: bool, source: &impl Source, out: &mut [u32]) {
        let view = self.view();
        if parallel && out.len() > SEARCH_TILE {
            out.par_chunks_mut(SEARCH_TILE)
                .enumerate()
                .for_each(|(i, out)| dispatch(isa, view, source, i * SEARCH_TILE, out));
        } else {
            dispatch(isa, view, source, 0, out);
        }
    }
}

/// Where thresholds come from.
pub(crate) trait Source: Sync {
    /// Thresholds number `first`, `first + 1`, ..., all below the total. Those past the last one may be anything that
    /// is below the total too.
    fn fill(&self, first: usize, thresholds: &mut [u64; BATCH]);
}

/// Thresholds of the caller, each less `less`.
struct Given<'a> {
    thresholds: &'a [u64],
    less: u64,
}

impl Source for Given<'_> {
    #[inline(always)]
    fn fill(&self, first: usize, thresholds: &mut [u64; BATCH]) {
        let given = self.thresholds.get(first..).unwrap_or_default();
        if let Some(given) = given.first_chunk::<BATCH>() {
            *thresholds = given.map(|t| t - self.less);
        } else {
            *thresholds = [0; BATCH];
            for (t, given) in thresholds.iter_mut().zip(given) {
                *t = given - self.less;
            }
        }
    }
}

/// Item number `within` of block `block`.
#[inline(always)]
fn item(block: usize, within: usize) -> u32 {
    // Below 2^31: there are no more weights.
    (block * BLOCK + within) as u32
}

fn dispatch(isa: Isa, view: View<'_>, source: &impl Source, first: usize, out: &mut [u32]) {
    #[cfg(target_arch = "x86_64")]
    if isa >= Isa::Avx512
        && let Some(steps) = steps::Avx512::new()
    {
        return isa.run(SearchKernel { steps, view, source, first, out });
    }
    isa.run(SearchKernel { steps: Plain, view, source, first, out });
}

struct SearchKernel<'a, S, T> {
    steps: S,
    view: View<'a>,
    source: &'a T,
    /// Number of the threshold that belongs to `out[0]`.
    first: usize,
    out: &'a mut [u32],
}

impl<S: Steps, T: Source> Kernel for SearchKernel<'_, S, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { steps, view, source, mut first, out } = self;
        let mut scratch = Scratch { thresholds: [0; BATCH], at: [0; BATCH], parts: [[0; BLOCK]; BATCH] };
        for out in out.chunks_mut(BATCH) {
            source.fill(first, &mut scratch.thresholds);
            descend(steps, view, &mut scratch);
            for ((out, &at), (parts, &rest)) in
                out.iter_mut().zip(&scratch.at).zip(scratch.parts.iter().zip(&scratch.thresholds))
            {
                *out = item(at, steps.sums_at_most(parts, rest));
            }
            first += BATCH;
        }
    }
}

/// What a batch of searches knows between steps.
struct Scratch {
    /// Thresholds; at the end, what is left of them after the sum before the block.
    thresholds: [u64; BATCH],
    /// Nodes of the present level; at the end, blocks.
    at: [usize; BATCH],
    /// The weights of the blocks in fixed point.
    parts: [[u64; BLOCK]; BATCH],
}

/// Takes a batch down to its blocks, level by level: a step of one search hides the wait for memory of the others.
#[inline(always)]
fn descend(steps: impl Steps, view: View<'_>, scratch: &mut Scratch) {
    let Scratch { thresholds, at, parts } = scratch;
    *at = [0; BATCH];
    for level in (1..view.starts.len()).rev() {
        let nodes = &view.nodes[view.starts[level]..];
        let below = &view.nodes[view.starts[level - 1]..];
        for (at, &t) in at.iter_mut().zip(thresholds.iter()) {
            *at = *at * FANOUT + steps.last_at_most(&nodes[*at].0, t);
            steps::prefetch(below, *at);
        }
    }
    for (at, t) in at.iter_mut().zip(thresholds.iter_mut()) {
        let Node(keys) = &view.nodes[*at];
        let child = steps.last_at_most(keys, *t) % FANOUT;
        *at = *at * FANOUT + child;
        *t -= keys[child];
        steps::prefetch(view.blocks, *at);
    }
    for (parts, &at) in parts.iter_mut().zip(at.iter()) {
        *parts = view.blocks[at].quantize(view.scale);
    }
}
