//! What a batch of updates must be, before anything changes.

use super::layout::FANOUT;
use crate::error::Error;
use arith::fixed;
use arith::simd::{Isa, Kernel};

/// The largest of `values`, if there is an index for each, each index is below `capacity`, and all are weights.
pub(crate) fn check_batch(
    operation: &'static str,
    isa: Isa,
    capacity: usize,
    indices: &[u32],
    values: &[f32],
) -> Result<f32, Error> {
    check_len(operation, "values", indices.len(), values.len())?;
    let last = isa.run(Largest(indices)) as usize;
    if last >= capacity
        && let Some((position, &index)) = indices.iter().enumerate().find(|&(_, &i)| i as usize >= capacity)
    {
        return Err(Error::BatchIndexOutOfRange { operation, position, index, count: capacity });
    }
    fixed::largest_weight_with(isa, values).map_err(|error| Error::from_fixed(operation, error))
}

pub(super) fn check_len(operation: &'static str, what: &'static str, expected: usize, got: usize) -> Result<(), Error> {
    if expected == got { Ok(()) } else { Err(Error::LengthMismatch { operation, what, expected, got }) }
}

pub(super) fn check_index(operation: &'static str, index: usize, count: usize) -> Result<(), Error> {
    if index < count { Ok(()) } else { Err(Error::IndexOutOfRange { operation, index, count }) }
}

/// The largest index, 0 if there are none.
struct Largest<'a>(&'a [u32]);

impl Kernel for Largest<'_> {
    type Output = u32;

    #[inline(always)]
    fn run(self) -> u32 {
        let mut lanes = [0; FANOUT];
        let (whole, rest) = self.0.as_chunks::<FANOUT>();
        for chunk in whole {
            for (lane, &i) in lanes.iter_mut().zip(chunk) {
                *lane = if i > *lane { i } else { *lane };
            }
        }
        let mut largest = 0;
        for &i in lanes.iter().chain(rest) {
            largest = if i > largest { i } else { largest };
        }
        largest
    }
}
