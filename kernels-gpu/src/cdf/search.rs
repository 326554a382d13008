//! Searches for given thresholds, and draws. Half a warp each, so the grid has 16 threads for each.

use super::{Cdf, Head, NOTHING};
use crate::blocks::FANOUT;
use crate::device::thread::index_1d;
use crate::device::warp::lane_id;
use crate::draws::{Position, Words, advance};
use crate::fault::{Fault, report};
use arith::fixed::bounded;

/// `out[j]` is the item that holds `thresholds[j]`: the i with `prefix[i - 1] <= threshold < prefix[i]`; `Cdf::search`.
///
/// Inputs: `weights`, `nodes`, `head` (the module's text), `thresholds` (m), each below the total. Output: `out` (m), items;
/// [`NOTHING`] for a threshold that isn't below the total, which `status` tells ([`crate::fault`]).
///
/// # Safety
/// The crate's conventions, and the CDF is as the module says.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn cdf_search_f32(
    weights: *const f32,
    nodes: *const u64,
    head: *const Head,
    thresholds: *const u64,
    out: *mut u32,
    status: *mut u64,
    n: u32,
    m: u32,
) {
    // SAFETY: the caller's.
    let cdf = unsafe { Cdf::new(weights, nodes, head, n) };
    let j = (index_1d() / FANOUT as usize) as u32;
    // SAFETY: j < m. Halves without work search too, since warps go together.
    let threshold = if j < m { unsafe { *thresholds.add(j as usize) } } else { 0 };
    let valid = threshold < cdf.total();
    // SAFETY: all lanes come here, and the total is the same for all threads.
    let found = if cdf.total() > 0 { unsafe { cdf.find(if valid { threshold } else { 0 }) } } else { NOTHING };
    if j < m && lane_id().is_multiple_of(FANOUT) {
        // SAFETY: j < m, and no other half-warp has this j.
        unsafe {
            *out.add(j as usize) = if valid { found } else { NOTHING };
            if !valid {
                report(status, Fault::OutOfRange(threshold as u32), j);
            }
        }
    }
}

/// Independent draws, item i with probability `weight(i) / total`: `Cdf::sample`, multinomial resampling.
///
/// Inputs: `weights`, `nodes`, `head` (the module's text); `words` (m), random 64-bit integers, or null for those of the Philox
/// stream (`seed`, `stream`) from block `position.next` on, one a draw, which then grows by m. Output: `out` (m), items in the
/// order drawn, or [`NOTHING`] if the total is 0 or the CDF isn't built; then the position stays.
///
/// # Safety
/// The crate's conventions, and the CDF is as the module says.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn cdf_sample_f32(
    weights: *const f32,
    nodes: *const u64,
    head: *const Head,
    position: *mut Position,
    words: *const u64,
    out: *mut u32,
    n: u32,
    m: u32,
    seed: u64,
    stream: u64,
) {
    // SAFETY: the caller's.
    unsafe {
        let source = Words::from(position, seed, stream).or(words);
        let drawn =
            Cdf::new(weights, nodes, head, n).draw(out, m, |j, total| bounded(source.word(u64::from(j)), total));
        advance(position, if drawn && words.is_null() { m } else { 0 });
    }
}
