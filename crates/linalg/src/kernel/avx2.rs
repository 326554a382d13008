//! AVX2 tiles: up to 6 x 16, two registers a row.
#![allow(clippy::needless_range_loop, reason = "rows and registers of a tile are numbered, in several arrays at once")]

use super::{Kernels, Run, Tile, table};
use core::arch::x86_64::*;

pub(crate) static KERNELS: Kernels = Kernels { rows: 6, cols: 16, pick };

fn pick(rows: usize, cols: usize, unit: bool) -> Run {
    type Set = [[[Run; 6]; 2]; 2];
    macro_rules! set {
        ($vectors:literal) => {
            [
                [table!(tile, $vectors, false, false; 1 2 3 4 5 6), table!(tile, $vectors, false, true; 1 2 3 4 5 6)],
                [table!(tile, $vectors, true, false; 1 2 3 4 5 6), table!(tile, $vectors, true, true; 1 2 3 4 5 6)],
            ]
        };
    }
    static ONE: Set = set!(1);
    static TWO: Set = set!(2);
    let (set, full) = if cols <= 8 { (&ONE, 8) } else { (&TWO, 16) };
    set[usize::from(cols != full)][usize::from(unit)][rows - 1]
}

/// # Safety
/// As [`Run`]; the columns fill all registers but the last, and that too unless `MASKED`; `UNIT` says `a_row == 1`.
#[target_feature(enable = "avx2,fma,bmi2")]
unsafe fn tile<const R: usize, const V: usize, const MASKED: bool, const UNIT: bool>(t: &Tile) {
    static LANES: [i32; 16] = [-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0];
    // SAFETY: `cols` is from 8 V - 7 to 8 V, so that the eight lanes start between 0 and 7.
    let mask = unsafe { _mm256_loadu_si256(LANES.as_ptr().add(if MASKED { 8 * V - t.cols } else { 0 }).cast()) };
    // SAFETY: `Run` 3: the lanes that the mask leaves are columns of the tile.
    let load = |p: *const f32, v: usize| unsafe {
        if MASKED && v + 1 == V { _mm256_maskload_ps(p.add(8 * v), mask) } else { _mm256_loadu_ps(p.add(8 * v)) }
    };
    let row = if UNIT { 1 } else { t.a_row };
    let mut acc = [[_mm256_setzero_ps(); V]; R];
    if t.resume {
        for r in 0..R {
            for v in 0..V {
                // SAFETY: rows of the tile.
                acc[r][v] = load(unsafe { t.c.add(r * t.c_row) }, v);
            }
        }
    }
    let mut a = [t.a, t.a.wrapping_add(3 * row)];
    let mut b = t.b;
    for _ in 0..t.k {
        let mut bv = [_mm256_setzero_ps(); V];
        for v in 0..V {
            bv[v] = load(b, v);
        }
        for r in 0..R {
            // SAFETY: `Run` 3.
            let x = _mm256_set1_ps(unsafe { *a[r / 3].wrapping_add(r % 3 * row) });
            for v in 0..V {
                acc[r][v] = _mm256_fmadd_ps(x, bv[v], acc[r][v]);
            }
        }
        for a in &mut a {
            *a = a.wrapping_add(t.a_k);
        }
        b = b.wrapping_add(t.b_k);
    }
    for r in 0..R {
        for v in 0..V {
            // SAFETY: `Run` 3 and 4: the lanes that the mask leaves are columns of the tile.
            unsafe {
                let p = t.c.add(r * t.c_row + 8 * v);
                if MASKED && v + 1 == V {
                    _mm256_maskstore_ps(p, mask, acc[r][v]);
                } else {
                    _mm256_storeu_ps(p, acc[r][v]);
                }
            }
        }
    }
}
