//! What advantages refuse.

/// An input that advantages can't be computed from.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A slice has another length than the shape says.
    #[error("advantages: {operand} has {got} elements, expected {expected} for {steps} steps of {batch} environments")]
    Length {
        /// The slice.
        operand: &'static str,
        /// T.
        steps: usize,
        /// B.
        batch: usize,
        /// Elements it should have.
        expected: usize,
        /// Elements it has.
        got: usize,
    },
    /// `steps * batch` is no size.
    #[error("advantages: {steps} steps of {batch} environments are too many")]
    TooLarge {
        /// T.
        steps: usize,
        /// B.
        batch: usize,
    },
    /// A parameter is outside its range.
    #[error("advantages: {name} is {value}, expected {expected}")]
    Parameter {
        /// The parameter.
        name: &'static str,
        /// Its value.
        value: f32,
        /// Its range.
        expected: &'static str,
    },
    /// An input that is read is NaN or infinite (or, for an importance ratio, NaN or negative).
    #[error("advantages: {operand} of step {step}, environment {environment} is {value}")]
    NotFinite {
        /// The input.
        operand: &'static str,
        /// t; T for the value after the last step.
        step: usize,
        /// b.
        environment: usize,
        /// What it is.
        value: f32,
    },
    /// All inputs are finite, but an advantage or a return exceeds f32's range.
    #[error("advantages: the sum overflows at step {step}, environment {environment}")]
    Overflow {
        /// t.
        step: usize,
        /// b.
        environment: usize,
    },
}
