//! Sums along rows and columns.

use super::scratch::Parts;
use super::{Error, MatView, Scratch};
use gpu::kernels::sum::{SumCols, SumRows};
use gpu::{Stream, ViewMut};

/// Refuses an output vector that doesn't fit the matrix.
fn expect_length(operation: &'static str, expected: usize, got: usize) -> Result<(), crate::Error> {
    if expected == got { Ok(()) } else { Err(crate::Error::Length { operation, operand: "out", expected, got }) }
}

/// `out[j] = sum over i of a[i, j]`, the bits of [`linalg::sum_rows`](crate::sum_rows): a layer's bias gradient.
///
/// - `a`: (rows, cols)
/// - `out`: (cols), overwritten; +0 if there are no rows
///
/// # Errors
/// [`Length`](crate::Error::Length); [`Error::Device`].
pub fn sum_rows(stream: &Stream, a: MatView<'_>, out: ViewMut<'_, f32>, scratch: &mut Scratch) -> Result<(), Error> {
    let MatView { data, rows, cols, row_stride: stride } = a;
    expect_length("sum_rows", cols, out.len())?;
    let result = Parts { out, rows: 1, cols, row_stride: cols };
    Ok(scratch.join(stream, rows, result, |out, _| stream.launch(&SumRows { a: data, out, rows, cols, stride }))?)
}

/// `out[i] = sum over j of a[i, j]`, the bits of [`linalg::sum_cols`](crate::sum_cols).
///
/// - `a`: (rows, cols)
/// - `out`: (rows), overwritten; +0 if there are no columns
///
/// # Errors
/// [`Length`](crate::Error::Length); [`Error::Device`].
pub fn sum_cols(stream: &Stream, a: MatView<'_>, out: ViewMut<'_, f32>) -> Result<(), Error> {
    let MatView { data, rows, cols, row_stride: stride } = a;
    expect_length("sum_cols", rows, out.len())?;
    Ok(stream.launch(&SumCols { a: data, out, rows, cols, stride })?)
}
