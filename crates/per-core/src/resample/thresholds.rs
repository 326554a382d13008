//! The thresholds of each scheme, to be searched for one by one.

use super::Random;
use crate::cdf::{BATCH, Source};
use arith::fixed::bounded;

/// Independent: `floor(u[j] * total)`.
pub(crate) struct Multinomial<'a> {
    pub(crate) random: Random<'a>,
    pub(crate) total: u64,
}

impl Source for Multinomial<'_> {
    #[inline(always)]
    fn fill(&self, first: usize, thresholds: &mut [u64; BATCH]) {
        *thresholds = [0; BATCH];
        // Two loops: the first is vectorized, the second has no vector instruction for its product.
        self.random.fill(first as u64, thresholds);
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

/// One in each stratum: `floor((j + u[j]) * total / strata)`.
pub(super) struct Stratified<'a> {
    pub(super) draws: Multinomial<'a>,
    pub(super) strata: u64,
}

impl Source for Stratified<'_> {
    #[inline(always)]
    fn fill(&self, first: usize, thresholds: &mut [u64; BATCH]) {
        self.draws.fill(first, thresholds);
        for (j, t) in (first as u64..).zip(thresholds) {
            // floor((j + u) * T / m) = floor((j * T + floor(u * T)) / m): a floor within a floor changes nothing.
            *t = in_stratum(j, self.strata, *t, self.draws.total);
        }
    }
}

/// The same place in each stratum: `floor((j + u) * total / strata)`.
pub(super) struct Systematic {
    /// `floor(u * total)`
    pub(super) offset: u64,
    pub(super) strata: u64,
    pub(super) total: u64,
}

impl Source for Systematic {
    #[inline(always)]
    fn fill(&self, first: usize, thresholds: &mut [u64; BATCH]) {
        for (j, t) in (first as u64..).zip(thresholds) {
            *t = in_stratum(j, self.strata, self.offset, self.total);
        }
    }
}
