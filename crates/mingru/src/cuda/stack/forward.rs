//! The stack's forward pass.
use super::{super::Error, MinGruStack, Tape};
use crate::{
    checkpoints_len,
    cuda::{Forward, Outputs, forward},
    stack::Sizes,
};
use gpu::{Stream, View, ViewMut};
use linalg::cuda::{MatView, MatViewMut, gemm_nt};

/// Inputs of [`MinGruStack::forward`].
#[derive(Clone, Copy, Debug)]
pub struct StackForward<'a> {
    /// B.
    pub batch: usize,
    /// T.
    pub time: usize,
    /// L matrices (3H, H).
    pub weights: View<'a, f32>,
    /// (B, T, H).
    pub x: View<'a, f32>,
    /// (B, T): 0 at the first step of a new episode, else 1.
    pub keep: View<'a, f32>,
    /// (L, B, H).
    pub h0: View<'a, f32>,
}

impl MinGruStack {
    /// `out` (B, T, H) and `h_last` (L, B, H) of a batch of sequences; `tape` keeps what the backward pass needs.
    ///
    /// # Errors
    /// [`Length`](crate::Error::Length), [`Mismatch`](crate::Error::Mismatch) or [`Capacity`](crate::Error::Capacity);
    /// nothing is submitted then. [`Error::Device`]; the tape holds no forward pass then.
    pub fn forward(
        &self,
        stream: &Stream,
        input: StackForward<'_>,
        tape: &mut Tape,
        mut out: ViewMut<'_, f32>,
        mut h_last: ViewMut<'_, f32>,
    ) -> Result<(), Error> {
        const OPERATION: &str = "MinGruStack::forward";
        let StackForward { batch, time, weights, x, keep, h0 } = input;
        self.stack.check_size(OPERATION, "tape", tape.stack)?;
        let got = [weights.len(), x.len(), keep.len(), h0.len(), out.len(), h_last.len()];
        let Sizes { shape, n } = self.stack.check_forward(OPERATION, (batch, time), tape.capacity, got)?;

        tape.current = None;
        let (layers, hidden) = self.stack.size();
        let (rows, matrix, interval) = (batch * time, self.stack.layer_len(), tape.interval);
        let checkpoints = checkpoints_len(shape, interval)?;
        tape.keep.view_mut().slice(0..n.keep)?.copy_from(stream, keep)?;
        if layers == 0 {
            out.copy_from(stream, x)?;
        } else {
            tape.inputs.view_mut().slice(0..n.sequence)?.copy_from(stream, x)?;
        }
        for layer in 0..layers {
            let (before, after) = tape.inputs.view_mut().split_at((layer + 1) * n.sequence)?;
            let part = |len: usize| layer * len..(layer + 1) * len;
            let x = before.view().slice(part(n.sequence))?;
            let mut combined = tape.combined.view_mut().slice(part(n.combined))?;
            gemm_nt(
                stream,
                MatView::new(x, rows, hidden)?,
                MatView::new(weights.slice(part(matrix))?, 3 * hidden, hidden)?,
                MatViewMut::new(combined.reborrow(), rows, 3 * hidden)?,
                &mut tape.scratch,
            )?;
            let keep = tape.keep.view().slice(0..n.keep)?;
            let h0 = h0.slice(part(n.state))?;
            let input = Forward { shape, interval, combined: combined.view(), x, keep, h0 };
            let output = Outputs {
                out: if layer + 1 == layers { out.reborrow() } else { after.slice(0..n.sequence)? },
                checkpoints: tape.checkpoints.view_mut().slice(part(checkpoints))?,
                h_last: h_last.reborrow().slice(part(n.state))?,
            };
            forward(stream, input, output)?;
        }
        tape.current = Some((batch, time));
        Ok(())
    }
}
