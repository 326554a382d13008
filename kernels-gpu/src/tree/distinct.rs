//! Draws without replacement, as the host makes them: `crates/per-core/src/tree/sum/distinct.rs`.
//!
//! Of independent draws those that repeat an earlier one are passed over, and made up for in the next round, from a line of
//! thresholds out of which all leaves drawn so far are cut. A round needs all of the one before, so they are made by a single
//! block of threads: no launch can know how many rounds there will be, and blocks can't wait for each other.

use super::descend::descend;
use super::head::Head;
use super::sample::{NOTHING, Tree};
use crate::blocks::FANOUT;
use crate::device::block::{running_sum, sort};
use crate::device::thread::{block_dim_x, block_idx_x, sync_threads, thread_idx_x};
use crate::device::warp::lane_id;
use crate::draws::Position;
use arith::fixed::bounded;
use arith::random::Stream;

/// The rows of the scratch.
#[derive(Clone, Copy)]
struct Scratch {
    rows: *mut u64,
    length: u32,
}

macro_rules! rows {
    ($($(#[$doc:meta])* $name:ident = $row:literal;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        fn $name(self) -> *mut u64 {
            self.rows.wrapping_add($row * self.length as usize)
        }
    )*};
}

impl Scratch {
    rows! {
        /// Of the round's draws: leaf and number, to be sorted.
        drawn = 0;
        /// Of the round's draws: 1 for the first one of its leaf.
        kept = 1;
        /// Of the round's draws: weights.
        weights = 2;
        /// Of the round's draws: sums of all leaves before.
        before = 3;
        /// Of the cuts, ascending: sums of all leaves before.
        starts = 4;
        /// Of the cuts: weights.
        lengths = 5;
        /// Of the cuts: where on the line without all cuts they would be; thresholds from there on lie behind them.
        keys = 6;
        /// Of the cuts: weights of all up to and with this one.
        through = 7;
    }
}

/// Calls `visit` for all below `end`, each by one thread of the block.
#[inline(always)]
fn each(end: u32, mut visit: impl FnMut(usize)) {
    let mut i = thread_idx_x();
    while i < end {
        visit(i as usize);
        i += block_dim_x();
    }
}

/// Draws without replacement, leaf number j with probability `weight / (total - weights of the leaves before)`:
/// `SumTree::sample_distinct`.
///
/// Inputs: `leaves`, `nodes`, `head` (the module's text). Scratch: `scratch` (8, m rounded up to a power of two). Outputs: `out`
/// (m), leaves in the order drawn; `weights` (m), their priorities in fixed point. If fewer than m priorities are above zero,
/// or the sums don't serve, `out` is all [`NOTHING`]. All draws are a function of the priorities, m and block
/// `position.next` of the Philox stream (`seed`, `stream`); `position.next` grows by m, unless nothing was drawn.
///
/// Where no priority is above zero and `uniform` isn't 0, `out` is m ranks of [`Head::present`] items instead, all equally
/// likely, unless there are fewer; `weights` are 0, and draw j takes block `position.next + j` (`AllZero::Uniform`).
///
/// One block, of up to 1,024 threads.
///
/// # Safety
/// The crate's conventions, and the tree is as the module says.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn seg_tree_sample_distinct_f32(
    leaves: *const f32,
    nodes: *const u64,
    head: *const Head,
    position: *mut Position,
    scratch: *mut u64,
    out: *mut u32,
    weights: *mut u64,
    capacity: u32,
    m: u32,
    uniform: u32,
    seed: u64,
    stream: u64,
) {
    // Without draws no barrier would lie between the reads of the position and its write.
    if block_idx_x() != 0 || m == 0 {
        return;
    }
    let tree = Tree { leaves, nodes, head, capacity };
    // SAFETY: the caller's.
    let (total, zeros, next) = unsafe { (tree.total(tree.storage()), (*head).bins[0], (*position).next) };
    // SAFETY: the caller's.
    let items = unsafe { if uniform != 0 && total == 0 && (*head).ready != 0 { (*head).present } else { 0 } };
    if items > 0 && m <= items {
        // SAFETY: all threads of the block come here.
        unsafe { draw_ranks(scratch, Stream::new(seed, stream), next, items, (out, weights), m) };
        if thread_idx_x() == 0 {
            // SAFETY: all threads have read it.
            unsafe { (*position).next = next.wrapping_add(u64::from(m)) };
        }
        return;
    }
    if total == 0 || m > capacity - zeros {
        each(m, |j| {
            // SAFETY: below m.
            unsafe {
                *out.add(j) = NOTHING;
                *weights.add(j) = 0;
            }
        });
        return;
    }
    let [a, b, c, d] = Stream::new(seed, stream).block(next);
    let own = Stream::new(u64::from(b) << 32 | u64::from(a), u64::from(d) << 32 | u64::from(c));
    let scratch = Scratch { rows: scratch, length: m.next_power_of_two() };
    let (mut filled, mut tried, mut left) = (0, 0, total);
    // Each round has at least its first draw.
    while filled < m {
        let wanted = m - filled;
        // SAFETY: all threads of the block come here.
        unsafe {
            draw(tree, scratch, own, (tried, left), filled, wanted);
            tried += u64::from(wanted);
            filled += keep(scratch, (out, weights), filled, wanted);
            left = total - cut(scratch, filled);
        }
    }
    if thread_idx_x() == 0 {
        // SAFETY: all threads have read it.
        unsafe { (*position).next = next.wrapping_add(u64::from(m)) };
    }
}

/// The first m of a random permutation of `0..items` (Fisher and Yates), draw number j from block `next + j`: place j changes
/// its rank for that of a place from j on. Instead of making the changes one after the other, each thread follows its rank
/// back through those before.
///
/// # Safety
/// All threads of the block come here. `keys` holds m rounded up to a power of two; `out` and `masses` hold m, at most `items`.
#[inline(always)]
unsafe fn draw_ranks(
    keys: *mut u64,
    stream: Stream,
    next: u64,
    items: u32,
    (out, masses): (*mut u32, *mut u64),
    m: u32,
) {
    let place = |j: u32| {
        let [low, high, ..] = stream.block(next.wrapping_add(u64::from(j)));
        j + bounded(u64::from(high) << 32 | u64::from(low), u64::from(items - j)) as u32
    };
    let padded = m.next_power_of_two();
    each(padded, |j| {
        let key = if j < m as usize { u64::from(place(j as u32)) << 32 | j as u64 } else { u64::MAX };
        // SAFETY: as long.
        unsafe { *keys.add(j) = key };
    });
    sync_threads();
    // By place, and then by number.
    // SAFETY: as above.
    unsafe { sort(keys, core::ptr::null_mut(), padded) };
    each(m, |j| {
        let (mut at, mut before) = (place(j as u32), j as u32);
        // SAFETY: as above; nothing is written after the barrier.
        while let Some(change) = unsafe { latest(keys, m, at, before) } {
            // It has put there what place `change` had then.
            (at, before) = (change, change);
        }
        // SAFETY: below m, and no other thread has this j.
        unsafe {
            *out.add(j) = at;
            *masses.add(j) = 0;
        }
    });
    // All have read the position.
    sync_threads();
}

/// The latest draw before number `before` that chose place `at`, if one did.
///
/// # Safety
/// `keys` are m, sorted.
#[inline(always)]
unsafe fn latest(keys: *const u64, m: u32, at: u32, before: u32) -> Option<u32> {
    let bound = u64::from(at) << 32 | u64::from(before);
    let (mut low, mut high) = (0, m);
    while low < high {
        let middle = low + (high - low) / 2;
        // SAFETY: below m.
        if unsafe { *keys.add(middle as usize) } < bound { low = middle + 1 } else { high = middle }
    }
    // SAFETY: as above.
    let key = if low == 0 { return None } else { unsafe { *keys.add(low as usize - 1) } };
    (key >> 32 == u64::from(at)).then_some(key as u32)
}

/// Makes `wanted` draws from what is left after `cuts` cuts, half a warp each.
///
/// # Safety
/// All threads of the block come here.
#[inline(always)]
unsafe fn draw(tree: Tree, scratch: Scratch, own: Stream, (tried, left): (u64, u64), cuts: u32, wanted: u32) {
    let mut first = 0;
    while first < wanted {
        let j = first + thread_idx_x() / FANOUT;
        // Halves without work make the last draw, since warps go together.
        let number = tried + u64::from(j.min(wanted - 1));
        let [low, high, ..] = own.block(number);
        let threshold = bounded(u64::from(high) << 32 | u64::from(low), left);
        // SAFETY: all lanes come here; the threshold is below the total.
        let found = unsafe {
            let threshold = threshold + passed(scratch, cuts, threshold);
            descend(tree.leaves, tree.nodes, tree.capacity, tree.storage(), threshold)
        };
        if j < wanted && lane_id().is_multiple_of(FANOUT) {
            let at = j as usize;
            // SAFETY: below the rows' length, and no other half has this j.
            unsafe {
                *scratch.drawn().add(at) = u64::from(found.leaf) << 32 | u64::from(j);
                *scratch.weights().add(at) = found.weight;
                *scratch.before().add(at) = found.before;
            }
        }
        first += block_dim_x() / FANOUT;
    }
}

/// The lengths of all cuts before a threshold.
///
/// # Safety
/// There are as many cuts, and nobody writes them now.
#[inline(always)]
unsafe fn passed(scratch: Scratch, cuts: u32, threshold: u64) -> u64 {
    // Cuts whose key is at most the threshold.
    let (mut low, mut high) = (0, cuts);
    while low < high {
        let middle = low + (high - low) / 2;
        // SAFETY: below the number of cuts.
        if unsafe { *scratch.keys().add(middle as usize) } <= threshold { low = middle + 1 } else { high = middle }
    }
    // SAFETY: as above.
    if low == 0 { 0 } else { unsafe { *scratch.through().add(low as usize - 1) } }
}

/// Puts the first draw of each leaf behind the `filled` ones that there are, in the order of the draws, and cuts them out; how
/// many these are.
///
/// # Safety
/// All threads of the block come here.
#[inline(always)]
unsafe fn keep(scratch: Scratch, (out, weights): (*mut u32, *mut u64), filled: u32, wanted: u32) -> u32 {
    let padded = wanted.next_power_of_two();
    // SAFETY: (1) rows are as long; (2) between two barriers no thread accesses what another one writes.
    each(padded - wanted, |i| unsafe { *scratch.drawn().add(wanted as usize + i) = u64::MAX });
    sync_threads();
    let drawn = scratch.drawn();
    // By leaf, and then by number.
    // SAFETY: (1), (2).
    unsafe { sort(drawn, core::ptr::null_mut(), padded) };
    // SAFETY: (1), (2); numbers of draws are below `wanted`.
    each(wanted, |i| unsafe {
        let draw = *drawn.add(i);
        let first = i == 0 || *drawn.add(i - 1) >> 32 != draw >> 32;
        // The leaf goes along: the order of the draws is that of this row.
        *scratch.kept().add(draw as u32 as usize) = draw >> 32 << 32 | u64::from(first);
    });
    sync_threads();
    let (mut first, mut count) = (0, 0);
    while first < wanted {
        let j = (first + thread_idx_x()) as usize;
        // SAFETY: (1), (2).
        let draw = if j < wanted as usize { unsafe { *scratch.kept().add(j) } } else { 0 };
        let own = draw & 1;
        // SAFETY: all threads come here.
        let (through, all) = unsafe { running_sum(own) };
        if own == 1 {
            let at = filled as usize + count as usize + (through - own) as usize;
            // SAFETY: (1), (2); no more are kept than are wanted.
            unsafe {
                let (weight, before) = (*scratch.weights().add(j), *scratch.before().add(j));
                *out.add(at) = (draw >> 32) as u32;
                *weights.add(at) = weight;
                *scratch.starts().add(at) = before;
                *scratch.lengths().add(at) = weight;
            }
        }
        count += all as u32;
        first += block_dim_x();
    }
    count
}

/// Sorts the cuts and sums their lengths; the sum of all.
///
/// # Safety
/// All threads of the block come here.
#[inline(always)]
unsafe fn cut(scratch: Scratch, cuts: u32) -> u64 {
    let padded = cuts.next_power_of_two();
    // SAFETY: (1) rows are as long; (2) between two barriers no thread accesses what another one writes.
    each(padded - cuts, |i| unsafe {
        *scratch.starts().add(cuts as usize + i) = u64::MAX;
        *scratch.lengths().add(cuts as usize + i) = 0;
    });
    sync_threads();
    // SAFETY: (1), (2).
    unsafe { sort(scratch.starts(), scratch.lengths(), padded) };
    let (mut first, mut sum) = (0, 0);
    while first < cuts {
        let i = (first + thread_idx_x()) as usize;
        let there = i < cuts as usize;
        // SAFETY: (1), (2).
        let length = if there { unsafe { *scratch.lengths().add(i) } } else { 0 };
        // SAFETY: all threads come here.
        let (through, all) = unsafe { running_sum(length) };
        if there {
            // SAFETY: (1), (2).
            unsafe {
                *scratch.keys().add(i) = *scratch.starts().add(i) - (sum + through - length);
                *scratch.through().add(i) = sum + through;
            }
        }
        sum += all;
        first += block_dim_x();
    }
    sync_threads();
    sum
}
