//! Which item of a replay is where: the arrays are in the text of `kernels-gpu/src/replay.rs`.

use super::*;

kernels! {
    module "replay";

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

    /// Counts items: `replay_advance_u64`.
    safe Advance() ["replay_advance_u64"] {
        counter: update [u64; 1],
        by: u64,
    }
    where [] work Work::threads(1), block Block::Any { usual: 32, most: 32 };
}
