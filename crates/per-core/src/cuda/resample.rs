//! Resampling on a device, as on the CPU ([`crate::resample`]): the same ancestors, bit for bit.

use super::cdf::{Cdf, Parts, TILE};
use super::draws::Draws;
use super::error::Error;
use crate::resample::{Base, Scheme};
use gpu::kernels::Position;
use gpu::kernels::cdf::Sample;
use gpu::kernels::resample::{ResidualStratified, ResidualSystematic, Stratified, Systematic};
use gpu::{Buffer, Stream, View, ViewMut};

/// The random 64-bit integers of a call; [`Scheme::words`] tells how many it takes.
#[derive(Debug)]
pub enum Random<'a> {
    /// Those of a stream from where it is; it goes on by as many as the call takes.
    Stream(&'a mut Draws),
    /// The caller's.
    Words(View<'a, u64>),
}

/// Memory of the schemes that scan, and of draws from the caller's words.
#[derive(Debug)]
pub struct Scratch {
    tiles: Buffer<u64>,
    work: Buffer<u32>,
    position: Buffer<Position>,
}

impl Scratch {
    /// For CDFs of at most `weights` weights.
    ///
    /// # Errors
    /// [`Error::Gpu`].
    pub fn new(stream: &Stream, weights: usize) -> Result<Self, Error> {
        Ok(Self {
            tiles: Buffer::zeroed(stream, 2 * weights.div_ceil(TILE))?,
            work: Buffer::zeroed(stream, 2)?,
            position: Buffer::zeroed(stream, 1)?,
        })
    }
}

/// Draws the ancestors of `out.len()` offspring, in one launch: [`resample::ancestors`](crate::resample::ancestors).
///
/// `out`: (M); all are [`NOTHING`](super::NOTHING) if no weight is above zero or one isn't a weight, and then the stream
/// stays where it is.
///
/// # Errors
/// [`Empty`](crate::Error::Empty) without weights; [`Error::Unsupported`] for residual resampling with independent draws;
/// [`LengthMismatch`](crate::Error::LengthMismatch) where the scratch is for fewer weights; [`Error::Gpu`], also for another
/// number of words.
pub fn ancestors(
    stream: &Stream,
    cdf: &Cdf,
    scheme: Scheme,
    random: Random<'_>,
    scratch: &mut Scratch,
    out: ViewMut<'_, u32>,
) -> Result<(), Error> {
    launch(stream, cdf, scheme, random, Some(scratch), out)
}

/// The launch of a scheme. Without scratch: one that needs none, from a stream.
pub(super) fn launch(
    stream: &Stream,
    cdf: &Cdf,
    scheme: Scheme,
    random: Random<'_>,
    scratch: Option<&mut Scratch>,
    out: ViewMut<'_, u32>,
) -> Result<(), Error> {
    const OPERATION: &str = "resample::ancestors";
    let unsupported = |what| Err(Error::Unsupported { operation: OPERATION, what });
    let Parts { weights, nodes, head, n } = cdf.parts(OPERATION)?;
    let m = out.len();
    let (mut position, mut scan) = (None, None);
    if let Some(Scratch { tiles, work, position: unmoved }) = scratch {
        let (expected, got) = (2 * n.div_ceil(TILE), tiles.len());
        if got < expected {
            return Err(crate::Error::LengthMismatch { operation: OPERATION, what: "scratch", expected, got }.into());
        }
        scan = Some((tiles.view_mut().slice(0..expected)?, work.view_mut()));
        position = Some(unmoved.view_mut());
    }
    let (seed, number, words, position) = match random {
        Random::Stream(draws) => (draws.seed, draws.number, None, Some(draws.position())),
        Random::Words(words) => (0, 0, Some(words), position),
    };
    let Some(position) = position else { return unsupported("drawing from words without scratch") };
    macro_rules! launch {
        ($kernel:ident $(, $extra:ident)*) => {{
            let kernel = $kernel { weights, nodes, head, position, words, $($extra,)* out, n, m, seed, stream: number };
            // SAFETY: the CDF's arrays are as its build leaves them, and the scratch is as launches leave it.
            Ok(unsafe { stream.launch_trusted(&kernel, None) }?)
        }};
    }
    match (scheme, scan) {
        (Scheme::Multinomial, _) => launch!(Sample),
        (Scheme::Stratified, _) => launch!(Stratified),
        (Scheme::Systematic, _) => launch!(Systematic),
        (Scheme::Residual(Base::Stratified), Some((tiles, work))) => launch!(ResidualStratified, tiles, work),
        (Scheme::Residual(Base::Systematic), Some((tiles, work))) => launch!(ResidualSystematic, tiles, work),
        (Scheme::Residual(_), _) => unsupported("residual resampling with independent draws"),
    }
}
