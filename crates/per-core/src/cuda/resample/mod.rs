//! Resampling on a device, as on the CPU ([`crate::resample`]): the same ancestors, bit for bit.

mod batch;

pub use batch::{Batch, ancestors_batch};

use super::cdf::{Cdf, Parts, TILE};
use super::draws::Draws;
use super::error::Error;
use crate::resample::{Base, Scheme};
use gpu::kernels::Position;
use gpu::kernels::cdf::Sample;
use gpu::kernels::resample::{
    DrawRemainders, Expand, Remainders, ResidualStratified, ResidualSystematic, Stratified, Systematic,
};
use gpu::{Buffer, Kernel, Stream, View, ViewMut};

const OPERATION: &str = "resample::ancestors";

/// The random 64-bit integers of a call; [`Scheme::words`] tells how many it takes.
#[derive(Debug)]
pub enum Random<'a> {
    /// Those of a stream from where it is; it goes on by as many as the call takes.
    Stream(&'a mut Draws),
    /// The caller's.
    Words(View<'a, u64>),
}

/// Memory of residual resampling, and of draws from the caller's words: 16.5 bytes a weight.
#[derive(Debug)]
pub struct Scratch {
    tiles: Buffer<u64>,
    work: Buffer<u32>,
    position: Buffer<Position>,
    /// Offspring of each item.
    counts: Buffer<u32>,
    /// Where the rest of each item lies: in which stratum, and where in it.
    strata: Buffer<u32>,
    rests: Buffer<u64>,
    /// Draws that remain.
    remaining: Buffer<u32>,
}

impl Scratch {
    /// For CDFs of at most `weights` weights.
    ///
    /// # Errors
    /// [`Error::Gpu`].
    pub fn new(stream: &Stream, weights: usize) -> Result<Self, Error> {
        let device = stream.device();
        Ok(Self {
            tiles: Buffer::zeroed(stream, 2 * weights.div_ceil(TILE))?,
            work: Buffer::zeroed(stream, 2)?,
            position: Buffer::zeroed(stream, 1)?,
            counts: Buffer::uninit(device, weights)?,
            strata: Buffer::uninit(device, weights)?,
            rests: Buffer::uninit(device, weights)?,
            remaining: Buffer::uninit(device, 1)?,
        })
    }
}

/// Where a launch takes its words from.
struct Source<'a> {
    position: ViewMut<'a, Position>,
    words: Option<View<'a, u64>>,
    seed: u64,
    number: u64,
}

impl<'a> Source<'a> {
    fn of(draws: &'a mut Draws) -> Self {
        Self { seed: draws.seed, number: draws.number, words: None, position: draws.position() }
    }
}

/// Launches a kernel of this module.
fn submit(stream: &Stream, kernel: &impl Kernel) -> Result<(), Error> {
    // SAFETY: the CDF's arrays are as its build leaves them, and the scratch is as launches leave it.
    Ok(unsafe { stream.launch_trusted(kernel, None) }?)
}

/// Draws the ancestors of `out.len()` offspring: [`resample::ancestors`](crate::resample::ancestors). One launch; three for
/// residual resampling with independent draws, since each needs all of the one before: how many draws remain follows from all
/// whole offspring, and where an item's ancestors begin from all draws.
///
/// `out`: (M); all are [`NOTHING`](super::NOTHING) if no weight is above zero or one isn't a weight, and then the stream
/// stays where it is.
///
/// # Errors
/// [`Empty`](crate::Error::Empty) without weights; [`LengthMismatch`](crate::Error::LengthMismatch) where the scratch is for
/// fewer weights; [`Error::Gpu`], also for another number of words.
pub fn ancestors(
    stream: &Stream,
    cdf: &Cdf,
    scheme: Scheme,
    random: Random<'_>,
    scratch: &mut Scratch,
    out: ViewMut<'_, u32>,
) -> Result<(), Error> {
    let Parts { weights, nodes, head, n } = cdf.parts(OPERATION)?;
    let Scratch { tiles, work, position, counts, strata, rests, remaining } = scratch;
    let (m, got) = (out.len(), counts.len());
    if got < n {
        let (operation, what) = (OPERATION, "scratch");
        return Err(crate::Error::LengthMismatch { operation, what, expected: n, got }.into());
    }
    let source = match random {
        Random::Stream(draws) => Source::of(draws),
        Random::Words(words) => Source { seed: 0, number: 0, words: Some(words), position: position.view_mut() },
    };
    let base = match scheme {
        Scheme::Multinomial => return launch(stream, cdf, Base::Multinomial, source, out),
        Scheme::Stratified => return launch(stream, cdf, Base::Stratified, source, out),
        Scheme::Systematic => return launch(stream, cdf, Base::Systematic, source, out),
        Scheme::Residual(base) => base,
    };
    let Source { position, words, seed, number } = source;
    let (mut tiles, mut work) = (tiles.view_mut().slice(0..2 * n.div_ceil(TILE))?, work.view_mut());
    macro_rules! in_one_launch {
        ($kernel:ident) => {{
            let kernel =
                $kernel { weights, nodes, head, position, words, tiles, work, out, n, m, seed, stream: number };
            submit(stream, &kernel)
        }};
    }
    match base {
        Base::Stratified => in_one_launch!(ResidualStratified),
        Base::Systematic => in_one_launch!(ResidualSystematic),
        Base::Multinomial => {
            let mut counts = counts.view_mut().slice(0..n)?;
            let (mut strata, mut rests) = (strata.view_mut().slice(0..n)?, rests.view_mut().slice(0..n)?);
            submit(
                stream,
                &Remainders {
                    weights,
                    nodes,
                    head,
                    tiles: tiles.reborrow(),
                    work: work.reborrow(),
                    counts: counts.reborrow(),
                    strata: strata.reborrow(),
                    rests: rests.reborrow(),
                    remaining: remaining.view_mut(),
                    n,
                    m,
                },
            )?;
            submit(
                stream,
                &DrawRemainders {
                    head,
                    position,
                    words,
                    strata: strata.view(),
                    rests: rests.view(),
                    remaining: remaining.view(),
                    counts: counts.reborrow(),
                    n,
                    m,
                    seed,
                    stream: number,
                },
            )?;
            submit(stream, &Expand { counts: counts.view(), tiles, work, out, n, m })
        }
    }
}

/// Draws all offspring by a base scheme, which needs no scratch, from a stream.
pub(super) fn draw(
    stream: &Stream,
    cdf: &Cdf,
    scheme: Base,
    draws: &mut Draws,
    out: ViewMut<'_, u32>,
) -> Result<(), Error> {
    launch(stream, cdf, scheme, Source::of(draws), out)
}

/// The launch of a scheme without certain offspring.
fn launch(stream: &Stream, cdf: &Cdf, scheme: Base, source: Source<'_>, out: ViewMut<'_, u32>) -> Result<(), Error> {
    let Parts { weights, nodes, head, n } = cdf.parts(OPERATION)?;
    let Source { position, words, seed, number } = source;
    let m = out.len();
    macro_rules! launch {
        ($kernel:ident) => {
            submit(stream, &$kernel { weights, nodes, head, position, words, out, n, m, seed, stream: number })
        };
    }
    match scheme {
        Base::Multinomial => launch!(Sample),
        Base::Stratified => launch!(Stratified),
        Base::Systematic => launch!(Systematic),
    }
}
