//! Rows of the register file as arrays of 32 values.

use super::{Brain, Ieee, LANES, NARROW, NONE, WIDE};

/// A type that a lane of a row can hold.
pub(crate) trait Lane: Copy + Default {
    /// The row at `row`.
    fn load(file: &[u64], row: u32) -> [Self; LANES];
    /// Writes the lanes of `mask` to the row at `row`.
    fn store(file: &mut [u64], row: u32, values: &[Self; LANES], mask: u32);
}

#[inline(always)]
fn narrow(file: &[u64], row: u32) -> &[u32; LANES] {
    let words = &file[row as usize..row as usize + NARROW as usize];
    bytemuck::cast_slice::<u64, u32>(words).try_into().expect("16 words are 32 lanes")
}

#[inline(always)]
fn narrow_mut(file: &mut [u64], row: u32) -> &mut [u32; LANES] {
    let words = &mut file[row as usize..row as usize + NARROW as usize];
    bytemuck::cast_slice_mut::<u64, u32>(words).try_into().expect("16 words are 32 lanes")
}

#[inline(always)]
fn wide(file: &[u64], row: u32) -> &[u64; LANES] {
    file[row as usize..row as usize + WIDE as usize].try_into().expect("32 words are 32 lanes")
}

#[inline(always)]
fn wide_mut(file: &mut [u64], row: u32) -> &mut [u64; LANES] {
    (&mut file[row as usize..row as usize + WIDE as usize]).try_into().expect("32 words are 32 lanes")
}

/// Types of the rows that `$words` and `$words_mut` give: how a value is taken from a word, and put into one.
macro_rules! lanes_of {
    ($words:ident, $words_mut:ident; $($t:ty: |$from:ident| $load:expr, |$to:ident| $store:expr;)*) => {$(
        impl Lane for $t {
            #[inline(always)]
            fn load(file: &[u64], row: u32) -> [Self; LANES] {
                let words = $words(file, row);
                let mut values = [<$t>::default(); LANES];
                for i in 0..LANES {
                    let $from = words[i];
                    values[i] = $load;
                }
                values
            }

            #[inline(always)]
            fn store(file: &mut [u64], row: u32, values: &[Self; LANES], mask: u32) {
                let words = $words_mut(file, row);
                if mask == u32::MAX {
                    for i in 0..LANES {
                        let $to = values[i];
                        words[i] = $store;
                    }
                } else {
                    for i in 0..LANES {
                        let $to = values[i];
                        words[i] = if mask >> i & 1 != 0 { $store } else { words[i] };
                    }
                }
            }
        }
    )*};
}

// Extended by their type: a conversion's destination may be wider than its type.
lanes_of! { narrow, narrow_mut;
    u8: |w| w as u8, |v| u32::from(v);
    i8: |w| w as i8, |v| i32::from(v) as u32;
    u16: |w| w as u16, |v| u32::from(v);
    i16: |w| w as i16, |v| i32::from(v) as u32;
    u32: |w| w, |v| v;
    i32: |w| w as i32, |v| v as u32;
    f32: |w| f32::from_bits(w), |v| v.to_bits();
    Ieee: |w| Ieee(w as u16), |v| u32::from(v.0);
    Brain: |w| Brain(w as u16), |v| u32::from(v.0);
    [Ieee; 2]: |w| [Ieee(w as u16), Ieee((w >> 16) as u16)], |v| u32::from(v[0].0) | u32::from(v[1].0) << 16;
    [Brain; 2]: |w| [Brain(w as u16), Brain((w >> 16) as u16)], |v| u32::from(v[0].0) | u32::from(v[1].0) << 16;
    [u16; 2]: |w| [w as u16, (w >> 16) as u16], |v| u32::from(v[0]) | u32::from(v[1]) << 16;
    [u8; 4]: |w| w.to_le_bytes(), |v| u32::from_le_bytes(v);
}

lanes_of! { wide, wide_mut;
    u64: |w| w, |v| v;
    i64: |w| w as i64, |v| v as u64;
    f64: |w| f64::from_bits(w), |v| v.to_bits();
    [f32; 2]: |w| [f32::from_bits(w as u32), f32::from_bits((w >> 32) as u32)],
        |v| u64::from(v[0].to_bits()) | u64::from(v[1].to_bits()) << 32;
}

impl Lane for bool {
    #[inline(always)]
    fn load(file: &[u64], row: u32) -> [Self; LANES] {
        let word = file[row as usize] as u32;
        let mut values = [false; LANES];
        for (i, value) in values.iter_mut().enumerate() {
            *value = word >> i & 1 != 0;
        }
        values
    }

    #[inline(always)]
    fn store(file: &mut [u64], row: u32, values: &[Self; LANES], mask: u32) {
        let mut word = 0;
        for (i, &value) in values.iter().enumerate() {
            word |= u32::from(value) << i;
        }
        let old = file[row as usize] as u32;
        file[row as usize] = u64::from(old & !mask | word & mask);
    }
}

/// The value of one lane of a row that is `words` words long.
#[inline(always)]
pub(crate) fn read_lane(file: &[u64], row: u32, words: u32, lane: usize) -> u64 {
    match words {
        NARROW => narrow(file, row)[lane].into(),
        WIDE => wide(file, row)[lane],
        _ => file[row as usize] >> lane & 1,
    }
}

/// Writes one lane of a row that is `words` words long; nothing for no row.
#[inline(always)]
pub(crate) fn write_lane(file: &mut [u64], row: u32, words: u32, lane: usize, value: u64) {
    if row == NONE {
        return;
    }
    match words {
        NARROW => narrow_mut(file, row)[lane] = value as u32,
        WIDE => wide_mut(file, row)[lane] = value,
        _ => file[row as usize] = file[row as usize] & !(1 << lane) | (value & 1) << lane,
    }
}
