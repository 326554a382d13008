//! Rows from records into a batch, and from a batch into records.

use crate::device::global::{load4, store4};
use crate::device::thread::index_1d;

/// What is moved at once.
trait Word: Copy {
    const ZERO: Self;

    /// # Safety
    /// As a read.
    unsafe fn load(from: *const Self) -> Self;

    /// # Safety
    /// As a write; no other thread accesses it.
    unsafe fn store(to: *mut Self, value: Self);
}

macro_rules! words {
    ($($kind:ty)*) => {$(
        impl Word for $kind {
            const ZERO: Self = 0;

            #[inline(always)]
            unsafe fn load(from: *const Self) -> Self {
                // SAFETY: the caller's.
                unsafe { from.read() }
            }

            #[inline(always)]
            unsafe fn store(to: *mut Self, value: Self) {
                // SAFETY: the caller's.
                unsafe { to.write(value) }
            }
        }
    )*};
}

words! { u8 u32 }

/// 16 bytes, whatever they mean; 32 bits of them are a float for as long as they are moved.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
pub struct Word128([f32; 4]);

impl Word for Word128 {
    const ZERO: Self = Self([0.0; 4]);

    #[inline(always)]
    unsafe fn load(from: *const Self) -> Self {
        // SAFETY: the caller's; aligned as the type.
        Self(unsafe { load4(from.cast()) })
    }

    #[inline(always)]
    unsafe fn store(to: *mut Self, value: Self) {
        // SAFETY: as above.
        unsafe { store4(to.cast(), value.0) }
    }
}

/// The row and the word in it of this thread, if there is work for it.
#[inline(always)]
fn word(rows: u32, width: u32) -> Option<(usize, usize)> {
    let i = index_1d();
    let width = width as usize;
    // Rows past the last one: below, so that there is no division where it isn't needed.
    if i >= rows as usize * width {
        return None;
    }
    // In 32 bits where that is enough: a 64-bit division is long.
    let row = match u32::try_from(i) {
        Ok(i) => i.checked_div(width as u32)? as usize,
        Err(_) => i.checked_div(width)?,
    };
    Some((row, i - row * width))
}

macro_rules! rows {
    ($($gather:ident, $insert:ident: $word:ty;)*) => {$(
        /// `out[j] = records[slots[j]][offset..offset + width]`; zeros for what is no slot, as
        /// [`NO_SLOT`](super::NO_SLOT).
        ///
        /// Inputs: `records` (the module's text), `slots` (m). Output: `out` (m, width).
        /// `stride`, `offset` and `width` are in words.
        ///
        /// # Safety
        /// The crate's conventions.
        #[unsafe(no_mangle)]
        pub unsafe extern "ptx-kernel" fn $gather(
            records: *const $word,
            slots: *const u32,
            out: *mut $word,
            stride: u32,
            offset: u32,
            width: u32,
            capacity: u32,
            m: u32,
        ) {
            let Some((row, k)) = word(m, width) else { return };
            // SAFETY: below m.
            let slot = unsafe { *slots.add(row) };
            let value = if slot >= capacity {
                Word::ZERO
            } else {
                // SAFETY: a record has this word.
                unsafe { <$word>::load(records.add(slot as usize * stride as usize + offset as usize + k)) }
            };
            // SAFETY: (row, k) of the output, which no other thread has.
            unsafe { <$word>::store(out.add(row * width as usize + k), value) };
        }

        /// `records[(inserted + j) % capacity][offset..offset + width] = rows[j]`; of more rows than the capacity the last ones
        /// stay.
        ///
        /// Inputs: `rows` (n, width), `inserted` (the module's text). Changed: `records`. `stride`, `offset` and `width` are in
        /// words.
        ///
        /// # Safety
        /// The crate's conventions.
        #[unsafe(no_mangle)]
        pub unsafe extern "ptx-kernel" fn $insert(
            records: *mut $word,
            rows: *const $word,
            inserted: *const u64,
            stride: u32,
            offset: u32,
            width: u32,
            capacity: u32,
            n: u32,
        ) {
            let Some((row, k)) = word(n, width) else { return };
            if row + (capacity as usize) < n as usize {
                // Overwritten at once.
                return;
            }
            // SAFETY: the caller's.
            let number = unsafe { *inserted } + row as u64;
            let Some(slot) = number.checked_rem(u64::from(capacity)) else { return };
            // SAFETY: the row has this word, and so has the record, which no other thread writes.
            unsafe {
                let value = <$word>::load(rows.add(row * width as usize + k));
                <$word>::store(records.add(slot as usize * stride as usize + offset as usize + k), value);
            }
        }
    )*};
}

rows! {
    replay_gather_u8, replay_insert_u8: u8;
    replay_gather_u32, replay_insert_u32: u32;
    replay_gather_u128, replay_insert_u128: Word128;
}
