//! The numbers that decide speed, and nothing else: no bit of a result depends on them. Chosen on one core of a Zen 4
//! machine (32 KiB first-level, 1 MiB second-level cache).

use super::operands::Job;
use crate::pack::PANEL;

/// Multiplications (about 20 us of one core) below which a job is not cut for other threads.
pub(crate) const GRAIN: usize = 1 << 20;

/// Parts for each thread, so that a late thread costs little.
pub(crate) const PARTS: usize = 4;

/// Largest output, in elements, whose chunks are kept whole in scratch.
pub(crate) const WHOLE: usize = 1 << 18;

/// Elements of a right operand from which packing is spread over threads.
pub(crate) const PACK_PARALLEL: usize = 1 << 17;

/// Whether `m` rows pay for packing a right operand of `n` columns that could be read where it is.
#[inline]
pub(crate) fn pack_right(m: usize, n: usize) -> bool {
    n > 2 * PANEL && m >= 32
}

/// The same for the products of columns, whose `k` is long: only rows so long that panels would hop over pages.
#[inline]
pub(crate) fn pack_right_of_columns(m: usize, n: usize) -> bool {
    n > 8 * PANEL && m >= 256
}

/// Whether to copy the rows of A, tile by tile: rows far apart, and panels enough to pay for it.
#[inline]
pub(crate) fn pack_left(job: &Job) -> bool {
    job.n >= 8 * PANEL && job.left.row.max(job.left.k) >= 1024
}

/// Rows that go by one panel of B before the next, and steps after which their chains rest in C, so that both operands
/// are reused from the caches.
#[inline]
pub(crate) fn group_and_rest(job: &Job, rows: usize) -> (usize, usize) {
    if job.left.row == 1 {
        // Columns of A: blocks of A and B fill 3/8 of the second-level cache.
        let group = 256 / rows * rows;
        return (group, (96 * 1024 / (group.min(job.m) + job.n)).clamp(64, 1024));
    }
    // Rows of A: a group of 64 KiB.
    ((16 * 1024 / job.k.max(1) / rows).max(1) * rows, 1024)
}
