//! Draws of one environment.

use arith::random::{Stream, uniform};

/// The random draws of one environment: a stream, and the index of the next block in it. The index is all there is to
/// save; a draw is the same whenever it is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rng {
    stream: Stream,
    next: u64,
}

impl Rng {
    /// The draws of `stream` from its beginning.
    pub const fn new(stream: Stream) -> Self {
        Self { stream, next: 0 }
    }

    /// Index of the next block, which is the number of blocks drawn.
    pub const fn position(&self) -> u64 {
        self.next
    }

    /// Goes to block `position`.
    pub const fn seek(&mut self, position: u64) {
        self.next = position;
    }

    /// Four random words. Uses one block.
    #[inline(always)]
    pub fn words(&mut self) -> [u32; 4] {
        let block = self.stream.block(self.next);
        self.next = self.next.wrapping_add(1);
        block
    }

    /// Four uniform draws, `low + u (high - low)` with u in [0, 1) on the grid of multiples of 2^-24. Uses one block.
    #[inline(always)]
    pub fn uniform4(&mut self, low: f32, high: f32) -> [f32; 4] {
        let width = high - low;
        self.words().map(|w| arith::fma(uniform(w), width, low))
    }

    /// A uniform draw, see [`uniform4`](Self::uniform4). Uses one block.
    #[inline(always)]
    pub fn uniform(&mut self, low: f32, high: f32) -> f32 {
        self.uniform4(low, high)[0]
    }

    /// A uniform draw from `0..n`: the high part of a 64-bit word times n, whose probabilities differ from 1/n by less
    /// than 2^-64. 0 if n is 0. Uses one block.
    #[inline(always)]
    pub fn below(&mut self, n: u32) -> u32 {
        let [low, high, ..] = self.words();
        let word = (u64::from(high) << 32) | u64::from(low);
        ((u128::from(word) * u128::from(n)) >> 64) as u32
    }
}
