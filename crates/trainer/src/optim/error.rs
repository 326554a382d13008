//! What the optimizer refuses.

/// A step that can't be taken. Parameters and optimizer are as they were.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A gradient is NaN or infinite.
    #[error("optimizer: the gradient of {parameter}, element {element} is {value}")]
    NotFinite {
        /// Name of the parameter; `gradient` where no name covers the element.
        parameter: String,
        /// Element within the parameter.
        element: usize,
        /// The gradient.
        value: f32,
    },
    /// A setting is outside its range.
    #[error("optimizer: {name} is {value}, expected {expected}")]
    Setting {
        /// The setting.
        name: &'static str,
        /// Its value.
        value: f32,
        /// Its range.
        expected: &'static str,
    },
    /// A slice has another length than the optimizer's state.
    #[error("optimizer: {operand} has {got} elements, expected {expected}")]
    Length {
        /// The slice.
        operand: &'static str,
        /// Elements it should have.
        expected: usize,
        /// Elements it has.
        got: usize,
    },
    /// The gradient is finite, but its squares would not be, clipped as it is.
    #[error("optimizer: the clipped gradient norm is {norm:e}, its square overflows; the largest is {largest:e}")]
    TooLarge {
        /// Norm after clipping.
        norm: f32,
        /// The largest that is accepted.
        largest: f32,
    },
    /// The system gives no memory for the moments.
    #[error("optimizer: there is no memory for the moments of {len} parameters")]
    Memory {
        /// Number of parameters.
        len: usize,
    },
    /// A moment that was to be restored is NaN or infinite, or a second moment is negative.
    #[error("optimizer: element {element} of {operand} is {value}")]
    Moment {
        /// Which moment.
        operand: &'static str,
        /// Its element.
        element: usize,
        /// What it is.
        value: f32,
    },
}
