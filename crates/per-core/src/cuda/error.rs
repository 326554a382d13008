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
    /// A number of the call is out of its range; nothing has changed.
    #[error("{operation}: {name} {value} must be finite and at least 0")]
    Setting {
        /// The refused call.
        operation: &'static str,
        /// The argument.
        name: &'static str,
        /// Its value.
        value: f32,
    },
}
