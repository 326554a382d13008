//! Draws that have an address (seed, stream, index) instead of a generator with a state.

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

    /// Block `index`: four independent words.
    #[inline(always)]
    pub const fn block(&self, index: u64) -> [u32; 4] {
        philox4x32_10(
            [self.seed as u32, (self.seed >> 32) as u32],
            [index as u32, (index >> 32) as u32, self.stream as u32, (self.stream >> 32) as u32],
        )
    }
}

/// A uniform draw in [0, 1) on the grid of multiples of 2^-24.
#[inline(always)]
pub fn uniform(word: u32) -> f32 {
    (word >> 8) as f32 * (1.0 / 16_777_216.0)
}

/// Two independent standard normal draws from two words (Box and Muller 1958).
#[inline(always)]
pub fn normal_pair(w0: u32, w1: u32) -> (f32, f32) {
    // (0, 1]: the logarithm stays finite.
    let u = ((w0 >> 8) + 1) as f32 * (1.0 / 16_777_216.0);
    let r = crate::sqrt(-2.0 * crate::ln(u));
    let t = uniform(w1) * core::f32::consts::TAU;
    (r * crate::cos(t), r * crate::sin(t))
}
