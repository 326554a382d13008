//! Slices that don't go together.

use core::fmt;

/// Input and output differ in length; nothing was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LengthMismatch {
    /// The function.
    pub operation: &'static str,
    /// Elements of the (first) input.
    pub expected: usize,
    /// Elements of the slice that differs.
    pub got: usize,
}

impl fmt::Display for LengthMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: a slice of {} elements beside an input of {}", self.operation, self.got, self.expected)
    }
}

impl core::error::Error for LengthMismatch {}
