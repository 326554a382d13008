//! Products and sums on CUDA devices: the bits of the CPU's functions of the same names.
//!
//! Matrices are views of device buffers ([`MatView`], [`MatViewMut`]). A call is one launch, or two where a sum has more than
//! 1,024 terms; it waits for nothing and allocates nothing once its [`Scratch`] has grown, so it can be part of a
//! [`gpu::Graph`].
//!
//! # Example
//! ```no_run
//! use gpu::{Buffer, Device};
//! use linalg::cuda::{MatView, MatViewMut, Scratch, gemm_nn};
//!
//! let stream = Device::new(0)?.stream()?;
//! let a = Buffer::from_slice(&stream, &[1.0, 2.0, 3.0, 4.0])?;
//! let b = Buffer::from_slice(&stream, &[5.0, 6.0, 7.0, 8.0])?;
//! let mut c = Buffer::zeroed(&stream, 4)?;
//! let (a, b) = (MatView::new(a.view(), 2, 2)?, MatView::new(b.view(), 2, 2)?);
//! gemm_nn(&stream, a, b, MatViewMut::new(c.view_mut(), 2, 2)?, &mut Scratch::new())?;
//! assert_eq!(c.to_vec(&stream)?, [19.0, 22.0, 43.0, 50.0]);
//! # Ok::<(), linalg::cuda::Error>(())
//! ```

mod gemm;
mod matrix;
mod reduce;
mod scratch;

pub use gemm::{gemm_nn, gemm_nt, gemm_tn};
pub use matrix::{MatView, MatViewMut};
pub use reduce::{sum_cols, sum_rows};
pub use scratch::Scratch;

/// Why a product or sum wasn't submitted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An operand doesn't fit; nothing was submitted.
    #[error(transparent)]
    Operand(#[from] crate::Error),
    /// The device, or a launch that it doesn't allow: sizes have to be below 2^31.
    #[error(transparent)]
    Device(#[from] gpu::Error),
}
