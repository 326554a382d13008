//! The stack's backward pass.
use super::{MinGruStack, Tape};
use crate::{Backward, Error, Gradients, Par, Shape, backward, checkpoints_len, error::length};
use linalg::{MatMut, MatRef, gemm_nn, gemm_tn};

/// Outputs of [`MinGruStack::backward`], all overwritten.
#[derive(Debug)]
pub struct StackGradients<'a> {
    /// L matrices (3H, H).
    pub weights: &'a mut [f32],
    /// (B, T, H).
    pub x: &'a mut [f32],
    /// (L, B, H).
    pub h0: &'a mut [f32],
}

impl MinGruStack {
    /// Gradients of a loss whose gradients to the forward pass's `out` and `h_last` are `d_out` (B, T, H) and
    /// `d_h_last` (L, B, H). The tape holds the forward pass, whose sizes these are; `weights` are those it was given.
    ///
    /// A layer's weight gradient is `d_combined^T x` over the B T rows in the order (b, t); its input's gradient is the
    /// highway's part plus `d_combined W`. Allocates nothing after the first call on a tape.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::Mismatch`] or [`Error::NoForward`]; nothing is written then.
    pub fn backward(
        &self,
        weights: &[f32],
        tape: &mut Tape,
        d_out: &[f32],
        d_h_last: &[f32],
        gradients: StackGradients<'_>,
        par: Par,
    ) -> Result<(), Error> {
        const OPERATION: &str = "MinGruStack::backward";
        self.check_tape(OPERATION, tape)?;
        let Some((batch, time)) = tape.current else { return Err(Error::NoForward { operation: OPERATION }) };
        let shape = Shape { batch, time, hidden: self.hidden };
        let n = shape.lengths(OPERATION)?;
        let states = self.state_len(batch)?;
        length(OPERATION, "weights", self.weights_len(), weights.len())?;
        length(OPERATION, "d_out", n.sequence, d_out.len())?;
        length(OPERATION, "d_h_last", states, d_h_last.len())?;
        length(OPERATION, "gradients.weights", self.weights_len(), gradients.weights.len())?;
        length(OPERATION, "gradients.x", n.sequence, gradients.x.len())?;
        length(OPERATION, "gradients.h0", states, gradients.h0.len())?;
        if self.layers == 0 {
            gradients.x.copy_from_slice(d_out);
            return Ok(());
        }

        let (rows, interval) = (batch * time, tape.interval);
        let checkpoints = checkpoints_len(shape, interval)?;
        let d_combined = &mut tape.d_combined[..n.combined];
        // `above` holds the gradient of the layer's output, and later the product; `below` receives that of its input.
        let [above, below] = &mut tape.d_sequence;
        for layer in (0..self.layers).rev() {
            let x = &tape.inputs[layer * n.sequence..][..n.sequence];
            let matrix = layer * self.layer_len()..(layer + 1) * self.layer_len();
            let state = layer * n.state..(layer + 1) * n.state;
            let d_x = if layer == 0 { &mut *gradients.x } else { &mut below[..n.sequence] };
            let input = Backward {
                shape,
                interval,
                combined: &tape.combined[layer * n.combined..][..n.combined],
                x,
                keep: &tape.keep[..n.keep],
                checkpoints: &tape.checkpoints[layer * checkpoints..][..checkpoints],
                d_out: if layer + 1 == self.layers { d_out } else { &above[..n.sequence] },
                d_h_last: &d_h_last[state.clone()],
            };
            backward(&input, Gradients { d_combined, d_x, d_h0: &mut gradients.h0[state] }, par)?;
            gemm_tn(
                MatRef::new(d_combined, rows, 3 * self.hidden)?,
                MatRef::new(x, rows, self.hidden)?,
                MatMut::new(&mut gradients.weights[matrix.clone()], 3 * self.hidden, self.hidden)?,
                par,
                &mut tape.scratch,
            )?;
            let product = &mut above[..n.sequence];
            gemm_nn(
                MatRef::new(d_combined, rows, 3 * self.hidden)?,
                MatRef::new(&weights[matrix], 3 * self.hidden, self.hidden)?,
                MatMut::new(product, rows, self.hidden)?,
                par,
                &mut tape.scratch,
            )?;
            for (d, p) in d_x.iter_mut().zip(&*product) {
                *d += p;
            }
            core::mem::swap(above, below);
        }
        Ok(())
    }
}
