//! Rows on their way between records and batches.

use super::error::Error;
use crate::replay::column::Counted;
use crate::replay::{Column, Columns, Dtype, Element};
use gpu::kernels::Word128;
use gpu::kernels::replay::{Gather, Insert};
use gpu::{Buffer, Checked, Pod, Stream, View, ViewMut};

/// Rows of one column on the device.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    column: usize,
    dtype: Dtype,
    width: usize,
    elements: usize,
    bytes: View<'a, u8>,
}

impl<'a> Rows<'a> {
    /// Rows of `column`. `rows`: (n, width), row-major.
    pub fn new<T: Element>(column: Column<T>, rows: View<'a, T>) -> Self {
        Self {
            column: column.index,
            dtype: T::DTYPE,
            width: column.width,
            elements: rows.len(),
            bytes: rows.as_bytes(),
        }
    }

    /// Bytes of column number `column` that have come from the host.
    pub(super) fn of_bytes(columns: &Columns, column: usize, bytes: View<'a, u8>) -> Option<Self> {
        let (_, dtype, width, _) = columns.iter().nth(column)?;
        Some(Self { column, dtype, width, elements: bytes.len() / dtype.size(), bytes })
    }

    /// Rows `first..first + n`.
    fn part(&self, first: usize, n: usize) -> Result<View<'a, u8>, gpu::Error> {
        let row = self.width * self.dtype.size();
        self.bytes.slice(first * row..(first + n) * row)
    }
}

impl Counted for Rows<'_> {
    fn column(&self) -> usize {
        self.column
    }

    fn count(&self, columns: &Columns) -> Result<usize, crate::replay::Error> {
        columns.rows_of(self.column, self.dtype, self.width, self.elements)
    }
}

/// The records: those of the CPU ([`crate::replay`]), byte for byte.
#[derive(Debug)]
pub(super) struct Records {
    bytes: Buffer<u8>,
    capacity: usize,
    stride: usize,
    /// Of each column, in bytes: where its row begins, and how long it is.
    places: Vec<(usize, usize)>,
}

/// Runs a launch in the largest words in which it can be done: in bytes always.
macro_rules! in_words {
    ($launch:ident($($argument:expr),*)) => {
        match $launch::<Word128>($($argument),*) {
            Some(launched) => launched,
            None => match $launch::<u32>($($argument),*) {
                Some(launched) => launched,
                None => $launch::<u8>($($argument),*).unwrap_or(Ok(())),
            },
        }
    };
}

impl Records {
    pub(super) fn new(stream: &Stream, capacity: usize, columns: &Columns) -> Result<Self, gpu::Error> {
        let stride = columns.item_bytes();
        let places = columns.offsets().into_iter().zip(columns.specs.iter().map(|spec| spec.bytes())).collect();
        let bytes = capacity.checked_mul(stride).ok_or(gpu::Error::TooLarge { elements: capacity, bytes: stride })?;
        Ok(Self { bytes: Buffer::zeroed(stream, bytes)?, capacity, stride, places })
    }

    /// All records, slot by slot.
    pub(super) fn bytes(&self) -> View<'_, u8> {
        self.bytes.view()
    }

    pub(super) fn bytes_mut(&mut self) -> ViewMut<'_, u8> {
        self.bytes.view_mut()
    }

    /// Puts n rows, from number `first` on, into the slots from `inserted` on. n is at most the capacity.
    pub(super) fn insert(
        &mut self,
        stream: &Stream,
        rows: &Rows<'_>,
        (first, n): (usize, usize),
        inserted: View<'_, u64>,
    ) -> Result<(), Error> {
        let place = Place::new(self, rows.column);
        let part = rows.part(first, n)?;
        Ok(in_words!(insert(stream, self.bytes.view_mut(), part, inserted, place, n))?)
    }

    /// Copies the rows of a column from `slots` to `out`.
    pub(super) fn gather(
        &self,
        stream: &Stream,
        column: usize,
        slots: View<'_, u32>,
        out: &mut Buffer<u8>,
    ) -> Result<(), Error> {
        let place = Place::new(self, column);
        Ok(in_words!(gather(stream, self.bytes.view(), slots, out.view_mut(), place))?)
    }
}

/// Where a column's rows lie, in bytes.
#[derive(Clone, Copy)]
struct Place {
    capacity: usize,
    stride: usize,
    offset: usize,
    width: usize,
}

impl Place {
    fn new(records: &Records, column: usize) -> Self {
        let (offset, width) = records.places[column];
        Self { capacity: records.capacity, stride: records.stride, offset, width }
    }

    /// The same in words of type `W`, if all are whole words.
    fn in_words<W>(self) -> Option<Self> {
        let words = |bytes: usize| bytes.is_multiple_of(size_of::<W>()).then_some(bytes / size_of::<W>());
        let (stride, offset, width) = (words(self.stride)?, words(self.offset)?, words(self.width)?);
        Some(Self { stride, offset, width, ..self })
    }
}

/// None if it can't be done in words of this type.
fn insert<W: Pod>(
    stream: &Stream,
    records: ViewMut<'_, u8>,
    rows: View<'_, u8>,
    inserted: View<'_, u64>,
    place: Place,
    n: usize,
) -> Option<Result<(), gpu::Error>>
where
    for<'k> Insert<'k, W>: Checked,
{
    let Place { capacity, stride, offset, width } = place.in_words::<W>()?;
    let (records, rows) = (records.cast()?, rows.cast()?);
    Some(stream.launch(&Insert { records, rows, inserted, stride, offset, width, capacity, n }))
}

/// None if it can't be done in words of this type.
fn gather<W: Pod>(
    stream: &Stream,
    records: View<'_, u8>,
    slots: View<'_, u32>,
    out: ViewMut<'_, u8>,
    place: Place,
) -> Option<Result<(), gpu::Error>>
where
    for<'k> Gather<'k, W>: Checked,
{
    let Place { capacity, stride, offset, width } = place.in_words::<W>()?;
    let (records, out) = (records.cast()?, out.cast()?);
    Some(stream.launch(&Gather { records, slots, out, stride, offset, width, capacity, m: slots.len() }))
}
