//! Draws: which thresholds to search for.
//!
//! Draw number i takes block number i of a Philox stream; the first two of its words are an integer r below 2^64, and
//! the threshold is `floor(r * total / 2^64)` ([`bounded`]). So a leaf's probability is within 2^-64 of its share. A
//! [`Cdf`](crate::Cdf) of the same priorities draws the same.

use super::SumTree;
use super::find::{Found, Source};
use super::tuning::BATCH;
use crate::error::Error;
use arith::fixed::bounded;
use arith::random::Stream;
use arith::simd::Isa;

/// A leaf that was drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Drawn {
    pub(crate) leaf: u32,
    /// [`SumTree::weight`] of the leaf: known from the search, without another look at the leaf.
    pub(crate) weight: u64,
}

impl SumTree {
    /// Independent draws: leaf i with probability `weight(i) / total`.
    ///
    /// `out`: (m). Draw number j is a function of block `first_index + j` of the stream alone (indices wrap at 2^64):
    /// drawing 10 leaves equals drawing 4 and then, from `first_index + 4`, another 6. At 2^20 leaves some 25 ns a draw
    /// (one thread, Zen 4 with AVX-512; 34 with AVX2, 47 without; `cargo bench --bench trees`).
    ///
    /// # Errors
    /// [`Error::AllZero`] if there is nothing to draw.
    pub fn sample(&self, stream: &Stream, first_index: u64, out: &mut [u32]) -> Result<(), Error> {
        self.sample_on(Isa::detect(), stream, first_index, out)
    }

    /// [`sample`](Self::sample) with a given instruction set.
    #[doc(hidden)]
    pub fn sample_on(&self, isa: Isa, stream: &Stream, first_index: u64, out: &mut [u32]) -> Result<(), Error> {
        self.draw_independent(isa, stream, first_index, out, |drawn, out| *out = drawn.leaf)
    }

    /// [`sample`](Self::sample), with more to tell of each draw: `tell` is called for each of `out` in order, as soon as
    /// its leaf is known, while those of its batch are still searched for.
    pub(crate) fn draw_independent<T>(
        &self,
        isa: Isa,
        stream: &Stream,
        first_index: u64,
        out: &mut [T],
        tell: impl Fn(Drawn, &mut T),
    ) -> Result<(), Error> {
        self.check_mass("SumTree::sample")?;
        let draws = Independent { stream: *stream, first_index, total: self.total() };
        self.visit(isa, &draws, out, |found: Found, out: &mut T| tell(found.drawn(), out));
        Ok(())
    }

    /// One draw from each of `m = out.len()` equal strata of the mass, in ascending order:
    /// `threshold[j] = floor((j + u[j]) * total / m)` with independent uniform `u[j]` from block `first_index + j`.
    ///
    /// A leaf of probability p is drawn `m * p` times on average, and never fewer than `floor(m * p) - 1` times or
    /// more than `ceil(m * p) + 1` times.
    ///
    /// # Errors
    /// As [`sample`](Self::sample).
    pub fn sample_stratified(&self, stream: &Stream, first_index: u64, out: &mut [u32]) -> Result<(), Error> {
        self.sample_stratified_on(Isa::detect(), stream, first_index, out)
    }

    /// [`sample_stratified`](Self::sample_stratified) with a given instruction set.
    #[doc(hidden)]
    pub fn sample_stratified_on(
        &self,
        isa: Isa,
        stream: &Stream,
        first_index: u64,
        out: &mut [u32],
    ) -> Result<(), Error> {
        self.draw_stratified(isa, stream, first_index, out, |drawn, out| *out = drawn.leaf)
    }

    /// [`sample_stratified`](Self::sample_stratified), with more to tell of each draw, as
    /// [`draw_independent`](Self::draw_independent) does.
    pub(crate) fn draw_stratified<T>(
        &self,
        isa: Isa,
        stream: &Stream,
        first_index: u64,
        out: &mut [T],
        tell: impl Fn(Drawn, &mut T),
    ) -> Result<(), Error> {
        self.check_mass("SumTree::sample_stratified")?;
        let draws = Independent { stream: *stream, first_index, total: self.total() };
        let strata = out.len() as u64;
        self.visit(isa, &Stratified { draws, strata }, out, |found: Found, out: &mut T| tell(found.drawn(), out));
        Ok(())
    }
}

impl Found {
    #[inline(always)]
    fn drawn(self) -> Drawn {
        Drawn { leaf: self.leaf, weight: self.weight }
    }
}

pub(super) struct Independent {
    pub(super) stream: Stream,
    pub(super) first_index: u64,
    pub(super) total: u64,
}

impl Source for Independent {
    #[inline(always)]
    fn fill(&self, first: usize, thresholds: &mut [u64; BATCH]) {
        let first = self.first_index.wrapping_add(first as u64);
        // Two loops: the first is vectorized, the second has no vector instruction for its product.
        for (i, t) in thresholds.iter_mut().enumerate() {
            let [low, high, ..] = self.stream.block(first.wrapping_add(i as u64));
            *t = u64::from(high) << 32 | u64::from(low);
        }
        for t in thresholds {
            *t = bounded(*t, self.total);
        }
    }
}

struct Stratified {
    draws: Independent,
    strata: u64,
}

impl Source for Stratified {
    #[inline(always)]
    fn fill(&self, first: usize, thresholds: &mut [u64; BATCH]) {
        self.draws.fill(first, thresholds);
        let (strata, total) = (u128::from(self.strata), u128::from(self.draws.total));
        for (j, t) in (first as u64..).zip(thresholds) {
            // floor((j + u) * T / m) = floor((j * T + floor(u * T)) / m): a floor within a floor changes nothing. Below
            // T, since the numerator is below m * T; a stratum past the last one is the last.
            let stratum = u128::from(j).min(strata - 1);
            *t = ((stratum * total + u128::from(*t)) / strata) as u64;
        }
    }
}
