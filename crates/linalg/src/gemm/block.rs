//! One thread's walk over the tiles of a block.

use super::operands::{Job, Left};
use super::tuning;
use crate::kernel::{Kernels, MAX_ROWS, Tile};
use core::mem::MaybeUninit;

/// Steps of the chains that the contract joins by a tree.
pub(crate) use arith::sum::CHUNK;

/// `blocks` parts of `len` that differ by at most one: the start and the length of part `i`.
#[inline]
fn part(len: usize, blocks: usize, i: usize) -> (usize, usize) {
    let (size, more) = (len / blocks, len % blocks);
    (i * size + i.min(more), size + usize::from(i < more))
}

/// Runs `job` of at most [`CHUNK`] steps.
///
/// # Safety
/// 1. `job` keeps [`Job`]'s promise.
/// 2. `kernels` are of an instruction set that this machine has.
pub(crate) unsafe fn run(kernels: &Kernels, job: &Job) {
    debug_assert!(job.k <= CHUNK);
    if job.m == 0 || job.n == 0 {
        return;
    }
    if tuning::pack_left(job) {
        let blocks = job.m.div_ceil(kernels.rows);
        for block in 0..blocks {
            let (i, rows) = part(job.m, blocks, block);
            // SAFETY: the caller's; rows of the job, of one tile.
            unsafe { packed_rows(kernels, &job.rows(i, rows)) };
        }
        return;
    }
    let (group, rest) = tuning::group_and_rest(job, kernels.rows);
    let groups = job.m.div_ceil(group);
    for g in 0..groups {
        let (i, rows) = part(job.m, groups, g);
        let job = job.rows(i, rows);
        let mut t = 0;
        loop {
            let k = rest.min(job.k - t);
            // SAFETY: the caller's; rows and steps of the job.
            unsafe { walk(kernels, &job, job.left.at(0, t), t, k) };
            t += k;
            if t >= job.k {
                break;
            }
        }
    }
}

/// Runs a job of one tile's rows with a copy of them that lies as the tiles read it: rows at a large stride share few
/// sets of the first-level cache, and pages.
///
/// # Safety
/// As [`run`]; the job has at most `kernels.rows` rows.
#[inline(never)]
unsafe fn packed_rows(kernels: &Kernels, job: &Job) {
    let mut copy = [const { MaybeUninit::<f32>::uninit() }; MAX_ROWS * CHUNK];
    for (t, step) in copy.chunks_exact_mut(job.m).take(job.k).enumerate() {
        for (i, x) in step.iter_mut().enumerate() {
            // SAFETY: element (i, t) of A.
            x.write(unsafe { *job.left.at(i, t).ptr });
        }
    }
    let left = Left { ptr: copy.as_ptr().cast(), row: 1, k: job.m };
    // SAFETY: the caller's; the copy holds all m * k elements: m <= MAX_ROWS, k <= CHUNK.
    unsafe { walk(kernels, job, left, 0, job.k) };
}

/// Steps `t` to `t + k` of `job`, panel after panel; `left` is A from step `t` on.
///
/// # Safety
/// As [`run`]; the steps are the job's.
#[inline]
unsafe fn walk(kernels: &Kernels, job: &Job, left: Left, t: usize, k: usize) {
    let blocks = job.m.div_ceil(kernels.rows);
    let unit = left.row == 1;
    let mut j = 0;
    while j < job.n {
        let cols = kernels.cols.min(job.n - j);
        let (b, b_k) = job.right.tile(t, j);
        for block in 0..blocks {
            let (i, rows) = part(job.m, blocks, block);
            let (left, out) = (left.at(i, 0), job.out.at(i, j));
            let tile = Tile {
                a: left.ptr,
                a_row: left.row,
                a_k: left.k,
                b,
                b_k,
                c: out.ptr,
                c_row: out.row,
                k,
                cols,
                resume: t > 0,
            };
            // SAFETY: the machine has the instruction set; the tile lies inside the job, whose promise covers it.
            unsafe { kernels.pick(rows, cols, unit)(&tile) };
        }
        j += cols;
    }
}
