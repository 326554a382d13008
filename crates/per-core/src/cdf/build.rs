//! The build: a survey that validates the weights and finds the largest, then a scan that copies them and sums blocks.
//!
//! Two passes are needed because an error must leave the old sums whole, and because the scale depends on the largest
//! weight. In parallel, tiles are scanned each from zero and the sums of the tiles before are then added to their keys.

use super::layout::{BLOCK, Block, FANOUT, Levels, MAX_WEIGHTS, NO_KEY, Node};
use super::{Cdf, tuning};
use crate::error::Error;
use crate::fixed::Scale;
use arith::simd::{Isa, Kernel};
use rayon::prelude::*;

impl Cdf {
    /// Replaces the weights, on the calling thread. Allocates only where there have never been as many.
    ///
    /// `weights`: (n), finite and `>= 0`, `1 <= n < 2^31`. They may all be zero: then there is nothing to draw, and
    /// drawing is the error.
    ///
    /// # Errors
    /// [`Error::InvalidWeight`], [`Error::Empty`], [`Error::TooManyWeights`]; the old sums are then kept.
    pub fn build(&mut self, weights: &[f32]) -> Result<(), Error> {
        self.build_on("Cdf::build", Plan { isa: Isa::detect(), tile: None }, weights)
    }

    /// [`build`](Self::build) on the current rayon pool: the same bits.
    ///
    /// It uses one thread where there are too few weights for more to be of use.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_par(&mut self, weights: &[f32]) -> Result<(), Error> {
        let few = weights.len() < tuning::BUILD_MIN_TILES * tuning::BUILD_TILE * NODE_WEIGHTS;
        let tile = if few || rayon::current_num_threads() == 1 { None } else { Some(tuning::BUILD_TILE) };
        self.build_on("Cdf::build_par", Plan { isa: Isa::detect(), tile }, weights)
    }

    pub(super) fn build_on(&mut self, operation: &'static str, plan: Plan, weights: &[f32]) -> Result<(), Error> {
        check_count(operation, weights.len())?;
        let Some(largest) = survey(plan, weights).largest() else { return Err(invalid(operation, weights)) };
        let scale = Scale::new(largest, weights.len());
        let blocks = weights.len().div_ceil(BLOCK);
        let levels = Levels::new(blocks);
        self.reserve(levels, blocks);
        let (lowest, above) = self.nodes[..levels.nodes()].split_at_mut(blocks.div_ceil(FANOUT));
        let blocks = &mut self.blocks[..blocks];
        self.total = match plan.tile {
            None => plan.isa.run(ScanKernel { weights, blocks, nodes: lowest, scale, before: 0 }),
            Some(tile) => scan_tiles(plan.isa, tile, weights, blocks, lowest, scale, &mut self.tiles),
        };
        raise_all(lowest, above);
        self.levels = levels;
        self.len = weights.len();
        self.scale = scale;
        Ok(())
    }

    /// Makes room, and keeps what there is.
    pub(super) fn reserve(&mut self, levels: Levels, blocks: usize) {
        if self.blocks.len() < blocks {
            self.blocks.resize(blocks, Block::ZERO);
        }
        if self.nodes.len() < levels.nodes() {
            self.nodes.resize(levels.nodes(), Node::EMPTY);
        }
    }
}

/// Who does the work; no bit depends on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    pub(super) isa: Isa,
    /// Nodes of level 0 in a tile, on the current rayon pool; `None` for all at once on the calling thread.
    pub(super) tile: Option<usize>,
}

pub(super) fn check_count(operation: &'static str, count: usize) -> Result<(), Error> {
    match count {
        0 => Err(Error::Empty { operation }),
        1..=MAX_WEIGHTS => Ok(()),
        _ => Err(Error::TooManyWeights { operation, count, max: MAX_WEIGHTS }),
    }
}

/// The error for weights among which the survey has found something else.
#[cold]
fn invalid(operation: &'static str, weights: &[f32]) -> Error {
    let position = weights.iter().position(|&w| !(w >= 0.0 && w <= f32::MAX)).unwrap_or_default();
    Error::InvalidWeight { operation, position, value: weights[position] }
}

fn survey(plan: Plan, weights: &[f32]) -> Survey {
    match plan.tile {
        None => plan.isa.run(SurveyKernel(weights)),
        Some(tile) => weights
            .par_chunks(tile * NODE_WEIGHTS)
            .map(|w| plan.isa.run(SurveyKernel(w)))
            .reduce(|| Survey::NOTHING, Survey::join),
    }
}

/// The scan on the current rayon pool.
fn scan_tiles(
    isa: Isa,
    tile: usize,
    weights: &[f32],
    blocks: &mut [Block],
    nodes: &mut [Node],
    scale: Scale,
    sums: &mut Vec<u64>,
) -> u64 {
    sums.clear();
    sums.resize(nodes.len().div_ceil(tile), 0);
    weights
        .par_chunks(tile * NODE_WEIGHTS)
        .zip(blocks.par_chunks_mut(tile * FANOUT))
        .zip(nodes.par_chunks_mut(tile))
        .zip(sums.par_iter_mut())
        .for_each(|(((weights, blocks), nodes), sum)| {
            *sum = isa.run(ScanKernel { weights, blocks, nodes, scale, before: 0 });
        });
    let mut before = 0;
    for sum in sums.iter_mut() {
        before += std::mem::replace(sum, before);
    }
    nodes.par_chunks_mut(tile).zip(sums.par_iter()).for_each(|(nodes, &before)| isa.run(ShiftKernel { nodes, before }));
    before
}

/// Weights below a node of level 0.
pub(super) const NODE_WEIGHTS: usize = BLOCK * FANOUT;

/// The largest bit patterns among weights, as signed and as unsigned integers. For numbers that are not negative the
/// order of the patterns is that of the numbers, and whatever is not a weight lies outside: infinity and NaN above as
/// signed integers, negative numbers above as unsigned ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Survey {
    signed: i32,
    unsigned: u32,
}

impl Survey {
    pub(super) const NOTHING: Self = Self { signed: 0, unsigned: 0 };

    pub(super) fn join(self, other: Self) -> Self {
        Self { signed: self.signed.max(other.signed), unsigned: self.unsigned.max(other.unsigned) }
    }

    /// The largest weight, or `None` if something among them is not a weight.
    pub(super) fn largest(self) -> Option<f32> {
        let finite = self.signed < f32::INFINITY.to_bits() as i32;
        let not_negative = self.unsigned <= (-0.0_f32).to_bits();
        (finite && not_negative).then(|| f32::from_bits(self.signed as u32))
    }
}

/// First pass.
pub(super) struct SurveyKernel<'a>(pub(super) &'a [f32]);

impl Kernel for SurveyKernel<'_> {
    type Output = Survey;

    #[inline(always)]
    fn run(self) -> Survey {
        let mut s = Survey::NOTHING;
        for w in self.0 {
            s.signed = s.signed.max(w.to_bits() as i32);
            s.unsigned = s.unsigned.max(w.to_bits());
        }
        s
    }
}

/// Second pass: copies weights into blocks and writes the sum before each block into the nodes of level 0.
///
/// `blocks` holds as many blocks as `weights` need, and `nodes` as many nodes as `blocks` need.
pub(super) struct ScanKernel<'a> {
    pub(super) weights: &'a [f32],
    pub(super) blocks: &'a mut [Block],
    pub(super) nodes: &'a mut [Node],
    pub(super) scale: Scale,
    /// Sum of all weights before these.
    pub(super) before: u64,
}

impl Kernel for ScanKernel<'_> {
    /// Sum of all weights up to the end of these.
    type Output = u64;

    #[inline(always)]
    fn run(self) -> u64 {
        let Self { weights, blocks, nodes, scale, mut before } = self;
        let (whole, rest) = weights.as_chunks::<NODE_WEIGHTS>();
        let (whole_blocks, rest_blocks) = blocks.as_chunks_mut::<FANOUT>();
        let mut nodes = nodes.iter_mut();
        for ((w, b), node) in whole.iter().zip(whole_blocks).zip(&mut nodes) {
            before = scan_node(w, b, node, scale, before);
        }
        if let Some(node) = nodes.next() {
            *node = Node::EMPTY;
            for ((w, b), key) in rest.chunks(BLOCK).zip(rest_blocks).zip(&mut node.0) {
                *b = Block::ZERO;
                b.0[..w.len()].copy_from_slice(w);
                *key = before;
                for &w in w {
                    before += scale.quantize(w);
                }
            }
        }
        before
    }
}

#[inline(always)]
fn scan_node(
    w: &[f32; NODE_WEIGHTS],
    blocks: &mut [Block; FANOUT],
    node: &mut Node,
    scale: Scale,
    mut before: u64,
) -> u64 {
    let (w, _) = w.as_chunks::<BLOCK>();
    let mut sums = [0_u64; FANOUT];
    for half in 0..FANOUT / 8 {
        let mut acc = [[0_u64; 8]; 8];
        for b in 0..8 {
            let w = &w[8 * half + b];
            blocks[8 * half + b].0 = *w;
            for j in 0..8 {
                acc[b][j] = scale.quantize(w[j]).wrapping_add(scale.quantize(w[j + 8]));
            }
        }
        for b in 0..8 {
            let a = &acc[b];
            sums[8 * half + b] = ((a[0] + a[4]) + (a[1] + a[5])) + ((a[2] + a[6]) + (a[3] + a[7]));
        }
    }
    for (key, sum) in node.0.iter_mut().zip(sums) {
        *key = before;
        before += sum;
    }
    before
}

/// Adds the sum of the tiles before to a tile's keys.
struct ShiftKernel<'a> {
    nodes: &'a mut [Node],
    before: u64,
}

impl Kernel for ShiftKernel<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for node in self.nodes {
            for key in &mut node.0 {
                *key += if *key == NO_KEY { 0 } else { self.before };
            }
        }
    }
}

/// Writes the levels above the lowest one.
fn raise_all<'a>(mut below: &'a [Node], mut above: &'a mut [Node]) {
    while below.len() > 1 {
        let (level, rest) = above.split_at_mut(below.len().div_ceil(FANOUT));
        raise(below, level);
        (below, above) = (level, rest);
    }
}

/// Writes a level from the one below it: the key of a node is its first key.
fn raise(below: &[Node], level: &mut [Node]) {
    for (children, node) in below.chunks(FANOUT).zip(level) {
        *node = Node::EMPTY;
        for (key, child) in node.0.iter_mut().zip(children) {
            *key = child.0[0];
        }
    }
}
