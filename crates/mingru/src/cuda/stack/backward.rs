//! The stack's backward pass.
use super::{super::Error, MinGruStack, Tape};
use crate::{
    checkpoints_len,
    cuda::{Backward, Gradients, backward},
    stack::Sizes,
};
use gpu::kernels::sum::JoinParts;
use gpu::{Stream, View, ViewMut};
use linalg::cuda::{MatView, MatViewMut, gemm_nn, gemm_tn};

/// Outputs of [`MinGruStack::backward`], all overwritten.
#[derive(Debug)]
pub struct StackGradients<'a> {
    /// L matrices (3H, H).
    pub weights: ViewMut<'a, f32>,
    /// (B, T, H).
    pub x: ViewMut<'a, f32>,
    /// (L, B, H).
    pub h0: ViewMut<'a, f32>,
}

impl MinGruStack {
    /// Gradients of a loss whose gradients to the forward pass's `out` and `h_last` are `d_out` (B, T, H) and
    /// `d_h_last` (L, B, H). The tape holds the forward pass, whose sizes these are; `weights` are those it was given.
    ///
    /// # Errors
    /// [`Length`](crate::Error::Length), [`Mismatch`](crate::Error::Mismatch) or [`NoForward`](crate::Error::NoForward);
    /// nothing is submitted then. [`Error::Device`].
    pub fn backward(
        &self,
        stream: &Stream,
        weights: View<'_, f32>,
        tape: &mut Tape,
        d_out: View<'_, f32>,
        d_h_last: View<'_, f32>,
        mut gradients: StackGradients<'_>,
    ) -> Result<(), Error> {
        const OPERATION: &str = "MinGruStack::backward";
        self.stack.check_size(OPERATION, "tape", tape.stack)?;
        let d = &gradients;
        let got = [weights.len(), d_out.len(), d_h_last.len(), d.weights.len(), d.x.len(), d.h0.len()];
        let Sizes { shape, n } = self.stack.check_backward(OPERATION, tape.current, got)?;
        let (layers, hidden) = self.stack.size();
        if layers == 0 {
            return Ok(gradients.x.copy_from(stream, d_out)?);
        }

        let (rows, matrix, interval) = (shape.batch * shape.time, self.stack.layer_len(), tape.interval);
        let checkpoints = checkpoints_len(shape, interval)?;
        for layer in (0..layers).rev() {
            let part = |len: usize| layer * len..(layer + 1) * len;
            let x = tape.inputs.view().slice(part(n.sequence))?;
            let mut d_combined = tape.d_combined.view_mut().slice(0..n.combined)?;
            // The highway's part, and the product.
            let mut d_parts = tape.d_parts.view_mut().slice(0..2 * n.sequence)?;
            let (highway, product) = d_parts.reborrow().split_at(n.sequence)?;
            let input = Backward {
                shape,
                interval,
                combined: tape.combined.view().slice(part(n.combined))?,
                x,
                keep: tape.keep.view().slice(0..n.keep)?,
                checkpoints: tape.checkpoints.view().slice(part(checkpoints))?,
                d_out: if layer + 1 == layers { d_out } else { tape.d_out.view().slice(0..n.sequence)? },
                d_h_last: d_h_last.slice(part(n.state))?,
            };
            let output = Gradients {
                d_combined: d_combined.reborrow(),
                d_x: highway,
                d_h0: gradients.h0.reborrow().slice(part(n.state))?,
            };
            backward(stream, input, output)?;
            let d_combined = MatView::new(d_combined.view(), rows, 3 * hidden)?;
            gemm_tn(
                stream,
                d_combined,
                MatView::new(x, rows, hidden)?,
                MatViewMut::new(gradients.weights.reborrow().slice(part(matrix))?, 3 * hidden, hidden)?,
                &mut tape.scratch,
            )?;
            gemm_nn(
                stream,
                d_combined,
                MatView::new(weights.slice(part(matrix))?, 3 * hidden, hidden)?,
                MatViewMut::new(product, rows, hidden)?,
                &mut tape.scratch,
            )?;
            // The tree over two parts is their sum.
            let below = if layer == 0 { gradients.x.reborrow() } else { tape.d_out.view_mut().slice(0..n.sequence)? };
            let (parts, cols) = (d_parts.view(), hidden);
            stream.launch(&JoinParts { parts, out: below, count: 2, rows, cols, stride: cols })?;
        }
        Ok(())
    }
}
