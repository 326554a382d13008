//! Changes of leaves, and of the sums above them, in one launch and in any order of threads.

use super::ABSENT;
use super::head::{Head, follow, is_last, storage, transfer};
use super::power::power;
use super::sample::NOTHING;
use crate::blocks::{FANOUT, FANOUT_BITS};
use crate::device::atomic::{
    exchange_u32, fetch_add_u32, fetch_add_u64, fetch_max_u32, fetch_max_u64, load_u32, load_u64,
};
use crate::device::thread::{device_fence, index_1d, thread_idx_x};
use crate::device::warp::{LANES, lane_id, warp_reduce};
use crate::fault::{Fault, report};
use arith::fixed::{Scale, is_weight};

/// The arrays that an update changes.
#[derive(Clone, Copy)]
pub(super) struct Tree {
    pub(super) leaves: *mut f32,
    pub(super) nodes: *mut u64,
    pub(super) head: *mut Head,
    pub(super) claims: *mut u64,
    pub(super) raw: *mut f32,
    pub(super) status: *mut u64,
    pub(super) capacity: u32,
}

impl Tree {
    /// Whether there is an item with this index: always, if this is a tree alone.
    ///
    /// # Safety
    /// As the kernels; the index is below the capacity.
    #[inline(always)]
    unsafe fn has(self, index: u32) -> bool {
        // SAFETY: the caller's; only atomic operations access it.
        self.raw.is_null() || unsafe { load_u32(self.raw.add(index as usize).cast()) } != ABSENT.to_bits()
    }
}

/// What an update sets.
#[derive(Clone, Copy)]
pub(super) struct Priority {
    /// Before alpha.
    raw: f32,
    /// What the leaf becomes.
    power: f32,
    /// What is told where it can't be.
    told: f32,
}

/// Whose leaves are set.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Whose {
    /// Those of items that are there; others are passed over.
    Present,
    /// All: the items are new.
    New,
}

/// What updates have changed beside leaves; sums, wrapping.
#[derive(Clone, Copy, Default)]
struct Changes {
    /// Of the sums.
    difference: u64,
    /// Of the number of items.
    present: u32,
}

impl Priority {
    /// Of one that isn't raised. + 0 makes +0 of -0.
    #[inline(always)]
    pub(super) fn raised(given: f32, alpha: f32) -> Self {
        // What isn't a priority isn't one that means something else either.
        let raw = if is_weight(given) { given + 0.0 } else { f32::NAN };
        Self { raw, power: power(raw, alpha) + 0.0, told: given }
    }

    /// `|td| + eps`. If the TD error isn't finite, it is what is told, and the priority otherwise.
    #[inline(always)]
    pub(super) fn of_error(td: f32, eps: f32, alpha: f32) -> Self {
        let priority = Self::raised(td.abs() + eps, alpha);
        if td.is_finite() { priority } else { Self { told: td, ..priority } }
    }

    /// One that is raised already.
    #[inline(always)]
    pub(super) fn as_given(power: f32) -> Self {
        Self { raw: 0.0, power: power + 0.0, told: power }
    }

    /// That of no item.
    pub(super) const NONE: Self = Self { raw: ABSENT, power: 0.0, told: 0.0 };

    #[inline(always)]
    fn is_valid(self) -> bool {
        (is_weight(self.raw) || self.raw == ABSENT) && is_weight(self.power)
    }
}

/// Makes m updates: number j sets leaf `index(j)` to `priority(j)`, and of those for one leaf the last counts.
///
/// # Safety
/// As the kernels.
#[inline(always)]
pub(super) unsafe fn update(
    tree: Tree,
    m: u32,
    whose: Whose,
    index: impl Fn(u32) -> u32,
    priority: impl Fn(u32) -> Priority,
) {
    let Tree { head, capacity, .. } = tree;
    let j = index_1d() as u32;
    let (mut changes, mut largest) = (Changes::default(), 0);
    // SAFETY: nobody writes this before all blocks have read it.
    let before = unsafe { (*head).updates };
    if j < m {
        let (index, new) = (index(j), priority(j));
        if index == NOTHING {
            // Nothing was drawn, so there is nothing to set.
        } else if index >= capacity || !new.is_valid() {
            let fault = if index >= capacity { Fault::OutOfRange(index) } else { Fault::Invalid(new.told) };
            // SAFETY: the caller's.
            unsafe { report(tree.status, fault, j) };
        // No launch takes out some items and sets others, so that this isn't a matter of order.
        // SAFETY: the index is below the capacity.
        } else if whose == Whose::New || unsafe { tree.has(index) } {
            largest = new.raw.max(0.0).to_bits();
            // SAFETY: as above.
            unsafe {
                changes = place(tree, index, new, before, before + 1 + u64::from(j), priority);
                if changes.difference != 0 {
                    add_above(tree.nodes, capacity, index, changes.difference);
                }
            }
        }
    }
    // SAFETY: all lanes come here.
    unsafe { sum_up(head, changes, largest) };
    // SAFETY: all threads come here.
    if unsafe { is_last(head) } && thread_idx_x() < LANES {
        // SAFETY: the first warp of the last block.
        unsafe { follow(head, capacity) };
        if thread_idx_x() == 0 {
            // SAFETY: all blocks have read it.
            unsafe { (*head).updates = before + u64::from(m) };
        }
    }
}

/// Adds what a warp has changed to the words that all of them change: one operation a warp for each.
///
/// # Safety
/// All lanes of the warp come here; `head` is a head.
#[inline(always)]
unsafe fn sum_up(head: *mut Head, changes: Changes, largest: u32) {
    // SAFETY: the caller's.
    let (difference, present, largest) = unsafe {
        (
            warp_reduce(changes.difference, u64::wrapping_add),
            warp_reduce(changes.present, u32::wrapping_add),
            warp_reduce(largest, u32::max),
        )
    };
    if lane_id() == 0 {
        // SAFETY: only atomic operations access these.
        unsafe {
            if difference != 0 {
                fetch_add_u64(&raw mut (*head).total, difference);
            }
            if present != 0 {
                fetch_add_u32(&raw mut (*head).present, present);
            }
            if largest != 0 {
                // Priorities are ordered as their bits.
                fetch_max_u32(&raw mut (*head).largest, largest);
            }
        }
    }
}

/// Sets leaf `index` to `new`, which is the update with number `claim`, and returns what that changes. The first number of the
/// launch is `before + 1`.
///
/// Updates have numbers that grow from batch to batch for ever, and an update claims the leaf with its own. If a later one has
/// claimed it already, that is all. Otherwise this thread sets the leaf, and looks at the claim again: a later update may
/// have come in between and set the leaf before, so this thread does it once more in its name. Of those that set a leaf, the
/// one which does so last finds the claim unchanged after it (a claim that came later still would have set the leaf later
/// still), so the leaf is left with the last update. What each of them adds is the difference to what it has replaced: the
/// differences add up to that of the leaf from before the batch to after it, whatever the order.
///
/// # Safety
/// As the kernels; `index` is below the capacity.
#[inline(always)]
unsafe fn place(
    tree: Tree,
    index: u32,
    mut new: Priority,
    before: u64,
    mut claim: u64,
    priority: impl Fn(u32) -> Priority,
) -> Changes {
    let Tree { leaves, head, claims, raw, capacity, .. } = tree;
    let index = index as usize;
    // SAFETY: the caller's.
    let scale: Scale = unsafe { storage(head, capacity) }.stored();
    let mut changes = Changes::default();
    // SAFETY: below the capacity; only atomic operations access claims.
    if unsafe { fetch_max_u64(claims.add(index), claim) } > claim {
        return changes;
    }
    // The claim is made before the leaf is set: a thread that doesn't see this claim after it has set the leaf has set it
    // before this one does.
    device_fence();
    loop {
        // SAFETY: below the capacity; only atomic operations access leaves, and `raw` where there is one.
        let old = unsafe { exchange(leaves.add(index), new.power) };
        changes.difference =
            changes.difference.wrapping_add(scale.quantize(new.power)).wrapping_sub(scale.quantize(old));
        // SAFETY: both are weights.
        unsafe { transfer(head, old, new.power) };
        if !raw.is_null() {
            // SAFETY: as above.
            let old = unsafe { exchange(raw.add(index), new.raw) };
            changes.present = changes.present.wrapping_add(is_there(new.raw)).wrapping_sub(is_there(old));
        }
        // The leaf is set before the claim is looked at.
        device_fence();
        // SAFETY: as above.
        let latest = unsafe { load_u64(claims.add(index)) };
        if latest == claim {
            return changes;
        }
        claim = latest;
        // That of this launch which has this number.
        new = priority((claim - before - 1) as u32);
    }
}

/// `*to = value`; what was there before.
///
/// # Safety
/// As [`exchange_u32`].
#[inline(always)]
unsafe fn exchange(to: *mut f32, value: f32) -> f32 {
    // SAFETY: the caller's.
    f32::from_bits(unsafe { exchange_u32(to.cast(), value.to_bits()) })
}

/// 1 for the priority of an item.
#[inline(always)]
fn is_there(raw: f32) -> u32 {
    u32::from(raw != ABSENT)
}

/// Adds `difference` to the sums above leaf `index`.
///
/// # Safety
/// `index` is below the capacity of the tree whose nodes these are.
#[inline(always)]
unsafe fn add_above(nodes: *mut u64, capacity: u32, index: u32, difference: u64) {
    let mut width = capacity.div_ceil(FANOUT);
    let mut element = index >> FANOUT_BITS;
    let mut start = 0_usize;
    loop {
        width = width.div_ceil(FANOUT);
        // SAFETY: the level has `width` nodes, and the element is in one of them; sums are accessed by atomic operations
        // only.
        unsafe { fetch_add_u64(nodes.add(start * FANOUT as usize + element as usize), difference) };
        if width <= 1 {
            break;
        }
        start += width as usize;
        element >>= FANOUT_BITS;
    }
}
