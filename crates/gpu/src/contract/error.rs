//! Why a launch was refused.

/// A launch that its kernel's contract doesn't allow; nothing was submitted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// An array has another length than the sizes say.
    #[error("{kernel}: `{argument}` must have {expected} elements, got {got}")]
    Length {
        /// The kernel.
        kernel: &'static str,
        /// The argument.
        argument: &'static str,
        /// Elements that the sizes ask for.
        expected: u128,
        /// Elements that it has.
        got: usize,
    },
    /// A number is out of the range that the kernel can work with.
    #[error("{kernel}: `{argument}` must lie in {least}..={most}, got {got}")]
    Range {
        /// The kernel.
        kernel: &'static str,
        /// The argument, or a product of several.
        argument: &'static str,
        /// The smallest value.
        least: u128,
        /// The largest value.
        most: u128,
        /// The value given.
        got: u128,
    },
    /// An array is on another device than the stream.
    #[error("{kernel}: `{argument}` is on another device than the stream")]
    Device {
        /// The kernel.
        kernel: &'static str,
        /// The argument.
        argument: &'static str,
    },
    /// Blocks of this width can't be launched.
    #[error("{kernel}: blocks must have {least} to {most} threads, in whole warps of 32; got {got}")]
    Block {
        /// The kernel.
        kernel: &'static str,
        /// The fewest threads that the work can be done with.
        least: u128,
        /// The most threads that the kernel and the device allow.
        most: u32,
        /// Threads asked for.
        got: u128,
    },
    /// The grid has more blocks than the device allows.
    #[error("{kernel}: the work takes {blocks} blocks, the device has at most {limit}")]
    Grid {
        /// The kernel.
        kernel: &'static str,
        /// Blocks that the work takes.
        blocks: u128,
        /// The most blocks.
        limit: u32,
    },
    /// A block needs more shared memory than the device gives it.
    #[error("{kernel}: a block needs {bytes} bytes of shared memory, the device has {limit}")]
    Shared {
        /// The kernel.
        kernel: &'static str,
        /// Bytes that a block needs.
        bytes: u128,
        /// Bytes that the device has for a block.
        limit: u32,
    },
}
