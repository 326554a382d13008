//! One step of the stack for rollouts.
use super::{super::Error, MinGruStack};
use crate::{
    Shape,
    cuda::{Forward, Outputs, forward},
    error::{length, product},
};
use gpu::{Buffer, Device, Stream, View, ViewMut};
use linalg::cuda::{MatView, MatViewMut, Scratch, gemm_nt};

/// Intermediates of [`MinGruStack::step`] for a largest batch.
#[derive(Debug)]
pub struct StepScratch {
    stack: (usize, usize),
    batch: usize,
    /// (B, 3H).
    combined: Buffer<f32>,
    /// (B, H): a layer's input.
    x: Buffer<f32>,
    /// (B, H): the state that enters a layer.
    state: Buffer<f32>,
    /// (B, H): the same once more, which a scan leaves for a backward pass.
    checkpoint: Buffer<f32>,
    products: Scratch,
}

/// Inputs of [`MinGruStack::step`].
#[derive(Clone, Copy, Debug)]
pub struct StackStep<'a> {
    /// B.
    pub batch: usize,
    /// L matrices (3H, H).
    pub weights: View<'a, f32>,
    /// (B, H).
    pub x: View<'a, f32>,
    /// (B): 0 where a new episode begins at this step, else 1.
    pub keep: View<'a, f32>,
}

impl MinGruStack {
    /// Scratch for steps of at most `batch` rows.
    ///
    /// # Errors
    /// [`Overflow`](crate::Error::Overflow), or [`Error::Device`] if it doesn't fit.
    pub fn step_scratch(&self, device: &Device, batch: usize) -> Result<StepScratch, Error> {
        const OPERATION: &str = "MinGruStack::step_scratch";
        let stack = self.stack.size();
        let buffer = |parts: usize| -> Result<_, Error> {
            Ok(Buffer::uninit(device, product(OPERATION, [parts, batch, stack.1, 1])?)?)
        };
        let (combined, x, state, checkpoint) = (buffer(3)?, buffer(1)?, buffer(1)?, buffer(1)?);
        Ok(StepScratch { stack, batch, combined, x, state, checkpoint, products: Scratch::new() })
    }

    /// One step: `h` (L, B, H) becomes the next states, `out` (B, H) the last layer's output. States and outputs are those
    /// of [`forward`](Self::forward) at the same step.
    ///
    /// # Errors
    /// [`Length`](crate::Error::Length), [`Mismatch`](crate::Error::Mismatch) or [`Capacity`](crate::Error::Capacity);
    /// nothing is submitted then. [`Error::Device`].
    pub fn step(
        &self,
        stream: &Stream,
        input: StackStep<'_>,
        mut h: ViewMut<'_, f32>,
        mut out: ViewMut<'_, f32>,
        scratch: &mut StepScratch,
    ) -> Result<(), Error> {
        const OPERATION: &str = "MinGruStack::step";
        let StackStep { batch, weights, x, keep } = input;
        self.stack.check_size(OPERATION, "scratch", scratch.stack)?;
        length(OPERATION, "weights", self.stack.weights_len(), weights.len())?;
        let got = [x.len(), keep.len(), h.len(), out.len()];
        let state = self.stack.check_step(OPERATION, batch, scratch.batch, got)?;

        let (layers, hidden) = self.stack.size();
        let matrix = self.stack.layer_len();
        let shape = Shape { batch, time: 1, hidden };
        out.copy_from(stream, x)?;
        for layer in 0..layers {
            let mut x = scratch.x.view_mut().slice(0..state)?;
            x.copy_from(stream, out.view())?;
            let mut h = h.reborrow().slice(layer * state..(layer + 1) * state)?;
            let mut before = scratch.state.view_mut().slice(0..state)?;
            before.copy_from(stream, h.view())?;
            let mut combined = scratch.combined.view_mut().slice(0..3 * state)?;
            gemm_nt(
                stream,
                MatView::new(x.view(), batch, hidden)?,
                MatView::new(weights.slice(layer * matrix..(layer + 1) * matrix)?, 3 * hidden, hidden)?,
                MatViewMut::new(combined.reborrow(), batch, 3 * hidden)?,
                &mut scratch.products,
            )?;
            let (combined, x, h0) = (combined.view(), x.view(), before.view());
            let checkpoints = scratch.checkpoint.view_mut().slice(0..state)?;
            let output = Outputs { out: out.reborrow(), checkpoints, h_last: h.reborrow() };
            forward(stream, Forward { shape, interval: 1, combined, x, keep, h0 }, output)?;
        }
        Ok(())
    }
}
