//! Many rows of weights, resampled each by itself.

use crate::cdf::check_count;
use crate::cuda::draws::Draws;
use crate::cuda::error::Error;
use crate::resample::{Base, Scheme, check_draws, check_rows};
use crate::tree::FANOUT;
use gpu::kernels::resample::{Rows, SurveyRows};
use gpu::{Buffer, Pod, Stream, View, ViewMut};

const OPERATION: &str = "resample::ancestors_batch";
/// A row whose weights are all zero: `kernels-gpu/src/resample/rows.rs`.
const ALL_ZERO: u64 = 1 << 63;

/// Memory of [`ancestors_batch`], and what it has found wrong: 12 bytes a row, and half a byte a weight for independent draws,
/// 4.5 bytes for others, and 16.5 bytes for residual resampling with independent draws.
#[derive(Debug)]
pub struct Batch {
    rows: usize,
    /// Weights of a row.
    items: usize,
    largest: Buffer<f32>,
    details: Buffer<u64>,
    state: Buffer<u32>,
    faults: Buffer<u64>,
    keys: Buffer<u64>,
    /// Empty where the scheme doesn't take them.
    ends: Buffer<u32>,
    strata: Buffer<u32>,
    rests: Buffer<u64>,
}

/// Whether a scheme takes counts of each item, and rests.
fn takes(scheme: Scheme) -> (bool, bool) {
    (scheme != Scheme::Multinomial, scheme == Scheme::Residual(Base::Multinomial))
}

/// The first n elements, if they are needed.
fn part<T: Pod>(buffer: &mut Buffer<T>, needed: bool, n: usize) -> Result<Option<ViewMut<'_, T>>, Error> {
    let (operation, what, got) = (OPERATION, "scratch", buffer.len());
    if needed && got < n {
        return Err(crate::Error::LengthMismatch { operation, what, expected: n, got }.into());
    }
    Ok(needed.then(|| buffer.view_mut().slice(0..n)).transpose()?)
}

impl Batch {
    /// Memory for at most `rows` rows of at most `items` weights, to be resampled by `scheme`.
    ///
    /// # Errors
    /// [`Error::Gpu`].
    pub fn new(stream: &Stream, scheme: Scheme, rows: usize, items: usize) -> Result<Self, Error> {
        let device = stream.device();
        let too_large = |bytes| gpu::Error::TooLarge { elements: rows, bytes };
        let all = rows.checked_mul(items).ok_or_else(|| too_large(items))?;
        let keys = rows.checked_mul(items.div_ceil(FANOUT)).ok_or_else(|| too_large(items))?;
        let (counts, rests) = takes(scheme);
        let if_needed = |needed| if needed { all } else { 0 };
        Ok(Self {
            rows,
            items,
            largest: Buffer::uninit(device, rows)?,
            details: Buffer::uninit(device, rows)?,
            state: Buffer::zeroed(stream, 2)?,
            faults: Buffer::zeroed(stream, 3)?,
            keys: Buffer::uninit(device, keys)?,
            ends: Buffer::uninit(device, if_needed(counts))?,
            strata: Buffer::uninit(device, if_needed(rests))?,
            rests: Buffer::uninit(device, if_needed(rests))?,
        })
    }

    /// What was wrong with rows since the last call: the first row of the first batch that had one. Waits.
    ///
    /// # Errors
    /// [`InvalidRowWeight`](crate::Error::InvalidRowWeight), [`AllZeroRow`](crate::Error::AllZeroRow); [`Error::Gpu`].
    pub fn check(&mut self, stream: &Stream) -> Result<(), Error> {
        let mut faults = [0; 3];
        self.faults.view().read(stream, &mut faults)?;
        let [row, details, items] = faults;
        let Some(row) = row.checked_sub(1) else { return Ok(()) };
        self.faults.view_mut().zero(stream)?;
        let row = row as usize;
        Err(if details == ALL_ZERO {
            crate::Error::AllZeroRow { operation: OPERATION, row, count: items as usize }
        } else {
            // Positions are below 2^31; the low half is the weight.
            let (position, value) = ((details >> 32) as usize - 1, f32::from_bits(details as u32));
            crate::Error::InvalidRowWeight { operation: OPERATION, row, position, value }
        }
        .into())
    }
}

/// [`ancestors`](super::ancestors) for every row of a matrix of weights, in two launches, whatever the number of rows:
/// [`resample::ancestors_batch`](crate::resample::ancestors_batch). All rows are looked at before any is drawn from; then a block
/// of threads takes each through the rest. (Few rows of more than some ten thousand weights are faster one by one, as CDFs,
/// which many blocks share.)
///
/// `weights`: (rows, P), row after row; `out`: (rows, M). Row b takes the words from block `next + b * scheme.words(M)` of
/// `draws` on, which goes on by those of all rows. If a row has a weight that isn't finite and `>= 0`, or none above zero, all of
/// `out` is [`NOTHING`](crate::cuda::NOTHING), `draws` stays where it is, and [`Batch::check`] tells.
///
/// # Errors
/// [`LengthMismatch`](crate::Error::LengthMismatch) if `weights` or `out` do not divide into `rows`, or the batch is for fewer or
/// shorter rows or another scheme; [`Empty`](crate::Error::Empty), if there are rows without weights;
/// [`TooManyWeights`](crate::Error::TooManyWeights) and [`TooManyDraws`](crate::Error::TooManyDraws); [`Error::Gpu`].
pub fn ancestors_batch(
    stream: &Stream,
    weights: View<'_, f32>,
    rows: usize,
    scheme: Scheme,
    draws: &mut Draws,
    batch: &mut Batch,
    out: ViewMut<'_, u32>,
) -> Result<(), Error> {
    let n = check_rows(OPERATION, "weights", rows, weights.len())?;
    let m = check_rows(OPERATION, "out", rows, out.len())?;
    if rows == 0 {
        return Ok(());
    }
    check_count(OPERATION, n)?;
    check_draws(OPERATION, m)?;
    let number = match scheme {
        Scheme::Multinomial => 0,
        Scheme::Stratified => 1,
        Scheme::Systematic => 2,
        Scheme::Residual(Base::Multinomial) => 3,
        Scheme::Residual(Base::Stratified) => 4,
        Scheme::Residual(Base::Systematic) => 5,
    };
    let all = rows * n;
    let room = |expected: usize, got: usize| {
        let (operation, what) = (OPERATION, "scratch");
        if got >= expected { Ok(()) } else { Err(crate::Error::LengthMismatch { operation, what, expected, got }) }
    };
    room(rows, batch.rows)?;
    room(n, batch.items)?;
    let (counts, with_rests) = takes(scheme);
    let ends = part(&mut batch.ends, counts, all)?;
    let (strata, rests) = (part(&mut batch.strata, with_rests, all)?, part(&mut batch.rests, with_rests, all)?);
    stream.launch(&SurveyRows {
        weights,
        largest: batch.largest.view_mut().slice(0..rows)?,
        details: batch.details.view_mut().slice(0..rows)?,
        state: batch.state.view_mut(),
        faults: batch.faults.view_mut(),
        rows,
        n,
    })?;
    let kernel = Rows {
        weights,
        largest: batch.largest.view().slice(0..rows)?,
        state: batch.state.view(),
        seed: draws.seed,
        stream: draws.number,
        position: draws.position(),
        keys: batch.keys.view_mut().slice(0..rows * n.div_ceil(FANOUT))?,
        ends,
        strata,
        rests,
        out,
        rows,
        n,
        m,
        scheme: number,
    };
    // SAFETY: what it follows is the first launch's and its own.
    Ok(unsafe { stream.launch_trusted(&kernel, None) }?)
}
