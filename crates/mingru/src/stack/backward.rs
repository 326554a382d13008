//! The stack's backward pass.
use super::{MinGruStack, Sizes, Tape};
use crate::{Backward, Error, Gradients, Par, backward, checkpoints_len};
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
        self.check_size(OPERATION, "tape", tape.stack)?;
        let d = &gradients;
        let got = [weights.len(), d_out.len(), d_h_last.len(), d.weights.len(), d.x.len(), d.h0.len()];
        let Sizes { shape, n } = self.check_backward(OPERATION, tape.current, got)?;
        if self.layers == 0 {
            gradients.x.copy_from_slice(d_out);
            return Ok(());
        }

        let (rows, interval) = (shape.batch * shape.time, tape.interval);
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
