//! Residual resampling whose remainders are independent draws.
//!
//! Rests and draws lie on a line of R strata, each `total` wide. A guide (Chen and Asau, "On Generating Random Variates
//! from an Empirical Distribution", 1974) names the first item that reaches into each stratum; from there a draw goes on
//! item by item. Over all draws that takes O(P) steps on average, whatever the weights.

use super::Random;
use super::laws::Position;
use super::split::Divider;
use crate::cdf::{BATCH, Cdf};
use arith::fixed::bounded;

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

    /// Memory for `draws` from `weights`.
    pub fn with_capacity(weights: usize, draws: usize) -> Self {
        let mut scratch = Self::new();
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
    cdf: &Cdf,
    divider: &Divider,
    draws: usize,
    random: Random<'_>,
    counts: &mut [u32],
    scratch: &mut Scratch,
) {
    scratch.reserve(counts.len(), draws);
    let Scratch { positions, guide, .. } = scratch;
    let total = divider.total();
    let (blocks, scale) = cdf.blocks();
    let mut at = Position { stratum: 0, rest: 0 };
    let mut guided = 0;
    let weights = blocks.iter().flat_map(|block| block.quantize(scale));
    for (item, ((count, position), weight)) in (0..).zip(counts.iter_mut().zip(positions.iter_mut()).zip(weights)) {
        let (certain, rest) = divider.split(weight);
        // At most all draws: a u32.
        *count = certain as u32;
        at.add(rest, total);
        *position = at;
        if (at > Position { stratum: guided, rest: 0 })
            && let Some(first) = guide.get_mut(guided as usize)
        {
            *first = item;
            guided += 1;
        }
    }
    // The sum of the rests is a whole number of strata.
    let strata = at.stratum;
    let mut words = [0; BATCH];
    for first in (0..strata).step_by(BATCH) {
        random.fill(first, &mut words);
        for &word in words.iter().take((strata - first) as usize) {
            // u * R strata: the whole is the stratum, and the fraction is uniform in it.
            let product = u128::from(word) * u128::from(strata);
            let draw = Position { stratum: (product >> 64) as u64, rest: bounded(product as u64, total) };
            let mut item = guide[draw.stratum as usize] as usize;
            while positions[item] <= draw {
                item += 1;
            }
            counts[item] += 1;
        }
    }
}
