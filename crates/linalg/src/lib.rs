//! Matrix products and sums in the one order that the arithmetic contract fixes: the same bits for any instruction
//! set, block size and number of threads.
//!
//! - **Products** ([`gemm_nn`], [`gemm_nt`], [`gemm_tn`], [`gemm_packed`]): `C[i, j]` is the FMA chain over `k`
//!   ascending from +0, in chunks of 1024 steps; chunk results join by the tree of adjacent pairs in index order, an odd
//!   one out moving up unchanged.
//! - **Sums** ([`sum_rows`], [`sum_cols`]): the order of `arith::sum`.
//!
//! With the feature `cuda`, module `cuda` has them on CUDA devices.
//!
//! Matrices are row-major views over slices ([`MatRef`], [`MatMut`]), with any distance between rows. Working memory is
//! the caller's [`Scratch`]; weights used for many products are packed once ([`PackedB`]). Nothing is allocated once
//! these have grown. Signed zeros, subnormals and infinities follow IEEE 754; a NaN is a NaN, its payload isn't fixed.
//!
//! Inside, a call descends: `gemm` (shapes) -> `plan` (what to pack, where to cut, who runs it) -> `chunks` (the tree)
//! -> `block` (caches) -> `kernel` (registers). `tuning` holds the numbers that decide speed.

#[cfg(feature = "cuda")]
pub mod cuda;
mod error;
mod gemm;
mod kernel;
mod pack;
mod packed_b;
mod reduce;
mod scratch;
mod view;

pub use error::Error;
pub use gemm::{Par, gemm_nn, gemm_nt, gemm_packed, gemm_tn};
pub use packed_b::PackedB;
pub use reduce::{sum_cols, sum_rows};
pub use scratch::Scratch;
pub use view::{MatMut, MatRef};

#[doc(hidden)]
pub use gemm::{gemm_nn_on, gemm_nt_on, gemm_packed_on, gemm_tn_on};
#[doc(hidden)]
pub use reduce::{sum_cols_on, sum_rows_on};
