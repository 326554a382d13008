//! Resampling: M ancestors for P weights, so that weight i has `M w[i] / total` offspring on average.
//!
//! ```text
//! multinomial   t[j] = floor(u[j] T)                 independent; in the order drawn
//! stratified    t[j] = floor((j + u[j]) T / M)       Kitagawa 1996; ascending
//! systematic    t[j] = floor((j + u) T / M)          Carpenter, Clifford and Fearnhead 1999; ascending
//! residual      floor(M w[i] / T) certain offspring, Liu and Chen 1998; ascending
//!               the R draws that remain by one of the above from the rests M w[i] mod T, whose sum is R T
//!
//! ancestor[j] = the i with w[0] + ... + w[i-1] <= t[j] < w[0] + ... + w[i]       T = w[0] + ... + w[P-1]
//! ```
//!
//! where w are the weights in fixed point ([`Cdf`]), u uniform in [0, 1) ([`Random`]), and everything is an integer
//! without rounding. So no index is out of range, no item of weight zero has offspring, systematic offspring are
//! `floor(M w[i] / T)` or one more, never otherwise, and residual offspring never fewer than that; M may differ from P; and
//! the bits are the same everywhere. The probability of an interval of thresholds is within 2^-64 of its share, which
//! is the resolution of u. At u on a boundary the item above has the draw (numpy's `searchsorted(..., side="right")`).
//!
//! | Scheme | Variance of the offspring of a share M w / T = n + f, 0 <= f < 1 | Random words |
//! |---|---|---|
//! | multinomial | (n + f) (1 - w / T) | M |
//! | stratified | at most 1/2: only the strata at its two ends are shared | M |
//! | systematic | f (1 - f) | 1 |
//! | residual | that of the base scheme, for a share of f | M, of which R are used; 1 with the systematic base |
//!
//! Stratified, systematic and residual resampling take one pass over the weights and the draws, or one search a draw
//! where draws are few. Nothing is allocated, apart from [`Scratch`] when it grows.
//! For P = M = 65,536, ns a particle (one thread, Zen 4 with AVX-512, medians; `cargo bench --bench resample`): systematic
//! 2.6, residual systematic 3.0, stratified 4.9, residual stratified 4.7, multinomial 13, residual 14. What stratified
//! takes more than systematic is its random words, a Philox block each.
//!
//! Sources: N. Gordon, D. Salmond and A. Smith, "Novel approach to nonlinear/non-Gaussian Bayesian state estimation" (IEE
//! Proceedings F 140, 1993; multinomial); G. Kitagawa, "Monte Carlo Filter and Smoother for Non-Gaussian Nonlinear State
//! Space Models" (JCGS 5, 1996); J. Liu and R. Chen, "Sequential Monte Carlo Methods for Dynamic Systems" (JASA 93, 1998);
//! J. Carpenter, P. Clifford and P. Fearnhead, "Improved particle filter for nonlinear problems" (IEE Proceedings on Radar,
//! Sonar and Navigation 146, 1999). What they have in common: R. Douc, O. Cappé and E. Moulines, "Comparison of
//! Resampling Schemes for Particle Filtering" (ISPA 2005).
//!
//! ```
//! use per_core::{Cdf, resample::{self, Random, Scheme, Scratch}};
//!
//! let mut cdf = Cdf::new();
//! cdf.build(&[10.0, 5.0, 2.0])?;
//! let mut ancestors = [0; 5];
//! resample::ancestors(&cdf, Scheme::Systematic, Random::Uniforms(&[0.5]), &mut Scratch::new(), &mut ancestors)?;
//! assert_eq!(ancestors, [0, 0, 0, 1, 2]);
//! # Ok::<(), per_core::Error>(())
//! ```

mod batch;
mod laws;
mod merge;
mod random;
mod remainders;
mod split;
#[cfg(test)]
mod tests;
mod thresholds;
mod tuning;

#[cfg(feature = "cuda")]
pub(crate) use batch::check_rows;
pub use batch::{Batch, ancestors_batch};
pub use random::Random;
pub use remainders::Scratch;
pub(crate) use thresholds::Multinomial;

use crate::cdf::{Cdf, check_len};
use crate::error::Error;
use arith::fixed::bounded;
use arith::simd::Isa;
use laws::{Remainders, Same, Whole, Window};
use merge::{Ancestors, Counts, Sink, merge};
use split::Divider;
use thresholds::{Stratified, Systematic};

/// How ancestors are chosen; see the [module](self).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Scheme {
    /// Independent draws.
    Multinomial,
    /// One draw in each of M equal parts of the mass.
    Stratified,
    /// One draw in each of M equal parts of the mass, at the same place in all.
    Systematic,
    /// Certain offspring first; the remainders by a base scheme, [`Base::default`] in the original.
    Residual(Base),
}

/// How the remainders of [`Scheme::Residual`] are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Base {
    /// Independent draws.
    #[default]
    Multinomial,
    /// One draw in each of R equal parts of the remaining mass.
    Stratified,
    /// One draw in each of R equal parts of the remaining mass, at the same place in all.
    Systematic,
}

impl Scheme {
    /// Random words that `draws` draws take. Residual resampling takes as many as if nothing were certain, and uses the
    /// first R.
    pub fn words(self, draws: usize) -> usize {
        match self {
            Self::Systematic | Self::Residual(Base::Systematic) => 1,
            _ => draws,
        }
    }

    /// Whether ancestors come out in ascending order: in all schemes but the multinomial.
    pub fn is_sorted(self) -> bool {
        self != Self::Multinomial
    }
}

/// Draws the ancestors of `out.len()` offspring.
///
/// `out`: (M), `M < 2^32`; `random`: [`scheme.words(M)`](Scheme::words) words; `scratch` is used by
/// [`Base::Multinomial`] alone. From a stream, multinomial, stratified and systematic ancestors are the items of
/// [`Cdf::sample`], [`Cdf::sample_stratified`] and [`Cdf::sample_systematic`].
///
/// # Errors
/// [`Error::Empty`] and [`Error::AllZero`] if there is nothing to draw; [`Error::TooManyDraws`];
/// [`Error::LengthMismatch`] for another number of words, [`Error::InvalidUniform`] for a uniform number outside [0, 1).
/// `out` is then as it was.
pub fn ancestors(
    cdf: &Cdf,
    scheme: Scheme,
    random: Random<'_>,
    scratch: &mut Scratch,
    out: &mut [u32],
) -> Result<(), Error> {
    const OPERATION: &str = "resample::ancestors";
    check(OPERATION, cdf, scheme, random, out.len())?;
    ancestors_on(OPERATION, Isa::detect(), cdf, scheme, random, scratch, out)
}

/// Draws the number of offspring of each item: how often it occurs in the [`ancestors`] for the same `random`.
///
/// `counts`: (P); they sum to `draws`, M there.
///
/// # Errors
/// As [`ancestors`]; [`Error::LengthMismatch`] also for another number of counts.
pub fn offspring(
    cdf: &Cdf,
    scheme: Scheme,
    draws: usize,
    random: Random<'_>,
    scratch: &mut Scratch,
    counts: &mut [u32],
) -> Result<(), Error> {
    const OPERATION: &str = "resample::offspring";
    check_len(OPERATION, "counts", cdf.len(), counts.len())?;
    check(OPERATION, cdf, scheme, random, draws)?;
    offspring_on(OPERATION, Isa::detect(), cdf, scheme, draws, random, scratch, counts)
}

/// Writes item i `counts[i]` times, in ascending order: [`ancestors`] from [`offspring`].
///
/// # Errors
/// [`Error::LengthMismatch`] if the counts do not sum to the length of `out`; [`Error::TooManyWeights`] if there are more
/// counts than a [`Cdf`] has weights. `out` is then as it was.
pub fn expand(counts: &[u32], out: &mut [u32]) -> Result<(), Error> {
    const OPERATION: &str = "resample::expand";
    if !counts.is_empty() {
        crate::cdf::check_count(OPERATION, counts.len())?;
    }
    // Below 2^31 * 2^32.
    let sum: u64 = counts.iter().map(|&count| u64::from(count)).sum();
    check_len(OPERATION, "out", usize::try_from(sum).unwrap_or(usize::MAX), out.len())?;
    expand_unchecked(counts, out);
    Ok(())
}

/// [`expand`] of counts that sum to the length of `out`.
fn expand_unchecked(counts: &[u32], out: &mut [u32]) {
    let mut sink = Ancestors::new(out);
    let mut end = 0;
    for (item, &count) in (0..).zip(counts) {
        end += u64::from(count);
        sink.put(item, end);
    }
}

fn check(operation: &'static str, cdf: &Cdf, scheme: Scheme, random: Random<'_>, draws: usize) -> Result<(), Error> {
    cdf.check_mass(operation)?;
    check_draws(operation, draws)?;
    random.check(operation, scheme.words(draws))
}

/// The number of draws, if a `u32` can count them.
pub(crate) fn check_draws(operation: &'static str, draws: usize) -> Result<u32, Error> {
    u32::try_from(draws).map_err(|_| Error::TooManyDraws { operation, count: draws, max: u32::MAX as usize })
}

/// [`ancestors`] with a given instruction set and words that are right.
fn ancestors_on(
    operation: &'static str,
    isa: Isa,
    cdf: &Cdf,
    scheme: Scheme,
    random: Random<'_>,
    scratch: &mut Scratch,
    out: &mut [u32],
) -> Result<(), Error> {
    match scheme {
        Scheme::Multinomial => {
            cdf.run(isa, false, &Multinomial { random, total: cdf.total() }, out);
            Ok(())
        }
        Scheme::Stratified => stratified_on(operation, isa, cdf, random, out),
        Scheme::Systematic => systematic_on(operation, isa, cdf, random, out),
        Scheme::Residual(base) => {
            let divider = Divider::new(check_draws(operation, out.len())?, cdf.total());
            match base {
                Base::Multinomial => {
                    let mut counts = std::mem::take(&mut scratch.counts);
                    if counts.len() < cdf.len() {
                        counts.resize(cdf.len(), 0);
                    }
                    remainders::count(isa, cdf, divider, out.len(), random, &mut counts[..cdf.len()], scratch);
                    expand_unchecked(&counts[..cdf.len()], out);
                    scratch.counts = counts;
                }
                Base::Stratified => {
                    merge::<Remainders>(isa, cdf, divider, Window::new(random, cdf.total()), Ancestors::new(out))
                }
                Base::Systematic => {
                    merge::<Remainders>(isa, cdf, divider, Same::new(random, cdf.total()), Ancestors::new(out))
                }
            }
            Ok(())
        }
    }
}

/// [`offspring`] with a given instruction set and words that are right.
#[expect(clippy::too_many_arguments, reason = "those of `offspring`, and how it is run")]
fn offspring_on(
    operation: &'static str,
    isa: Isa,
    cdf: &Cdf,
    scheme: Scheme,
    draws: usize,
    random: Random<'_>,
    scratch: &mut Scratch,
    counts: &mut [u32],
) -> Result<(), Error> {
    let divider = Divider::new(check_draws(operation, draws)?, cdf.total());
    match scheme {
        Scheme::Multinomial => {
            counts.fill(0);
            let mut items = [0; tuning::COUNTED];
            for first in (0..draws).step_by(tuning::COUNTED) {
                let items = &mut items[..tuning::COUNTED.min(draws - first)];
                cdf.run(isa, false, &Multinomial { random: random.skip(first), total: cdf.total() }, items);
                for &item in items.iter() {
                    counts[item as usize] += 1;
                }
            }
        }
        Scheme::Stratified => merge::<Whole>(isa, cdf, divider, Window::new(random, cdf.total()), Counts::new(counts)),
        Scheme::Systematic => merge::<Whole>(isa, cdf, divider, Same::new(random, cdf.total()), Counts::new(counts)),
        Scheme::Residual(Base::Multinomial) => remainders::count(isa, cdf, divider, draws, random, counts, scratch),
        Scheme::Residual(Base::Stratified) => {
            merge::<Remainders>(isa, cdf, divider, Window::new(random, cdf.total()), Counts::new(counts))
        }
        Scheme::Residual(Base::Systematic) => {
            merge::<Remainders>(isa, cdf, divider, Same::new(random, cdf.total()), Counts::new(counts))
        }
    }
    Ok(())
}

/// Stratified ancestors.
pub(crate) fn stratified_on(
    operation: &'static str,
    isa: Isa,
    cdf: &Cdf,
    random: Random<'_>,
    out: &mut [u32],
) -> Result<(), Error> {
    cdf.check_mass(operation)?;
    let divider = Divider::new(check_draws(operation, out.len())?, cdf.total());
    if is_sparse(cdf, out) {
        let draws = Multinomial { random, total: cdf.total() };
        cdf.run(isa, false, &Stratified { draws, strata: out.len() as u64 }, out);
    } else {
        merge::<Whole>(isa, cdf, divider, Window::new(random, cdf.total()), Ancestors::new(out));
    }
    Ok(())
}

/// Systematic ancestors.
pub(crate) fn systematic_on(
    operation: &'static str,
    isa: Isa,
    cdf: &Cdf,
    random: Random<'_>,
    out: &mut [u32],
) -> Result<(), Error> {
    cdf.check_mass(operation)?;
    let divider = Divider::new(check_draws(operation, out.len())?, cdf.total());
    if is_sparse(cdf, out) {
        let offset = bounded(random.first(), cdf.total());
        cdf.run(isa, false, &Systematic { offset, strata: out.len() as u64, total: cdf.total() }, out);
    } else {
        merge::<Whole>(isa, cdf, divider, Same::new(random, cdf.total()), Ancestors::new(out));
    }
    Ok(())
}

/// Whether there are so few draws that a search for each is faster than a pass over the weights.
fn is_sparse(cdf: &Cdf, out: &[u32]) -> bool {
    out.len() < cdf.len() / tuning::WEIGHTS_PER_SEARCH
}
