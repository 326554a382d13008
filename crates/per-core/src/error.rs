//! What can be wrong with a caller's input.

use arith::fixed::FixedError;

/// Why an operation was refused. Whatever the reason, the object is as it was before the call.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A weight is NaN, infinite or negative.
    #[error("{operation}: weight {value} at position {position} is not finite and >= 0")]
    InvalidWeight {
        /// The refused call.
        operation: &'static str,
        /// Where the first such weight is.
        position: usize,
        /// The weight.
        value: f32,
    },
    /// No weights at all.
    #[error("{operation}: there are no weights")]
    Empty {
        /// The refused call.
        operation: &'static str,
    },
    /// More weights than a `u32` index with a spare bit can address.
    #[error("{operation}: {count} weights, at most {max} are possible")]
    TooManyWeights {
        /// The refused call.
        operation: &'static str,
        /// How many there are.
        count: usize,
        /// How many there may be.
        max: usize,
    },
    /// Every weight is zero, so there is nothing to draw.
    #[error("{operation}: all {count} weights are zero")]
    AllZero {
        /// The refused call.
        operation: &'static str,
        /// How many weights there are.
        count: usize,
    },
    /// A threshold lies outside the mass of the weights.
    #[error("{operation}: threshold {threshold} at position {position} is not in {min}..{end}")]
    ThresholdOutOfRange {
        /// The refused call.
        operation: &'static str,
        /// Where the first such threshold is (0 for a single one).
        position: usize,
        /// The threshold.
        threshold: u64,
        /// The smallest threshold that is allowed.
        min: u64,
        /// One past the largest threshold that is allowed.
        end: u64,
    },
    /// There is no such item.
    #[error("{operation}: index {index} is out of range for {count} weights")]
    IndexOutOfRange {
        /// The refused call.
        operation: &'static str,
        /// The index.
        index: usize,
        /// How many weights there are.
        count: usize,
    },
    /// An output does not have as many elements as its input.
    #[error("{operation}: {what} has {got} elements, expected {expected}")]
    LengthMismatch {
        /// The refused call.
        operation: &'static str,
        /// Which argument.
        what: &'static str,
        /// How many elements it should have.
        expected: usize,
        /// How many it has.
        got: usize,
    },
    /// The weights have no common fixed point.
    #[error("{operation}: {source}")]
    Scale {
        /// The refused call.
        operation: &'static str,
        /// Why.
        source: FixedError,
    },
}

impl Error {
    pub(crate) fn from_fixed(operation: &'static str, error: FixedError) -> Self {
        match error {
            FixedError::InvalidWeight { index, value } => Self::InvalidWeight { operation, position: index, value },
            source => Self::Scale { operation, source },
        }
    }
}
