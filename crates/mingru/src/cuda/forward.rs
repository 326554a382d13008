//! The forward scan.

use super::{Sequence, tuning::FORWARD_BLOCK};
use crate::Shape;
use gpu::kernels::mingru::ScanForward;
use gpu::{Error, Stream, View, ViewMut};

/// Inputs of [`forward`].
#[derive(Clone, Copy, Debug)]
pub struct Forward<'a, S> {
    /// B, T and H.
    pub shape: Shape,
    /// K, steps from one checkpoint to the next, `1..=MAX_INTERVAL`.
    pub interval: usize,
    /// (B, T, 3H): `[hidden | gate | proj]` in each row.
    pub combined: View<'a, S>,
    /// (B, T, H): the highway's input.
    pub x: View<'a, S>,
    /// (B, T): 0 at the first step of a new episode, else 1.
    pub keep: View<'a, f32>,
    /// (B, H): the state before the first step.
    pub h0: View<'a, f32>,
}

/// Outputs of [`forward`], all overwritten.
#[derive(Debug)]
pub struct Outputs<'a, S> {
    /// (B, T, H).
    pub out: ViewMut<'a, S>,
    /// (B, ceil(T / K), H): the state that enters each chunk; see [`checkpoints_len`](crate::checkpoints_len).
    pub checkpoints: ViewMut<'a, f32>,
    /// (B, H): the state after the last step (`h0` if T = 0).
    pub h_last: ViewMut<'a, f32>,
}

/// The forward scan, in the order of the stream: the bits of [`mingru::forward`](crate::forward()).
///
/// # Errors
/// [`Error::Launch`] for lengths that the shape doesn't ask for, sizes of 2^31 and more (B H too), and intervals that
/// aren't in `1..=MAX_INTERVAL`; nothing is launched then. [`Error::Module`], [`Error::Driver`].
pub fn forward<S: Sequence>(stream: &Stream, input: Forward<'_, S>, output: Outputs<'_, S>) -> Result<(), Error> {
    let Shape { batch, time, hidden } = input.shape;
    let Forward { combined, x, keep, h0, interval, .. } = input;
    let Outputs { out, checkpoints, h_last } = output;
    let kernel = ScanForward { combined, x, keep, h0, out, checkpoints, h_last, batch, time, hidden, interval };
    S::launch_forward(stream, &kernel, FORWARD_BLOCK)
}
