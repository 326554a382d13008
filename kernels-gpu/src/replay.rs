//! The rows of a replay's items, and which item is where.
//!
//! ```text
//! records:  (capacity, stride) bytes; in each record a row of each column, at the column's offset
//! inserted: (1) u64, the number of items that were ever inserted: the number of the next one, which goes into slot
//!           inserted % capacity
//! ```
//!
//! Rows are moved in words of 1, 4 or 16 bytes (`_u8`, `_u32`, `_u128`): the caller takes the largest that divides the stride,
//! the offset, the row's width and both addresses, and counts all of these in such words. One thread a word, so that
//! neighbouring threads move neighbouring words: reads and writes of a warp are a few whole lines, as long as rows are.

mod items;
mod rows;

pub use items::{replay_advance_u64, replay_next_slots_u32, replay_numbers_u64, replay_slots_u32};
pub use rows::{
    replay_gather_u8, replay_gather_u32, replay_gather_u128, replay_insert_u8, replay_insert_u32, replay_insert_u128,
};

/// A slot that isn't one.
pub const NO_SLOT: u32 = u32::MAX;
