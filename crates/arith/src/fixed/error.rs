//! What can be wrong with weights.

use core::fmt;

/// An error of this module.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum FixedError {
    /// A weight that is NaN, infinite or negative.
    InvalidWeight {
        /// Position of the first such weight.
        index: usize,
        /// The weight.
        value: f32,
    },
    /// A largest weight that is NaN, infinite or negative.
    InvalidLargest {
        /// The weight.
        value: f32,
    },
    /// More leaves than a scale can serve.
    TooManyLeaves {
        /// The number asked for.
        leaves: usize,
        /// The largest number that is possible, [`MAX_LEAVES`](super::MAX_LEAVES).
        limit: usize,
    },
}

impl fmt::Display for FixedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::InvalidWeight { index, value } => {
                write!(f, "weight {value} at position {index} is not finite and >= 0")
            }
            Self::InvalidLargest { value } => write!(f, "largest weight {value} is not finite and >= 0"),
            Self::TooManyLeaves { leaves, limit } => write!(f, "{leaves} leaves, at most {limit} can share a scale"),
        }
    }
}

impl core::error::Error for FixedError {}
