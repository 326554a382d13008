//! How many leaves have which magnitude: the scale follows from the largest, exactness from the smallest.

use super::bins::{BINS, bin, exponent};
use crate::tree::layout::FANOUT;

const WORDS: usize = BINS.div_ceil(64);

/// The number of leaves in each bin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Exponents {
    counts: [u32; BINS],
    /// Bit b of them all: whether bin b has a leaf.
    occupied: [u64; WORDS],
}

impl Exponents {
    /// Those of `leaves` zeros.
    pub(super) fn zeros(leaves: u32) -> Self {
        let mut exponents = Self { counts: [0; BINS], occupied: [0; WORDS] };
        exponents.counts[0] = leaves;
        exponents.occupied[0] = 1;
        exponents
    }

    /// A leaf goes from one bin to another.
    #[inline(always)]
    pub(super) fn transfer(&mut self, from: u32, to: u32) {
        let (from, to) = (from as usize, to as usize);
        self.counts[to] += 1;
        if self.counts[to] == 1 {
            self.occupied[to / 64] |= 1 << (to % 64);
        }
        self.counts[from] -= 1;
        if self.counts[from] == 0 {
            self.occupied[from / 64] &= !(1 << (from % 64));
        }
    }

    /// Those of these leaves and no others.
    #[inline(always)]
    pub(super) fn count<'a>(&mut self, blocks: impl Iterator<Item = &'a [f32; FANOUT]>) {
        // Four counters of each kind: neighbours are often alike, and one counter would wait for itself.
        let mut counts = [[0_u32; BINS]; 4];
        for four in blocks.flat_map(|block| block.as_chunks::<4>().0) {
            for (counts, &w) in counts.iter_mut().zip(four) {
                counts[bin(w) as usize] += 1;
            }
        }
        self.occupied = [0; WORDS];
        for (b, count) in self.counts.iter_mut().enumerate() {
            *count = counts[0][b] + counts[1][b] + counts[2][b] + counts[3][b];
            self.occupied[b / 64] |= u64::from(*count != 0) << (b % 64);
        }
    }

    /// Leaves that aren't zero.
    pub(super) fn positive(&self, leaves: usize) -> usize {
        leaves - self.counts[0] as usize
    }

    /// The e of the smallest and of the largest leaf that isn't zero.
    pub(super) fn range(&self) -> Option<(i32, i32)> {
        let mut words = self.occupied;
        words[0] &= !1;
        let low = words.iter().position(|&w| w != 0)?;
        let high = words.iter().rposition(|&w| w != 0)?;
        let low = 64 * low + words[low].trailing_zeros() as usize;
        let high = 64 * high + words[high].ilog2() as usize;
        Some((exponent(low), exponent(high)))
    }
}
