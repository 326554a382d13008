//! Draws: which thresholds to search for.
//!
//! Draw number i takes block number i of a Philox stream; the first two of its words are an integer r below 2^64, and
//! the threshold is `floor(r * total / 2^64)` ([`bounded`]). So an item's probability is within 2^-64 of its share.

use super::Cdf;
use super::search::Source;
use super::tuning::BATCH;
use crate::error::Error;
use arith::fixed::bounded;
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
        self.run(isa, parallel, &Multinomial { stream: *stream, first_index, total: self.total }, out);
        Ok(())
    }

    /// One draw from each of `m = out.len()` equal strata of the mass, in ascending order:
    /// `threshold[j] = floor((j + u[j]) * total / m)` with independent uniform `u[j]` from block `first_index + j`.
    ///
    /// An item of probability p is drawn `m * p` times on average, and never fewer than `floor(m * p) - 1` times or
    /// more than `ceil(m * p) + 1` times.
    ///
    /// # Errors
    /// As [`sample`](Self::sample).
    pub fn sample_stratified(&self, stream: &Stream, first_index: u64, out: &mut [u32]) -> Result<(), Error> {
        self.check_mass("Cdf::sample_stratified")?;
        let draws = Multinomial { stream: *stream, first_index, total: self.total };
        self.run(Isa::detect(), false, &Stratified { draws, strata: out.len() as u64 }, out);
        Ok(())
    }

    /// Like [`sample_stratified`](Self::sample_stratified) with the same uniform in every stratum, that of block `index`:
    /// an item of probability p is drawn `floor(m * p)` or `ceil(m * p)` times (up to the rounding of the strata to units).
    ///
    /// # Errors
    /// As [`sample`](Self::sample).
    pub fn sample_systematic(&self, stream: &Stream, index: u64, out: &mut [u32]) -> Result<(), Error> {
        self.check_mass("Cdf::sample_systematic")?;
        let offset = bounded(word(stream, index), self.total);
        self.run(Isa::detect(), false, &Systematic { offset, strata: out.len() as u64, total: self.total }, out);
        Ok(())
    }
}

/// The random integer of block `index`.
#[inline(always)]
fn word(stream: &Stream, index: u64) -> u64 {
    let [low, high, ..] = stream.block(index);
    u64::from(high) << 32 | u64::from(low)
}

struct Multinomial {
    stream: Stream,
    first_index: u64,
    total: u64,
}

impl Source for Multinomial {
    #[inline(always)]
    fn fill(&self, first: usize, thresholds: &mut [u64; BATCH]) {
        let first = self.first_index.wrapping_add(first as u64);
        // Two loops: the first is vectorized, the second has no vector instruction for its product.
        for (i, t) in thresholds.iter_mut().enumerate() {
            *t = word(&self.stream, first.wrapping_add(i as u64));
        }
        for t in thresholds {
            *t = bounded(*t, self.total);
        }
    }
}

/// `floor((stratum * total + offset) / strata)` for an offset below the total; a stratum past the last one is the last.
#[inline(always)]
fn in_stratum(stratum: u64, strata: u64, offset: u64, total: u64) -> u64 {
    let stratum = u128::from(stratum.min(strata - 1));
    // Below the total: the numerator is below strata * total.
    ((stratum * u128::from(total) + u128::from(offset)) / u128::from(strata)) as u64
}

struct Stratified {
    draws: Multinomial,
    strata: u64,
}

impl Source for Stratified {
    #[inline(always)]
    fn fill(&self, first: usize, thresholds: &mut [u64; BATCH]) {
        self.draws.fill(first, thresholds);
        for (j, t) in (first as u64..).zip(thresholds) {
            // floor((j + u) * T / m) = floor((j * T + floor(u * T)) / m): a floor within a floor changes nothing.
            *t = in_stratum(j, self.strata, *t, self.draws.total);
        }
    }
}

struct Systematic {
    offset: u64,
    strata: u64,
    total: u64,
}

impl Source for Systematic {
    #[inline(always)]
    fn fill(&self, first: usize, thresholds: &mut [u64; BATCH]) {
        for (j, t) in (first as u64..).zip(thresholds) {
            *t = in_stratum(j, self.strata, self.offset, self.total);
        }
    }
}
