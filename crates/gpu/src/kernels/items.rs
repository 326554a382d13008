//! The items of a replay, which are the leaves of a [`tree`]: the arrays are in the text of
//! `kernels-gpu/src/tree/replay.rs`.

use super::blocks::{FANOUT, nodes_len};
use super::blocks::{TILE, WIDTH};
use super::tree::{Head, UPDATES, leaves_len};
use super::*;

/// A column that isn't there.
pub const NO_COLUMN: u32 = u32::MAX;

/// Where the rows of a column lie: `Column` of `kernels-gpu/src/tree/replay.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
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

/// The settings of a replay: `Ring` of `kernels-gpu/src/tree/replay.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Ring {
    /// How items are drawn: 0 independently, 1 from strata; 2 as [`tree::SampleDistinct`] has drawn them.
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

/// Columns of one launch of [`InsertRows`].
pub const COLUMNS_AT_ONCE: usize = 8;

kernels! {
    module "tree";

    /// A batch: items, importance weights, handles, returns and rows: `replay_sample_f32`. Draw j takes block
    /// `position.next + j` of the stream (`seed`, `stream`), unless it was made before. `returns`, `discounts` and `spans` are
    /// there if the ring has returns; `row_bytes` is the end of the last column's rows.
    trusted SampleItems() ["replay_sample_f32"] {
        leaves: read [f32; leaves_len(capacity)],
        nodes: read [u64; nodes_len(capacity)],
        head: read [Head; 1],
        position: update [Position; 1],
        raw: read [f32; capacity],
        records: read [u8; capacity * stride],
        ring: read [Ring; 1],
        columns: read [Column; count],
        inserted: read [u64; 1],
        smallest: read [u32; 1],
        beta: read [f32; 1],
        drawn: maybe_read [u32; m],
        indices: write [u32; m],
        masses: update [u64; m],
        handles: write [u64; m],
        weights: write [f32; m],
        lengths: write [u32; m],
        returns: maybe_update [f32; m * steps],
        discounts: maybe_update [f32; m * steps],
        spans: maybe_update [u32; m * steps],
        rows: write [u8; row_bytes],
        row_bytes: u64, seed: u64, stream: u64,
        capacity: size, stride: size, count: size, m: size, steps: size, teams: size,
    }
    where [capacity => 1..=MAX_SIZE, steps => 1..=MAX_SIZE, teams => 1..=MAX_SIZE, m * steps * teams => 0..=MAX_SIZE]
    work Work::threads(m * steps * teams * FANOUT), block ANY;

    /// Rows of new items into records, of up to [`COLUMNS_AT_ONCE`] columns, unless the items were refused:
    /// `replay_insert_rows`.
    safe InsertRows() ["replay_insert_rows"] {
        records: update [u8; capacity * stride],
        inserted: read [u64; 1],
        head: read [Head; 1],
        rows_0: maybe_read [u8; n * width_0],
        rows_1: maybe_read [u8; n * width_1],
        rows_2: maybe_read [u8; n * width_2],
        rows_3: maybe_read [u8; n * width_3],
        rows_4: maybe_read [u8; n * width_4],
        rows_5: maybe_read [u8; n * width_5],
        rows_6: maybe_read [u8; n * width_6],
        rows_7: maybe_read [u8; n * width_7],
        offset_0: size, offset_1: size, offset_2: size, offset_3: size,
        offset_4: size, offset_5: size, offset_6: size, offset_7: size,
        width_0: size, width_1: size, width_2: size, width_3: size,
        width_4: size, width_5: size, width_6: size, width_7: size,
        stride: size, capacity: size, n: size, teams: size,
    }
    where [
        capacity => 1..=MAX_SIZE, teams => 1..=MAX_SIZE,
        n.min(capacity) * teams => 0..=MAX_SIZE,
        offset_0 + width_0 => 0..=stride, offset_1 + width_1 => 0..=stride, offset_2 + width_2 => 0..=stride,
        offset_3 + width_3 => 0..=stride, offset_4 + width_4 => 0..=stride, offset_5 + width_5 => 0..=stride,
        offset_6 + width_6 => 0..=stride, offset_7 + width_7 => 0..=stride
    ]
    work Work::threads(n.min(capacity) * teams * FANOUT), block ANY;

    /// Sets the priorities of items to `|td[j]| + eps`; of those for one item the last counts, and of a faulty batch none:
    /// `replay_update_f32`. [`Follow`] comes next. [`tree::passes`] gives `pass`.
    trusted Update() ["replay_update_f32"] {
        leaves: update [f32; leaves_len(capacity)],
        nodes: update [u64; nodes_len(capacity)],
        head: update [Head; 1],
        claims: update [u64; capacity],
        raw: update [f32; capacity],
        stale: update [u64; 1],
        status: update [u64; 1],
        numbers: read [u64; m],
        inserted: read [u64; 1],
        td: read [f32; m],
        capacity: size, m: size, pass: size, alpha: f32, eps: f32,
    }
    where [capacity => 1..=MAX_SIZE] work Work::threads(m), block UPDATES;

    /// Takes items out, or of a faulty batch none: `replay_remove_f32`. [`Follow`] comes next.
    trusted Remove() ["replay_remove_f32"] {
        leaves: update [f32; leaves_len(capacity)],
        nodes: update [u64; nodes_len(capacity)],
        head: update [Head; 1],
        claims: update [u64; capacity],
        raw: update [f32; capacity],
        stale: update [u64; 1],
        status: update [u64; 1],
        numbers: read [u64; m],
        inserted: read [u64; 1],
        capacity: size, m: size, pass: size,
    }
    where [capacity => 1..=MAX_SIZE] work Work::threads(m), block UPDATES;

    /// Sets the priorities of new items, or of a faulty batch none: `replay_insert_f32`. Without `priorities` all get the largest of
    /// those that stay, by the keys of the max tree, or without these the largest that there ever was. [`InsertRows`] and
    /// [`Follow`] come next.
    trusted Insert() ["replay_insert_f32"] {
        leaves: update [f32; leaves_len(capacity)],
        nodes: update [u64; nodes_len(capacity)],
        head: update [Head; 1],
        claims: update [u64; capacity],
        raw: update [f32; capacity],
        status: update [u64; 1],
        inserted: read [u64; 1],
        priorities: maybe_read [f32; n],
        largest_keys: maybe_read [u32; nodes_len(capacity)],
        capacity: size, n: size, pass: size, alpha: f32,
    }
    where [capacity => 1..=MAX_SIZE] work Work::threads(n), block UPDATES;

    /// Brings sums and trees up to date after priorities of items have changed, unless these were refused, and counts new
    /// items, which is what they are without `numbers`: `replay_follow_f32`.
    trusted Follow() ["replay_follow_f32"] {
        leaves: read [f32; leaves_len(capacity)],
        nodes: update [u64; nodes_len(capacity)],
        head: update [Head; 1],
        raw: read [f32; capacity],
        smallest_keys: update [u32; nodes_len(capacity)],
        smallest_first: update [u32; 1],
        largest_keys: update [u32; nodes_len(capacity)],
        largest_first: update [u32; 1],
        numbers: maybe_read [u64; m],
        inserted: update [u64; 1],
        capacity: size, m: size,
    }
    where [capacity => 1..=MAX_SIZE]
    work Work::blocks(capacity.div_ceil(TILE).max((m * FANOUT).div_ceil(u128::from(WIDTH))) * m.min(1)),
    block Block::Exactly(WIDTH);
}
