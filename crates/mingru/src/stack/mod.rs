//! Layers of minGRU on top of one another: layer l's output is layer l + 1's input.
mod backward;
mod forward;
mod packed;
mod tape;

pub use backward::StackGradients;
pub use forward::StackForward;
pub use packed::{PackedWeights, StackStep, StepScratch};
pub use tape::Tape;

use crate::{Error, error::product};

/// L layers of H units. Weights stay with the caller, in one flat slice of L matrices (3H, H), row-major: a step's
/// `combined` is `x W^T`, without bias.
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

    fn layer_len(&self) -> usize {
        3 * self.hidden * self.hidden
    }

    fn size(&self) -> (usize, usize) {
        (self.layers, self.hidden)
    }
}
