//! Sums along the rows and columns of a matrix, and the tree over chunks that lie in memory.

use super::tree::Levels;
use crate::device::thread::{block_idx_x, index_1d, sync_threads, thread_idx_x};
use crate::device::warp::{LANES, lane_id};
use crate::grouped::grouped;
use crate::join::join;
use crate::shared_array;
use arith::sum::CHUNK;

/// `out[i] = sum over j of a[i, j]`, as `linalg::sum_cols`.
///
/// `a`: (rows, cols), rows `stride` >= cols elements apart; `out`: (rows), +0 if there are no columns. One warp a row.
///
/// # Safety
/// The crate's conventions; `a` may have 2^31 elements and more.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn sum_cols_f32(a: *const f32, out: *mut f32, rows: u32, cols: u32, stride: u32) {
    let (row, lane) = (index_1d() / LANES as usize, lane_id());
    if row >= rows as usize {
        return;
    }
    let chunk = |first: u32| {
        let end = cols.min(first.saturating_add(CHUNK as u32));
        let mut sum = 0.0;
        // SAFETY: there is such an element.
        let load = |col: usize| unsafe { *a.add(row * stride as usize + col) };
        grouped((first + lane) as usize, end as usize, LANES as usize, load, |_, element| sum += element);
        // SAFETY: the whole warp has this row.
        unsafe { join(sum, lane, LANES) }
    };
    let mut sum = chunk(0);
    // Most rows are one chunk, and need no tree.
    if cols > CHUNK as u32 {
        let mut tree = Levels::new();
        tree.push(sum);
        let mut first = CHUNK as u32;
        while first < cols {
            tree.push(chunk(first));
            first = first.saturating_add(CHUNK as u32);
        }
        sum = tree.finish();
    }
    if lane == 0 {
        // SAFETY: there is such a row, and no other warp has it.
        unsafe { *out.add(row) = sum };
    }
}

/// Words from the lanes of one row to those of the next: an odd number, so that columns too lie in different banks.
const PITCH: u32 = LANES + 1;

shared_array!(
    /// (32, PITCH): lane j of each column's sum in row j.
    lanes_of_columns, "sum_rows_lanes": f32; (LANES * PITCH) as usize
);
shared_array!(
    /// Each column's sum.
    sums_of_columns, "sum_rows_sums": f32; LANES as usize
);

/// `out[j] = sum over i of a[i, j]`, as `linalg::sum_rows`: a layer's bias gradient.
///
/// `a`: (rows, cols), rows `stride` >= cols elements apart; `out`: (cols), +0 if there are no rows. If there are more than
/// 1,024 rows, `out` is instead the sums of the chunks, (ceil(rows / 1024), cols), for [`join_parts_f32`].
///
/// `ceil(cols / 32) * max(1, ceil(rows / 1024))` blocks of exactly 1,024 threads: 32 columns of a chunk each, a warp for each
/// lane of the sums.
///
/// # Safety
/// The crate's conventions; `a` may have 2^31 elements and more.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn sum_rows_f32(a: *const f32, out: *mut f32, rows: u32, cols: u32, stride: u32) {
    let tiles = cols.div_ceil(LANES);
    let Some(chunk) = block_idx_x().checked_div(tiles) else { return };
    let (first, warp, lane) = ((block_idx_x() - chunk * tiles) * LANES, thread_idx_x() / LANES, lane_id());
    let start = chunk as usize * CHUNK;
    let (end, col) = ((start + CHUNK).min(rows as usize), first + lane);
    let mut sum = 0.0;
    if col < cols {
        // SAFETY: there is such an element.
        let load = |row: usize| unsafe { *a.add(row * stride as usize + col as usize) };
        grouped(start + warp as usize, end, LANES as usize, load, |_, element| sum += element);
    }
    // SAFETY: this thread's element.
    unsafe { lanes_of_columns().write(warp * PITCH + lane, sum) };
    sync_threads();
    // From here on the warp has a column, and the lane a lane of its sum.
    // SAFETY: nothing is written after the barrier.
    let sum = unsafe { lanes_of_columns().read(lane * PITCH + warp) };
    // SAFETY: all lanes come here.
    let sum = unsafe { join(sum, lane, LANES) };
    if lane == 0 {
        // SAFETY: this warp's element.
        unsafe { sums_of_columns().write(warp, sum) };
    }
    sync_threads();
    if warp == 0 && col < cols && (chunk == 0 || start < rows as usize) {
        // SAFETY: there are such a chunk and column, and no other block has them; nothing is written after the barrier.
        unsafe { *out.add(chunk as usize * cols as usize + col as usize) = sums_of_columns().read(lane) };
    }
}

/// `out[i, j]` = the parts' elements (i, j), joined by the tree of adjacent pairs in order of the parts.
///
/// `parts`: (count, rows, cols), dense; `out`: (rows, cols), rows `stride` >= cols elements apart, +0 if there are no parts.
/// It may be the first part if it is dense. One thread an element.
///
/// # Safety
/// The crate's conventions; a part has below 2^31 elements, all together may have more.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn join_parts_f32(
    parts: *const f32,
    out: *mut f32,
    count: u32,
    rows: u32,
    cols: u32,
    stride: u32,
) {
    let (i, elements) = (index_1d(), rows as usize * cols as usize);
    if i >= elements {
        return;
    }
    let mut tree = Levels::new();
    for part in 0..count as usize {
        // SAFETY: there are such a part and element.
        tree.push(unsafe { *parts.add(part * elements + i) });
    }
    // In 32 bits: a 64-bit division is long.
    let Some(row) = (i as u32).checked_div(cols) else { return };
    let col = i as u32 - row * cols;
    // SAFETY: there is such an element, and no other thread has it.
    unsafe { *out.add(row as usize * stride as usize + col as usize) = tree.finish() };
}
