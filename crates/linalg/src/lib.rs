//! Matrix products and sums in the one order that the arithmetic contract fixes: the same bits for any instruction
//! set, block size and number of threads.

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
#[doc(hidden)]
pub use gemm::{gemm_nn_on, gemm_nt_on, gemm_packed_on, gemm_tn_on};
pub use packed_b::PackedB;
pub use reduce::{sum_cols, sum_rows};
#[doc(hidden)]
pub use reduce::{sum_cols_on, sum_rows_on};
pub use scratch::Scratch;
pub use view::{MatMut, MatRef};
