//! Kernels by the format of sequences.

use crate::{Storage, bf16};
use gpu::kernels::mingru::{ScanBackwardTiled, ScanForward};
use gpu::{Error, Pod, Stream};

/// A format of sequences that devices have kernels for: all that are a [`Storage`].
pub trait Sequence: Storage + Pod {
    #[doc(hidden)]
    fn launch_forward(stream: &Stream, kernel: &ScanForward<'_, Self>, block: u32) -> Result<(), Error>;
    #[doc(hidden)]
    fn launch_backward(stream: &Stream, kernel: &ScanBackwardTiled<'_, Self>, block: u32) -> Result<(), Error>;
}

macro_rules! sequences {
    ($($kind:ty)*) => {$(
        impl Sequence for $kind {
            fn launch_forward(stream: &Stream, kernel: &ScanForward<'_, Self>, block: u32) -> Result<(), Error> {
                stream.launch_in_blocks(kernel, block)
            }

            fn launch_backward(stream: &Stream, kernel: &ScanBackwardTiled<'_, Self>, block: u32) -> Result<(), Error> {
                stream.launch_in_blocks(kernel, block)
            }
        }
    )*};
}

sequences!(f32 bf16);
