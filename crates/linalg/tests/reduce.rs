//! Sums against plain loops that spell out the contract.

mod support;

use arith::simd::Isa;
use linalg::{MatRef, Par};
use proptest::prelude::*;
use support::{Matrix, SENTINEL, assert_same, oracle, pool};

fn check(isa: Isa, rows: usize, cols: usize, par: Par, seed: u64) {
    let a = Matrix::special(rows, cols, seed);
    let by_column: Vec<f32> = a.transpose().values.chunks(rows.max(1)).map(oracle::sum).collect();
    let by_column = if rows == 0 { vec![0.0; cols] } else { by_column };
    let by_row: Vec<f32> = a.values.chunks(cols.max(1)).map(oracle::sum).collect();
    let by_row = if cols == 0 { vec![0.0; rows] } else { by_row };
    for gap in [0, 5] {
        let data = a.strided(gap);
        let view = MatRef::with_stride(&data, rows, cols, cols + gap).unwrap();
        let what = format!("{isa:?} {rows} x {cols} {par:?} gap {gap}");
        let mut out = vec![SENTINEL; cols];
        linalg::sum_rows_on(isa, view, &mut out, par).unwrap();
        assert_same(&out, &by_column, 1, &format!("sum_rows {what}"));
        let mut out = vec![SENTINEL; rows];
        linalg::sum_cols_on(isa, view, &mut out, par).unwrap();
        assert_same(&out, &by_row, 1, &format!("sum_cols {what}"));
    }
}

#[test]
fn edges_of_lanes_chunks_and_blocks_of_columns() {
    for isa in [Isa::Scalar, Isa::Avx2, Isa::Avx512] {
        for long in [0, 1, 2, 31, 32, 33, 63, 64, 65, 1023, 1024, 1025, 2047, 2048, 2049, 3073, 5000] {
            for short in [0, 1, 3, 4, 5, 15, 16, 17, 63, 64, 65, 85] {
                check(isa, long, short, Par::Serial, long as u64);
                check(isa, short, long, Par::Serial, long as u64 + 1);
            }
        }
    }
}

#[test]
fn any_number_of_threads() {
    for threads in [1, 2, 3, 8] {
        pool(threads).install(|| {
            for (rows, cols) in [(8192, 64), (20_001, 7), (7, 20_001), (700, 301), (5121, 130), (1, 300_000)] {
                check(Isa::detect(), rows, cols, Par::Rayon, 3);
            }
        });
    }
}

#[test]
fn signed_zeros() {
    // Lanes start from +0, so that a sum of -0s is +0, as is the sum of nothing.
    let a = [-0.0f32; 6];
    let mut out = [SENTINEL; 3];
    linalg::sum_rows(MatRef::new(&a, 2, 3).unwrap(), &mut out, Par::Serial).unwrap();
    assert_eq!(out.map(f32::to_bits), [0; 3]);
    linalg::sum_rows(MatRef::new(&a, 0, 3).unwrap(), &mut out, Par::Serial).unwrap();
    assert_eq!(out.map(f32::to_bits), [0; 3]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn random_shapes(rows in 0usize..3000, cols in 0usize..100, seed: u64) {
        check(Isa::detect(), rows, cols, Par::Rayon, seed);
    }
}
