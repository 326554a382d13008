//! Tiles in plain code, for machines without the other instruction sets.

use super::{Kernels, Run, Tile};

const ROWS: usize = 4;
const COLS: usize = 16;

pub(crate) static KERNELS: Kernels = Kernels { rows: ROWS, cols: COLS, pick };

fn pick(rows: usize, _cols: usize, _unit: bool) -> Run {
    [tile::<1>, tile::<2>, tile::<3>, tile::<4>][rows - 1]
}

/// # Safety
/// As [`Run`].
unsafe fn tile<const R: usize>(t: &Tile) {
    let mut acc = [[0.0f32; COLS]; R];
    if t.resume {
        for (r, row) in acc.iter_mut().enumerate() {
            for (j, x) in row.iter_mut().enumerate().take(t.cols) {
                // SAFETY: `Run` 2 and 3.
                *x = unsafe { *t.c.add(r * t.c_row + j) };
            }
        }
    }
    for p in 0..t.k {
        let mut b = [0.0f32; COLS];
        for (j, x) in b.iter_mut().enumerate().take(t.cols) {
            // SAFETY: `Run` 2 and 3.
            *x = unsafe { *t.b.add(p * t.b_k + j) };
        }
        for (r, row) in acc.iter_mut().enumerate() {
            // SAFETY: `Run` 2 and 3.
            let a = unsafe { *t.a.add(r * t.a_row + p * t.a_k) };
            for (x, b) in row.iter_mut().zip(b) {
                *x = arith::fma(a, b, *x);
            }
        }
    }
    for (r, row) in acc.iter().enumerate() {
        for (j, x) in row.iter().enumerate().take(t.cols) {
            // SAFETY: `Run` 2 to 4.
            unsafe { *t.c.add(r * t.c_row + j) = *x };
        }
    }
}
