//! Chains longer than a chunk: the tree that joins the chunks' results.
//!
//! The adjacent-pairs tree over `p` parts, an odd one out moving up unchanged, is this recursion: the largest power of
//! two of parts below `p` on the left, the others on the right, then left + right.

use super::block::{self, CHUNK};
use super::operands::{Job, Out};
use super::{plan, tuning};
use crate::kernel::{Kernels, MAX_COLS, MAX_ROWS};
use arith::sum::ChunkTree;

/// Parts on the left of the tree over `parts >= 2`.
#[inline]
fn left_parts(parts: usize) -> usize {
    parts.next_power_of_two() / 2
}

/// Buffers of `m * n` elements that [`tree`] needs for `parts` chunks.
pub(crate) fn buffers(parts: usize, forks: usize) -> usize {
    if parts < 2 {
        return 0;
    }
    let left = left_parts(parts);
    match forks {
        0 => 1 + buffers(left, 0),
        _ => 1 + buffers(left, forks - 1) + buffers(parts - left, forks - 1),
    }
}

/// Runs `job`, chunk after chunk, with a buffer for each result that waits for its partner; the first `forks` levels of
/// the tree run their halves at once.
///
/// # Safety
/// 1. `job` keeps [`Job`]'s promise, and `kernels` are of an instruction set that this machine has.
/// 2. `spare` has [`buffers`] times `m * n` elements.
pub(crate) unsafe fn tree(kernels: &'static Kernels, job: Job, spare: &mut [f32], forks: usize) {
    let parts = job.k.div_ceil(CHUNK);
    if parts < 2 {
        let grain = if forks > 0 { tuning::GRAIN } else { usize::MAX };
        // SAFETY: 1.
        return unsafe { plan::split(kernels, job, grain) };
    }
    let left = left_parts(parts);
    let (buffer, spare) = spare.split_at_mut(job.m * job.n);
    let out = Out { ptr: buffer.as_mut_ptr(), row: job.n };
    let first = Job { k: left * CHUNK, ..job };
    let second = Job {
        left: job.left.at(0, left * CHUNK),
        right: job.right.at(left * CHUNK, 0),
        out,
        k: job.k - left * CHUNK,
        ..job
    };
    if forks > 0 {
        let (spare_first, spare_second) = spare.split_at_mut(buffers(left, forks - 1) * job.m * job.n);
        rayon::join(
            // SAFETY: 1, for part of the steps; 2 by the definition of `buffers`.
            || unsafe { tree(kernels, first, spare_first, forks - 1) },
            // SAFETY: the same; its output is `buffer`, which nobody else has.
            || unsafe { tree(kernels, second, spare_second, forks - 1) },
        );
    } else {
        // SAFETY: as above.
        unsafe {
            tree(kernels, first, spare, 0);
            tree(kernels, second, spare, 0);
        }
    }
    for (i, row) in buffer.chunks_exact(job.n).enumerate() {
        // SAFETY: row i of the job's output, which is the job's alone, and does not overlap `buffer`.
        let out = unsafe { core::slice::from_raw_parts_mut(job.out.at(i, 0).ptr, job.n) };
        for (out, x) in out.iter_mut().zip(row) {
            *out += x;
        }
    }
}

/// Elements of a tile, of the largest of all kernels.
const TILE: usize = MAX_ROWS * MAX_COLS;

/// Runs `job` tile by tile, all chunks of one before the next, with the waiting results on the stack (98 KiB).
///
/// # Safety
/// `job` keeps [`Job`]'s promise, and `kernels` are of an instruction set that this machine has.
#[inline(never)]
pub(crate) unsafe fn by_tile(kernels: &Kernels, job: &Job) {
    let mut sums = ChunkTree::<[f32; TILE]>::new();
    let mut tile = [0.0; TILE];
    // Rows whose A stays in the second-level cache while the panels go by.
    let group = kernels.rows * 8;
    for g in (0..job.m).step_by(group) {
        for j in (0..job.n).step_by(kernels.cols) {
            let n = kernels.cols.min(job.n - j);
            for i in (g..job.m.min(g + group)).step_by(kernels.rows) {
                let m = kernels.rows.min(job.m - i);
                sums.clear();
                for t in (0..job.k).step_by(CHUNK) {
                    let part = Job {
                        left: job.left.at(i, t),
                        right: job.right.at(t, j),
                        out: Out { ptr: tile.as_mut_ptr(), row: n },
                        m,
                        n,
                        k: CHUNK.min(job.k - t),
                    };
                    // SAFETY: part of the job's steps; the output is a local tile of at least m * n elements.
                    unsafe { block::run(kernels, &part) };
                    sums.push(tile);
                }
                let sum = sums.finish().unwrap_or([0.0; TILE]);
                for (r, row) in sum.chunks_exact(n).take(m).enumerate() {
                    // SAFETY: row i + r and columns j to j + n of the job's output, which is the job's alone.
                    unsafe { core::ptr::copy_nonoverlapping(row.as_ptr(), job.out.at(i + r, j).ptr, n) };
                }
            }
        }
    }
}
