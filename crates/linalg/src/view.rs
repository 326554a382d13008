//! Row-major matrices over slices.

use crate::Error;
use core::marker::PhantomData;

/// The most elements that a slice of f32 can have.
pub(crate) const LIMIT: usize = isize::MAX as usize / size_of::<f32>();

/// Elements from the first of the matrix to one past its last.
fn span(operation: &'static str, rows: usize, cols: usize, row_stride: usize) -> Result<usize, Error> {
    if row_stride < cols {
        return Err(Error::StrideTooShort { operation, expected: cols, got: row_stride });
    }
    if rows == 0 || cols == 0 {
        return Ok(0);
    }
    (rows - 1)
        .checked_mul(row_stride)
        .and_then(|n| n.checked_add(cols))
        .filter(|&n| n <= LIMIT)
        .ok_or(Error::TooLarge { operation, rows, row_stride, limit: LIMIT })
}

/// The elements that a matrix needs, if `len` are enough.
pub(crate) fn check(
    operation: &'static str,
    len: usize,
    rows: usize,
    cols: usize,
    row_stride: usize,
) -> Result<usize, Error> {
    let expected = span(operation, rows, cols, row_stride)?;
    if len < expected {
        return Err(Error::DataTooShort { operation, rows, cols, row_stride, expected, got: len });
    }
    Ok(expected)
}

/// A row-major matrix to read: element `(i, j)` is `data[i * row_stride + j]`.
///
/// ```
/// let data = [1.0, 2.0, -1.0, 3.0, 4.0, -1.0];
/// let a = linalg::MatRef::with_stride(&data, 2, 2, 3)?;
/// assert_eq!((a.rows(), a.cols(), a.get(1, 0)), (2, 2, Some(3.0)));
/// assert!(linalg::MatRef::new(&data, 2, 4).is_err());
/// # Ok::<(), linalg::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct MatRef<'a> {
    data: &'a [f32],
    rows: usize,
    cols: usize,
    row_stride: usize,
}

impl<'a> MatRef<'a> {
    /// The first `rows * cols` elements of `data` as `rows` x `cols`.
    ///
    /// # Errors
    /// [`Error::DataTooShort`] or [`Error::TooLarge`].
    #[inline]
    pub fn new(data: &'a [f32], rows: usize, cols: usize) -> Result<Self, Error> {
        check("MatRef::new", data.len(), rows, cols, cols)?;
        Ok(Self { data, rows, cols, row_stride: cols })
    }

    /// `rows` x `cols` elements, each row starting `row_stride` elements after the one before.
    ///
    /// The last row needs only its `cols` elements.
    ///
    /// # Errors
    /// [`Error::StrideTooShort`] if `row_stride < cols`; [`Error::DataTooShort`] or [`Error::TooLarge`].
    #[inline]
    pub fn with_stride(data: &'a [f32], rows: usize, cols: usize, row_stride: usize) -> Result<Self, Error> {
        check("MatRef::with_stride", data.len(), rows, cols, row_stride)?;
        Ok(Self { data, rows, cols, row_stride })
    }

    /// Rows.
    #[inline]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Columns.
    #[inline]
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Elements from the start of a row to the start of the next.
    #[inline]
    pub fn row_stride(&self) -> usize {
        self.row_stride
    }

    /// Row `i`, or `None` past the end.
    #[inline]
    pub fn row(&self, i: usize) -> Option<&'a [f32]> {
        if i >= self.rows {
            return None;
        }
        if self.cols == 0 {
            return Some(&[]);
        }
        self.data.get(i * self.row_stride..i * self.row_stride + self.cols)
    }

    /// Element `(i, j)`, or `None` outside.
    #[inline]
    pub fn get(&self, i: usize, j: usize) -> Option<f32> {
        self.row(i)?.get(j).copied()
    }

    /// Rows and columns.
    #[inline]
    pub(crate) fn shape(&self) -> (usize, usize) {
        (self.rows, self.cols)
    }

    /// The slice: `(i, j)` is its element `i * row_stride + j`.
    #[inline]
    pub(crate) fn data(&self) -> &'a [f32] {
        self.data
    }
}

/// A row-major matrix to write: element `(i, j)` is `data[i * row_stride + j]`.
///
/// Elements between the end of a row and the start of the next are never touched.
#[derive(Debug)]
pub struct MatMut<'a> {
    data: *mut f32,
    rows: usize,
    cols: usize,
    row_stride: usize,
    borrow: PhantomData<&'a mut [f32]>,
}

// SAFETY: it is an exclusive borrow of f32s, and `&mut [f32]` is Send.
unsafe impl Send for MatMut<'_> {}
// SAFETY: a shared `MatMut` gives no access to the elements but by `&mut self`, as `&mut [f32]`.
unsafe impl Sync for MatMut<'_> {}

impl<'a> MatMut<'a> {
    /// The first `rows * cols` elements of `data` as `rows` x `cols`.
    ///
    /// # Errors
    /// [`Error::DataTooShort`] or [`Error::TooLarge`].
    #[inline]
    pub fn new(data: &'a mut [f32], rows: usize, cols: usize) -> Result<Self, Error> {
        check("MatMut::new", data.len(), rows, cols, cols)?;
        Ok(Self { data: data.as_mut_ptr(), rows, cols, row_stride: cols, borrow: PhantomData })
    }

    /// `rows` x `cols` elements, each row starting `row_stride` elements after the one before.
    ///
    /// The last row needs only its `cols` elements.
    ///
    /// # Errors
    /// [`Error::StrideTooShort`] if `row_stride < cols`; [`Error::DataTooShort`] or [`Error::TooLarge`].
    #[inline]
    pub fn with_stride(data: &'a mut [f32], rows: usize, cols: usize, row_stride: usize) -> Result<Self, Error> {
        check("MatMut::with_stride", data.len(), rows, cols, row_stride)?;
        Ok(Self { data: data.as_mut_ptr(), rows, cols, row_stride, borrow: PhantomData })
    }

    /// Rows.
    #[inline]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Columns.
    #[inline]
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Elements from the start of a row to the start of the next.
    #[inline]
    pub fn row_stride(&self) -> usize {
        self.row_stride
    }

    /// The same matrix for a shorter time, so that it can be passed on and used again.
    #[inline]
    pub fn reborrow(&mut self) -> MatMut<'_> {
        MatMut { data: self.data, rows: self.rows, cols: self.cols, row_stride: self.row_stride, borrow: PhantomData }
    }

    /// Row `i` to write, or `None` past the end.
    #[inline]
    pub fn row_mut(&mut self, i: usize) -> Option<&mut [f32]> {
        if i >= self.rows {
            return None;
        }
        if self.cols == 0 {
            return Some(&mut []);
        }
        // SAFETY: the constructor saw that row i's `cols` elements lie inside the slice, which is borrowed exclusively
        // for 'a and, through `&mut self`, by nobody else now.
        Some(unsafe { core::slice::from_raw_parts_mut(self.data.add(i * self.row_stride), self.cols) })
    }

    /// Rows and columns.
    #[inline]
    pub(crate) fn shape(&self) -> (usize, usize) {
        (self.rows, self.cols)
    }

    /// The first element. `(i, j)` may be written at `i * row_stride + j` for `i < rows`, `j < cols`.
    #[inline]
    pub(crate) fn ptr(&mut self) -> *mut f32 {
        self.data
    }
}
