//! minGRU (Feng et al. 2024, "Were RNNs All We Needed?", section 3.2) as a scan in linear space, with resets inside a
//! sequence and a highway output.
//!
//! For one row `b` and one unit, with `v`, `a`, `r` the hidden, gate and projection entries of step `t`:
//!
//! ```text
//! z = sigmoid(a)    z' = sigmoid(-a)    s = sigmoid(r)    s' = sigmoid(-r)
//! g = v + 0.5 if v >= 0, else sigmoid(v)
//! h_t = z' * keep_t * h_{t-1} + z * g
//! out_t = s * h_t + s' * x_t
//! ```
mod cell;
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
