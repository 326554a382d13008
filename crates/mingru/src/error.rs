//! What can be wrong with a call.

/// A call that cannot be carried out: nothing was written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A slice does not fit the shape.
    #[error("{operation}: {argument} must have {expected} elements, got {got}")]
    Length {
        /// The function that refused.
        operation: &'static str,
        /// The argument's name.
        argument: &'static str,
        /// Elements that the shape asks for.
        expected: usize,
        /// Elements that it has.
        got: usize,
    },
    /// A product of sizes does not fit the address space.
    #[error("{operation}: the sizes {sizes:?} multiply to more elements than the address space holds")]
    Overflow {
        /// The function that refused.
        operation: &'static str,
        /// The factors.
        sizes: [usize; 4],
    },
    /// The system gives no memory for a buffer.
    #[error("{operation}: there is no memory for {elements} elements")]
    Memory {
        /// The function that refused.
        operation: &'static str,
        /// Elements of the buffer, of 4 bytes each.
        elements: usize,
    },
    /// A size is beyond what the object was built for.
    #[error("{operation}: {argument} must be at most {limit}, got {got}")]
    Capacity {
        /// The function that refused.
        operation: &'static str,
        /// The argument's name.
        argument: &'static str,
        /// The largest size.
        limit: usize,
        /// The size asked for.
        got: usize,
    },
    /// The checkpoint interval is out of range.
    #[error("{operation}: the checkpoint interval must lie in 1..={limit} steps, got {got}")]
    Interval {
        /// The function that refused.
        operation: &'static str,
        /// The largest interval.
        limit: usize,
        /// The interval asked for.
        got: usize,
    },
    /// An object belongs to a network of another size.
    #[error("{operation}: {argument} was built for (layers, hidden) = {got:?}, the stack has {expected:?}")]
    Mismatch {
        /// The function that refused.
        operation: &'static str,
        /// The argument's name.
        argument: &'static str,
        /// Layers and hidden units of the stack.
        expected: (usize, usize),
        /// Layers and hidden units of the argument.
        got: (usize, usize),
    },
    /// A backward pass needs a forward pass on the same tape first.
    #[error("{operation}: the tape holds no forward pass")]
    NoForward {
        /// The function that refused.
        operation: &'static str,
    },
    /// A matrix product refused its operands.
    #[error(transparent)]
    Product(#[from] linalg::Error),
}

/// Checks one length.
pub(crate) fn length(
    operation: &'static str,
    argument: &'static str,
    expected: usize,
    got: usize,
) -> Result<(), Error> {
    if expected == got { Ok(()) } else { Err(Error::Length { operation, argument, expected, got }) }
}

/// Zeros, if there is memory for them. Asked for first: an allocation that fails ends the process.
pub(crate) fn zeros(operation: &'static str, elements: usize) -> Result<Vec<f32>, Error> {
    match Vec::<f32>::new().try_reserve_exact(elements) {
        // Fresh pages are zero already, which `resize` would not know.
        Ok(()) => Ok(vec![0.0; elements]),
        Err(_) => Err(Error::Memory { operation, elements }),
    }
}

/// The product of four sizes, checked against the largest slice of `f32`.
pub(crate) fn product(operation: &'static str, sizes: [usize; 4]) -> Result<usize, Error> {
    let limit = isize::MAX as usize / size_of::<f32>();
    let mut product = Some(1_usize);
    for n in sizes {
        // A zero does not excuse the other factors: an empty batch of rows too long to address is refused as well.
        product = product.and_then(|p| p.checked_mul(n.max(1))).filter(|&p| p <= limit);
    }
    let Some(product) = product else { return Err(Error::Overflow { operation, sizes }) };
    Ok(if sizes.contains(&0) { 0 } else { product })
}
