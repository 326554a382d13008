//! Changes of leaves, and of the sums above them, in one launch and in any order of threads.
//!
//! A batch is applied as a whole or not at all, as on the host. No block can wait for what another one has seen, so each looks
//! at all of the batch before it applies its part: that is m^2 / 256 looks or so, and a few microseconds up to some thousand
//! updates. For longer batches the caller launches the kernel twice, once to look and once to apply ([`Pass`]).

use super::ABSENT;
use super::head::{Head, follow, is_last, judge, storage, transfer};
use super::power::power;
use crate::blocks::{FANOUT, FANOUT_BITS};
use crate::device::atomic::{
    exchange_u32, fetch_add_u32, fetch_add_u64, fetch_max_u32, fetch_max_u64, fetch_or_u32, load_u32, load_u64,
};
use crate::device::thread::{block_dim_x, block_idx_x, device_fence, index_1d, sync_threads_or, thread_idx_x};
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
    /// Null for a tree alone.
    pub(super) raw: *mut f32,
    /// Handles whose items were gone; or null.
    pub(super) stale: *mut u64,
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

/// What a launch does, by the number that kernels take.
#[derive(Clone, Copy)]
pub(super) struct Pass(pub(super) u32);

impl Pass {
    /// Looks at the batch, and leaves the verdict in the head. Any other number but [`Self::APPLY`], 0 by convention, looks and
    /// applies.
    const LOOK: u32 = 1;
    /// Applies the batch unless the launch before has refused it.
    const APPLY: u32 = 2;
}

/// What an update is about.
#[derive(Clone, Copy)]
pub(super) enum Target {
    /// This leaf, below the capacity.
    Leaf(u32),
    /// Nothing was drawn, so there is nothing to set.
    Nothing,
    /// An item that is gone.
    Gone,
    /// A new item that others of its batch overwrite at once.
    Passing,
    /// This is no index, and no item's number.
    Unknown(u32),
}

impl Target {
    /// Of an index.
    #[inline(always)]
    pub(super) fn of_index(index: u32, capacity: u32) -> Self {
        if index == super::NOTHING {
            Self::Nothing
        } else if index >= capacity {
            Self::Unknown(index)
        } else {
            Self::Leaf(index)
        }
    }
}

/// A priority as it is given.
#[derive(Clone, Copy)]
pub(super) struct Given {
    /// Before alpha, or already raised.
    priority: f32,
    /// What is told where it can't be.
    told: f32,
}

impl Given {
    /// This.
    #[inline(always)]
    pub(super) fn priority(priority: f32) -> Self {
        Self { priority, told: priority }
    }

    /// `|td| + eps`. The TD error is what is told: which of both is at fault follows from it.
    #[inline(always)]
    pub(super) fn of_error(td: f32, eps: f32) -> Self {
        Self { priority: td.abs() + eps, told: td }
    }
}

/// What becomes of given priorities.
#[derive(Clone, Copy)]
pub(super) enum Change {
    /// Items that are there get priorities, which are raised to this power.
    Update(f32),
    /// New items do.
    Insert(f32),
    /// Leaves get priorities that are raised already.
    Set,
    /// Items go.
    Remove,
}

impl Change {
    /// What is wrong with a priority.
    #[inline(always)]
    fn fault(self, Given { priority, told }: Given) -> Option<Fault> {
        // No power up to 1 of a finite number is above that number and 1.
        let overflows = |alpha: f32| !(0.0..=1.0).contains(&alpha) && !is_weight(power(priority, alpha));
        let wrong = match self {
            Self::Insert(_) if !is_weight(priority) => return Some(Fault::NoWeight(told)),
            Self::Update(alpha) | Self::Insert(alpha) => !is_weight(priority) || overflows(alpha),
            Self::Set => !is_weight(priority),
            Self::Remove => false,
        };
        wrong.then_some(Fault::Invalid(told))
    }

    /// The priority before alpha and the leaf. + 0 makes +0 of -0.
    #[inline(always)]
    fn apply(self, Given { priority, .. }: Given) -> Priority {
        match self {
            Self::Update(alpha) | Self::Insert(alpha) => {
                let raw = priority + 0.0;
                Priority { raw, power: power(raw, alpha) + 0.0 }
            }
            Self::Set => Priority { raw: 0.0, power: priority + 0.0 },
            Self::Remove => Priority { raw: ABSENT, power: 0.0 },
        }
    }
}

/// What an update sets.
#[derive(Clone, Copy)]
struct Priority {
    /// Before alpha.
    raw: f32,
    /// What the leaf becomes.
    power: f32,
}

/// What updates have changed beside leaves; sums, wrapping.
#[derive(Clone, Copy, Default)]
struct Changes {
    /// Of the sums.
    difference: u64,
    /// Of the number of items.
    present: u32,
    /// Updates of items that were gone.
    stale: u32,
}

/// Makes m updates: number j sets what `target(j)` says to what becomes of `given(j)`, and of those for one leaf the last
/// counts. If something is wrong with one of them, none is made, and `status` tells.
///
/// # Safety
/// As the kernels.
#[inline(always)]
pub(super) unsafe fn update(
    tree: Tree,
    (m, pass): (u32, Pass),
    change: Change,
    target: impl Fn(u32) -> Target,
    given: impl Fn(u32) -> Given,
) {
    let Tree { head, capacity, .. } = tree;
    let j = index_1d() as u32;
    let (mut changes, mut largest) = (Changes::default(), 0);
    // SAFETY: nobody writes these before all blocks have read them.
    let (before, judged) = unsafe { ((*head).updates, (*head).refused != 0) };
    let fault = |j: u32| match target(j) {
        Target::Unknown(value) => Some(Fault::OutOfRange(value)),
        Target::Nothing => None,
        _ => change.fault(given(j)),
    };
    // SAFETY: all threads of the block come here.
    let refused = if pass.0 == Pass::APPLY { judged } else { unsafe { look(tree, m, pass, fault) } };
    if j < m && !refused && pass.0 != Pass::LOOK {
        let raised = || change.apply(given(j)).raw.max(0.0).to_bits();
        match target(j) {
            Target::Leaf(index) => {
                let takes = match change {
                    // Items neither come nor go in this launch.
                    // SAFETY: below the capacity.
                    Change::Update(_) => unsafe { tree.has(index) },
                    _ => true,
                };
                if takes {
                    largest = raised();
                    // SAFETY: as above.
                    unsafe {
                        changes = place(tree, index, (before, m), before + 1 + u64::from(j), change, given);
                        if changes.difference != 0 {
                            add_above(tree.nodes, capacity, index, changes.difference);
                        }
                    }
                }
                // A removal that took nothing out was late; each that did has lowered the number of items.
                let late = matches!(change, Change::Remove) || !takes;
                changes.stale = u32::from(late).wrapping_add(changes.present);
            }
            Target::Gone => changes.stale = 1,
            Target::Passing => largest = raised(),
            Target::Nothing | Target::Unknown(_) => {}
        }
    }
    // SAFETY: all lanes come here.
    unsafe { sum_up(tree, changes, largest) };
    // SAFETY: all threads come here.
    if unsafe { is_last(head) } && thread_idx_x() < LANES {
        if !refused && pass.0 != Pass::LOOK {
            // SAFETY: the first warp of the last block.
            unsafe { follow(head, capacity) };
        }
        if thread_idx_x() == 0 {
            // SAFETY: all blocks have read them.
            unsafe {
                if pass.0 != Pass::APPLY {
                    judge(head);
                }
                if !refused && pass.0 != Pass::LOOK {
                    (*head).updates = before + u64::from(m);
                }
            }
        }
    }
}

/// Looks for faults: whether the batch is refused. Where a launch looks and applies, each block looks at all of it.
///
/// # Safety
/// As the kernels; all threads of the block come here.
#[inline(always)]
unsafe fn look(tree: Tree, m: u32, pass: Pass, fault: impl Fn(u32) -> Option<Fault>) -> bool {
    let (mut faulty, all) = (false, pass.0 != Pass::LOOK);
    let mut j = if all { thread_idx_x() } else { index_1d() as u32 };
    while j < m {
        if let Some(fault) = fault(j) {
            faulty = true;
            if !all || block_idx_x() == 0 {
                // SAFETY: the caller's.
                unsafe { report(tree.status, fault, j) };
            }
        }
        if !all {
            break;
        }
        j += block_dim_x();
    }
    let refused = sync_threads_or(faulty);
    if refused && thread_idx_x() == 0 {
        // SAFETY: only atomic operations access it before the last block does.
        unsafe { fetch_or_u32(&raw mut (*tree.head).faulty, 1) };
    }
    refused
}

/// Adds what a warp has changed to the words that all of them change: one operation a warp for each.
///
/// # Safety
/// All lanes of the warp come here.
#[inline(always)]
unsafe fn sum_up(tree: Tree, changes: Changes, largest: u32) {
    let Tree { head, stale, .. } = tree;
    // SAFETY: the caller's.
    let (difference, present, late, largest) = unsafe {
        (
            warp_reduce(changes.difference, u64::wrapping_add),
            warp_reduce(changes.present, u32::wrapping_add),
            if stale.is_null() { 0 } else { warp_reduce(changes.stale, u32::wrapping_add) },
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
            if late != 0 {
                // With its sign: warps may have taken out what others count.
                fetch_add_u64(stale, i64::from(late.cast_signed()).cast_unsigned());
            }
            if largest != 0 {
                // Priorities are ordered as their bits.
                fetch_max_u32(&raw mut (*head).largest, largest);
            }
        }
    }
}

/// Sets leaf `index` to what becomes of the update with number `claim`, and returns what that changes. The first number of the
/// launch's m is `before + 1`.
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
    (before, m): (u64, u32),
    mut claim: u64,
    change: Change,
    given: impl Fn(u32) -> Given,
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
        // The number of the launch's update. Others are those of launches that should have come before or after this one.
        let Some(own) = claim.checked_sub(before + 1).filter(|&own| own < u64::from(m)) else { return changes };
        let new = change.apply(given(own as u32));
        // Nor can it be wrong, unless such a launch has changed the batch, or the verdict, since it was looked at.
        if !is_weight(new.power) {
            return changes;
        }
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
