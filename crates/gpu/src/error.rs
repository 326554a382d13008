//! What can go wrong with a device.

use crate::{DriverError, LaunchError};

/// Why something with a device failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no CUDA driver on this machine.
    #[error("there is no CUDA driver on this machine: {reason}")]
    NoDriver {
        /// What the system's loader said.
        reason: String,
    },
    /// The driver has no such device.
    #[error("there is no CUDA device {ordinal}; the driver has {count}")]
    NoDevice {
        /// The device asked for.
        ordinal: u32,
        /// Devices that there are.
        count: u32,
    },
    /// The driver refused, or a kernel failed.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// A launch was refused before it reached the device.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// The PTX of a module, or a kernel in it, can't be loaded on this device.
    #[error("module `{module}` can't be loaded: {error}")]
    Module {
        /// The module, or the kernel.
        module: &'static str,
        /// What the driver said.
        error: DriverError,
    },
    /// Two arrays of a copy differ in length.
    #[error("{operation}: {expected} elements are needed, got {got}")]
    Length {
        /// The copy.
        operation: &'static str,
        /// Elements of the array that is copied to or from.
        expected: usize,
        /// Elements of the other one.
        got: usize,
    },
    /// A part of an array isn't inside of it.
    #[error("elements {start}..{end} of {len}")]
    Range {
        /// The first element.
        start: usize,
        /// The one after the last.
        end: usize,
        /// Elements that there are.
        len: usize,
    },
    /// More bytes than there are addresses.
    #[error("{elements} elements of {bytes} bytes are more than the address space holds")]
    TooLarge {
        /// Elements asked for.
        elements: usize,
        /// Bytes of each.
        bytes: usize,
    },
    /// An object is on another device than the stream that should use it.
    #[error("{operation}: the devices differ")]
    OtherDevice {
        /// What was asked for.
        operation: &'static str,
    },
    /// It can't be done while a stream is captured.
    #[error("{operation} can't be part of a graph")]
    Capturing {
        /// What was asked for.
        operation: &'static str,
    },
}
