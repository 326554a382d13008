//! Many rows of weights, resampled each by itself.

use super::{Random, Scheme, Scratch, ancestors_on, check_draws};
use crate::cdf::{Cdf, check_count, check_len};
use crate::error::Error;
use arith::fixed::{FixedError, largest_weight_with};
use arith::random::Stream;
use arith::simd::Isa;

/// Memory of [`ancestors_batch`], kept from call to call.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    cdf: Cdf,
    scratch: Scratch,
}

impl Batch {
    /// No memory yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Memory for rows of `weights` weights and `draws` draws.
    pub fn with_capacity(weights: usize, draws: usize) -> Self {
        Self { cdf: Cdf::with_capacity(weights), scratch: Scratch::with_capacity(weights, draws) }
    }
}

/// [`ancestors`](super::ancestors) for every row of a matrix of weights.
///
/// `weights`: (rows, P), row after row; `out`: (rows, M). Row b takes the words from block
/// `first_index + b * scheme.words(M)` on (indices wrap at 2^64), and its weights need not sum to what another row's do.
///
/// # Errors
/// [`Error::LengthMismatch`] if `weights` or `out` do not divide into `rows`; [`Error::Empty`], if there are rows without weights;
/// [`Error::TooManyWeights`] and [`Error::TooManyDraws`]; [`Error::InvalidRowWeight`] and [`Error::AllZeroRow`] with the
/// first row that is wrong. `out` is then as it was.
pub fn ancestors_batch(
    weights: &[f32],
    rows: usize,
    scheme: Scheme,
    stream: &Stream,
    first_index: u64,
    batch: &mut Batch,
    out: &mut [u32],
) -> Result<(), Error> {
    const OPERATION: &str = "resample::ancestors_batch";
    let items = check_rows(OPERATION, "weights", rows, weights.len())?;
    let draws = check_rows(OPERATION, "out", rows, out.len())?;
    if rows == 0 {
        return Ok(());
    }
    check_count(OPERATION, items)?;
    check_draws(OPERATION, draws)?;
    let isa = Isa::detect();
    // All rows before any is drawn from.
    for (row, weights) in weights.chunks_exact(items).enumerate() {
        match largest_weight_with(isa, weights) {
            Ok(0.0) => return Err(Error::AllZeroRow { operation: OPERATION, row, count: items }),
            Ok(_) => {}
            Err(FixedError::InvalidWeight { index: position, value }) => {
                return Err(Error::InvalidRowWeight { operation: OPERATION, row, position, value });
            }
            Err(source) => return Err(Error::Scale { operation: OPERATION, source }),
        }
    }
    let Batch { cdf, scratch } = batch;
    if draws == 0 {
        return Ok(());
    }
    let mut first_index = first_index;
    for (weights, out) in weights.chunks_exact(items).zip(out.chunks_exact_mut(draws)) {
        cdf.build(weights)?;
        ancestors_on(OPERATION, isa, cdf, scheme, Random::Stream { stream: *stream, first_index }, scratch, out)?;
        first_index = first_index.wrapping_add(scheme.words(draws) as u64);
    }
    Ok(())
}

/// Elements of a row, if so many divide into `rows`.
pub(crate) fn check_rows(operation: &'static str, what: &'static str, rows: usize, len: usize) -> Result<usize, Error> {
    let each = len.checked_div(rows).unwrap_or(0);
    check_len(operation, what, each * rows, len).map(|()| each)
}
