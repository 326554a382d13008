//! What can go wrong on a device.

/// Why an operation failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The device, or a launch that its kernel's contract doesn't allow.
    #[error(transparent)]
    Gpu(#[from] gpu::Error),
    /// An input, as on the CPU.
    #[error(transparent)]
    Sampler(#[from] crate::Error),
    /// A threshold on the device isn't below the total.
    #[error("{operation}: the threshold at position {position} is not below the total")]
    Threshold {
        /// What the device did.
        operation: &'static str,
        /// Where the first such threshold is.
        position: usize,
    },
    /// There are no kernels for this.
    #[error("{operation}: {what} is not possible on a device")]
    Unsupported {
        /// The refused call.
        operation: &'static str,
        /// What it asked for.
        what: &'static str,
    },
}
