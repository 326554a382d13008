//! The scan on CUDA devices: [`forward()`] and [`backward()`] over device buffers, and stacks of layers ([`MinGruStack`]), with
//! the bits of the CPU's.
//!
//! Arrays and their order are those of the CPU's functions of the same names. A scan is one launch: it allocates nothing
//! and waits for nothing, so it can be part of a [`gpu::Graph`]. So can a stack's passes.
//!
//! # Example
//! ```no_run
//! use gpu::{Buffer, Device};
//! use mingru::Shape;
//! use mingru::cuda::{Forward, Outputs, forward};
//!
//! let stream = Device::new(0)?.stream()?;
//! let combined = Buffer::from_slice(&stream, &[0.3, 0.1, 100.0, -0.7, -0.4, 100.0, 1.2, 2.0, 100.0_f32])?;
//! let x = Buffer::zeroed(&stream, 3)?;
//! let keep = Buffer::from_slice(&stream, &[1.0, 0.0, 1.0])?;
//! let h0 = Buffer::from_slice(&stream, &[0.25])?;
//! let mut out = Buffer::<f32>::zeroed(&stream, 3)?;
//! let [mut checkpoints, mut h_last] = [Buffer::zeroed(&stream, 1)?, Buffer::zeroed(&stream, 1)?];
//! let input = Forward {
//!     shape: Shape { batch: 1, time: 3, hidden: 1 },
//!     interval: 8,
//!     combined: combined.view(),
//!     x: x.view(),
//!     keep: keep.view(),
//!     h0: h0.view(),
//! };
//! let output = Outputs { out: out.view_mut(), checkpoints: checkpoints.view_mut(), h_last: h_last.view_mut() };
//! forward(&stream, input, output)?;
//! assert_eq!(out.to_vec(&stream)?, [0.5387386, 0.13316034, 1.5132282]);
//! # Ok::<(), gpu::Error>(())
//! ```

mod backward;
mod error;
mod forward;
mod sequence;
mod stack;
mod tuning;

pub use backward::{Backward, Gradients, backward};
pub use error::Error;
pub use forward::{Forward, Outputs, forward};
pub use sequence::Sequence;
pub use stack::{MinGruStack, StackForward, StackGradients, StackStep, StepScratch, Tape};
