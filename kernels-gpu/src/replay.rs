//! Which item of a replay is where. Their rows are with the draws: `tree/replay.rs`.
//!
//! ```text
//! inserted: (1) u64, the number of items that were ever inserted: the number of the next one, which goes into slot
//!           inserted % capacity
//! ```

mod items;

pub use items::{replay_advance_u64, replay_next_slots_u32, replay_slots_u32};

/// A slot that isn't one.
pub const NO_SLOT: u32 = u32::MAX;
