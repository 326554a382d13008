//! What can go wrong with a replay on a device.

/// Why an operation failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The device, or a launch that its kernel's contract doesn't allow.
    #[error(transparent)]
    Device(#[from] super::super::Error),
    /// An input, as on the CPU.
    #[error(transparent)]
    Replay(#[from] crate::replay::Error),
    /// A handle on the device names an item that was never inserted.
    #[error("{operation}: the handle at position {position} is of no item that was inserted so far")]
    UnknownHandle {
        /// What the device did.
        operation: &'static str,
        /// Where the first such handle is.
        position: usize,
    },
}

impl From<gpu::Error> for Error {
    fn from(error: gpu::Error) -> Self {
        Self::Device(error.into())
    }
}

impl From<crate::Error> for Error {
    fn from(error: crate::Error) -> Self {
        Self::Replay(error.into())
    }
}
