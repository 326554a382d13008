//! Where the random integers come from.

use crate::cdf::{BATCH, check_len};
use crate::error::Error;
use arith::random::Stream;

/// The random 64-bit integers ("words") of a call: word r stands for the fraction `r / 2^64` in [0, 1).
///
/// [`Scheme::words`](super::Scheme::words) tells how many a call takes.
#[derive(Clone, Copy, Debug)]
pub enum Random<'a> {
    /// Word j is made of the first two words of block `first_index + j`, the low half first (indices wrap at 2^64):
    /// the draws of [`Cdf::sample`](crate::Cdf::sample) and its kin.
    Stream {
        /// The sequence.
        stream: Stream,
        /// Block of word 0.
        first_index: u64,
    },
    /// The caller's words.
    Words(&'a [u64]),
    /// The caller's fractions u of the total, each in [0, 1): the word is `floor(u * 2^64)`.
    ///
    /// That is exact for multiples of 2^-64, among them every u of at least 2^-40 and all that generators of uniform
    /// numbers make on their grids of 2^-24 or 2^-32.
    Uniforms(&'a [f32]),
}

impl<'a> Random<'a> {
    /// That there are `words` of them and that all are in range.
    pub(super) fn check(&self, operation: &'static str, words: usize) -> Result<(), Error> {
        match *self {
            Self::Stream { .. } => Ok(()),
            Self::Words(given) => check_len(operation, "random words", words, given.len()),
            Self::Uniforms(given) => {
                check_len(operation, "random uniforms", words, given.len())?;
                // Not a comparison from outside, so that NaN is refused too.
                match given.iter().position(|u| !(0.0..1.0).contains(u)) {
                    None => Ok(()),
                    Some(position) => Err(Error::InvalidUniform { operation, position, value: given[position] }),
                }
            }
        }
    }

    /// The words from number `count` on.
    pub(super) fn skip(self, count: usize) -> Self {
        match self {
            Self::Stream { stream, first_index } => {
                Self::Stream { stream, first_index: first_index.wrapping_add(count as u64) }
            }
            Self::Words(given) => Self::Words(given.get(count..).unwrap_or_default()),
            Self::Uniforms(given) => Self::Uniforms(given.get(count..).unwrap_or_default()),
        }
    }

    /// Words `first`, `first + 1`, ...; those past the caller's last one are 0.
    #[inline(always)]
    pub(super) fn fill(&self, first: u64, words: &mut [u64; BATCH]) {
        match *self {
            Self::Stream { stream, first_index } => {
                let first = first_index.wrapping_add(first);
                for (i, word) in words.iter_mut().enumerate() {
                    let [low, high, ..] = stream.block(first.wrapping_add(i as u64));
                    *word = u64::from(high) << 32 | u64::from(low);
                }
            }
            Self::Words(given) => {
                for (word, &given) in words.iter_mut().zip(after(given, first)) {
                    *word = given;
                }
            }
            Self::Uniforms(given) => {
                for (word, &given) in words.iter_mut().zip(after(given, first)) {
                    *word = fixed(given);
                }
            }
        }
    }

    /// Word 0.
    pub(super) fn first(&self) -> u64 {
        let mut words = [0; BATCH];
        self.fill(0, &mut words);
        words[0]
    }
}

/// The elements from number `first` on.
#[inline(always)]
fn after<T>(given: &[T], first: u64) -> &[T] {
    usize::try_from(first).ok().and_then(|first| given.get(first..)).unwrap_or_default()
}

/// `floor(u * 2^64)` for u in [0, 1).
#[inline(always)]
fn fixed(u: f32) -> u64 {
    // The product is exact, and below 2^64; the conversion drops the fraction.
    (f64::from(u) * 18_446_744_073_709_551_616.0) as u64
}
