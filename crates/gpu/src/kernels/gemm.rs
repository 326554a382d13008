//! Products of matrices in the contract's order. What lies between rows of the result isn't touched.

use super::matrix::{CHUNK, chunks, matrix_len};
use super::*;
use std::ops::RangeInclusive;

/// Rows and columns of a tile.
const TILE: (u128, u128) = (128, 64);
/// Rows and columns of a tile of a transpose.
const SIDE: u128 = 32;

/// Elements of `c`.
const fn result_len(m: u128, n: u128, k: u128, stride: u128) -> u128 {
    if k > CHUNK { chunks(k) * m * n } else { matrix_len(m, n, stride) }
}

/// Strides that `c` may have: chunks' results are dense.
const fn result_strides(n: u128, k: u128) -> RangeInclusive<u128> {
    if k > CHUNK { n..=n } else { n..=MAX_SIZE }
}

/// A block for each tile and chunk.
const fn tiles(m: u128, n: u128, k: u128) -> Work {
    Work::blocks(m.div_ceil(TILE.0) * n.div_ceil(TILE.1) * chunks(k))
}

kernels! {
    module "gemm";

    /// `C = A B`: `gemm_nn_f32`. `a` is (m, k), `b` (k, n). If k is above 1,024, `c` gets the chunks' results,
    /// (ceil(k / 1024), m, n), for [`JoinParts`](super::sum::JoinParts).
    safe GemmNn() ["gemm_nn_f32"] {
        a: read [f32; matrix_len(m, k, a_stride)],
        b: read [f32; matrix_len(k, n, b_stride)],
        c: update [f32; result_len(m, n, k, c_stride)],
        m: size, n: size, k: size, a_stride: size, b_stride: size, c_stride: size,
    }
    where [a_stride => k..=MAX_SIZE, b_stride => n..=MAX_SIZE, c_stride => result_strides(n, k)]
    work tiles(m, n, k), block Block::Exactly(128);

    /// `C = A B^T`: `gemm_nt_f32`. `a` is (m, k), `b` (n, k). If k is above 1,024, `c` gets the chunks' results,
    /// (ceil(k / 1024), m, n), for [`JoinParts`](super::sum::JoinParts).
    safe GemmNt() ["gemm_nt_f32"] {
        a: read [f32; matrix_len(m, k, a_stride)],
        b: read [f32; matrix_len(n, k, b_stride)],
        c: update [f32; result_len(m, n, k, c_stride)],
        m: size, n: size, k: size, a_stride: size, b_stride: size, c_stride: size,
    }
    where [a_stride => k..=MAX_SIZE, b_stride => k..=MAX_SIZE, c_stride => result_strides(n, k)]
    work tiles(m, n, k), block Block::Exactly(128);

    /// `C = A^T B`: `gemm_tn_f32`. `a` is (k, m), `b` (k, n). If k is above 1,024, `c` gets the chunks' results,
    /// (ceil(k / 1024), m, n), for [`JoinParts`](super::sum::JoinParts).
    safe GemmTn() ["gemm_tn_f32"] {
        a: read [f32; matrix_len(k, m, a_stride)],
        b: read [f32; matrix_len(k, n, b_stride)],
        c: update [f32; result_len(m, n, k, c_stride)],
        m: size, n: size, k: size, a_stride: size, b_stride: size, c_stride: size,
    }
    where [a_stride => m..=MAX_SIZE, b_stride => n..=MAX_SIZE, c_stride => result_strides(n, k)]
    work tiles(m, n, k), block Block::Exactly(128);

    /// `out[j, i] = a[i, j]`, both dense: `transpose_f32`.
    safe Transpose() ["transpose_f32"] {
        a: read [f32; rows * cols], out: write [f32; rows * cols], rows: size, cols: size,
    }
    where [] work Work::blocks(rows.div_ceil(SIDE) * cols.div_ceil(SIDE)), block Block::Any { usual: 256, most: 1024 };
}
