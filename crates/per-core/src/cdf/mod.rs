//! Cumulative sums of weights.
//!
//! One rung a file: `build` writes the [`layout`], `search` reads it, `draw` chooses what to search for.

mod build;
mod draw;
mod fractions;
mod layout;
pub(crate) mod ratio;
mod search;
mod steps;
#[cfg(test)]
mod tests;
mod tuning;

use crate::error::Error;
use arith::fixed::Scale;
use layout::{FANOUT, Levels, MAX_WEIGHTS, Node};

pub(crate) use build::check_count;
pub(crate) use layout::{BLOCK, Block};
pub(crate) use search::Source;
pub(crate) use steps::prefetch;
pub(crate) use tuning::BATCH;

/// Exact cumulative sums of weights, for drawing items in proportion to them.
///
/// ```text
/// q[i]      = round(w[i] * 2^S)         u64; never 0 unless w[i] is; S is chosen so that total < 2^63
/// prefix[i] = q[0] + ... + q[i]         exact
/// item i holds the thresholds  prefix[i-1] <= t < prefix[i]
/// ```
///
/// Everything is an integer, so nothing depends on threads, tiles or the instruction set. Memory: 4.5 bytes a weight.
///
/// An operation that returns an error has changed nothing.
#[derive(Clone, Debug)]
pub struct Cdf {
    /// The weights, zeros after the last one. At least as long as `len` needs, never shrunk.
    blocks: Vec<Block>,
    /// Sums before blocks, level 0 first; see `layout`. Never shrunk.
    nodes: Vec<Node>,
    levels: Levels,
    /// Sums of the tiles of a parallel build.
    tiles: Vec<u64>,
    /// Weights that `build_from` has gathered.
    copy: Vec<f32>,
    /// Number of weights.
    len: usize,
    total: u64,
    scale: Scale,
}

/// The scale before there are weights.
const NO_SCALE: Scale = match Scale::new(0.0, 0) {
    Ok(scale) => scale,
    Err(_) => panic!("zero is a weight"),
};

impl Default for Cdf {
    fn default() -> Self {
        Self::new()
    }
}

impl Cdf {
    /// A CDF of no weights.
    pub fn new() -> Self {
        Self {
            blocks: Vec::new(),
            nodes: Vec::new(),
            levels: Levels::default(),
            tiles: Vec::new(),
            copy: Vec::new(),
            len: 0,
            total: 0,
            scale: NO_SCALE,
        }
    }

    /// A CDF of no weights that has memory for `weights` of them; none for 2^31 or more, which it can't have.
    pub fn with_capacity(weights: usize) -> Self {
        let mut cdf = Self::new();
        if weights <= MAX_WEIGHTS {
            cdf.reserve(Levels::new(weights.div_ceil(BLOCK)), weights.div_ceil(BLOCK));
        }
        cdf
    }

    /// Number of weights.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no weights.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Sum of all weights in fixed point, below 2^63.
    #[inline]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The fixed point: how weights become integers.
    #[inline]
    pub fn scale(&self) -> Scale {
        self.scale
    }

    /// Weight `index` in fixed point.
    ///
    /// # Errors
    /// [`Error::IndexOutOfRange`].
    pub fn weight(&self, index: usize) -> Result<u64, Error> {
        self.check_index("Cdf::weight", index)?;
        Ok(self.scale.quantize(self.blocks[index / BLOCK].0[index % BLOCK]))
    }

    /// Sum of the weights up to and with number `index`, in fixed point.
    ///
    /// # Errors
    /// [`Error::IndexOutOfRange`].
    pub fn prefix(&self, index: usize) -> Result<u64, Error> {
        self.check_index("Cdf::prefix", index)?;
        let block = index / BLOCK;
        let within = &self.blocks[block].0[..=index % BLOCK];
        let before = self.nodes[block / FANOUT].0[block % FANOUT];
        Ok(within.iter().fold(before, |sum, &w| sum + self.scale.quantize(w)))
    }

    /// `weight(index) / total`, correctly rounded.
    ///
    /// # Errors
    /// [`Error::IndexOutOfRange`]; [`Error::AllZero`] if no weight is above zero.
    pub fn probability(&self, index: usize) -> Result<f32, Error> {
        let weight = self.weight(index)?;
        self.check_mass("Cdf::probability")?;
        Ok(ratio::ratio(weight, self.total))
    }

    /// Writes `prefix(i) / total` for every i, each correctly rounded: not decreasing, and 1 at the end.
    ///
    /// `out`: (len).
    ///
    /// # Errors
    /// [`Error::LengthMismatch`]; [`Error::Empty`] and [`Error::AllZero`] if there is no mass.
    pub fn to_f32(&self, out: &mut [f32]) -> Result<(), Error> {
        const OPERATION: &str = "Cdf::to_f32";
        check_len(OPERATION, "out", self.len, out.len())?;
        self.check_mass(OPERATION)?;
        fractions::fractions(arith::simd::Isa::detect(), self.view(), self.total, out);
        Ok(())
    }

    fn check_index(&self, operation: &'static str, index: usize) -> Result<(), Error> {
        if index < self.len { Ok(()) } else { Err(Error::IndexOutOfRange { operation, index, count: self.len }) }
    }

    /// That there is something to draw.
    pub(crate) fn check_mass(&self, operation: &'static str) -> Result<(), Error> {
        match (self.len, self.total) {
            (0, _) => Err(Error::Empty { operation }),
            (count, 0) => Err(Error::AllZero { operation, count }),
            _ => Ok(()),
        }
    }

    /// The blocks in use, with the scale that makes integers of them.
    pub(crate) fn blocks(&self) -> (&[Block], Scale) {
        (&self.blocks[..self.len.div_ceil(BLOCK)], self.scale)
    }

    fn view(&self) -> View<'_> {
        View { blocks: &self.blocks, nodes: &self.nodes, starts: self.levels.starts(), scale: self.scale }
    }
}

pub(crate) fn check_len(operation: &'static str, what: &'static str, expected: usize, got: usize) -> Result<(), Error> {
    if expected == got { Ok(()) } else { Err(Error::LengthMismatch { operation, what, expected, got }) }
}

/// What kernels read of a CDF.
#[derive(Clone, Copy)]
struct View<'a> {
    blocks: &'a [Block],
    nodes: &'a [Node],
    /// First node of each level, the lowest first.
    starts: &'a [usize],
    scale: Scale,
}
