//! The stack's forward pass.
use super::{MinGruStack, Sizes, Tape};
use crate::{Error, Forward, Outputs, Par, checkpoints_len, forward};
use linalg::{MatMut, MatRef, gemm_nt};

/// Inputs of [`MinGruStack::forward`].
#[derive(Clone, Copy, Debug)]
pub struct StackForward<'a> {
    /// B.
    pub batch: usize,
    /// T.
    pub time: usize,
    /// L matrices (3H, H).
    pub weights: &'a [f32],
    /// (B, T, H).
    pub x: &'a [f32],
    /// (B, T): 0 at the first step of a new episode, else 1.
    pub keep: &'a [f32],
    /// (L, B, H).
    pub h0: &'a [f32],
}

impl MinGruStack {
    /// `out` (B, T, H) and `h_last` (L, B, H) of a batch of sequences; `tape` keeps what the backward pass needs.
    ///
    /// Allocates nothing after the first call on a tape.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::Mismatch`] or [`Error::Capacity`]; nothing is written then.
    pub fn forward(
        &self,
        input: &StackForward<'_>,
        tape: &mut Tape,
        out: &mut [f32],
        h_last: &mut [f32],
        par: Par,
    ) -> Result<(), Error> {
        const OPERATION: &str = "MinGruStack::forward";
        let &StackForward { batch, time, weights, x, keep, h0 } = input;
        self.check_size(OPERATION, "tape", tape.stack)?;
        let got = [weights.len(), x.len(), keep.len(), h0.len(), out.len(), h_last.len()];
        let Sizes { shape, n } = self.check_forward(OPERATION, (batch, time), tape.capacity, got)?;

        tape.current = None;
        tape.keep[..n.keep].copy_from_slice(keep);
        if self.layers == 0 {
            out.copy_from_slice(x);
            tape.current = Some((batch, time));
            return Ok(());
        }
        tape.inputs[..n.sequence].copy_from_slice(x);
        let (rows, interval) = (batch * time, tape.interval);
        let checkpoints = checkpoints_len(shape, interval)?;
        for layer in 0..self.layers {
            let (before, after) = tape.inputs.split_at_mut((layer + 1) * n.sequence);
            let x = &before[layer * n.sequence..];
            let combined = &mut tape.combined[layer * n.combined..][..n.combined];
            gemm_nt(
                MatRef::new(x, rows, self.hidden)?,
                MatRef::new(&weights[layer * self.layer_len()..][..self.layer_len()], 3 * self.hidden, self.hidden)?,
                MatMut::new(combined, rows, 3 * self.hidden)?,
                par,
                &mut tape.scratch,
            )?;
            let state = layer * n.state..(layer + 1) * n.state;
            let input = Forward { shape, interval, combined, x, keep, h0: &h0[state.clone()] };
            let last = layer + 1 == self.layers;
            let output = Outputs {
                out: if last { &mut *out } else { &mut after[..n.sequence] },
                checkpoints: &mut tape.checkpoints[layer * checkpoints..][..checkpoints],
                h_last: &mut h_last[state],
            };
            forward(&input, output, par)?;
        }
        tape.current = Some((batch, time));
        Ok(())
    }
}
