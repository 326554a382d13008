//! The items of a replay, which are the leaves of a tree: draws of them with all that a batch has, priorities, and rows of
//! new ones.
//!
//! ```text
//! inserted: (1) u64, the number of items that were ever inserted: the number of the next one, which goes into slot
//!           inserted % capacity
//! records:  (capacity, stride) bytes; in each record a row of each column
//! columns:  (count) [`Column`]: where each column's rows lie, in records and in batches
//! ring:     (1) [`Ring`]: the replay's settings
//! ```
//!
//! Records, the rows in them and the rows in batches are aligned to words of 16 or 4 bytes, if a row is made of whole ones: it
//! is moved in such words then, and in bytes otherwise.

mod chain;
mod follow;
mod rows;
mod sample;
mod uniform;
mod update;
#[path = "../../../crates/per-core/src/replay/window.rs"]
#[allow(dead_code, reason = "the host's moves on")]
mod window;

pub use follow::replay_follow_f32;
pub use rows::replay_insert_rows;
pub use sample::replay_sample_f32;
pub use update::{replay_insert_f32, replay_remove_f32, replay_update_f32};

/// A column that isn't there.
pub const NO_COLUMN: u32 = u32::MAX;

/// Where the rows of a column lie: 24 bytes.
#[repr(C)]
pub struct Column {
    /// Where its rows begin in a batch: bytes from the first column's.
    pub batch: u64,
    /// Where its row begins in a record, in bytes.
    pub offset: u32,
    /// Bytes of a row.
    pub width: u32,
    /// 1 if a batch has the row of the last item of a step's n-step return, 0 if it has that of the step.
    pub last: u32,
    /// Nothing.
    pub unused: u32,
}

/// What a replay does where there is a choice: 44 bytes.
#[repr(C)]
pub struct Ring {
    /// How items are drawn: 0 independently, 1 from strata; 2 as [`super::seg_tree_sample_distinct_f32`] has drawn them.
    pub draws: u32,
    /// Importance weights: 0 over the smallest priority, 1 over the smallest of the batch, 2 not divided.
    pub weights: u32,
    /// Where no priority is above zero: 0 nothing is drawn, 1 all items are equally likely.
    pub all_zero: u32,
    /// Environments whose items take turns; as many as the capacity serve for more.
    pub environments: u32,
    /// Offset in records of the flag that an episode terminated, or [`NO_COLUMN`].
    pub terminated: u32,
    /// Offset in records of the flag that it was cut short, or [`NO_COLUMN`].
    pub truncated: u32,
    /// Most steps of a return; 0 if there are no returns.
    pub n_step: u32,
    /// Offset in records of the reward, if there are returns.
    pub reward: u32,
    /// Of a reward a step later.
    pub discount: f32,
}

impl Ring {
    /// [`Ring::draws`] from strata.
    pub const STRATIFIED: u32 = 1;
    /// [`Ring::draws`] that were made before.
    pub const DRAWN: u32 = 2;
    /// [`Ring::weights`] over the smallest priority of the batch.
    pub const OVER_BATCH: u32 = 1;
    /// [`Ring::weights`] that aren't divided.
    pub const UNNORMALIZED: u32 = 2;
}
