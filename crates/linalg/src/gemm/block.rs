//! One thread's walk over the tiles of a block.

use super::operands::Job;
use crate::kernel::{Kernels, Tile};

/// Elements of a chunk: the chains that the contract joins by a tree.
pub(crate) const CHUNK: usize = 1024;

/// A group of rows is multiplied by one panel of B after the other: B's panel is read once a group, and the group's A
/// should stay in the second-level cache (elements).
const GROUP: usize = 64 * 1024;

/// Steps of `t` after which the chains rest in C, so that a block of both operands is reused from the caches.
const REST: usize = 1024;

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
    let group = (GROUP / job.k.max(1)).max(kernels.rows);
    let groups = job.m.div_ceil(group);
    let mut t = 0;
    loop {
        let k = REST.min(job.k - t);
        for g in 0..groups {
            let (i, m) = part(job.m, groups, g);
            // SAFETY: rows of the job.
            unsafe { walk(kernels, job, i, m, t, k) };
        }
        t += k;
        if t >= job.k {
            break;
        }
    }
}

/// Steps `t` to `t + k` of the `m` rows from `i` on.
///
/// # Safety
/// As [`run`]; the rows and steps are the job's.
#[inline]
unsafe fn walk(kernels: &Kernels, job: &Job, i: usize, m: usize, t: usize, k: usize) {
    let blocks = m.div_ceil(kernels.rows);
    let unit = job.left.row == 1;
    let mut j = 0;
    while j < job.n {
        let cols = kernels.cols.min(job.n - j);
        let (b, b_k) = job.right.tile(t, j);
        for block in 0..blocks {
            let (r, rows) = part(m, blocks, block);
            let (left, out) = (job.left.at(i + r, t), job.out.at(i + r, j));
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
