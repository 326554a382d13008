//! Products, and sums of rows and columns, on the device against crate linalg.

mod common;

use common::products::{FORMS, Form, Matrix, join, on_device};
use kernels_tests::{Arg, Bench, assert_bits};
use linalg::Par;

fn compare(shape: [usize; 3], gap: usize, rare: bool, seed: Option<u64>) {
    let mut bench = Bench::new("gemm");
    bench.options.seed = seed;
    for form in FORMS {
        let (a, b) = form.operands(shape, gap, rare);
        let mut expected = Matrix::blank(shape[0], shape[1], gap);
        form.on_cpu(&a, &b, &mut expected);
        let (got, _) = on_device(&bench, form, shape, (&a, &b), gap);
        assert_bits(&format!("{form:?} {shape:?}, gap {gap}, seed {seed:?}"), &got.data, &expected.data);
    }
}

#[test]
fn products_have_the_bits_of_the_cpu() {
    // Nothing, one, odd, the edges of quads and tiles, and several tiles.
    for m in [0, 1, 5, 64, 129] {
        for n in [0, 1, 63, 67] {
            for k in [0, 1, 8, 9, 20] {
                compare([m, n, k], (m + n + k) % 3, false, None);
            }
        }
    }
    // Aligned, with gaps that keep rows aligned and that don't.
    for gap in [0, 4, 1] {
        compare([260, 132, 44], gap, false, Some(gap as u64));
    }
}

#[test]
fn chains_longer_than_a_chunk() {
    for (k, seed) in [(1024, None), (1025, Some(1)), (2048, None), (3077, Some(2)), (5 * 1024 - 1, None)] {
        compare([9, 6, k], 0, false, seed);
        compare([3, 66, k], 2, false, seed);
    }
}

#[test]
fn special_values_stay_in_their_rows_and_columns() {
    for shape in [[70, 40, 33], [20, 12, 2100]] {
        compare(shape, 0, true, None);
    }
}

#[test]
fn the_comparison_can_fail() {
    // In another order most sums are others.
    let (a, b) = Form::Nt.operands([8, 8, 600], 0, false);
    let mut c = Matrix::blank(8, 8, 0);
    Form::Nt.on_cpu(&a, &b, &mut c);
    let backwards = |i: usize, j: usize| {
        let (a, b) = (&a.data[600 * i..600 * (i + 1)], &b.data[600 * j..600 * (j + 1)]);
        a.iter().zip(b).rev().fold(0.0, |sum, (&a, &b)| arith::fma(a, b, sum))
    };
    let others = (0..64).filter(|&e| c.data[e].to_bits() != backwards(e / 8, e % 8).to_bits()).count();
    assert!(others > 32, "{others}");
}

#[test]
fn rows_and_columns_have_the_sums_of_the_cpu() {
    let bench = Bench::new("sum");
    for rows in [0, 1, 31, 33, 1024, 1025, 3000] {
        for cols in [0, 1, 32, 70] {
            let a = Matrix::new(rows, cols, (rows + cols) % 2, 3, rows == 33);
            let (device, sizes) = (bench.buffer(&a.data), [rows, cols, a.stride()].map(|size| Arg::U32(size as u32)));

            let (mut expected, chunks) = (vec![0.0; cols], rows.div_ceil(1024).max(1));
            linalg::sum_rows(a.view(), &mut expected, Par::Serial).unwrap();
            let parts = bench.room::<f32>(chunks * cols);
            let args = [&[(&device).into(), (&parts).into()], &sizes[..]].concat();
            bench.run("sum_rows_f32", chunks * cols.div_ceil(32) * 1024, 1024, &args);
            let sums = join(&bench.options, &bench.read(&parts), chunks, Matrix::blank(1, cols, 0));
            assert_bits(&format!("sum_rows {rows} x {cols}"), &sums.data, &expected);

            // The same numbers the other way round have long rows.
            let a = Matrix::new(cols, rows, (rows + cols) % 2, 4, rows == 33);
            let (device, sizes) = (bench.buffer(&a.data), [cols, rows, a.stride()].map(|size| Arg::U32(size as u32)));
            let (out, mut expected) = (bench.room::<f32>(cols), vec![0.0; cols]);
            linalg::sum_cols(a.view(), &mut expected, Par::Serial).unwrap();
            bench.run("sum_cols_f32", cols * 32, 128, &[&[(&device).into(), (&out).into()], &sizes[..]].concat());
            assert_bits(&format!("sum_cols {cols} x {rows}"), &bench.read(&out), &expected);
        }
    }
}

#[test]
fn transposes() {
    let bench = Bench::new("gemm");
    for (rows, cols, width) in [(0, 3, 32), (3, 0, 64), (1, 1, 32), (33, 65, 256), (96, 32, 96), (31, 70, 1024)] {
        let a = Matrix::new(rows, cols, 0, 6, false).data;
        let (from, to) = (bench.buffer(&a), bench.room::<f32>(a.len()));
        let blocks = rows.div_ceil(32) * cols.div_ceil(32);
        let args = [(&from).into(), (&to).into(), Arg::U32(rows as u32), Arg::U32(cols as u32)];
        let counters = bench.run("transpose_f32", blocks * width, width as u32, &args);
        let expected: Vec<_> = (0..a.len()).map(|i| a[i % rows * cols + i / rows]).collect();
        assert_bits(&format!("{rows} x {cols}"), &bench.read(&to), &expected);
        assert_eq!(counters.shared_bank_conflicts, 0);
    }
}
