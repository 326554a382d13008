//! What can be wrong with an operand.

/// A view or a product that cannot be: nothing was read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The slice ends before the last element of the matrix.
    #[error(
        "{operation}: {rows} x {cols} elements with a row stride of {row_stride} need {expected} elements of data, \
         got {got}"
    )]
    DataTooShort {
        /// The function that refused.
        operation: &'static str,
        /// Rows asked for.
        rows: usize,
        /// Columns asked for.
        cols: usize,
        /// Elements from the start of a row to the start of the next.
        row_stride: usize,
        /// Elements needed.
        expected: usize,
        /// Elements in the slice.
        got: usize,
    },
    /// Rows would overlap.
    #[error("{operation}: the row stride must be at least {expected}, the number of columns, got {got}")]
    StrideTooShort {
        /// The function that refused.
        operation: &'static str,
        /// The number of columns.
        expected: usize,
        /// The row stride.
        got: usize,
    },
    /// The number of elements does not fit the address space, or the memory that is left.
    #[error("{operation}: no room for {rows} rows of stride {row_stride} (the address space has {limit} elements)")]
    TooLarge {
        /// The function that refused.
        operation: &'static str,
        /// Rows asked for.
        rows: usize,
        /// Elements from the start of a row to the start of the next (for a packed operand, columns).
        row_stride: usize,
        /// The most elements that a matrix can have.
        limit: usize,
    },
    /// An operand does not fit the others.
    #[error(
        "{operation}: {operand} must have {} x {} elements, got {} x {}",
        expected.0, expected.1, got.0, got.1
    )]
    Shape {
        /// The function that refused.
        operation: &'static str,
        /// The operand's name in the signature.
        operand: &'static str,
        /// Rows and columns that the other operands ask for.
        expected: (usize, usize),
        /// Rows and columns that it has.
        got: (usize, usize),
    },
    /// An output vector does not fit the matrix.
    #[error("{operation}: {operand} must have {expected} elements, got {got}")]
    Length {
        /// The function that refused.
        operation: &'static str,
        /// The operand's name in the signature.
        operand: &'static str,
        /// Elements that the other operands ask for.
        expected: usize,
        /// Elements that it has.
        got: usize,
    },
}
