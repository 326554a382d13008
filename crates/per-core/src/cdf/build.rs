//! The build: a survey that validates the weights and finds the largest, then a scan that copies them and sums blocks.
//!
//! Two passes are needed because an error must leave the old sums whole, and because the scale depends on the largest
//! weight. In parallel, tiles are scanned each from zero and the sums of the tiles before are then added to their keys.

use super::layout::{BLOCK, Block, FANOUT, Levels, MAX_WEIGHTS, NO_KEY, Node};
use super::{Cdf, tuning};
use crate::error::Error;
use arith::fixed::{self, Scale};
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

    /// [`build`](Self::build) from weights that do not lie side by side, such as a strided view: the same as from a copy.
    ///
    /// A copy is made, in memory that is kept for the next time.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_from<I>(&mut self, weights: I) -> Result<(), Error>
    where
        I: IntoIterator<Item = f32>,
        I::IntoIter: ExactSizeIterator,
    {
        const OPERATION: &str = "Cdf::build_from";
        let weights = weights.into_iter();
        check_count(OPERATION, weights.len())?;
        let mut copy = std::mem::take(&mut self.copy);
        copy.clear();
        // `len` is a claim of the caller's type; a wrong one must not overrun the most that there can be.
        copy.extend(weights.take(MAX_WEIGHTS));
        let result = self.build_on(OPERATION, Plan { isa: Isa::detect(), tile: None }, &copy);
        self.copy = copy;
        result
    }

    pub(super) fn build_on(&mut self, operation: &'static str, plan: Plan, weights: &[f32]) -> Result<(), Error> {
        check_count(operation, weights.len())?;
        let largest = survey(operation, plan, weights)?;
        let scale = Scale::new(largest, weights.len()).map_err(|error| Error::from_fixed(operation, error))?;
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

pub(crate) fn check_count(operation: &'static str, count: usize) -> Result<(), Error> {
    match count {
        0 => Err(Error::Empty { operation }),
        1..=MAX_WEIGHTS => Ok(()),
        _ => Err(Error::TooManyWeights { operation, count, max: MAX_WEIGHTS }),
    }
}

/// The largest weight, if all are weights.
fn survey(operation: &'static str, plan: Plan, weights: &[f32]) -> Result<f32, Error> {
    if let Some(tile) = plan.tile {
        let largest = weights
            .par_chunks(tile * NODE_WEIGHTS)
            .map(|w| fixed::largest_weight_with(plan.isa, w).ok())
            .reduce(|| Some(0.0), |a, b| if a? > b? { a } else { b });
        if let Some(largest) = largest {
            return Ok(largest);
        }
        // Something is wrong; what is told is the first of it, which a pass in order finds.
    }
    fixed::largest_weight_with(plan.isa, weights).map_err(|error| Error::from_fixed(operation, error))
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
    // The keys have an eighth of the weights' bytes: few tiles are not worth waking a thread for.
    nodes
        .par_chunks_mut(tile)
        .zip(sums.par_iter())
        .with_min_len(tuning::SHIFT_MIN_TILES)
        .for_each(|(nodes, &before)| isa.run(ShiftKernel { nodes, before }));
    before
}

/// Weights below a node of level 0.
pub(super) const NODE_WEIGHTS: usize = BLOCK * FANOUT;

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
        // Not simply the whole chunks of blocks: the last node may have all its blocks, and the last of them be short.
        let (whole_blocks, rest_blocks) = blocks.split_at_mut(whole.len() * FANOUT);
        let (whole_blocks, _) = whole_blocks.as_chunks_mut::<FANOUT>();
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
