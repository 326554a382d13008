//! Layers of minGRU on top of one another.
mod backward;
mod forward;
mod step;
mod tape;

pub use backward::StackGradients;
pub use forward::StackForward;
pub use step::{StackStep, StepScratch};
pub use tape::Tape;

use super::Error;

/// A [`MinGruStack`](crate::MinGruStack) whose passes run on a device, with its bits. Weights stay with the caller, in one
/// buffer of L matrices (3H, H), row-major.
///
/// A pass allocates nothing once its tape has been used, and waits for nothing: it can be part of a [`gpu::Graph`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MinGruStack {
    stack: crate::MinGruStack,
}

impl MinGruStack {
    /// A stack of `layers` layers of `hidden` units. Either may be 0; without layers the output is the input.
    ///
    /// # Errors
    /// [`Overflow`](crate::Error::Overflow) if the weights don't fit the address space.
    pub fn new(layers: usize, hidden: usize) -> Result<Self, Error> {
        Ok(Self { stack: crate::MinGruStack::new(layers, hidden)? })
    }

    /// The same stack on the CPU: its sizes, and passes over slices.
    pub fn on_cpu(&self) -> crate::MinGruStack {
        self.stack
    }
}

impl From<crate::MinGruStack> for MinGruStack {
    fn from(stack: crate::MinGruStack) -> Self {
        Self { stack }
    }
}
