//! The transpose of a matrix, for kernels that want weights the other way round.

use crate::device::thread::{block_dim_x, block_idx_x, sync_threads, thread_idx_x};
use crate::device::warp::{LANES, lane_id};
use crate::shared_array;

/// Rows and columns of a tile.
const SIDE: u32 = LANES;
/// Words from a row of the tile to the next: an odd number, so that columns too lie in different banks.
const PITCH: u32 = SIDE + 1;

shared_array!(
    /// (SIDE, PITCH).
    tile, "transpose_tile": f32; (SIDE * PITCH) as usize
);

/// `out[j, i] = a[i, j]`.
///
/// `a`: (rows, cols), `out`: (cols, rows), both dense. `ceil(rows / 32) * ceil(cols / 32)` blocks of any width: 32 x 32 elements
/// each, which warps share by rows.
///
/// # Safety
/// The crate's conventions; a matrix may have 2^31 elements and more.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn transpose_f32(a: *const f32, out: *mut f32, rows: u32, cols: u32) {
    let across = cols.div_ceil(SIDE);
    let Some(down) = block_idx_x().checked_div(across) else { return };
    let (first_row, first_col) = (down * SIDE, (block_idx_x() - down * across) * SIDE);
    if first_row >= rows {
        return;
    }
    let (lane, warp, warps) = (lane_id(), thread_idx_x() / LANES, block_dim_x() / LANES);
    let mut i = warp;
    while i < SIDE {
        let (row, col) = (first_row + i, first_col + lane);
        if row < rows && col < cols {
            // SAFETY: there is such an element, and this thread's place in the tile.
            unsafe { tile().write(i * PITCH + lane, *a.add(row as usize * cols as usize + col as usize)) };
        }
        i += warps;
    }
    sync_threads();
    let mut j = warp;
    while j < SIDE {
        let (row, col) = (first_row + lane, first_col + j);
        if row < rows && col < cols {
            // SAFETY: there is such an element, and no other thread has it.
            unsafe { *out.add(col as usize * rows as usize + row as usize) = tile().read(lane * PITCH + j) };
        }
        j += warps;
    }
}
