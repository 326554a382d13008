//! Sizes of a pass, checked once before anything is written.
use super::MinGruStack;
use crate::{
    Error, Shape,
    error::{length, product},
    shape::Lengths,
};

/// Operands of a forward pass, in the order in which their lengths are given.
const FORWARD: [&str; 6] = ["weights", "x", "keep", "h0", "out", "h_last"];
/// Operands of a backward pass.
const BACKWARD: [&str; 6] = ["weights", "d_out", "d_h_last", "gradients.weights", "gradients.x", "gradients.h0"];

/// Operands of a step.
const STEP: [&str; 4] = ["x", "keep", "h", "out"];

/// Sizes of a pass that fit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    pub(crate) shape: Shape,
    /// Of one layer.
    pub(crate) n: Lengths,
}

impl MinGruStack {
    /// A forward pass of (B, T) on a tape for at most `capacity`.
    pub(crate) fn check_forward(
        &self,
        operation: &'static str,
        (batch, time): (usize, usize),
        capacity: (usize, usize),
        got: [usize; 6],
    ) -> Result<Sizes, Error> {
        let (sizes, states) = self.sizes_of(operation, (batch, time))?;
        at_most(operation, "batch", capacity.0, batch)?;
        at_most(operation, "time", capacity.1, time)?;
        let Lengths { sequence, keep, .. } = sizes.n;
        all(operation, FORWARD, [self.weights_len(), sequence, keep, states, sequence, states], got)?;
        Ok(sizes)
    }

    /// A backward pass of what is on the tape.
    pub(crate) fn check_backward(
        &self,
        operation: &'static str,
        current: Option<(usize, usize)>,
        got: [usize; 6],
    ) -> Result<Sizes, Error> {
        let Some(current) = current else { return Err(Error::NoForward { operation }) };
        let (sizes, states) = self.sizes_of(operation, current)?;
        let (weights, sequence) = (self.weights_len(), sizes.n.sequence);
        all(operation, BACKWARD, [weights, sequence, states, weights, sequence, states], got)?;
        Ok(sizes)
    }

    /// A step of `batch` rows in scratch for at most `limit`: elements of a layer's states.
    pub(crate) fn check_step(
        &self,
        operation: &'static str,
        batch: usize,
        limit: usize,
        got: [usize; 4],
    ) -> Result<usize, Error> {
        let (state, states) = (product(operation, [batch, self.hidden, 1, 1])?, self.state_len(batch)?);
        at_most(operation, "batch", limit, batch)?;
        all(operation, STEP, [state, batch, states, state], got)?;
        Ok(state)
    }

    fn sizes_of(&self, operation: &'static str, (batch, time): (usize, usize)) -> Result<(Sizes, usize), Error> {
        let shape = Shape { batch, time, hidden: self.hidden };
        Ok((Sizes { shape, n: shape.lengths(operation)? }, self.state_len(batch)?))
    }
}

fn all<const N: usize>(
    operation: &'static str,
    arguments: [&'static str; N],
    expected: [usize; N],
    got: [usize; N],
) -> Result<(), Error> {
    arguments
        .into_iter()
        .zip(expected.into_iter().zip(got))
        .try_for_each(|(argument, (expected, got))| length(operation, argument, expected, got))
}

fn at_most(operation: &'static str, argument: &'static str, limit: usize, got: usize) -> Result<(), Error> {
    if got <= limit { Ok(()) } else { Err(Error::Capacity { operation, argument, limit, got }) }
}
