//! The tree of sums of `per-core`, in global memory as it lies there: see `crates/per-core/src/tree/layout.rs`.
//!
//! ```text
//! leaves: (ceil(capacity / 16), 16) f32, priorities, 0 past the capacity
//! nodes:  (all levels' nodes, 16) u64, level 0 first; element i of level l is the sum of leaves i * 16^(l + 1) ...
//! head:   one [`Head`]: the total, the two scales, how many leaves have which magnitude
//! claims: (capacity) u64: for each leaf, the number of the update that it has or will have
//! raw:    (capacity) f32, for a replay: priorities before alpha, [`ABSENT`] where there is no item, which is everywhere at
//!         first; leaves are their powers. Null for a tree alone
//! ```
//!
//! # Life
//! Set all four to zero (and `leaves` to what priorities there are), then launch [`seg_tree_survey_f32`] and
//! [`seg_tree_load_f32`]. From then on updates keep all of it right, except that a change of magnitudes may leave sums of
//! no use: [`Head::ready`] is 0 then, draws give [`NOTHING`], and [`seg_tree_rebuild_f32`] makes the sums anew. It does
//! nothing where that isn't needed, so that it may follow every update: in a graph, update and rebuild are always enough.
//!
//! # The same tree every time
//! A thread that changes a leaf adds the difference of the leaf's integer to one element of each level. Integers add in any
//! order, so threads need no order among each other and leave the same tree each time; a thread that read its siblings and
//! wrote their sum would.
//!
//! The shown scale is that of the host's tree: a function of the priorities. So totals, weights and draws are the host's,
//! bit for bit. When sums are made anew is decided by the priorities too, though not at the same moments as on the host,
//! which can't be seen.

mod apply;
#[path = "../../crates/per-core/src/tree/sum/bins.rs"]
mod bins;
mod descend;
mod distinct;
mod extremes;
mod head;
#[path = "../../crates/per-core/src/tree/order.rs"]
mod order;
#[path = "../../crates/per-core/src/replay/power.rs"]
#[allow(dead_code)]
mod power;
#[path = "../../crates/per-core/src/cdf/ratio.rs"]
mod ratio;
mod rebuild;
mod replay;
mod sample;
#[path = "../../crates/per-core/src/tree/sum/scale.rs"]
mod scale;
mod update;

/// The priority before alpha of what is no item: `ABSENT` of the host's replay.
pub const ABSENT: f32 = -1.0;

pub use distinct::seg_tree_sample_distinct_f32;
pub use extremes::{max_tree_rebuild_f32, max_tree_refresh_f32, min_tree_rebuild_f32, min_tree_refresh_f32};
pub use head::Head;
pub use rebuild::{seg_tree_load_f32, seg_tree_rebuild_f32, seg_tree_survey_f32};
pub use replay::{
    replay_follow_f32, replay_insert_f32, replay_insert_rows, replay_remove_f32, replay_sample_f32, replay_update_f32,
};
pub use sample::{NOTHING, seg_tree_find_f32, seg_tree_sample_f32, seg_tree_sample_stratified_f32};
pub use update::{seg_tree_set_f32, seg_tree_update_f32};
