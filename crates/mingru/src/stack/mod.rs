//! Layers of minGRU on top of one another: layer l's output is layer l + 1's input.
mod backward;
mod check;
mod forward;
mod packed;
mod tape;

pub use backward::StackGradients;
pub(crate) use check::Sizes;
pub use forward::StackForward;
pub use packed::{PackedWeights, StackStep, StepScratch};
pub use tape::Tape;

use crate::{Error, error::product};

/// L layers of H units. Weights stay with the caller, in one flat slice of L matrices (3H, H), row-major: a step's
/// `combined` is `x W^T`, without bias.
///
/// ```
/// use mingru::{MinGruStack, Par, StackForward, StackGradients};
///
/// let stack = MinGruStack::new(1, 1)?;
/// let mut tape = stack.tape(1, 2, 8)?;
/// // hidden = 2x, gate = 0, proj = 100x, over two steps of one unit.
/// let weights = [2.0, 0.0, 100.0];
/// let input = StackForward { batch: 1, time: 2, weights: &weights, x: &[1.0, 0.5], keep: &[1.0; 2], h0: &[0.5] };
/// let (mut out, mut h_last) = ([0.0; 2], [0.0]);
/// stack.forward(&input, &mut tape, &mut out, &mut h_last, Par::Serial)?;
/// assert_eq!(out, [1.5, 1.5]); // (0.5 + 2.5) / 2, (1.5 + 1.5) / 2
///
/// let (mut d_weights, mut d_x, mut d_h0) = ([0.0; 3], [0.0; 2], [0.0]);
/// let gradients = StackGradients { weights: &mut d_weights, x: &mut d_x, h0: &mut d_h0 };
/// stack.backward(&weights, &mut tape, &[0.0, 1.0], &[0.0], gradients, Par::Serial)?;
/// assert_eq!(d_h0, [0.25]);
/// assert_eq!(d_weights[0], 0.5); // 1.0 * 0.25 + 0.5 * 0.5
/// # Ok::<(), mingru::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MinGruStack {
    layers: usize,
    hidden: usize,
}

impl MinGruStack {
    /// A stack of `layers` layers of `hidden` units. Either may be 0; without layers the output is the input.
    ///
    /// # Errors
    /// [`Error::Overflow`] if the weights don't fit the address space.
    pub fn new(layers: usize, hidden: usize) -> Result<Self, Error> {
        product("MinGruStack::new", [layers, 3, hidden, hidden])?;
        Ok(Self { layers, hidden })
    }

    /// L.
    pub fn layers(&self) -> usize {
        self.layers
    }

    /// H.
    pub fn hidden(&self) -> usize {
        self.hidden
    }

    /// Elements of the weights, L * 3H * H.
    pub fn weights_len(&self) -> usize {
        self.layers * self.layer_len()
    }

    /// Elements of the states of `batch` rows, (L, B, H).
    ///
    /// # Errors
    /// [`Error::Overflow`] if they don't fit the address space.
    pub fn state_len(&self, batch: usize) -> Result<usize, Error> {
        product("MinGruStack::state_len", [self.layers, batch, self.hidden, 1])
    }

    /// Elements of a layer's weights.
    pub(crate) fn layer_len(&self) -> usize {
        3 * self.hidden * self.hidden
    }

    pub(crate) fn size(&self) -> (usize, usize) {
        (self.layers, self.hidden)
    }

    /// Refuses what was built for another stack.
    pub(crate) fn check_size(
        &self,
        operation: &'static str,
        argument: &'static str,
        got: (usize, usize),
    ) -> Result<(), Error> {
        if got == self.size() {
            Ok(())
        } else {
            Err(Error::Mismatch { operation, argument, expected: self.size(), got })
        }
    }
}
