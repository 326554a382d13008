//! Trees of the first of many priorities in an order: the smallest above zero, or the largest. As on the host
//! (`crates/per-core/src/tree/extremes`), their leaves live elsewhere.
//!
//! ```text
//! leaves: (capacity) f32, priorities: those of a tree of sums, or those before alpha
//! keys:   (all levels' nodes, 16) u32, level 0 first, all u32::MAX at first; an element is the lowest key of its children
//! first:  (1) u32, the lowest key of all, u32::MAX where no priority is above zero
//! ```
//!
//! Keys are those of `crates/per-core/src/tree/order.rs`: for the smallest priority `bits - 1`, for the largest `!bits`. What isn't
//! finite and above zero counts as none; the leaves' owner has told of it, if it looks.

use super::order::{Ascending, Descending, NONE, Order};
use crate::blocks::FANOUT;
use crate::device::atomic::{load_u32, store_u32};
use crate::device::thread::{device_fence, index_1d, thread_idx_x};
use crate::device::warp::{ALL, lane_id, sync_warp, warp_reduce, warp_shuffle_idx, warp_vote_ballot};
use crate::levels::{Law, build, join_lanes};
use core::marker::PhantomData;

/// The smallest priority above zero, of its key; 0 if there is none.
#[inline(always)]
pub(super) fn smallest(key: u32) -> f32 {
    if key == NONE { 0.0 } else { Ascending::priority(key) }
}

/// The largest priority, of its key; 0 if there is none.
#[inline(always)]
pub(super) fn largest(key: u32) -> f32 {
    if key == NONE { 0.0 } else { Descending::priority(key) }
}

/// The key of a leaf.
#[inline(always)]
fn key<O: Order>(leaf: f32) -> u32 {
    O::key(if leaf < f32::INFINITY { leaf } else { 0.0 })
}

/// The lowest key of an order.
#[derive(Clone, Copy)]
struct Lowest<O>(PhantomData<O>);

impl<O: Order> Law for Lowest<O> {
    type Element = u32;
    const NEUTRAL: u32 = NONE;

    #[inline(always)]
    fn of(self, leaf: f32) -> u32 {
        key::<O>(leaf)
    }

    #[inline(always)]
    fn join(a: u32, b: u32) -> u32 {
        a.min(b)
    }
}

/// A tree.
#[derive(Clone, Copy)]
pub(super) struct Tree<O> {
    leaves: *const f32,
    keys: *mut u32,
    first: *mut u32,
    capacity: u32,
    order: PhantomData<O>,
}

impl<O: Order> Tree<O> {
    /// The tree of these arrays.
    #[inline(always)]
    pub(super) fn new(leaves: *const f32, keys: *mut u32, first: *mut u32, capacity: u32) -> Self {
        Self { leaves, keys, first, capacity, order: PhantomData }
    }

    /// Brings the elements above leaf `index` up to date, all lanes of a half-warp together; none above an index that isn't
    /// below the capacity.
    ///
    /// Whoever sets an element goes on to the one above, and whoever finds it right doesn't. An element of level 0 follows
    /// from leaves, which don't change. Above, others may be setting children at the same time; so the children are looked
    /// at again after the element was set, until it is right. Of those that set an element, let T be the one that does so
    /// last. A child that got its last value before T's last look was seen by it. One that got it later made its writer look
    /// at the element later still, and find it right, for it didn't set it. (Between the writes and the looks of both lie
    /// fences.)
    ///
    /// # Safety
    /// All lanes of the warp come here.
    #[inline(always)]
    pub(super) unsafe fn climb(self, index: u32) {
        let child = lane_id() % FANOUT;
        let mut climbs = index < self.capacity;
        let mut at = index / FANOUT;
        let mut elements = self.capacity.div_ceil(FANOUT);
        let i = at * FANOUT + child;
        // SAFETY: below the capacity.
        let key = if climbs && i < self.capacity { key::<O>(unsafe { *self.leaves.add(i as usize) }) } else { NONE };
        // SAFETY: all lanes come here.
        let lowest = unsafe { join_lanes::<Lowest<O>>(key, FANOUT) };
        // SAFETY: as above; there is such an element.
        climbs = unsafe { set(climbs, self.keys.add(at as usize), lowest) };
        let mut start = 0;
        // SAFETY: all lanes come here.
        while unsafe { warp_vote_ballot(ALL, climbs) } != 0 {
            let node = start + (at / FANOUT * FANOUT) as usize;
            let root = elements <= FANOUT;
            start += elements.next_multiple_of(FANOUT) as usize;
            elements = elements.div_ceil(FANOUT);
            at /= FANOUT;
            // SAFETY: there is such an element.
            let element = if root { self.first } else { unsafe { self.keys.add(start + at as usize) } };
            // SAFETY: as above.
            climbs = unsafe { self.settle(climbs, node + child as usize, element) } && !root;
        }
    }

    /// Sets `element` to the lowest of its children, of which each lane has one, until it is right; whether that took any.
    ///
    /// # Safety
    /// All lanes of the warp come here; where `active`, which is the same in all lanes of a half, there are such elements.
    #[inline(always)]
    unsafe fn settle(self, active: bool, own: usize, element: *mut u32) -> bool {
        let (mut active, mut any) = (active, false);
        // SAFETY: all lanes come here.
        while unsafe { warp_vote_ballot(ALL, active) } != 0 {
            // SAFETY: only atomic operations access keys.
            let key = if active { unsafe { load_u32(self.keys.add(own)) } } else { NONE };
            // SAFETY: all lanes come here.
            let lowest = unsafe { join_lanes::<Lowest<O>>(key, FANOUT) };
            // SAFETY: as above; where this half is active, there is such an element.
            active = unsafe { set(active, element, lowest) };
            any |= active;
        }
        any
    }
}

/// Sets an element unless it is right, by one lane of an active half; whether that changed it. What comes after it, comes after
/// it for all threads.
///
/// # Safety
/// All lanes of the warp come here; where `active`, which is the same in all lanes of a half, there is such an element.
#[inline(always)]
unsafe fn set(active: bool, element: *mut u32, key: u32) -> bool {
    let mut changed = 0;
    // SAFETY: only atomic operations access elements.
    if active && lane_id().is_multiple_of(FANOUT) && unsafe { load_u32(element) } != key {
        // SAFETY: as above.
        unsafe { store_u32(element, key) };
        changed = 1;
    }
    // SAFETY: all lanes come here.
    let changed = unsafe { warp_shuffle_idx(ALL, changed, 0, FANOUT) } != 0;
    // SAFETY: as above.
    if unsafe { warp_vote_ballot(ALL, changed) } != 0 {
        // SAFETY: as above.
        unsafe { sync_warp(ALL) };
        device_fence();
    }
    changed
}

impl<O: Order> Tree<O> {
    /// Half a warp for each index.
    ///
    /// # Safety
    /// As the kernels.
    #[inline(always)]
    unsafe fn refresh(self, indices: *const u32, m: u32) {
        let j = (index_1d() / FANOUT as usize) as u32;
        // SAFETY: j < m.
        let index = if j < m { unsafe { *indices.add(j as usize) } } else { u32::MAX };
        // SAFETY: all lanes come here.
        unsafe { self.climb(index) };
    }

    /// All elements from the leaves.
    ///
    /// # Safety
    /// As the kernels.
    #[inline(always)]
    unsafe fn rebuild(self, done: *mut u32) {
        // SAFETY: the caller's.
        let all = unsafe { build(Lowest::<O>(PhantomData), self.leaves, self.keys, self.capacity, done) };
        if let Some(all) = all
            && thread_idx_x() == 0
        {
            // SAFETY: no other thread writes it.
            unsafe { store_u32(self.first, all) };
        }
    }
}

/// The key of the largest priority of all but `count` leaves of a ring from leaf `start` on.
///
/// At each level the elements beside the ends of a range are looked at, at most 15 at each, by half a warp; those between them
/// have an element above.
///
/// # Safety
/// All lanes of the warp come here, with the same arguments. `raw` and `keys` are a tree of largest priorities; count <=
/// capacity, start < capacity.
#[inline(always)]
pub(super) unsafe fn largest_outside(raw: *const f32, keys: *const u32, capacity: u32, start: u32, count: u32) -> u32 {
    // Below 2^32.
    let end = start + count;
    let ranges = if end <= capacity { [(0, start), (end, capacity)] } else { [(end - capacity, start), (0, 0)] };
    // SAFETY: the caller's.
    unsafe {
        let lowest = lowest_in(raw, keys, capacity, ranges[0]).min(lowest_in(raw, keys, capacity, ranges[1]));
        warp_reduce(lowest, u32::min)
    }
}

/// The lowest key of what this lane looks at, of leaves `low..high`.
///
/// # Safety
/// As [`largest_outside`].
#[inline(always)]
unsafe fn lowest_in(raw: *const f32, keys: *const u32, capacity: u32, (mut low, mut high): (u32, u32)) -> u32 {
    let (lane, child) = (lane_id(), lane_id() % FANOUT);
    let (mut lowest, mut start, mut elements, mut leaves) = (NONE, 0_usize, capacity, true);
    while low < high {
        // The first half looks at the beginning, the other at the end, unless both are within the same node.
        let (mut inner_low, mut inner_high) = (low.div_ceil(FANOUT), high / FANOUT);
        if !leaves && elements <= FANOUT {
            // There is no level above.
            (inner_low, inner_high) = (1, 0);
        }
        let at = if lane < FANOUT { low / FANOUT * FANOUT + child } else { inner_high * FANOUT + child };
        let beside = if lane < FANOUT { at < inner_low * FANOUT } else { true };
        if beside && at >= low && at < high {
            // SAFETY: below the level's elements.
            lowest = lowest.min(unsafe {
                if leaves { key::<Descending>(*raw.add(at as usize)) } else { load_u32(keys.add(start + at as usize)) }
            });
        }
        if !leaves {
            start += elements.next_multiple_of(FANOUT) as usize;
        }
        (low, high, leaves) = (inner_low, inner_high, false);
        elements = elements.div_ceil(FANOUT);
    }
    lowest
}

macro_rules! kernels {
    ($order:ident; $($(#[$refreshes:meta])* $refresh:ident, $(#[$rebuilds:meta])* $rebuild:ident;)*) => {$(
        $(#[$refreshes])*
        ///
        /// Inputs: `leaves`; `indices` (m), those of leaves that may have changed since `keys` were up to date, in any order and
        /// as often as you like; others than below the capacity are passed over. Changed: `keys`, `first` (the module's text).
        ///
        /// Half a warp for each index, so the grid has 16 threads for each. Leaves are changed by launches before.
        ///
        /// # Safety
        /// The crate's conventions, and the tree is as the module says.
        #[unsafe(no_mangle)]
        pub unsafe extern "ptx-kernel" fn $refresh(
            leaves: *const f32,
            keys: *mut u32,
            first: *mut u32,
            indices: *const u32,
            capacity: u32,
            m: u32,
        ) {
            // SAFETY: the caller's.
            unsafe { Tree::<$order>::new(leaves, keys, first, capacity).refresh(indices, m) }
        }

        $(#[$rebuilds])*
        ///
        /// Inputs: `leaves`. Outputs: `keys`, `first` (the module's text). Scratch: `done` (1), 0 at first and again afterwards.
        ///
        /// Blocks of 256 threads, one for 4,096 leaves.
        ///
        /// # Safety
        /// The crate's conventions, and the tree is as the module says.
        #[unsafe(no_mangle)]
        pub unsafe extern "ptx-kernel" fn $rebuild(
            leaves: *const f32,
            keys: *mut u32,
            first: *mut u32,
            done: *mut u32,
            capacity: u32,
        ) {
            // SAFETY: the caller's.
            unsafe { Tree::<$order>::new(leaves, keys, first, capacity).rebuild(done) }
        }
    )*};
}

kernels! {
    Ascending;
    /// Brings a tree of smallest priorities up to date after leaves have changed: one launch a batch.
    min_tree_refresh_f32,
    /// Makes a tree of smallest priorities anew.
    min_tree_rebuild_f32;
}

kernels! {
    Descending;
    /// Brings a tree of largest priorities up to date after leaves have changed: one launch a batch.
    max_tree_refresh_f32,
    /// Makes a tree of largest priorities anew.
    max_tree_rebuild_f32;
}
