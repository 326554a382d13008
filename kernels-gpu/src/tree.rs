//! The tree of sums of `per-core`, in global memory as it lies there: see `crates/per-core/src/tree/layout.rs`.
//!
//! ```text
//! leaves: (ceil(capacity / 16), 16) f32, priorities, 0 past the capacity
//! nodes:  (all levels' nodes, 16) u64, level 0 first; element i of level l is the sum of leaves i * 16^(l + 1) ...
//! total:  (1) u64
//! ```
//!
//! Sums are of `Scale::new(largest, scale_leaves).quantize(leaf)`. Draws equal the host's if that is the scale which the
//! host's tree shows: the one of the largest priority and the capacity.
//!
//! A thread that changes a leaf adds the difference of the leaf's integer to one element of each level. Integers add in any
//! order, so threads need no order among each other and leave the same tree each time; a thread that read its siblings and
//! wrote their sum would.

mod descend;
mod sample;
mod update;

use crate::device::trap;
use arith::fixed::Scale;

/// Children of a node, and leaves of a block.
const FANOUT: u32 = 16;
/// Base-2 logarithm of it.
const FANOUT_BITS: u32 = 4;

/// The scale of a tree; the launch fails if there is none.
#[inline(always)]
fn scale(largest: f32, leaves: u32) -> Scale {
    match Scale::new(largest, leaves as usize) {
        Ok(scale) => scale,
        Err(_) => trap(),
    }
}
