//! What a forward pass leaves for the backward pass.
use super::{super::Error, MinGruStack};
use crate::{Shape, checkpoints_len, error::product, shape::check_interval};
use gpu::{Buffer, Device};
use linalg::cuda::Scratch;

/// Intermediates of a stack's passes on a device, allocated once for a largest batch and time and reused for smaller ones.
///
/// A forward pass that is captured fills it when the graph is launched: no backward pass may be launched before.
#[derive(Debug)]
pub struct Tape {
    pub(super) stack: (usize, usize),
    pub(super) capacity: (usize, usize),
    pub(super) interval: usize,
    /// Batch and time of the forward pass on the tape.
    pub(super) current: Option<(usize, usize)>,
    /// (B, T).
    pub(super) keep: Buffer<f32>,
    /// L times (B, T, H).
    pub(super) inputs: Buffer<f32>,
    /// L times (B, T, 3H).
    pub(super) combined: Buffer<f32>,
    /// L times (B, ceil(T / K), H).
    pub(super) checkpoints: Buffer<f32>,
    /// (B, T, 3H).
    pub(super) d_combined: Buffer<f32>,
    /// (B, T, H): the gradient of a layer's output.
    pub(super) d_out: Buffer<f32>,
    /// (2, B, T, H): both parts of the gradient of a layer's input.
    pub(super) d_parts: Buffer<f32>,
    pub(super) scratch: Scratch,
}

impl MinGruStack {
    /// A tape for at most `batch` rows of at most `time` steps, with a checkpoint every `interval` steps.
    ///
    /// # Errors
    /// [`Interval`](crate::Error::Interval), [`Overflow`](crate::Error::Overflow), or [`Error::Device`] if it doesn't fit.
    pub fn tape(&self, device: &Device, batch: usize, time: usize, interval: usize) -> Result<Tape, Error> {
        const OPERATION: &str = "MinGruStack::tape";
        check_interval(OPERATION, interval)?;
        let (layers, hidden) = self.stack.size();
        let shape = Shape { batch, time, hidden };
        let n = shape.lengths(OPERATION)?;
        let buffer = |count: usize, len: usize| -> Result<_, Error> {
            Ok(Buffer::uninit(device, product(OPERATION, [count, len, 1, 1])?)?)
        };
        let once = layers.min(1);
        Ok(Tape {
            stack: (layers, hidden),
            capacity: (batch, time),
            interval,
            current: None,
            keep: buffer(1, n.keep)?,
            inputs: buffer(layers, n.sequence)?,
            combined: buffer(layers, n.combined)?,
            checkpoints: buffer(layers, checkpoints_len(shape, interval)?)?,
            d_combined: buffer(once, n.combined)?,
            d_out: buffer(once, n.sequence)?,
            d_parts: buffer(2 * once, n.sequence)?,
            scratch: Scratch::new(),
        })
    }
}
