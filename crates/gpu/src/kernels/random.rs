//! Draws of a Philox stream: elements `first..first + n` of stream (`seed`, `stream`).

use super::*;

kernels! {
    module "random";

    /// Words: `fill_words_u32`.
    safe FillWords() ["fill_words_u32"] {
        seed: u64, stream: u64, first: u64, out: write [u32; n], n: size,
    }
    where [] work Work::threads(blocks(n, 4)), block ANY;

    /// 64-bit words: `fill_double_words_u64`.
    safe FillDoubleWords() ["fill_double_words_u64"] {
        seed: u64, stream: u64, first: u64, out: write [u64; n], n: size,
    }
    where [] work Work::threads(blocks(n, 2)), block ANY;

    /// Uniform draws in [0, 1): `fill_uniform_f32`.
    safe FillUniform() ["fill_uniform_f32"] {
        seed: u64, stream: u64, first: u64, out: write [f32; n], n: size,
    }
    where [] work Work::threads(blocks(n, 4)), block ANY;

    /// Uniform draws in (0, 1]: `fill_uniform_positive_f32`.
    safe FillUniformPositive() ["fill_uniform_positive_f32"] {
        seed: u64, stream: u64, first: u64, out: write [f32; n], n: size,
    }
    where [] work Work::threads(blocks(n, 4)), block ANY;

    /// Standard normal draws: `fill_normal_f32`.
    safe FillNormal() ["fill_normal_f32"] {
        seed: u64, stream: u64, first: u64, out: write [f32; n], n: size,
    }
    where [] work Work::threads(blocks(n, 4)), block ANY;

    /// Integer draws in `[0, total)`: `fill_bounded_u64`.
    safe FillBounded() ["fill_bounded_u64"] {
        seed: u64, stream: u64, first: u64, total: u64, out: write [u64; n], n: size,
    }
    where [] work Work::threads(blocks(n, 2)), block ANY;
}

/// Blocks of the stream that `n` elements may touch, `per` in each: neither the first nor the last need be whole.
fn blocks(n: u128, per: u128) -> u128 {
    if n == 0 { 0 } else { n / per + 2 }
}
