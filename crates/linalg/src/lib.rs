//! Matrix products and sums in the one order that the arithmetic contract fixes: the same bits for any instruction
//! set, block size and number of threads.

mod error;
mod gemm;
mod reduce;
mod view;

pub use error::Error;
pub use gemm::{PackedB, Par, Scratch, gemm_nn, gemm_nt, gemm_packed, gemm_tn};
pub use reduce::{sum_cols, sum_rows};
pub use view::{MatMut, MatRef};
