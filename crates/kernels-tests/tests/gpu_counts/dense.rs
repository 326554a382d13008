//! The scan, products and sums. `counts_dense.rs` asserts what they have to be.

use crate::common::products::{FORMS, Form, Matrix, on_device};
use crate::common::scan::{Case, Format};
use kernels_tests::table::Row;
use kernels_tests::{Arg, Bench};
use mingru::bf16;

/// B, T, H of a case that takes a moment: what a block does doesn't depend on how many there are.
const SHAPE: [usize; 3] = [2, 128, 256];
/// Steps of a chunk.
const INTERVAL: usize = 16;
/// Warps of a block of the tiled kernel.
const WARPS: u32 = 4;

/// Bytes of all operands: `wide` sequences of width H in the format, checkpoints, `keep`, and the states at both ends.
fn least<S>(wide: usize, checkpoints: usize) -> Option<u64> {
    let [batch, time, hidden] = SHAPE;
    let floats = batch * checkpoints * hidden + batch * time + 2 * batch * hidden;
    Some((wide * batch * time * hidden * size_of::<S>() + 4 * floats) as u64)
}

fn scans<S: Format>() -> Vec<Row> {
    let (bench, [batch, time, hidden]) = (Bench::counting("mingru"), SHAPE);
    let case = Case::<S>::new(batch, time, hidden);
    let shape = format!("(B, T, H) = ({batch}, {time}, {hidden})");
    let name = |kernel: &str| format!("mingru_scan_{kernel}_{}", S::SUFFIX);
    let chunks = time.div_ceil(INTERVAL);
    let with_interval = format!("{shape}, K = {INTERVAL}");
    vec![
        Row::new(&name("forward"), &with_interval, case.run_forward(&bench, INTERVAL).1, least::<S>(5, chunks)),
        Row::new(&name("backward_reference"), &shape, case.run_reference(&bench).1, least::<S>(9, time)),
        Row::new(
            &name("backward_tiled"),
            format!("{with_interval}, {WARPS} warps"),
            case.run_tiled(&bench, INTERVAL, WARPS).1,
            least::<S>(9, chunks),
        ),
    ]
}

/// M, N, K.
const PRODUCT: [usize; 3] = [256, 128, 256];

fn products() -> Vec<Row> {
    let (bench, [m, n, k]) = (Bench::counting("gemm"), PRODUCT);
    let least = 4 * (m * k + k * n + m * n) as u64;
    let row = |form: Form| {
        let (a, b) = form.operands(PRODUCT, 0, false);
        let counters = on_device(&bench, form, PRODUCT, (&a, &b), 0).1;
        Row::new(form.kernel(), format!("(M, N, K) = ({m}, {n}, {k})"), counters, Some(least))
    };
    FORMS.into_iter().map(row).collect()
}

/// Sums along both sides of a matrix.
fn sums() -> Vec<Row> {
    let bench = Bench::counting("sum");
    let (rows, cols) = (4096_usize, 64_usize);
    let a = Matrix::new(rows, cols, 0, 1, false);
    let sizes = [rows, cols, cols].map(|size| Arg::U32(size as u32));
    let (data, case) = (bench.buffer(&a.data), format!("({rows}, {cols})"));
    let run = |kernel: &str, results: usize, threads: usize, width: u32| {
        let out = bench.room::<f32>(results);
        let args = [&[(&data).into(), (&out).into()], &sizes[..]].concat();
        let least = 4 * (rows * cols + results) as u64;
        Row::new(kernel, &case, bench.run(kernel, threads, width, &args), Some(least))
    };
    let parts = rows.div_ceil(1024);
    vec![
        run("sum_rows_f32", parts * cols, parts * cols.div_ceil(32) * 1024, 1024),
        run("sum_cols_f32", rows, 32 * rows, 128),
    ]
}

/// The rows of the document.
pub(crate) fn rows() -> Vec<Row> {
    [scans::<f32>(), scans::<bf16>(), products(), sums()].concat()
}
