//! One sequence of draws.

use super::shape::{normal_pair, uniform, uniform_positive};
use crate::fixed::bounded;
use crate::philox::philox4x32_10;

/// A sequence of random words, addressed by index. `Copy`, stateless: no order of calls can change a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stream {
    seed: u64,
    stream: u64,
}

impl Stream {
    /// The stream number `stream` of `seed`.
    #[inline]
    pub const fn new(seed: u64, stream: u64) -> Self {
        Self { seed, stream }
    }

    /// Block `index`: four independent words, of the Philox key `seed` and the counter (`index`, `stream`).
    #[inline(always)]
    pub const fn block(&self, index: u64) -> [u32; 4] {
        philox4x32_10(
            [self.seed as u32, (self.seed >> 32) as u32],
            [index as u32, (index >> 32) as u32, self.stream as u32, (self.stream >> 32) as u32],
        )
    }

    /// Word `index`.
    #[inline(always)]
    pub const fn word(&self, index: u64) -> u32 {
        self.block(index / 4)[(index % 4) as usize]
    }

    /// 64-bit word `index`.
    #[inline(always)]
    pub const fn double_word(&self, index: u64) -> u64 {
        double_words(self.block(index / 2))[(index % 2) as usize]
    }

    /// Draw `index` in [0, 1): [`uniform`] of word `index`.
    #[inline(always)]
    pub fn uniform(&self, index: u64) -> f32 {
        uniform(self.word(index))
    }

    /// Draw `index` in (0, 1]: [`uniform_positive`] of word `index`.
    #[inline(always)]
    pub fn uniform_positive(&self, index: u64) -> f32 {
        uniform_positive(self.word(index))
    }

    /// Standard normal draw `index`.
    #[inline(always)]
    pub fn normal(&self, index: u64) -> f32 {
        normals(self.block(index / 4))[(index % 4) as usize]
    }

    /// Integer draw `index` in `[0, total)`: [`bounded`] of 64-bit word `index`.
    #[inline(always)]
    pub const fn bounded(&self, index: u64, total: u64) -> u64 {
        bounded(self.double_word(index), total)
    }
}

/// The two 64-bit words of a block.
#[inline(always)]
pub(super) const fn double_words(block: [u32; 4]) -> [u64; 2] {
    [block[0] as u64 | (block[1] as u64) << 32, block[2] as u64 | (block[3] as u64) << 32]
}

/// The four normals of a block.
#[inline(always)]
pub(super) fn normals(block: [u32; 4]) -> [f32; 4] {
    let (a, b) = normal_pair(block[0], block[1]);
    let (c, d) = normal_pair(block[2], block[3]);
    [a, b, c, d]
}
