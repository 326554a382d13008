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
    /// An index of a batch is out of range.
    #[error("{operation}: index {index} at position {position} is out of range for {count} weights")]
    BatchIndexOutOfRange {
        /// The refused call.
        operation: &'static str,
        /// Where the first such index is.
        position: usize,
        /// The index.
        index: u32,
        /// How many weights there are.
        count: usize,
    },
    /// Fewer weights are above zero than draws without replacement were asked for.
    #[error("{operation}: {draws} draws without replacement, but only {positive} weights are above zero")]
    TooFewPositive {
        /// The refused call.
        operation: &'static str,
        /// How many draws were asked for.
        draws: usize,
        /// How many weights are above zero.
        positive: usize,
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
    /// More draws than a count of them can hold.
    #[error("{operation}: {count} draws, at most {max} are possible")]
    TooManyDraws {
        /// The refused call.
        operation: &'static str,
        /// How many were asked for.
        count: usize,
        /// How many there may be.
        max: usize,
    },
    /// A uniform number is not in [0, 1).
    #[error("{operation}: uniform number {value} at position {position} is not in [0, 1)")]
    InvalidUniform {
        /// The refused call.
        operation: &'static str,
        /// Where the first such number is.
        position: usize,
        /// The number.
        value: f32,
    },
    /// A weight of a row is NaN, infinite or negative.
    #[error("{operation}: weight {value} at position {position} of row {row} is not finite and >= 0")]
    InvalidRowWeight {
        /// The refused call.
        operation: &'static str,
        /// The first row that has such a weight.
        row: usize,
        /// Where in the row the first one is.
        position: usize,
        /// The weight.
        value: f32,
    },
    /// Every weight of a row is zero, so there is nothing to draw from it.
    #[error("{operation}: all {count} weights of row {row} are zero")]
    AllZeroRow {
        /// The refused call.
        operation: &'static str,
        /// The first such row.
        row: usize,
        /// How many weights it has.
        count: usize,
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
