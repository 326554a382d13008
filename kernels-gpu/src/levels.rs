//! All levels over blocks of 16 leaves, built from the leaves in one launch.

use crate::blocks::{FANOUT, TILE, WIDTH};
use crate::device::atomic::{load_u32, load_u64, store_u32, store_u64};
use crate::device::grid::is_last_block;
use crate::device::thread::{block_dim_x, block_idx_x, sync_threads, thread_idx_x};
use crate::device::warp::{ALL, LANES, Shuffle, lane_id, warp_shuffle_idx, warp_shuffle_xor};
use crate::shared_array;
use arith::fixed::Scale;

/// What levels consist of.
pub trait Element: Shuffle {
    /// What other blocks wrote.
    ///
    /// # Safety
    /// As [`load_u64`].
    unsafe fn load(from: *const Self) -> Self;
    /// For other blocks to read.
    ///
    /// # Safety
    /// As [`store_u64`].
    unsafe fn store(to: *mut Self, value: Self);
    /// In 64 bits.
    fn widen(self) -> u64;
    /// From 64 bits.
    fn narrow(wide: u64) -> Self;
}

macro_rules! elements {
    ($($kind:ty, $load:ident, $store:ident;)*) => {$(
        impl Element for $kind {
            #[inline(always)]
            unsafe fn load(from: *const Self) -> Self {
                // SAFETY: the caller's.
                unsafe { $load(from) }
            }
            #[inline(always)]
            unsafe fn store(to: *mut Self, value: Self) {
                // SAFETY: the caller's.
                unsafe { $store(to, value) }
            }
            #[inline(always)]
            fn widen(self) -> u64 {
                self.into()
            }
            #[inline(always)]
            fn narrow(wide: u64) -> Self {
                wide as Self
            }
        }
    )*};
}

elements! {
    u32, load_u32, store_u32;
    u64, load_u64, store_u64;
}

/// How elements follow from leaves.
pub trait Law: Copy {
    /// An element.
    type Element: Element;
    /// That of no leaf.
    const NEUTRAL: Self::Element;
    /// That of one leaf.
    fn of(self, leaf: f32) -> Self::Element;
    /// That of both; the order doesn't matter.
    fn join(a: Self::Element, b: Self::Element) -> Self::Element;
}

/// Sums of weights in fixed point.
#[derive(Clone, Copy)]
pub struct Sum(pub Scale);

impl Law for Sum {
    type Element = u64;
    const NEUTRAL: u64 = 0;

    #[inline(always)]
    fn of(self, leaf: f32) -> u64 {
        self.0.quantize(leaf)
    }

    #[inline(always)]
    fn join(a: u64, b: u64) -> u64 {
        a + b
    }
}

/// Joins the values of groups of `width` lanes, in all of the lanes.
///
/// # Safety
/// All lanes of the warp come here.
#[inline(always)]
pub unsafe fn join_lanes<L: Law>(value: L::Element, width: u32) -> L::Element {
    let (mut value, mut lanes) = (value, width / 2);
    while lanes > 0 {
        // SAFETY: the caller's.
        value = L::join(value, unsafe { warp_shuffle_xor(ALL, value, lanes, width) });
        lanes /= 2;
    }
    value
}

/// The elements of the blocks of leaves of a warp of tile `tile`: lane l has that of block `256 tile + 32 warp + l`. There are
/// n leaves.
///
/// The warp reads 32 consecutive leaves at a time, two blocks.
///
/// # Safety
/// All lanes come here, of blocks of [`WIDTH`] threads. `leaves` holds n >= 1.
#[inline(always)]
pub unsafe fn join_blocks<L: Law>(law: L, leaves: *const f32, n: u32, tile: u32) -> L::Element {
    let lane = lane_id();
    let first = tile as usize * TILE as usize + (thread_idx_x() / LANES * LANES * FANOUT) as usize;
    let mut kept = L::NEUTRAL;
    let last = n as usize - 1;
    // Eight loads wait together. Past the end it is the last leaf that is read, so that no branch comes between them.
    let mut pair = 0;
    while pair < FANOUT {
        let at = |k: u32| first + ((pair + k) * LANES + lane) as usize;
        // SAFETY: below n.
        let read = unrolled!([0 1 2 3 4 5 6 7] |k| unsafe { *leaves.add(at(k).min(last)) });
        unrolled!([0 1 2 3 4 5 6 7] |k| {
            let of = law.of(read[k as usize]);
            let own = if at(k) > last { L::NEUTRAL } else { of };
            // SAFETY: the caller's.
            let block = unsafe { join_lanes::<L>(own, FANOUT) };
            // Each half has its block's in all of its lanes; one of them keeps it.
            kept = if lane % FANOUT == pair + k { block } else { kept };
        });
        pair += 8;
    }
    // Lane h * 16 + pair has block 2 * pair + h.
    // SAFETY: the caller's.
    unsafe { warp_shuffle_idx(ALL, kept, lane % 2 * FANOUT + lane / 2, LANES) }
}

shared_array!(
    /// What each warp has.
    of_warps, "levels_of_warps": u64; (WIDTH / LANES) as usize
);

/// Builds all levels over n leaves; in all threads of the last block to finish, what all of it comes to.
///
/// Blocks of 256 threads, one for 4,096 leaves, which is what lies under an element of level 2; the last block makes the
/// levels from there up.
///
/// # Safety
/// All threads come here. `leaves` holds n; `nodes` is laid out as `crates/per-core/src/tree/layout.rs` says, neutral where
/// nothing belongs; `done` is as of [`is_last_block`].
#[inline(always)]
pub unsafe fn build<L: Law>(
    law: L,
    leaves: *const f32,
    nodes: *mut L::Element,
    n: u32,
    done: *mut u32,
) -> Option<L::Element> {
    let (tile, thread, lane) = (block_idx_x(), thread_idx_x(), lane_id());
    let mut level = Level { start: 0, elements: n.div_ceil(FANOUT) };
    // SAFETY: all lanes come here.
    let own = unsafe { join_blocks(law, leaves, n, tile) };
    let block = tile * WIDTH + thread;
    // SAFETY: one thread has this block, and below one has this element.
    unsafe { level.store(nodes, block, own) };
    // SAFETY: all lanes come here.
    let own = unsafe { join_lanes::<L>(own, FANOUT) };
    if level.elements > FANOUT {
        level = level.above();
        if lane % FANOUT == 0 {
            // SAFETY: as above.
            unsafe { level.store(nodes, block / FANOUT, own) };
        }
    }
    // And the other half's.
    // SAFETY: all lanes come here.
    let own = L::join(own, unsafe { warp_shuffle_xor(ALL, own, FANOUT, LANES) });
    if lane == 0 {
        // SAFETY: no other thread writes this element.
        unsafe { of_warps().write(thread / LANES, own.widen()) };
    }
    sync_threads();
    if level.elements > FANOUT {
        level = level.above();
        if thread == 0 {
            let mut all = L::NEUTRAL;
            for warp in 0..WIDTH / LANES {
                // SAFETY: nothing is written after the barrier.
                all = L::join(all, L::Element::narrow(unsafe { of_warps().read(warp) }));
            }
            // SAFETY: as above.
            unsafe { level.store(nodes, tile, all) };
        }
    }
    // SAFETY: all threads come here; all other blocks have written their elements.
    unsafe { if is_last_block(done) { Some(raise::<L>(nodes, level)) } else { None } }
}

/// A level.
#[derive(Clone, Copy)]
struct Level {
    /// Its first element.
    start: usize,
    /// How many it has.
    elements: u32,
}

impl Level {
    #[inline(always)]
    fn above(self) -> Self {
        let nodes = self.elements.div_ceil(FANOUT);
        Self { start: self.start + (nodes * FANOUT) as usize, elements: nodes }
    }

    /// Writes element `at`, if there is one.
    ///
    /// # Safety
    /// No other thread has this element.
    #[inline(always)]
    unsafe fn store<T: Element>(self, nodes: *mut T, at: u32, value: T) {
        if at < self.elements {
            // SAFETY: the level has it.
            unsafe { T::store(nodes.add(self.start + at as usize), value) };
        }
    }
}

/// Makes the levels above `level`; what all of it comes to.
///
/// # Safety
/// All threads of a block come here, and no other block accesses `nodes`.
#[inline(always)]
unsafe fn raise<L: Law>(nodes: *mut L::Element, mut level: Level) -> L::Element {
    let join = |node: usize| {
        let mut all = L::NEUTRAL;
        for child in 0..FANOUT as usize {
            // SAFETY: there is such a node.
            all = L::join(all, unsafe { L::Element::load(nodes.add(node + child)) });
        }
        all
    };
    while level.elements > FANOUT {
        let above = level.above();
        let mut at = thread_idx_x();
        while at < above.elements {
            // SAFETY: no other thread has this element.
            unsafe { above.store(nodes, at, join(level.start + (at * FANOUT) as usize)) };
            at += block_dim_x();
        }
        sync_threads();
        level = above;
    }
    join(level.start)
}
