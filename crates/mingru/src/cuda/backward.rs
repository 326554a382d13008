//! The backward scan.

use super::{Sequence, tuning::backward_block};
use crate::Shape;
use gpu::kernels::mingru::ScanBackwardTiled;
use gpu::{Error, Stream, View, ViewMut};

/// Inputs of [`backward`].
#[derive(Clone, Copy, Debug)]
pub struct Backward<'a, S> {
    /// B, T and H.
    pub shape: Shape,
    /// K of the forward scan that wrote `checkpoints`.
    pub interval: usize,
    /// (B, T, 3H), as given to the forward scan.
    pub combined: View<'a, S>,
    /// (B, T, H), as given to the forward scan.
    pub x: View<'a, S>,
    /// (B, T), as given to the forward scan.
    pub keep: View<'a, f32>,
    /// (B, ceil(T / K), H), from the forward scan.
    pub checkpoints: View<'a, f32>,
    /// (B, T, H): the loss's gradient to `out`.
    pub d_out: View<'a, S>,
    /// (B, H): the loss's gradient to `h_last`.
    pub d_h_last: View<'a, f32>,
}

/// Outputs of [`backward`], all overwritten.
#[derive(Debug)]
pub struct Gradients<'a, S> {
    /// (B, T, 3H).
    pub d_combined: ViewMut<'a, S>,
    /// (B, T, H): the highway's part only.
    pub d_x: ViewMut<'a, S>,
    /// (B, H).
    pub d_h0: ViewMut<'a, f32>,
}

/// The backward scan, in the order of the stream: the bits of [`mingru::backward`](crate::backward()).
///
/// # Errors
/// As [`forward`](super::forward()).
pub fn backward<S: Sequence>(stream: &Stream, input: Backward<'_, S>, output: Gradients<'_, S>) -> Result<(), Error> {
    let Shape { batch, time, hidden } = input.shape;
    let Backward { combined, x, keep, checkpoints, d_out, d_h_last, interval, .. } = input;
    let Gradients { d_combined, d_x, d_h0 } = output;
    let kernel = ScanBackwardTiled {
        combined,
        x,
        keep,
        checkpoints,
        d_out,
        d_h_last,
        d_combined,
        d_x,
        d_h0,
        batch,
        time,
        hidden,
        interval,
    };
    S::launch_backward(stream, &kernel, backward_block(time, interval))
}
