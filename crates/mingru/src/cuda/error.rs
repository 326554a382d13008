//! What can be wrong with a stack's pass.

/// A pass of a stack that couldn't be submitted. Sizes are checked before anything is; a device's error may come later.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A size, as on the CPU; nothing was submitted.
    #[error(transparent)]
    Size(#[from] crate::Error),
    /// The device, or a launch that it doesn't allow: sizes have to be below 2^31.
    #[error(transparent)]
    Device(#[from] gpu::Error),
    /// A product, for another reason.
    #[error(transparent)]
    Product(linalg::cuda::Error),
}

impl From<linalg::cuda::Error> for Error {
    fn from(error: linalg::cuda::Error) -> Self {
        match error {
            linalg::cuda::Error::Operand(error) => Self::Size(error.into()),
            linalg::cuda::Error::Device(error) => Self::Device(error),
            error => Self::Product(error),
        }
    }
}
