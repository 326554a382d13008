//! Rows on their way between records and batches.

use super::error::Error;
use crate::replay::column::Counted;
use crate::replay::{Column, Columns, Dtype, Element};
use crate::tree::MAX_CAPACITY;
use gpu::kernels::items::{COLUMNS_AT_ONCE, InsertRows};
use gpu::kernels::tree::Head;
use gpu::{Buffer, Stream, View};

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
}

impl Counted for Rows<'_> {
    fn column(&self) -> usize {
        self.column
    }

    fn count(&self, columns: &Columns) -> Result<usize, crate::replay::Error> {
        columns.rows_of(self.column, self.dtype, self.width, self.elements)
    }
}

/// Where a column's rows lie in a record, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) offset: usize,
    pub(super) width: usize,
}

/// The records: those of the CPU ([`crate::replay`]) but for their layout, in which rows that are whole words of 16 or 4
/// bytes are aligned to such words. Those with the longest words come first, so that there is room between records alone.
#[derive(Debug)]
pub(super) struct Records {
    bytes: Buffer<u8>,
    capacity: usize,
    stride: usize,
    /// Of each column.
    places: Vec<Place>,
}

/// Bytes of the words in which a row of so many bytes is moved.
fn word(bytes: usize) -> usize {
    [16, 4].into_iter().find(|word| bytes.is_multiple_of(*word)).unwrap_or(1)
}

/// Bytes of a record, and where each row lies in it, of rows of so many bytes.
fn layout(widths: &[usize]) -> (usize, Vec<Place>) {
    let mut places: Vec<_> = widths.iter().map(|&width| Place { offset: 0, width }).collect();
    let mut end = 0;
    for size in [16, 4, 1] {
        for place in places.iter_mut().filter(|place| word(place.width) == size) {
            place.offset = end;
            end += place.width;
        }
    }
    let longest = widths.iter().map(|&width| word(width)).max().unwrap_or(1);
    (end.next_multiple_of(longest), places)
}

/// Half-warps that copy a row together, of so many rows in a launch: one for every 2 KiB of the longest column.
pub(super) fn teams(places: &[Place], rows: usize) -> usize {
    const BYTES: usize = 2048;
    let longest = places.iter().map(|place| place.width).max().unwrap_or(0);
    // Counts of half-warps are below 2^31.
    longest.div_ceil(BYTES).min(MAX_CAPACITY / rows.max(1)).max(1)
}

impl Records {
    pub(super) fn new(stream: &Stream, capacity: usize, columns: &Columns) -> Result<Self, gpu::Error> {
        let (stride, places) = layout(&columns.specs.iter().map(|spec| spec.bytes()).collect::<Vec<_>>());
        let bytes = capacity.checked_mul(stride).ok_or(gpu::Error::TooLarge { elements: capacity, bytes: stride })?;
        Ok(Self { bytes: Buffer::zeroed(stream, bytes)?, capacity, stride, places })
    }

    pub(super) fn bytes(&self) -> View<'_, u8> {
        self.bytes.view()
    }

    /// The row of a column in a record that there is.
    pub(super) fn row(&self, slot: usize, column: usize) -> Result<View<'_, u8>, gpu::Error> {
        let Place { offset, width } = self.places[column];
        let start = slot * self.stride + offset;
        self.bytes.view().slice(start..start + width)
    }

    /// Bytes of a record.
    pub(super) fn stride(&self) -> usize {
        self.stride
    }

    /// Where the rows of each column lie.
    pub(super) fn places(&self) -> &[Place] {
        &self.places
    }

    /// The records as the CPU has them, one row after the other. Waits.
    pub(super) fn to_host(&self, stream: &Stream) -> Result<Vec<u8>, gpu::Error> {
        let own = self.bytes.to_vec(stream)?;
        let mut packed = Vec::with_capacity(own.len());
        if self.stride > 0 {
            for record in own.chunks_exact(self.stride) {
                self.places.iter().for_each(|&Place { offset, width }| packed.extend(&record[offset..offset + width]));
            }
        }
        Ok(packed)
    }

    /// Takes the CPU's records. Waits.
    pub(super) fn set(&mut self, stream: &Stream, packed: &[u8]) -> Result<(), gpu::Error> {
        let mut own = vec![0; self.bytes.len()];
        let width = self.places.iter().map(|place| place.width).sum::<usize>();
        if width > 0 {
            for (record, mut rows) in own.chunks_exact_mut(self.stride).zip(packed.chunks_exact(width)) {
                for &Place { offset, width } in &self.places {
                    let row;
                    (row, rows) = rows.split_at(width);
                    record[offset..offset + width].copy_from_slice(row);
                }
            }
        }
        self.bytes.view_mut().write(stream, &own)
    }

    /// Puts n rows of all columns into the slots from `inserted` on, of more than the capacity the last ones, unless `head` says
    /// that the items were refused: a launch for every 8 columns.
    pub(super) fn insert(
        &mut self,
        stream: &Stream,
        rows: &[Rows<'_>],
        n: usize,
        inserted: View<'_, u64>,
        head: View<'_, Head>,
    ) -> Result<(), Error> {
        for rows in rows.chunks(COLUMNS_AT_ONCE) {
            let mut parts = [(None, 0, 0); COLUMNS_AT_ONCE];
            for (part, rows) in parts.iter_mut().zip(rows) {
                let Place { offset, width } = self.places[rows.column];
                *part = (Some(rows.bytes), offset, width);
            }
            let teams = teams(&self.places, n.min(self.capacity));
            let [p0, p1, p2, p3, p4, p5, p6, p7] = parts;
            let kernel = InsertRows {
                records: self.bytes.view_mut(),
                inserted,
                head,
                rows_0: p0.0,
                rows_1: p1.0,
                rows_2: p2.0,
                rows_3: p3.0,
                rows_4: p4.0,
                rows_5: p5.0,
                rows_6: p6.0,
                rows_7: p7.0,
                offset_0: p0.1,
                offset_1: p1.1,
                offset_2: p2.1,
                offset_3: p3.1,
                offset_4: p4.1,
                offset_5: p5.1,
                offset_6: p6.1,
                offset_7: p7.1,
                width_0: p0.2,
                width_1: p1.2,
                width_2: p2.2,
                width_3: p3.2,
                width_4: p4.2,
                width_5: p5.2,
                width_6: p6.2,
                width_7: p7.2,
                stride: self.stride,
                capacity: self.capacity,
                n,
                teams,
            };
            stream.launch(&kernel)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_whole_words_are_aligned_to_them() {
        let (stride, places) = layout(&[1, 48, 6, 4, 16, 12]);
        let offsets: Vec<_> = places.iter().map(|place| place.offset).collect();
        assert_eq!((stride, &offsets[..]), (96, &[80, 0, 81, 64, 48, 68][..]));
        assert_eq!(layout(&[4, 3]).0, 8);
        assert_eq!(layout(&[3, 2]).0, 5);
        assert_eq!(layout(&[]), (0, vec![]));
    }

    #[test]
    fn long_rows_have_several_teams() {
        let places = |width| [Place { offset: 0, width: 1 }, Place { offset: 0, width }];
        assert_eq!([1, 2048, 2049, 1 << 30].map(|width| teams(&places(width), 1)), [1, 1, 2, 1 << 19]);
        assert_eq!(teams(&places(1 << 30), MAX_CAPACITY), 1);
        assert_eq!(teams(&[], 0), 1);
    }
}
