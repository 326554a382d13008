//! Sums in the contract's order: of chunks of 1,024 elements, and of chunks' sums.

use super::*;

/// Elements of a chunk, `arith::sum::CHUNK`.
const CHUNK: u128 = arith::sum::CHUNK as u128;
/// Lanes that sum a chunk.
const LANES: u128 = 32;

kernels! {
    module "sum";

    /// Sums of chunks: `sum_chunks_f32`.
    safe SumChunks() ["sum_chunks_f32"] {
        x: read [f32; n], out: write [f32; n.div_ceil(CHUNK)], n: size,
    }
    where [] work Work::threads(n.div_ceil(CHUNK) * LANES), block ANY;

    /// Sums of products over chunks: `dot_chunks_f32`.
    safe DotChunks() ["dot_chunks_f32"] {
        x: read [f32; n], y: read [f32; n], out: write [f32; n.div_ceil(CHUNK)], n: size,
    }
    where [] work Work::threads(n.div_ceil(CHUNK) * LANES), block ANY;

    /// Joins each 1,024 sums to one: `join_sums_f32`.
    safe JoinSums() ["join_sums_f32"] {
        sums: read [f32; n], out: write [f32; n.div_ceil(CHUNK)], n: size,
    }
    where [n => 1..=MAX_SIZE] work Work::threads(n), block Block::Exactly(1024);
}
