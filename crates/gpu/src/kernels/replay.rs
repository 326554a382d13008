//! The rows of a replay's items, and which item is where: the arrays are in the text of `kernels-gpu/src/replay.rs`.
//!
//! Rows are moved in words of 1, 4 or 16 bytes; `stride`, `offset` and `width` are counted in these.

use super::*;

kernels! {
    module "replay";

    /// Rows of the items in slots, zeros for what is no slot: `replay_gather_u8`, `_u32`, `_u128`.
    safe Gather(W) [(u8) "replay_gather_u8", (u32) "replay_gather_u32", (Word128) "replay_gather_u128"] {
        records: read [W; capacity * stride],
        slots: read [u32; m],
        out: write [W; m * width],
        stride: size, offset: size, width: size, capacity: size, m: size,
    }
    where [offset + width => 0..=stride, m * width => 0..=MAX_SIZE]
    work Work::threads(m * width), block ANY;

    /// Rows of new items into their slots: `replay_insert_u8`, `_u32`, `_u128`.
    safe Insert(W) [(u8) "replay_insert_u8", (u32) "replay_insert_u32", (Word128) "replay_insert_u128"] {
        records: update [W; capacity * stride],
        rows: read [W; n * width],
        inserted: read [u64; 1],
        stride: size, offset: size, width: size, capacity: size, n: size,
    }
    where [offset + width => 0..=stride, n * width => 0..=MAX_SIZE]
    work Work::threads(n * width), block ANY;

    /// The slot of each item that is there: `replay_slots_u32`.
    safe Slots() ["replay_slots_u32"] {
        numbers: read [u64; m],
        inserted: read [u64; 1],
        raw: read [f32; capacity],
        out: write [u32; m],
        stale: update [u64; 1],
        status: update [u64; 1],
        capacity: size, m: size,
    }
    where [] work Work::threads(m), block ANY;

    /// The slots of the next items: `replay_next_slots_u32`.
    safe NextSlots() ["replay_next_slots_u32"] {
        inserted: read [u64; 1],
        out: write [u32; m],
        capacity: size, m: size,
    }
    where [] work Work::threads(m), block ANY;

    /// The number of the item in each slot: `replay_numbers_u64`.
    safe Numbers() ["replay_numbers_u64"] {
        slots: read [u32; m],
        inserted: read [u64; 1],
        out: write [u64; m],
        capacity: size, m: size,
    }
    where [] work Work::threads(m), block ANY;

    /// Counts items: `replay_advance_u64`.
    safe Advance() ["replay_advance_u64"] {
        counter: update [u64; 1],
        by: u64,
    }
    where [] work Work::threads(1), block Block::Any { usual: 32, most: 32 };
}
