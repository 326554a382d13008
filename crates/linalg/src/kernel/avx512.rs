//! AVX-512 tiles: up to 12 x 32, two registers a row; columns 1 to 8 use 256-bit registers, which run twice as many
//! FMAs a cycle on machines that split 512-bit ones.
#![allow(clippy::needless_range_loop, reason = "rows and registers of a tile are numbered, in several arrays at once")]

use super::{Kernels, Run, Tile, table};
use core::arch::x86_64::*;

pub(crate) static KERNELS: Kernels = Kernels { rows: 12, cols: 32, pick };

fn pick(rows: usize, cols: usize, unit: bool) -> Run {
    type Set = [[[Run; 12]; 2]; 2];
    macro_rules! set {
        ($tile:ident, $vectors:literal) => {
            [
                [
                    table!($tile, $vectors, false, false; 1 2 3 4 5 6 7 8 9 10 11 12),
                    table!($tile, $vectors, false, true; 1 2 3 4 5 6 7 8 9 10 11 12),
                ],
                [
                    table!($tile, $vectors, true, false; 1 2 3 4 5 6 7 8 9 10 11 12),
                    table!($tile, $vectors, true, true; 1 2 3 4 5 6 7 8 9 10 11 12),
                ],
            ]
        };
    }
    static HALF: Set = set!(half, 1);
    static ONE: Set = set!(tile, 1);
    static TWO: Set = set!(tile, 2);
    let (set, full) = match cols {
        ..=8 => (&HALF, 8),
        9..=16 => (&ONE, 16),
        _ => (&TWO, 32),
    };
    set[usize::from(cols != full)][usize::from(unit)][rows - 1]
}

/// # Safety
/// As [`Run`]; the columns fill all registers but the last, and that too unless `MASKED`; `UNIT` says `a_row == 1`.
#[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512dq,avx2,fma,bmi2")]
unsafe fn tile<const R: usize, const V: usize, const MASKED: bool, const UNIT: bool>(t: &Tile) {
    let mask: __mmask16 = if MASKED { 0xffff >> (16 * V - t.cols) } else { 0xffff };
    // SAFETY: `Run` 3: the lanes that the mask leaves are columns of the tile.
    let load = |p: *const f32, v: usize| unsafe {
        if MASKED && v + 1 == V { _mm512_maskz_loadu_ps(mask, p.add(16 * v)) } else { _mm512_loadu_ps(p.add(16 * v)) }
    };
    let row = if UNIT { 1 } else { t.a_row };
    let mut acc = [[_mm512_setzero_ps(); V]; R];
    if t.resume {
        for r in 0..R {
            for v in 0..V {
                // SAFETY: rows of the tile.
                acc[r][v] = load(unsafe { t.c.add(r * t.c_row) }, v);
            }
        }
    }
    // Four pointers, each used for three rows: a compromise between registers and addressing modes.
    let mut a = [t.a, t.a.wrapping_add(3 * row), t.a.wrapping_add(6 * row), t.a.wrapping_add(9 * row)];
    let mut b = t.b;
    for _ in 0..t.k {
        let mut bv = [_mm512_setzero_ps(); V];
        for v in 0..V {
            bv[v] = load(b, v);
        }
        for r in 0..R {
            // SAFETY: `Run` 3.
            let x = _mm512_set1_ps(unsafe { *a[r / 3].wrapping_add(r % 3 * row) });
            for v in 0..V {
                acc[r][v] = _mm512_fmadd_ps(x, bv[v], acc[r][v]);
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
                let p = t.c.add(r * t.c_row + 16 * v);
                if MASKED && v + 1 == V {
                    _mm512_mask_storeu_ps(p, mask, acc[r][v]);
                } else {
                    _mm512_storeu_ps(p, acc[r][v]);
                }
            }
        }
    }
}

/// A tile of 1 to 8 columns.
///
/// # Safety
/// As [`tile`].
#[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512dq,avx2,fma,bmi2")]
unsafe fn half<const R: usize, const V: usize, const MASKED: bool, const UNIT: bool>(t: &Tile) {
    let mask: __mmask8 = if MASKED { 0xff >> (8 - t.cols) } else { 0xff };
    // SAFETY: `Run` 3: the lanes that the mask leaves are columns of the tile.
    let load = |p: *const f32| unsafe { if MASKED { _mm256_maskz_loadu_ps(mask, p) } else { _mm256_loadu_ps(p) } };
    let row = if UNIT { 1 } else { t.a_row };
    let mut acc = [_mm256_setzero_ps(); R];
    if t.resume {
        for r in 0..R {
            // SAFETY: rows of the tile.
            acc[r] = load(unsafe { t.c.add(r * t.c_row) });
        }
    }
    let mut a = [t.a, t.a.wrapping_add(3 * row), t.a.wrapping_add(6 * row), t.a.wrapping_add(9 * row)];
    let mut b = t.b;
    for _ in 0..t.k {
        let bv = load(b);
        for r in 0..R {
            // SAFETY: `Run` 3.
            let x = _mm256_set1_ps(unsafe { *a[r / 3].wrapping_add(r % 3 * row) });
            acc[r] = _mm256_fmadd_ps(x, bv, acc[r]);
        }
        for a in &mut a {
            *a = a.wrapping_add(t.a_k);
        }
        b = b.wrapping_add(t.b_k);
    }
    for r in 0..R {
        // SAFETY: `Run` 3 and 4: the lanes that the mask leaves are columns of the tile.
        unsafe {
            let p = t.c.add(r * t.c_row);
            if MASKED {
                _mm256_mask_storeu_ps(p, mask, acc[r]);
            } else {
                _mm256_storeu_ps(p, acc[r]);
            }
        }
    }
}
