//! minGRU (Feng et al. 2024, "Were RNNs All We Needed?", section 3.2) as a scan in linear space, with resets inside a
//! sequence and a highway output: the same bits on every machine.
//!
//! For one row of the batch and one unit, with `v`, `a`, `r` the hidden, gate and projection entries of step t:
//!
//! ```text
//! z = sigmoid(a)    z' = sigmoid(-a)    s = sigmoid(r)    s' = sigmoid(-r)
//! g = v + 0.5 if v >= 0, else sigmoid(v)
//! h_t = z' * (keep_t * h_{t-1}) + z * g
//! out_t = s * h_t + s' * x_t
//! ```
//!
//! `combined` is (B, T, 3H), `[hidden | gate | proj]` in each row; `x` and `out` are (B, T, H); `keep` is (B, T), 0 at the
//! first step of a new episode and else 1; states are (B, H). All are dense and row-major. The paper computes the
//! recurrence from logarithms; here the coefficients stay as they are, in (0, 1), so it is stable, and zero or negative
//! states are legal. `z'` is the sigmoid of `-a`, not `1 - z`, and keeps its relative precision where the gate is open.
//!
//! [`oracle::contract`] lists every operation that rounds. The scan gives the bits of that serial loop for every
//! checkpoint interval, number of threads and instruction set, and so does a rollout of [`step`]s.
//!
//! - [`forward()`] and [`backward()`]: the scan given the projections, for sequences in `f32` or [`bf16`];
//! - [`step()`]: one step of a rollout;
//! - [`MinGruStack`]: layers with weights, on `linalg`'s products;
//! - `cuda`, with the feature of this name: the scan on CUDA devices.
//!
//! A NaN in an operand is seen in the results it enters, and in no other row or unit of a scan. `keep_t * h_{t-1}` is a
//! product, so a reset doesn't hide a NaN or infinite state.
//!
//! # Example
//! ```
//! use mingru::{Forward, Outputs, Par, Shape};
//!
//! // One row, one unit, three steps; an episode begins at the second. A projection of 100 opens the highway for h.
//! let combined = [0.3, 0.1, 100.0, -0.7, -0.4, 100.0, 1.2, 2.0, 100.0];
//! let (mut out, mut checkpoints, mut h_last) = ([0.0_f32; 3], [0.0], [0.0]);
//! let input = Forward {
//!     shape: Shape { batch: 1, time: 3, hidden: 1 },
//!     interval: 8,
//!     combined: &combined,
//!     x: &[0.0; 3],
//!     keep: &[1.0, 0.0, 1.0],
//!     h0: &[0.25],
//! };
//! let output = Outputs { out: &mut out, checkpoints: &mut checkpoints, h_last: &mut h_last };
//! mingru::forward(&input, output, Par::Serial)?;
//! assert_eq!(out, [0.5387386, 0.13316034, 1.5132282]);
//! assert_eq!((checkpoints, h_last), ([0.25], [1.5132282]));
//! # Ok::<(), mingru::Error>(())
//! ```
mod cell;
#[cfg(feature = "cuda")]
pub mod cuda;
mod error;
mod lanes;
pub mod oracle;
mod prefetch;
mod scan;
mod shape;
mod stack;
mod storage;
mod tile;
mod tuning;

pub use error::Error;
pub use half::bf16;
pub use linalg::Par;
pub use scan::{
    Backward, Forward, Gradients, Outputs, Step, backward, backward_on, forward, forward_on, step, step_on,
};
pub use shape::{MAX_INTERVAL, Shape, checkpoints_len};
pub use stack::{MinGruStack, PackedWeights, StackForward, StackGradients, StackStep, StepScratch, Tape};
pub use storage::Storage;
