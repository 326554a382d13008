//! A batch: items, importance weights, handles, returns and rows, in one launch.
//!
//! Half a warp makes a draw, and everything that follows from it. Where a batch has sequences, there is one for each step: it
//! makes the draw again, looks whether the item's episode reaches so far, and goes on from there; so the steps don't wait for
//! each other. Where rows are long there are several teams for each step, each with its part of the rows.

use super::super::descend::descend;
use super::super::extremes::smallest;
use super::super::head::Head;
use super::super::ratio::ratio;
use super::super::sample::{NOTHING, Tree};
use super::chain::{Chain, Return};
use super::rows::{Lanes, copy};
use super::uniform::slot_of_rank;
use super::window::Window;
use super::{Column, Ring};
use crate::blocks::FANOUT;
use crate::device::atomic::{load_u64, store_u64};
use crate::device::grid::is_last_block;
use crate::device::thread::{block_dim_x, index_1d, sync_threads, thread_idx_x};
use crate::device::warp::{LANES, lane_id, warp_reduce};
use crate::draws::{Position, Words};
use crate::shared_array;
use crate::strata::in_stratum;
use arith::fixed::bounded;

/// A drawn item; the same in all lanes of the half.
#[derive(Clone, Copy)]
struct Drawn {
    /// [`NOTHING`] where nothing could be drawn.
    slot: u32,
    /// 0 if all items were equally likely.
    mass: u64,
}

/// What draws are made of.
#[derive(Clone, Copy)]
struct Source {
    tree: Tree,
    raw: *const f32,
    window: Window,
    /// Of all priorities.
    total: u64,
    /// Items, or 0 unless all are equally likely.
    uniform: u32,
    draws: u32,
    words: Words,
    /// (m), those that were made before, and their masses.
    drawn: *const u32,
    masses: *const u64,
    m: u32,
}

impl Source {
    /// Draw number j.
    ///
    /// # Safety
    /// All lanes of the warp come here, with j below m. Otherwise as the kernel.
    #[inline(always)]
    unsafe fn draw(self, j: u32) -> Drawn {
        let Self { tree, total, uniform, draws, m, .. } = self;
        let all = if uniform > 0 { u64::from(uniform) } else { total };
        let mut drawn = Drawn { slot: NOTHING, mass: 0 };
        if draws == Ring::DRAWN {
            // SAFETY: the caller's.
            drawn = unsafe { Drawn { slot: *self.drawn.add(j as usize), mass: load_u64(self.masses.add(j as usize)) } };
        }
        // From here on the same for all threads.
        if all == 0 {
            return drawn;
        }
        if draws != Ring::DRAWN {
            // SAFETY: the words are those of a stream.
            let offset = bounded(unsafe { self.words.word(u64::from(j)) }, all);
            let at = if draws == Ring::STRATIFIED { in_stratum(j, offset, all, m) } else { offset };
            if uniform == 0 {
                // SAFETY: all lanes come here; the threshold is below the total.
                let found = unsafe { descend(tree.leaves, tree.nodes, tree.capacity, tree.storage(), at) };
                return Drawn { slot: found.leaf, mass: found.weight };
            }
            // Below the number of items.
            drawn.slot = at as u32;
        }
        if uniform > 0 {
            // SAFETY: all lanes come here; ranks are below the number of items.
            drawn.slot = unsafe { slot_of_rank(self.raw, &self.window, uniform, drawn.slot) };
        }
        drawn
    }
}

/// Importance weights: `per-core`'s `Weights`, bit for bit.
#[derive(Clone, Copy)]
struct Weighing {
    unnormalized: bool,
    /// The smallest mass, or the sum of all.
    of: u64,
    items: f32,
    beta: f32,
}

impl Weighing {
    /// Of an item with this mass.
    #[inline(always)]
    fn weight(self, mass: u64) -> f32 {
        let Self { unnormalized, of, items, beta } = self;
        let (part, total) = if unnormalized { (mass, of) } else { (of, mass) };
        let quotient = ratio(part, total);
        if unnormalized { arith::powf(items * quotient, -beta) } else { arith::powf(quotient, beta) }
    }
}

/// Draws a batch of a replay: `PrioritizedReplay::sample_proportional`.
///
/// Inputs: `leaves`, `nodes`, `head`, `raw` (the text of [`super::super`]); `records`, `ring`, `columns`, `inserted` (the
/// module's); `smallest` (1), the first key of a [`min_tree`](super::super::min_tree_refresh_f32) over the leaves; `beta` (1);
/// `drawn` (m), and then `masses`, only for draws that [`seg_tree_sample_distinct_f32`](super::super::seg_tree_sample_distinct_f32)
/// has made. Changed: `position`, as by [`seg_tree_sample_f32`](super::super::seg_tree_sample_f32); draws that were made before
/// leave it.
///
/// Outputs, of draws: `indices` (m), slots, [`NOTHING`] where nothing can be drawn; `masses` (m), their priorities in fixed
/// point, 0 where all items are equally likely; `handles` (m), the items' numbers, or `u64::MAX`; `weights` (m), or 0; `lengths`
/// (m), how many of the steps there are. Of steps: `returns`, `discounts`, `spans` (m, steps), unless null; `rows`, for each column
/// (m, steps, width) bytes from [`Column::batch`] on. What isn't there is 0.
///
/// `teams` half-warps for each step, so the grid has 16 m steps teams threads.
///
/// # Safety
/// The crate's conventions, and tree and replay are as the modules say.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn replay_sample_f32(
    leaves: *const f32,
    nodes: *const u64,
    head: *const Head,
    position: *mut Position,
    raw: *const f32,
    records: *const u8,
    ring: *const Ring,
    columns: *const Column,
    inserted: *const u64,
    smallest_key: *const u32,
    beta: *const f32,
    drawn: *const u32,
    indices: *mut u32,
    masses: *mut u64,
    handles: *mut u64,
    weights: *mut f32,
    lengths: *mut u32,
    returns: *mut f32,
    discounts: *mut f32,
    spans: *mut u32,
    rows: *mut u8,
    row_bytes: u64,
    seed: u64,
    stream: u64,
    capacity: u32,
    stride: u32,
    count: u32,
    m: u32,
    steps: u32,
    teams: u32,
) {
    // Only the host asks for it, to check the length of `rows`.
    _ = row_bytes;
    let tree = Tree { leaves, nodes, head, capacity };
    // SAFETY: the caller's.
    let (storage, total, ready, present) =
        unsafe { (tree.storage(), tree.total(tree.storage()), (*head).ready != 0, (*head).present) };
    // SAFETY: the caller's.
    let (Ring { draws, weights: weighing, all_zero, n_step, .. }, beta) = unsafe { (&*ring, *beta) };
    let uniform = if total == 0 && ready && *all_zero != 0 { present } else { 0 };
    // SAFETY: the caller's; the position is read before any block arrives.
    let (window, words) = unsafe { (Window::new(capacity as usize, *inserted), Words::from(position, seed, stream)) };
    let source = Source { tree, raw, window, total, uniform, draws: *draws, words, drawn, masses, m };
    let (steps, teams) = (steps.max(1), teams.max(1));
    let all = m * steps * teams;
    let half = (index_1d() / FANOUT as usize) as u32;
    // Halves without work do the last one's, since warps go together, and write nothing.
    let active = half < all;
    let at = if active { half } else { all.saturating_sub(1) };
    let (unit, team) = (at / teams, at % teams);
    let (j, step) = (unit / steps, unit % steps);
    // SAFETY: all lanes come here.
    let drawn = unsafe { source.draw(j) };
    let there = drawn.slot != NOTHING;
    let first = if there { window.number(drawn.slot as usize) } else { u64::MAX };
    let chain = Chain { window, raw, records, stride, ring };
    // The first step's half finds the length, the others whether theirs is there.
    let limit = if step == 0 { steps - 1 } else { step };
    // SAFETY: all lanes come here.
    let run = unsafe { chain.run(there, first, limit) };
    let is_step = there && (step == 0 || run == step);
    // SAFETY: the ring is one.
    let number = if is_step { unsafe { chain.after(first, step) } } else { 0 };
    let mut last = number;
    let writes = active && team == 0 && lane_id().is_multiple_of(FANOUT);
    if *n_step > 0 {
        // SAFETY: all lanes come here.
        let found = unsafe { chain.returns(is_step, number, *n_step) };
        let Return { sum, discount, span, .. } = found;
        last = found.last;
        if writes {
            // SAFETY: below (m, steps), and no other half has this step.
            unsafe {
                *returns.add(unit as usize) = sum;
                *discounts.add(unit as usize) = discount;
                *spans.add(unit as usize) = span;
            }
        }
    }
    if active {
        let lanes = Lanes::of(team, teams);
        for c in 0..count as usize {
            // SAFETY: below the count.
            let Column { batch, offset, width, last: of_last, .. } = unsafe { &*columns.add(c) };
            let slot = if is_step { window.slot(if *of_last != 0 { last } else { number }) } else { None };
            let from = slot.map(|slot| chain.record(slot).wrapping_add(*offset as usize));
            let to = rows.wrapping_add(*batch as usize + unit as usize * *width as usize);
            // SAFETY: the row of a column, and its place in the batch, which no other half has but for this one's teams.
            unsafe { copy(from, to, *width, lanes) };
        }
    }
    // The smallest of a batch is known when all of it is.
    let over_batch = *weighing == Ring::OVER_BATCH && uniform == 0;
    let mut of = Weighing { unnormalized: *weighing == Ring::UNNORMALIZED, of: total, items: present as f32, beta };
    if *weighing == 0 {
        // SAFETY: the caller's.
        of.of = storage.shown().quantize(smallest(unsafe { *smallest_key }));
    }
    if writes && step == 0 {
        let j = j as usize;
        // SAFETY: below m, and no other half has this draw; others read masses by atomic operations.
        unsafe {
            *indices.add(j) = drawn.slot;
            *handles.add(j) = first;
            *lengths.add(j) = if there { 1 + run } else { 0 };
            if *draws != Ring::DRAWN {
                store_u64(masses.add(j), drawn.mass);
            }
            if !over_batch {
                *weights.add(j) = match drawn.mass {
                    0 => f32::from(u8::from(there)),
                    mass => of.weight(mass),
                };
            }
        }
    }
    // SAFETY: all threads come here.
    if !unsafe { is_last_block(&raw mut (*position).done) } {
        return;
    }
    if over_batch {
        // SAFETY: all threads of the block come here; all other blocks have written their masses.
        unsafe { weigh_batch(masses, weights, m, of) };
    }
    if thread_idx_x() == 0 && *draws != Ring::DRAWN && (total > 0 || uniform > 0) {
        // SAFETY: all blocks have read it.
        unsafe { (*position).next = (*position).next.wrapping_add(u64::from(m)) };
    }
}

shared_array!(
    /// The least mass of each warp.
    of_warps, "replay_sample_of_warps": u64; LANES as usize
);

/// Weighs all draws over the smallest mass of them, by one block; 0 where nothing was drawn.
///
/// # Safety
/// All threads of the block come here. `masses` and `weights` hold m; nobody changes them now.
#[inline(always)]
unsafe fn weigh_batch(masses: *const u64, weights: *mut f32, m: u32, of: Weighing) {
    let mut least = u64::MAX;
    // SAFETY: the caller's.
    unsafe { each(masses, m, |_, mass| least = least.min(mass)) };
    // SAFETY: all lanes come here.
    let least = unsafe { warp_reduce(least, u64::min) };
    if lane_id() == 0 {
        // SAFETY: no other thread writes this element.
        unsafe { of_warps().write(thread_idx_x() / LANES, least) };
    }
    sync_threads();
    let warps = block_dim_x() / LANES;
    // SAFETY: written before the barrier.
    let own = if lane_id() < warps { unsafe { of_warps().read(lane_id()) } } else { u64::MAX };
    // SAFETY: all lanes come here.
    let of = Weighing { of: unsafe { warp_reduce(own, u64::min) }, ..of };
    // SAFETY: the caller's; below m, and no other thread has this j.
    unsafe { each(masses, m, |j, mass| *weights.add(j) = if mass == 0 { 0.0 } else { of.weight(mass) }) };
}

/// Calls `visit` for all masses, each by one thread of the block.
///
/// # Safety
/// As [`weigh_batch`].
#[inline(always)]
unsafe fn each(masses: *const u64, m: u32, mut visit: impl FnMut(usize, u64)) {
    let mut j = thread_idx_x();
    while j < m {
        // SAFETY: below m.
        visit(j as usize, unsafe { load_u64(masses.add(j as usize)) });
        j += block_dim_x();
    }
}
