//! Residual resampling whose remainders are independent draws.
//!
//! Rests and draws lie on a line of R strata, each `total` wide. A guide (Chen and Asau, "On Generating Random Variates
//! from an Empirical Distribution", 1974) names the first item that reaches into each stratum; from there a draw goes on
//! item by item. Over all draws that takes O(P) steps on average, whatever the weights.

use super::Random;
use super::laws::{Law, Position, Remainders};
use super::split::Divider;
use crate::cdf::{BATCH, BLOCK, Block, Cdf, prefetch};
use crate::tree::MAX_CAPACITY;
use arith::fixed::{Scale, bounded};
use arith::simd::{Isa, Kernel};

/// Memory of residual resampling with independent remainders; the other schemes take none.
///
/// It grows where there have never been as many weights, and is never shrunk. 20 bytes a weight, and 4 a draw.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    /// Offspring of each item.
    pub(super) counts: Vec<u32>,
    /// Sum of the rests up to and with each item.
    positions: Vec<Position>,
    /// First item that reaches into each stratum.
    guide: Vec<u32>,
}

impl Scratch {
    /// No memory yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Memory for `draws` from `weights`; none for 2^31 weights or more, which no [`Cdf`] can have.
    pub fn with_capacity(weights: usize, draws: usize) -> Self {
        let mut scratch = Self::new();
        if weights > MAX_CAPACITY {
            return scratch;
        }
        scratch.reserve(weights, draws);
        scratch.counts.resize(weights, 0);
        scratch
    }

    fn reserve(&mut self, weights: usize, draws: usize) {
        if self.positions.len() < weights {
            self.positions.resize(weights, Position { stratum: 0, rest: 0 });
        }
        // Fewer strata than items, since every rest is less than a stratum.
        let strata = weights.min(draws);
        if self.guide.len() < strata {
            self.guide.resize(strata, 0);
        }
    }
}

/// Writes the offspring of every item, certain and drawn; `counts` has the length of `cdf`, `scratch` any.
pub(super) fn count(
    isa: Isa,
    cdf: &Cdf,
    divider: Divider,
    draws: usize,
    random: Random<'_>,
    counts: &mut [u32],
    scratch: &mut Scratch,
) {
    scratch.reserve(counts.len(), draws);
    let Scratch { positions, guide, .. } = scratch;
    let positions = &mut positions[..counts.len()];
    let (blocks, scale) = cdf.blocks();
    let strata = isa.run(LayOut { blocks, scale, divider, counts, positions, guide });
    isa.run(Draw { strata, total: divider.total(), random, counts, positions, guide });
}

/// Lays the rests out on the line, and writes the certain offspring.
struct LayOut<'a> {
    blocks: &'a [Block],
    scale: Scale,
    divider: Divider,
    counts: &'a mut [u32],
    positions: &'a mut [Position],
    guide: &'a mut [u32],
}

impl Kernel for LayOut<'_> {
    /// Strata that the rests make up: a whole number.
    type Output = u64;

    #[inline(always)]
    fn run(self) -> u64 {
        let Self { blocks, scale, divider, counts, positions, guide } = self;
        let mut law = Remainders::default();
        let (mut certain, mut item, mut guided, mut last) = (0, 0, 0, Position::default());
        let places = counts.chunks_mut(BLOCK).zip(positions.chunks_mut(BLOCK));
        for (block, (counts, positions)) in blocks.iter().zip(places) {
            for ((count, position), weight) in counts.iter_mut().zip(positions).zip(block.quantize(scale)) {
                let end = law.advance(&divider, weight);
                // At most all draws: a u32.
                *count = (end.certain - certain) as u32;
                *position = end.position;
                if end.position > (Position { stratum: guided, rest: 0 })
                    && let Some(first) = guide.get_mut(guided as usize)
                {
                    *first = item;
                    guided += 1;
                }
                (certain, last) = (end.certain, end.position);
                item += 1;
            }
        }
        last.stratum
    }
}

/// Draws the remainders, and counts them.
struct Draw<'a> {
    strata: u64,
    total: u64,
    random: Random<'a>,
    counts: &'a mut [u32],
    positions: &'a [Position],
    guide: &'a [u32],
}

impl Kernel for Draw<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { strata, total, random, counts, positions, guide } = self;
        let mut words = [0; BATCH];
        let mut draws = [Position::default(); BATCH];
        let mut items = [0; BATCH];
        for first in (0..strata).step_by(BATCH) {
            random.fill(first, &mut words);
            // A batch goes on together, so that one draw waits for memory while the others work.
            for (draw, &word) in draws.iter_mut().zip(&words) {
                // u * R strata: the whole is the stratum, and the fraction is uniform in it.
                let product = u128::from(word) * u128::from(strata);
                *draw = Position { stratum: (product >> 64) as u64, rest: bounded(product as u64, total) };
                prefetch(guide, draw.stratum as usize);
            }
            for (item, draw) in items.iter_mut().zip(&draws) {
                *item = guide[draw.stratum as usize] as usize;
                prefetch(positions, *item);
                prefetch(counts, *item);
            }
            let many = (strata - first).min(BATCH as u64) as usize;
            for (&item, draw) in items.iter().zip(&draws).take(many) {
                let mut item = item;
                while positions[item] <= *draw {
                    item += 1;
                }
                counts[item] += 1;
            }
        }
    }
}
