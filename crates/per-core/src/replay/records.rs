//! The rows of the items, item by item.
//!
//! ```text
//! record of an item:  [ row of column 0 ][ row of column 1 ] ...       bytes, without gaps
//! ```
//!
//! A batch is drawn from all over the ring, so what it costs is memory lines touched: an item's rows lie side by side,
//! one or two lines for all of a small item instead of one a column.

use super::column::{Columns, Rows};
use super::error::Error;
use crate::memory::{advise, filled};
use crate::tree::prefetch;

/// A slot that isn't one: its row in a batch is zeros.
pub(super) const NO_SLOT: u32 = u32::MAX;
/// Bytes of a line of memory.
const LINE: usize = 64;
/// Lines of a record that are fetched ahead; a long copy goes faster than its own prefetches.
const FETCHED: usize = 4;

/// Bytes that begin at a multiple of 64, all zero at first, of which untouched pages take no memory.
#[derive(Debug)]
struct Bytes {
    /// With room to move the beginning.
    bytes: Vec<u8>,
    start: usize,
    len: usize,
}

impl Bytes {
    fn zeroed(len: usize) -> Option<Self> {
        let mut bytes: Vec<u8> = bytemuck::allocation::try_zeroed_vec(len.checked_add(LINE)?).ok()?;
        advise(&mut bytes);
        let start = bytes.as_ptr().align_offset(LINE).min(LINE);
        Some(Self { bytes, start, len })
    }

    #[inline(always)]
    fn get(&self) -> &[u8] {
        &self.bytes[self.start..self.start + self.len]
    }

    #[inline(always)]
    fn get_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..self.start + self.len]
    }
}

impl Clone for Bytes {
    fn clone(&self) -> Self {
        let mut bytes = filled(0, self.len + LINE);
        let start = bytes.as_ptr().align_offset(LINE).min(LINE);
        bytes[start..start + self.len].copy_from_slice(self.get());
        Self { bytes, start, len: self.len }
    }
}

/// Rows that go into slots one after the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    /// The first row.
    pub(super) row: usize,
    /// The first slot.
    pub(super) slot: usize,
    /// How many.
    pub(super) len: usize,
}

/// The ring's records.
#[derive(Clone, Debug)]
pub(super) struct Records {
    bytes: Bytes,
    /// Bytes of a record.
    stride: usize,
    /// Where each column's row begins in a record.
    offsets: Vec<usize>,
}

impl Records {
    pub(super) fn new(capacity: usize, columns: &Columns) -> Result<Self, Error> {
        let stride = columns.item_bytes();
        let bytes = capacity.checked_mul(stride).and_then(Bytes::zeroed);
        let bytes = bytes.ok_or(Error::OutOfMemory { items: capacity, item_bytes: stride })?;
        Ok(Self { bytes, stride, offsets: columns.offsets() })
    }

    /// Bytes of a record.
    pub(super) fn stride(&self) -> usize {
        self.stride
    }

    /// All records, slot by slot.
    pub(super) fn bytes(&self) -> &[u8] {
        self.bytes.get()
    }

    /// All records, slot by slot.
    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        self.bytes.get_mut()
    }

    /// The row of `column`, of `width` bytes, in `slot`.
    #[inline(always)]
    pub(super) fn row(&self, column: usize, width: usize, slot: usize) -> &[u8] {
        let start = slot * self.stride + self.offsets[column];
        &self.bytes()[start..start + width]
    }

    /// Brings near the record of `slot`.
    #[inline(always)]
    pub(super) fn fetch(&self, slot: usize) {
        let (start, bytes) = (slot * self.stride, self.bytes());
        for line in 0..self.stride.div_ceil(LINE).min(FETCHED) {
            prefetch::<_, false>(bytes, start + line * LINE);
        }
        // The last byte may lie on one more line.
        if self.stride <= FETCHED * LINE {
            prefetch::<_, false>(bytes, (start + self.stride).saturating_sub(1));
        }
    }

    /// Copies the rows of a column, of `width` bytes each, from `slots` to `out`; zeros for [`NO_SLOT`].
    pub(super) fn gather(&self, column: usize, width: usize, slots: &[u32], out: &mut [u8]) {
        let (bytes, stride, offset) = (self.bytes(), self.stride, self.offsets[column]);
        match width {
            1 => gather_fixed::<1>(bytes, stride, offset, slots, out),
            2 => gather_fixed::<2>(bytes, stride, offset, slots, out),
            4 => gather_fixed::<4>(bytes, stride, offset, slots, out),
            8 => gather_fixed::<8>(bytes, stride, offset, slots, out),
            12 => gather_fixed::<12>(bytes, stride, offset, slots, out),
            16 => gather_fixed::<16>(bytes, stride, offset, slots, out),
            24 => gather_fixed::<24>(bytes, stride, offset, slots, out),
            32 => gather_fixed::<32>(bytes, stride, offset, slots, out),
            64 => gather_fixed::<64>(bytes, stride, offset, slots, out),
            _ => {
                for (&slot, out) in slots.iter().zip(out.chunks_exact_mut(width)) {
                    if slot == NO_SLOT {
                        out.fill(0);
                    } else {
                        out.copy_from_slice(&bytes[slot as usize * stride + offset..][..width]);
                    }
                }
            }
        }
    }

    /// The records of a run's slots.
    pub(super) fn run_mut(&mut self, run: Run) -> &mut [u8] {
        let stride = self.stride;
        &mut self.bytes_mut()[run.slot * stride..(run.slot + run.len) * stride]
    }

    /// Copies rows of a column to the slots of a run.
    pub(super) fn scatter(&mut self, rows: &Rows<'_>, run: Run) {
        let (stride, offset, width) = (self.stride, self.offsets[rows.column], rows.row_bytes());
        let records = self.run_mut(run);
        match rows.contiguous() {
            Some(bytes) => {
                let bytes = &bytes[run.row * width..(run.row + run.len) * width];
                match width {
                    1 => scatter_fixed::<1>(records, stride, offset, bytes),
                    4 => scatter_fixed::<4>(records, stride, offset, bytes),
                    8 => scatter_fixed::<8>(records, stride, offset, bytes),
                    16 => scatter_fixed::<16>(records, stride, offset, bytes),
                    32 => scatter_fixed::<32>(records, stride, offset, bytes),
                    _ => {
                        for (record, row) in records.chunks_exact_mut(stride).zip(bytes.chunks_exact(width)) {
                            record[offset..offset + width].copy_from_slice(row);
                        }
                    }
                }
            }
            None => {
                for (i, record) in records.chunks_exact_mut(stride).enumerate() {
                    rows.copy_row(run.row + i, &mut record[offset..offset + width]);
                }
            }
        }
    }
}

/// The copy for rows of `N` bytes, a few instructions each.
#[inline(always)]
fn gather_fixed<const N: usize>(bytes: &[u8], stride: usize, offset: usize, slots: &[u32], out: &mut [u8]) {
    for (&slot, out) in slots.iter().zip(out.as_chunks_mut::<N>().0) {
        if slot == NO_SLOT {
            *out = [0; N];
        } else if let Some((row, _)) = bytes[slot as usize * stride + offset..].split_first_chunk::<N>() {
            *out = *row;
        }
    }
}

#[inline(always)]
fn scatter_fixed<const N: usize>(records: &mut [u8], stride: usize, offset: usize, rows: &[u8]) {
    for (record, row) in records.chunks_exact_mut(stride).zip(rows.as_chunks::<N>().0) {
        record[offset..offset + N].copy_from_slice(row);
    }
}
