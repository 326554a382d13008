//! Many rows of weights, resampled each by itself: `per-core`'s `resample::ancestors_batch`.
//!
//! Two launches, whatever the number of rows: all rows are looked at before any is drawn from, and then a block of threads
//! takes a row through everything: sums, thresholds, ancestors.
//!
//! ```text
//! largest: (rows) f32, each row's largest weight
//! details: (rows) u64, what is wrong with each row: 0 if nothing is; bit 63 alone if all weights are zero; otherwise the first
//!          position that is no weight, plus 1, in bits 32..63, and its bits below
//! state:   (2) u32: blocks that have finished, 0 at first and between launches; whether a row is wrong
//! faults:  (3) u64, 0 at first: the first wrong row plus 1, its details, and n, of the first batch that had one
//! keys:    (rows, ceil(n / 16)) u64, sums before each 16 weights of the row
//! ends:    (rows, n) u32, draws of the items up to and with each; not for independent draws
//! strata:  (rows, n) u32, rests (rows, n) u64, as in `remainders.rs`; only for residual resampling with independent draws
//! ```
//!
//! Where one draw is made in each of equal strata, its item isn't searched for among the sums: how many draws an item and those
//! before it have follows from the sum of their weights without a division, and a draw looks for its number among these counts.

use super::split::Divider;
use crate::blocks::{FANOUT, TILE, WIDTH, step};
use crate::cdf::NOTHING;
use crate::device::atomic::fetch_add_u32;
use crate::device::block::running_sum;
use crate::device::grid::is_last_block;
use crate::device::thread::{block_dim_x, block_idx_x, sync_threads, thread_idx_x};
use crate::device::warp::{ALL, LANES, lane_id, warp_reduce, warp_vote_ballot};
use crate::draws::{Position, Words};
use crate::grouped::grouped;
use crate::levels::{Sum, join_blocks};
use crate::shared_array;
use arith::fixed::{Scale, bounded, is_weight};

/// All weights of a row are zero.
const ALL_ZERO: u64 = 1 << 63;

shared_array!(
    /// What each warp has found.
    of_warps, "resample_rows_of_warps": u64; LANES as usize
);

/// The smallest of the values of all threads.
///
/// # Safety
/// All threads of the block come here.
#[inline(always)]
unsafe fn smallest(value: u64) -> u64 {
    // SAFETY: all lanes come here.
    let own = unsafe { warp_reduce(value, u64::min) };
    if lane_id() == 0 {
        // SAFETY: no other thread writes this element.
        unsafe { of_warps().write(thread_idx_x() / LANES, own) };
    }
    sync_threads();
    // SAFETY: written before the barrier.
    let other = if lane_id() < block_dim_x() / LANES { unsafe { of_warps().read(lane_id()) } } else { u64::MAX };
    // The array may be written again.
    sync_threads();
    // SAFETY: all lanes come here.
    unsafe { warp_reduce(other, u64::min) }
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

/// Looks at all rows: their largest weights, and what is wrong.
///
/// Input: `weights` (rows, n). Outputs: `largest`, `details`. Changed: `state`, `faults` (the module's text).
///
/// A block for each row.
///
/// # Safety
/// The crate's conventions.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn resample_survey_rows_f32(
    weights: *const f32,
    largest: *mut f32,
    details: *mut u64,
    state: *mut u32,
    faults: *mut u64,
    rows: u32,
    n: u32,
) {
    let row = block_idx_x() as usize;
    if row < rows as usize {
        let weights = weights.wrapping_add(row * n as usize);
        let (mut top, mut wrong) = (0, u64::MAX);
        // SAFETY: below n.
        let load = |i: usize| unsafe { *weights.add(i) };
        grouped(thread_idx_x() as usize, n as usize, block_dim_x() as usize, load, |i, weight| {
            // Without branches, between which the loads would come one by one. Weights are ordered as their bits. + 0 makes +0
            // of -0.
            let (valid, bits) = (is_weight(weight), weight.to_bits());
            top = top.max(if valid { (weight + 0.0).to_bits() } else { 0 });
            wrong = wrong.min(if valid { u64::MAX } else { (i as u64 + 1) << 32 | u64::from(bits) });
        });
        // SAFETY: all threads come here.
        let (top, wrong) = unsafe { (!smallest(!u64::from(top)) as u32, smallest(wrong)) };
        if thread_idx_x() == 0 {
            let all_zero = if top == 0 { ALL_ZERO } else { 0 };
            // SAFETY: no other thread has this row.
            unsafe {
                *largest.add(row) = f32::from_bits(top);
                *details.add(row) = if wrong == u64::MAX { all_zero } else { wrong };
            }
        }
    }
    // SAFETY: all threads come here.
    if unsafe { is_last_block(state) } {
        let mut first = u64::MAX;
        // SAFETY: all other blocks have finished; below the number of rows.
        each(rows, |row| first = first.min(if unsafe { *details.add(row) } == 0 { u64::MAX } else { row as u64 }));
        // SAFETY: all threads come here.
        let first = unsafe { smallest(first) };
        if thread_idx_x() == 0 {
            // SAFETY: no other thread accesses these.
            unsafe {
                *state.add(1) = u32::from(first != u64::MAX);
                if first != u64::MAX && *faults == 0 {
                    *faults = first + 1;
                    *faults.add(1) = *details.add(first as usize);
                    *faults.add(2) = n.into();
                }
            }
        }
    }
}

/// A row.
#[derive(Clone, Copy)]
struct Row {
    weights: *const f32,
    n: u32,
    scale: Scale,
    keys: *mut u64,
}

impl Row {
    /// Weight i in fixed point; 0 past the last one.
    ///
    /// # Safety
    /// As the kernel.
    #[inline(always)]
    unsafe fn weight(self, i: u32) -> u64 {
        // SAFETY: below n.
        self.scale.quantize(if i < self.n { unsafe { *self.weights.add(i as usize) } } else { 0.0 })
    }

    /// Makes the keys; the sum of all weights.
    ///
    /// # Safety
    /// All threads of a block of [`WIDTH`] come here.
    #[inline(always)]
    unsafe fn sum(self) -> u64 {
        let (blocks, mut before) = (self.n.div_ceil(FANOUT), 0);
        for tile in 0..self.n.div_ceil(TILE) {
            let block = tile * WIDTH + thread_idx_x();
            // SAFETY: all threads come here.
            let (own, through, all) = unsafe {
                let own = join_blocks(Sum(self.scale), self.weights, self.n, tile);
                let (through, all) = running_sum(own);
                (own, through, all)
            };
            if block < blocks {
                // SAFETY: there is such a block, and no other thread has it.
                unsafe { *self.keys.add(block as usize) = before + through - own };
            }
            before += all;
        }
        sync_threads();
        before
    }

    /// The item that holds a threshold below the sum, by half a warp.
    ///
    /// # Safety
    /// All lanes of the warp come here; the keys are made.
    #[inline(always)]
    unsafe fn find(self, threshold: u64) -> u32 {
        let (lane, child) = (lane_id(), lane_id() % FANOUT);
        let blocks = self.n.div_ceil(FANOUT);
        let (mut low, mut size) = (0, blocks);
        // The last block whose key is at most the threshold: of 16 parts of those that may be it, by turns.
        while size > 1 {
            size = size.div_ceil(FANOUT);
            let at = low + child * size;
            // SAFETY: there is such a block.
            let passes = at < blocks && unsafe { *self.keys.add(at as usize) } <= threshold;
            // SAFETY: all lanes come here.
            let passed = unsafe { warp_vote_ballot(ALL, passes) } >> (lane & FANOUT) & 0xffff;
            low += (passed.count_ones().max(1) - 1) * size;
        }
        // SAFETY: the first block passes, so there is this one; all lanes come here.
        let (chosen, ..) = unsafe {
            let before = *self.keys.add(low as usize);
            step(self.weight(low * FANOUT + child), threshold - before)
        };
        low * FANOUT + chosen
    }
}

/// How the rows are resampled: the numbers of `scheme`.
const MULTINOMIAL: u32 = 0;
const SYSTEMATIC: u32 = 2;
const RESIDUAL_MULTINOMIAL: u32 = 3;
const RESIDUAL_SYSTEMATIC: u32 = 5;

/// Draws the ancestors of m offspring for each row.
///
/// Inputs: `weights` (rows, n); `largest`, `state`, as [`resample_survey_rows_f32`] leaves them. Scratch: `keys`, `ends`,
/// `strata`, `rests`. Output: `out` (rows, m), ancestors, all `u32::MAX` if a row is wrong, and then the
/// position stays. `scheme`: 0 multinomial, 1 stratified, 2 systematic, 3 to 5 residual with these in turn.
///
/// Row b takes the words of the Philox stream (`seed`, `stream`) from block `position.next` + b w on, where w is 1 for the
/// systematic schemes and m for the others; `position.next` grows by rows w.
///
/// A block of 256 threads for each row.
///
/// # Safety
/// The crate's conventions.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn resample_rows_f32(
    weights: *const f32,
    largest: *const f32,
    state: *const u32,
    position: *mut Position,
    keys: *mut u64,
    ends: *mut u32,
    strata: *mut u32,
    rests: *mut u64,
    out: *mut u32,
    rows: u32,
    n: u32,
    m: u32,
    scheme: u32,
    seed: u64,
    stream: u64,
) {
    let number = block_idx_x() as usize;
    // SAFETY: the caller's; the position is read before any block arrives.
    let (refused, source) = unsafe { (*state.add(1) != 0, Words::from(position, seed, stream)) };
    let words = if matches!(scheme, SYSTEMATIC | RESIDUAL_SYSTEMATIC) { 1 } else { u64::from(m) };
    if number < rows as usize {
        let out = out.wrapping_add(number * m as usize);
        let (items, blocks) = (number * n as usize, number * n.div_ceil(FANOUT) as usize);
        // SAFETY: there is such a row.
        let scale = Scale::new(unsafe { *largest.add(number) }, n as usize);
        match scale {
            Ok(scale) if !refused => {
                let keys = keys.wrapping_add(blocks);
                let row = Row { weights: weights.wrapping_add(items), n, scale, keys };
                let first = number as u64 * words;
                // SAFETY: all threads come here.
                unsafe {
                    let draws = Draws { row, total: row.sum(), source, first, scheme, m };
                    if scheme == MULTINOMIAL {
                        draws.search(out);
                    } else {
                        let (strata, rests) = (strata.wrapping_add(items), rests.wrapping_add(items));
                        draws.count(ends.wrapping_add(items), (strata, rests), out);
                    }
                }
            }
            // SAFETY: below m, and no other thread has this draw.
            _ => each(m, |j| unsafe { *out.add(j) = NOTHING }),
        }
    }
    // SAFETY: all threads come here; all blocks have read the position.
    unsafe {
        if is_last_block(&raw mut (*position).done) && thread_idx_x() == 0 && !refused {
            (*position).next = (*position).next.wrapping_add(u64::from(rows) * words);
        }
    }
}

/// The draws of a row.
#[derive(Clone, Copy)]
struct Draws {
    row: Row,
    /// Sum of all weights.
    total: u64,
    source: Words,
    /// Number of the first word.
    first: u64,
    scheme: u32,
    m: u32,
}

impl Draws {
    /// Word number j.
    ///
    /// # Safety
    /// The words are a stream's.
    #[inline(always)]
    unsafe fn word(self, j: u64) -> u64 {
        // SAFETY: the caller's.
        unsafe { self.source.word(self.first.wrapping_add(j)) }
    }

    /// The offset in a stratum.
    ///
    /// # Safety
    /// There is such a stratum.
    #[inline(always)]
    unsafe fn offset(self, stratum: u64) -> u64 {
        let same = matches!(self.scheme, SYSTEMATIC | RESIDUAL_SYSTEMATIC);
        // SAFETY: the caller's.
        bounded(unsafe { self.word(if same { 0 } else { stratum }) }, self.total)
    }

    /// Independent draws, by half a warp each.
    ///
    /// # Safety
    /// All threads of the block come here; `out` holds m.
    #[inline(always)]
    unsafe fn search(self, out: *mut u32) {
        let Self { row, m, .. } = self;
        let mut first = 0;
        while first < m {
            let j = first + thread_idx_x() / FANOUT;
            // SAFETY: all lanes come here; no other half has this j. Halves without work make the last draw, since warps go
            // together.
            unsafe {
                let found = row.find(self.offset(u64::from(j.min(m - 1))));
                if j < m && lane_id().is_multiple_of(FANOUT) {
                    *out.add(j as usize) = found;
                }
            }
            first += block_dim_x() / FANOUT;
        }
    }

    /// Ancestors of all other schemes, in ascending order.
    ///
    /// With `m * (sum of the weights up to and with an item) = k * total + r` and c whole offspring of these items, which only
    /// residual resampling takes out, they have the first `k - c` strata, and r of the next one: k + 1 draws if the offset there is
    /// below r, k if not.
    ///
    /// # Safety
    /// All threads of the block come here; the arrays hold n, `out` m.
    #[inline(always)]
    unsafe fn count(self, ends: *mut u32, (strata, rests): (*mut u32, *mut u64), out: *mut u32) {
        let Self { row, total, scheme, m, .. } = self;
        let (divider, n) = (Divider::new(m, total), row.n);
        let (mut before, mut counted, mut first) = (0, 0, 0);
        while first < n {
            let i = first + thread_idx_x();
            // SAFETY: all threads come here; no other thread has this item.
            unsafe {
                let own = row.weight(i);
                let (through, all) = running_sum(own);
                let (whole, rest) = divider.split(before + through);
                let (count, mut counts) = (divider.split(own).0, 0);
                if scheme >= RESIDUAL_MULTINOMIAL {
                    let (own, all) = running_sum(count);
                    counts = counted + own;
                    counted += all;
                }
                let stratum = whole - counts;
                if i < n {
                    let i = i as usize;
                    *ends.add(i) = if scheme == RESIDUAL_MULTINOMIAL {
                        *strata.add(i) = stratum as u32;
                        *rests.add(i) = rest;
                        count as u32
                    } else {
                        // Without a rest there may be no such stratum any more.
                        whole as u32 + u32::from(rest > 0 && self.offset(stratum) < rest)
                    };
                }
                (before, first) = (before + all, first + block_dim_x());
            }
        }
        sync_threads();
        if scheme == RESIDUAL_MULTINOMIAL {
            // SAFETY: all threads come here, after a barrier.
            unsafe { self.draw_remainders(ends, strata, rests) };
        }
        each(m, |j| {
            // SAFETY: the ends ascend to m; no other thread has this draw.
            unsafe { *out.add(j) = first_where(n, |i| *ends.add(i) > j as u32) };
        });
    }

    /// Draws what remains independently, and makes ends of the counts.
    ///
    /// # Safety
    /// All threads of the block come here, after a barrier.
    #[inline(always)]
    unsafe fn draw_remainders(self, counts: *mut u32, strata: *const u32, rests: *const u64) {
        let (n, total) = (self.row.n, self.total);
        // SAFETY: there are items.
        let remaining = unsafe { *strata.add(n as usize - 1) };
        each(remaining, |j| {
            // u * R strata: the whole is the stratum, and the fraction is uniform in it.
            // SAFETY: fewer remain than are drawn; only atomic operations access counts now.
            unsafe {
                let product = u128::from(self.word(j as u64)) * u128::from(remaining);
                let drawn = ((product >> 64) as u32, bounded(product as u64, total));
                let item = first_where(n, |i| (*strata.add(i), *rests.add(i)) > drawn);
                fetch_add_u32(counts.add(item as usize), 1);
            }
        });
        sync_threads();
        let (mut before, mut first) = (0, 0);
        while first < n {
            let i = first + thread_idx_x();
            // SAFETY: all threads come here; no other thread has this item.
            unsafe {
                let own = if i < n { u64::from(*counts.add(i as usize)) } else { 0 };
                let (through, all) = running_sum(own);
                if i < n {
                    *counts.add(i as usize) = (before + through) as u32;
                }
                (before, first) = (before + all, first + block_dim_x());
            }
        }
        sync_threads();
    }
}

/// The first item of n for which something holds that holds for all after it; the last one if it holds for none.
#[inline(always)]
fn first_where(n: u32, holds: impl Fn(usize) -> bool) -> u32 {
    let (mut low, mut high) = (0, n - 1);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle as usize) { high = middle } else { low = middle + 1 }
    }
    low
}
