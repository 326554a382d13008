//! Row-major matrices over device buffers.

use super::Error;
use crate::view::check;
use gpu::{View, ViewMut};

/// A row-major matrix to read: element `(i, j)` is number `i * row_stride + j`.
#[derive(Clone, Copy, Debug)]
pub struct MatView<'a> {
    /// From the first element through the last.
    pub(super) data: View<'a, f32>,
    pub(super) rows: usize,
    pub(super) cols: usize,
    pub(super) row_stride: usize,
}

impl<'a> MatView<'a> {
    /// The first `rows * cols` elements of `data` as `rows` x `cols`.
    ///
    /// # Errors
    /// [`DataTooShort`](crate::Error::DataTooShort) or [`TooLarge`](crate::Error::TooLarge).
    pub fn new(data: View<'a, f32>, rows: usize, cols: usize) -> Result<Self, Error> {
        Self::with_stride(data, rows, cols, cols)
    }

    /// `rows` x `cols` elements, each row starting `row_stride` elements after the one before. The last row needs only its
    /// `cols` elements.
    ///
    /// # Errors
    /// [`StrideTooShort`](crate::Error::StrideTooShort) if `row_stride < cols`, and as [`new`](Self::new).
    pub fn with_stride(data: View<'a, f32>, rows: usize, cols: usize, row_stride: usize) -> Result<Self, Error> {
        let len = check("MatView::with_stride", data.len(), rows, cols, row_stride)?;
        Ok(Self { data: data.slice(0..len)?, rows, cols, row_stride: counted(rows, cols, row_stride) })
    }

    pub(super) fn shape(&self) -> (usize, usize) {
        (self.rows, self.cols)
    }
}

/// A row-major matrix to write: element `(i, j)` is number `i * row_stride + j`. Elements between the end of a row and the
/// start of the next are never touched.
#[derive(Debug)]
pub struct MatViewMut<'a> {
    /// From the first element through the last.
    pub(super) data: ViewMut<'a, f32>,
    pub(super) rows: usize,
    pub(super) cols: usize,
    pub(super) row_stride: usize,
}

impl<'a> MatViewMut<'a> {
    /// As [`MatView::new`].
    ///
    /// # Errors
    /// As [`MatView::new`].
    pub fn new(data: ViewMut<'a, f32>, rows: usize, cols: usize) -> Result<Self, Error> {
        Self::with_stride(data, rows, cols, cols)
    }

    /// As [`MatView::with_stride`].
    ///
    /// # Errors
    /// As [`MatView::with_stride`].
    pub fn with_stride(data: ViewMut<'a, f32>, rows: usize, cols: usize, row_stride: usize) -> Result<Self, Error> {
        let len = check("MatViewMut::with_stride", data.len(), rows, cols, row_stride)?;
        Ok(Self { data: data.slice(0..len)?, rows, cols, row_stride: counted(rows, cols, row_stride) })
    }

    pub(super) fn shape(&self) -> (usize, usize) {
        (self.rows, self.cols)
    }
}

/// The stride for kernels, which count in 32 bits: that of a single row is never used, however long it is.
fn counted(rows: usize, cols: usize, row_stride: usize) -> usize {
    if rows <= 1 { cols } else { row_stride }
}
