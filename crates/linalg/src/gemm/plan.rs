//! What to pack, where to cut, and who runs what. None of it changes a bit of the result.

use super::Par;
use super::block::{self, CHUNK};
use super::chunks;
use super::operands::{Job, Left, Out, Right};
use super::tuning::{self, GRAIN, PACK_PARALLEL, PARTS, WHOLE};
use crate::kernel::Kernels;
use crate::pack::{self, PANEL, Source};
use crate::{MatRef, Scratch};
use arith::simd::Isa;

/// `out = left * source`.
///
/// # Safety
/// `left` (m, k), `source` (k, n) and `out` (m, n) keep [`Job`]'s promise.
pub(crate) unsafe fn product(
    isa: Isa,
    left: Left,
    source: Source<'_>,
    out: Out,
    [m, n, k]: [usize; 3],
    par: Par,
    scratch: &mut Scratch,
) {
    if m == 0 || n == 0 {
        return;
    }
    let job = |right| Job { left, right, out, m, n, k };
    // Rows of B that lie close together are read where they are.
    if !source.transposed && !tuning::pack_right(m, n) {
        let rows = Right::Rows { ptr: source.data.as_ptr(), stride: source.stride };
        // SAFETY: the caller's.
        return unsafe { run_with(isa, job(rows), par, scratch) };
    }
    let len = pack::len(k, n).unwrap_or(usize::MAX);
    let spare = spare(&job(Right::panels(&[], k, n)), par);
    let (packed, spare) = scratch.take(len.saturating_add(spare)).split_at_mut(len);
    source.pack(isa, par == Par::Rayon && len >= PACK_PARALLEL, packed);
    // SAFETY: the caller's; `packed` holds `k` x `n` packed elements; `spare` was sized for the job.
    unsafe { run_in(isa, job(Right::panels(packed, k, n)), par, spare) };
}

/// `out = a^T b`.
///
/// # Safety
/// `a` (k, m), `b` (k, n) and `out` (m, n) keep [`Job`]'s promise.
pub(crate) unsafe fn product_tn(
    isa: Isa,
    a: &MatRef<'_>,
    b: &MatRef<'_>,
    out: Out,
    [m, n, k]: [usize; 3],
    par: Par,
    scratch: &mut Scratch,
) {
    if m == 0 || n == 0 {
        return;
    }
    let padded = |n| pack::len(1, n).unwrap_or(usize::MAX);
    // A factor of the chain is as good on the left as on the right: C^T = B^T A, where that fills the registers better.
    let swapped = n < m && m * n <= WHOLE && n * padded(m) + n * padded(m) / 8 < m * padded(n);
    if !swapped && tuning::pack_right_of_columns(m, n) {
        let source = Source { data: b.data(), stride: b.row_stride(), transposed: false, k, n };
        // SAFETY: the caller's.
        return unsafe { product(isa, Left::columns(a), source, out, [m, n, k], par, scratch) };
    }
    if !swapped {
        let job = Job { left: Left::columns(a), right: Right::rows(b), out, m, n, k };
        // SAFETY: the caller's.
        return unsafe { run_with(isa, job, par, scratch) };
    }
    let job = Job { left: Left::columns(b), right: Right::rows(a), out, m: n, n: m, k };
    let (flipped, spare) = {
        let spare = spare(&job, par);
        scratch.take(m * n + spare).split_at_mut(m * n)
    };
    // SAFETY: the caller's; the output is a buffer of n x m.
    unsafe { run_in(isa, Job { out: Out { ptr: flipped.as_mut_ptr(), row: m }, ..job }, par, spare) };
    for i in 0..m {
        for j in 0..n {
            // SAFETY: element (i, j) of `out`.
            unsafe { *out.at(i, j).ptr = flipped[j * m + i] };
        }
    }
}

/// Levels of the tree over chunks that fork.
fn forks(job: &Job, par: Par) -> usize {
    if par == Par::Serial || job.work() < 2 * GRAIN {
        return 0;
    }
    (rayon::current_num_threads() * PARTS).ilog2() as usize
}

/// Elements of scratch that [`run_in`] wants.
fn spare(job: &Job, par: Par) -> usize {
    match job.m.checked_mul(job.n) {
        Some(area) if area <= WHOLE => area * chunks::buffers(job.k.div_ceil(CHUNK), forks(job, par)),
        _ => 0,
    }
}

/// [`run_in`] with all of the scratch.
///
/// # Safety
/// As [`run`].
unsafe fn run_with(isa: Isa, job: Job, par: Par, scratch: &mut Scratch) {
    let spare = scratch.take(spare(&job, par));
    // SAFETY: the caller's.
    unsafe { run_in(isa, job, par, spare) };
}

/// [`run`] with [`spare`] elements of scratch.
///
/// # Safety
/// As [`run`].
unsafe fn run_in(isa: Isa, job: Job, par: Par, spare: &mut [f32]) {
    if spare.is_empty() {
        // SAFETY: the caller's.
        return unsafe { run(isa, job, par) };
    }
    // SAFETY: the caller's; `spare` was sized for the job.
    unsafe { chunks::tree(Kernels::of(isa), job, spare, forks(&job, par)) };
}

/// Runs `job` without scratch.
///
/// # Safety
/// `job` keeps [`Job`]'s promise.
pub(crate) unsafe fn run(isa: Isa, job: Job, par: Par) {
    let kernels = Kernels::of(isa);
    let grain = match par {
        Par::Serial => usize::MAX,
        Par::Rayon if job.work() < 2 * GRAIN => usize::MAX,
        Par::Rayon => (job.work() / (rayon::current_num_threads() * PARTS)).max(GRAIN),
    };
    // SAFETY: the caller's; `Kernels::of` gave kernels that the machine can run.
    unsafe { split(kernels, job, grain) };
}

/// Halves `job` until its parts have at most `grain` multiplications, and runs them at once.
///
/// # Safety
/// `job` keeps [`Job`]'s promise, and `kernels` are of an instruction set that this machine has.
pub(crate) unsafe fn split(kernels: &'static Kernels, job: Job, grain: usize) {
    let (blocks, panels) = (job.m.div_ceil(kernels.rows), job.n.div_ceil(PANEL));
    if job.work() <= grain || (blocks < 2 && panels < 2) {
        // SAFETY: the caller's.
        return unsafe { if job.k <= CHUNK { block::run(kernels, &job) } else { chunks::by_tile(kernels, &job) } };
    }
    let (first, second) = if blocks >= 2 && (job.m >= job.n || panels < 2) {
        job.split_rows(blocks / 2 * kernels.rows)
    } else {
        job.split_columns(panels / 2 * PANEL)
    };
    // SAFETY: the caller's: the halves cover disjoint elements of the output.
    rayon::join(|| unsafe { split(kernels, first, grain) }, || unsafe { split(kernels, second, grain) });
}
