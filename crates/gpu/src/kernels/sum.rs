//! Sums in the contract's order: of chunks of 1,024 elements, of chunks' sums, and along the sides of a matrix.

use super::matrix::{CHUNK, chunks, matrix_len};
use super::*;

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

    /// Sums of rows: `sum_cols_f32`.
    safe SumCols() ["sum_cols_f32"] {
        a: read [f32; matrix_len(rows, cols, stride)], out: write [f32; rows],
        rows: size, cols: size, stride: size,
    }
    where [stride => cols..=MAX_SIZE] work Work::threads(rows * LANES), block ANY;

    /// Sums of columns; of chunks of columns where there are more than 1,024 rows: `sum_rows_f32`.
    safe SumRows() ["sum_rows_f32"] {
        a: read [f32; matrix_len(rows, cols, stride)], out: write [f32; chunks(rows) * cols],
        rows: size, cols: size, stride: size,
    }
    where [stride => cols..=MAX_SIZE]
    work Work::blocks(cols.div_ceil(LANES) * chunks(rows)), block Block::Exactly(1024);

    /// Joins parts element by element: `join_parts_f32`. What lies between rows of `out` isn't touched.
    safe JoinParts() ["join_parts_f32"] {
        parts: read [f32; count * rows * cols], out: update [f32; matrix_len(rows, cols, stride)],
        count: size, rows: size, cols: size, stride: size,
    }
    where [stride => cols..=MAX_SIZE, rows * cols => 0..=MAX_SIZE] work Work::threads(rows * cols), block ANY;
}
