//! Draws: which thresholds to search for.
//!
//! Draw number i takes block number i of a Philox stream; the first two of its words are an integer r below 2^64, and
//! the threshold is `floor(r * total / 2^64)`. So an item's probability is within 2^-64 of its share. The thresholds are
//! those of [`resample`](crate::resample), which offers more schemes, and randomness of the caller's.

use super::Cdf;
use crate::error::Error;
use crate::resample::{Multinomial, Random, stratified_on, systematic_on};
use arith::random::Stream;
use arith::simd::Isa;

impl Cdf {
    /// Independent draws (multinomial): item i with probability `weight(i) / total`.
    ///
    /// `out`: (m). Draw number j is a function of block `first_index + j` of the stream alone (indices wrap at 2^64):
    /// drawing 10 items equals drawing 4 and then, from `first_index + 4`, another 6.
    ///
    /// # Errors
    /// [`Error::Empty`] and [`Error::AllZero`] if there is nothing to draw.
    pub fn sample(&self, stream: &Stream, first_index: u64, out: &mut [u32]) -> Result<(), Error> {
        self.sample_on("Cdf::sample", Isa::detect(), false, stream, first_index, out)
    }

    /// [`sample`](Self::sample) on the current rayon pool: the same items.
    ///
    /// # Errors
    /// As [`sample`](Self::sample).
    pub fn sample_par(&self, stream: &Stream, first_index: u64, out: &mut [u32]) -> Result<(), Error> {
        self.sample_on("Cdf::sample_par", Isa::detect(), true, stream, first_index, out)
    }

    pub(super) fn sample_on(
        &self,
        operation: &'static str,
        isa: Isa,
        parallel: bool,
        stream: &Stream,
        first_index: u64,
        out: &mut [u32],
    ) -> Result<(), Error> {
        self.check_mass(operation)?;
        let random = Random::Stream { stream: *stream, first_index };
        self.run(isa, parallel, &Multinomial { random, total: self.total }, out);
        Ok(())
    }

    /// One draw from each of `m = out.len()` equal strata of the mass, in ascending order:
    /// `threshold[j] = floor((j + u[j]) * total / m)` with independent uniform `u[j]` from block `first_index + j`.
    ///
    /// An item of probability p is drawn `m * p` times on average, and never fewer than `floor(m * p) - 1` times or
    /// more than `ceil(m * p) + 1` times.
    ///
    /// # Errors
    /// As [`sample`](Self::sample); [`Error::TooManyDraws`] above `u32::MAX` draws.
    pub fn sample_stratified(&self, stream: &Stream, first_index: u64, out: &mut [u32]) -> Result<(), Error> {
        let random = Random::Stream { stream: *stream, first_index };
        stratified_on("Cdf::sample_stratified", Isa::detect(), self, random, out)
    }

    /// Like [`sample_stratified`](Self::sample_stratified) with the same uniform in every stratum, that of block `index`:
    /// an item of probability p is drawn `floor(m * p)` or `ceil(m * p)` times, without exception.
    ///
    /// # Errors
    /// As [`sample_stratified`](Self::sample_stratified).
    pub fn sample_systematic(&self, stream: &Stream, index: u64, out: &mut [u32]) -> Result<(), Error> {
        let random = Random::Stream { stream: *stream, first_index: index };
        systematic_on("Cdf::sample_systematic", Isa::detect(), self, random, out)
    }
}
