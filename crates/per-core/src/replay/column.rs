//! What an item consists of: named columns, each with rows of one type and width.

use super::error::Error;
use bytemuck::Pod;
use half::bf16;
use ndarray::{ArrayView2, Axis};
use std::fmt;
use std::marker::PhantomData;

/// Type of a column's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dtype {
    /// `f32`.
    F32,
    /// `half::bf16`.
    Bf16,
    /// `u8`.
    U8,
    /// `i32`.
    I32,
}

impl Dtype {
    /// Size of an element, in bytes.
    pub const fn size(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::Bf16 => 2,
            Self::F32 | Self::I32 => 4,
        }
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::Bf16 => "bf16",
            Self::U8 => "u8",
            Self::I32 => "i32",
        }
    }
}

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A type that rows are made of: f32, bf16, u8, i32.
pub trait Element: Copy + sealed::Kind {
    /// Its name.
    const DTYPE: Dtype;
}

pub(super) mod sealed {
    use super::{ArrayView2, Strided, bf16};
    use bytemuck::Pod;

    pub trait Kind: Pod {
        fn strided(view: ArrayView2<'_, Self>) -> Strided<'_>;
    }

    macro_rules! kind {
        ($($type:ty => $kind:ident;)*) => {$(
            impl Kind for $type {
                fn strided(view: ArrayView2<'_, Self>) -> Strided<'_> {
                    Strided::$kind(view)
                }
            }
        )*};
    }
    kind! { f32 => F32; bf16 => Bf16; u8 => U8; i32 => I32; }
}

impl Element for f32 {
    const DTYPE: Dtype = Dtype::F32;
}
impl Element for bf16 {
    const DTYPE: Dtype = Dtype::Bf16;
}
impl Element for u8 {
    const DTYPE: Dtype = Dtype::U8;
}
impl Element for i32 {
    const DTYPE: Dtype = Dtype::I32;
}

/// Which item a batch takes a column's rows from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum At {
    /// From the drawn item itself.
    Start,
    /// From the last item of its n-step return: `next_observation`, on which the return bootstraps. Without
    /// [`n_step`](super::Config::n_step) that is the drawn item too.
    Last,
}

/// One column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spec {
    pub(super) name: String,
    pub(super) dtype: Dtype,
    /// Elements of a row.
    pub(super) width: usize,
    pub(super) at: At,
}

impl Spec {
    /// Which item a batch takes its rows from.
    #[cfg(feature = "cuda")]
    pub(crate) fn at(&self) -> At {
        self.at
    }

    /// Bytes of a row.
    pub(crate) fn bytes(&self) -> usize {
        self.width * self.dtype.size()
    }
}

/// The most columns.
const MAX_COLUMNS: usize = 256;
/// The most bytes of an item: 1 GiB.
const MAX_ITEM: usize = 1 << 30;

/// The columns of a replay, in the order in which they were added.
///
/// ```
/// use per_core::replay::Columns;
///
/// let mut columns = Columns::new();
/// let observation = columns.add::<f32>("observation", 4)?;
/// let action = columns.add::<i32>("action", 1)?;
/// assert_eq!(observation.width(), 4);
/// assert_eq!(columns.item_bytes(), 20);
/// # let _ = action;
/// # Ok::<(), per_core::replay::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    pub(crate) specs: Vec<Spec>,
}

impl Columns {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a column with rows of `width` elements (of an image: its height times its width times its channels).
    ///
    /// # Errors
    /// [`Error::Column`] where the name is empty or taken, the width is 0, or an item would have more than 256 columns
    /// or 1 GiB. Nothing is added then.
    pub fn add<T: Element>(&mut self, name: &str, width: usize) -> Result<Column<T>, Error> {
        self.push(name, width, At::Start)
    }

    /// Adds a column whose rows a batch takes from the last item of each n-step return ([`At::Last`]).
    ///
    /// # Errors
    /// Those of [`add`](Self::add).
    pub fn add_last<T: Element>(&mut self, name: &str, width: usize) -> Result<Column<T>, Error> {
        self.push(name, width, At::Last)
    }

    fn push<T: Element>(&mut self, name: &str, width: usize, at: At) -> Result<Column<T>, Error> {
        self.push_spec(Spec { name: name.into(), dtype: T::DTYPE, width, at })?;
        Ok(Column { index: self.specs.len() - 1, width, element: PhantomData })
    }

    pub(super) fn push_spec(&mut self, spec: Spec) -> Result<(), Error> {
        let wrong = |reason| Err(Error::Column { name: spec.name.clone(), reason });
        if spec.name.is_empty() {
            return wrong("has no name");
        }
        if self.specs.iter().any(|s| s.name == spec.name) {
            return wrong("is there already");
        }
        if spec.width == 0 {
            return wrong("has rows without elements");
        }
        if self.specs.len() == MAX_COLUMNS {
            return wrong("is one too many: 256 are possible");
        }
        let bytes = spec.width.checked_mul(spec.dtype.size()).and_then(|n| n.checked_add(self.item_bytes()));
        if bytes.is_none_or(|n| n > MAX_ITEM) {
            return wrong("makes items larger than 1 GiB");
        }
        self.specs.push(spec);
        Ok(())
    }

    /// The column `name`, for one who doesn't have what [`add`](Self::add) returned (as after a load).
    ///
    /// # Errors
    /// [`Error::NoSuchColumn`], [`Error::ColumnType`].
    pub fn find<T: Element>(&self, name: &str) -> Result<Column<T>, Error> {
        let found = self.specs.iter().enumerate().find(|(_, s)| s.name == name);
        let (index, spec) = found.ok_or_else(|| Error::NoSuchColumn { name: name.into() })?;
        if spec.dtype != T::DTYPE {
            return Err(Error::ColumnType { name: name.into(), expected: spec.dtype, got: T::DTYPE });
        }
        Ok(Column { index, width: spec.width, element: PhantomData })
    }

    /// Number of columns.
    pub fn len(&self) -> usize {
        self.specs.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.specs.is_empty()
    }

    /// Name, element type, width and place of each column.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Dtype, usize, At)> {
        self.specs.iter().map(|s| (s.name.as_str(), s.dtype, s.width, s.at))
    }

    /// Bytes of an item's rows.
    pub fn item_bytes(&self) -> usize {
        self.specs.iter().map(Spec::bytes).sum()
    }

    /// Where each column's row begins in a record, in bytes.
    pub(crate) fn offsets(&self) -> Vec<usize> {
        let offsets = self.specs.iter().scan(0, |end, spec| {
            let start = *end;
            *end += spec.bytes();
            Some(start)
        });
        offsets.collect()
    }

    /// The spec of `column`, if it is one of these.
    pub(crate) fn check<T: Element>(&self, column: Column<T>) -> Result<&Spec, Error> {
        self.spec(column.index, T::DTYPE, column.width)
    }

    fn spec(&self, index: usize, dtype: Dtype, width: usize) -> Result<&Spec, Error> {
        match self.specs.get(index) {
            Some(spec) if spec.dtype == dtype && spec.width == width => Ok(spec),
            _ => Err(Error::ForeignColumn { index, dtype, width }),
        }
    }

    /// Number of rows that so many elements of a column are.
    pub(crate) fn rows_of(&self, index: usize, dtype: Dtype, width: usize, elements: usize) -> Result<usize, Error> {
        let spec = self.spec(index, dtype, width)?;
        if elements.is_multiple_of(width) {
            Ok(elements / width)
        } else {
            Err(Error::RowLength { name: spec.name.clone(), width, elements })
        }
    }
}

/// Rows of one column, wherever they are.
pub(crate) trait Counted {
    /// The column's number.
    fn column(&self) -> usize;

    /// Number of rows, if they are rows of one of `columns`.
    fn count(&self, columns: &Columns) -> Result<usize, Error>;
}

/// Names a column of type `T`, in the replay whose [`Columns`] made it.
pub struct Column<T> {
    pub(crate) index: usize,
    pub(crate) width: usize,
    element: PhantomData<fn() -> T>,
}

impl<T> Clone for Column<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Column<T> {}

impl<T> PartialEq for Column<T> {
    fn eq(&self, other: &Self) -> bool {
        (self.index, self.width) == (other.index, other.width)
    }
}

impl<T> Eq for Column<T> {}

impl<T> fmt::Debug for Column<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Column").field("index", &self.index).field("width", &self.width).finish()
    }
}

impl<T: Element> Column<T> {
    /// Elements of a row.
    pub fn width(self) -> usize {
        self.width
    }

    /// Rows to insert. `rows`: (n, width), row-major.
    pub fn rows(self, rows: &[T]) -> Rows<'_> {
        let data = Data::Flat { bytes: bytemuck::cast_slice(rows), elements: rows.len() };
        Rows { column: self.index, width: self.width, dtype: T::DTYPE, data }
    }

    /// Rows to insert, with any strides. `rows`: (n, width).
    pub fn view<'a>(self, rows: impl Into<ArrayView2<'a, T>>) -> Rows<'a> {
        let data = Data::Strided(T::strided(rows.into()));
        Rows { column: self.index, width: self.width, dtype: T::DTYPE, data }
    }
}

/// Rows of one column: see [`Column::rows`] and [`Column::view`].
#[derive(Clone, Debug)]
pub struct Rows<'a> {
    pub(crate) column: usize,
    width: usize,
    dtype: Dtype,
    pub(super) data: Data<'a>,
}

#[derive(Clone, Debug)]
pub(super) enum Data<'a> {
    Flat { bytes: &'a [u8], elements: usize },
    Strided(Strided<'a>),
}

#[derive(Clone, Debug)]
pub enum Strided<'a> {
    F32(ArrayView2<'a, f32>),
    Bf16(ArrayView2<'a, bf16>),
    U8(ArrayView2<'a, u8>),
    I32(ArrayView2<'a, i32>),
}

impl Counted for Rows<'_> {
    fn column(&self) -> usize {
        self.column
    }

    fn count(&self, columns: &Columns) -> Result<usize, Error> {
        match &self.data {
            Data::Flat { elements, .. } => columns.rows_of(self.column, self.dtype, self.width, *elements),
            Data::Strided(view) => {
                let spec = columns.spec(self.column, self.dtype, self.width)?;
                let (rows, width) = view.dim();
                if width == self.width {
                    Ok(rows)
                } else {
                    Err(Error::RowWidth { name: spec.name.clone(), expected: self.width, got: width })
                }
            }
        }
    }
}

impl Rows<'_> {
    /// Bytes of a row.
    pub(super) fn row_bytes(&self) -> usize {
        self.width * self.dtype.size()
    }

    /// All rows as bytes, if they lie one after the other.
    pub(crate) fn contiguous(&self) -> Option<&[u8]> {
        match &self.data {
            Data::Flat { bytes, .. } => Some(bytes),
            Data::Strided(Strided::F32(view)) => view.to_slice().map(bytemuck::cast_slice),
            Data::Strided(Strided::Bf16(view)) => view.to_slice().map(bytemuck::cast_slice),
            Data::Strided(Strided::U8(view)) => view.to_slice(),
            Data::Strided(Strided::I32(view)) => view.to_slice().map(bytemuck::cast_slice),
        }
    }

    /// Writes row `row` as bytes.
    pub(crate) fn copy_row(&self, row: usize, out: &mut [u8]) {
        match &self.data {
            Data::Flat { bytes, .. } => out.copy_from_slice(&bytes[row * out.len()..][..out.len()]),
            Data::Strided(Strided::F32(view)) => copy_strided(view, row, out),
            Data::Strided(Strided::Bf16(view)) => copy_strided(view, row, out),
            Data::Strided(Strided::U8(view)) => copy_strided(view, row, out),
            Data::Strided(Strided::I32(view)) => copy_strided(view, row, out),
        }
    }
}

impl Strided<'_> {
    fn dim(&self) -> (usize, usize) {
        match self {
            Self::F32(view) => view.dim(),
            Self::Bf16(view) => view.dim(),
            Self::U8(view) => view.dim(),
            Self::I32(view) => view.dim(),
        }
    }
}

fn copy_strided<T: Pod>(view: &ArrayView2<'_, T>, row: usize, out: &mut [u8]) {
    for (out, element) in out.chunks_exact_mut(size_of::<T>()).zip(view.index_axis(Axis(0), row)) {
        out.copy_from_slice(bytemuck::bytes_of(element));
    }
}
