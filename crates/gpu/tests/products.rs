//! Products and sums of matrices against crate linalg, in buffers that are as long as the contracts say and no longer.
#![cfg(feature = "cuda")]

mod common;

use arith::random::Stream as Draws;
use common::stream;
use gpu::kernels::gemm::{GemmNn, GemmNt, GemmTn};
use gpu::kernels::sum::{JoinParts, SumCols, SumRows};
use gpu::kernels::{chunks, matrix_len};
use gpu::{Buffer, Error, LaunchError, Stream};
use linalg::{MatMut, MatRef, Par, Scratch};

/// Elements of a matrix whose rows are `stride` apart.
fn elements(rows: usize, cols: usize, stride: usize) -> usize {
    matrix_len(rows as u128, cols as u128, stride as u128) as usize
}

fn numbers(number: u64, n: usize) -> Vec<f32> {
    let mut numbers = vec![0.0; n];
    Draws::new(3, number).fill_normal(0, &mut numbers);
    numbers
}

#[derive(Clone, Copy, Debug)]
enum Form {
    Nn,
    Nt,
    Tn,
}

/// (rows, cols, stride) of both operands.
fn operands(form: Form, [m, n, k]: [usize; 3], gap: usize) -> [(usize, usize, usize); 2] {
    let (a, b) = match form {
        Form::Nn => ((m, k), (k, n)),
        Form::Nt => ((m, k), (n, k)),
        Form::Tn => ((k, m), (k, n)),
    };
    [a, b].map(|(rows, cols)| (rows, cols, cols + gap))
}

fn on_host(form: Form, [m, n, k]: [usize; 3], gap: usize, a: &[f32], b: &[f32], c: &mut [f32]) {
    let [(a_rows, a_cols, a_stride), (b_rows, b_cols, b_stride)] = operands(form, [m, n, k], gap);
    let a = MatRef::with_stride(a, a_rows, a_cols, a_stride).unwrap();
    let b = MatRef::with_stride(b, b_rows, b_cols, b_stride).unwrap();
    let c = MatMut::with_stride(c, m, n, n + gap).unwrap();
    let gemm = match form {
        Form::Nn => linalg::gemm_nn,
        Form::Nt => linalg::gemm_nt,
        Form::Tn => linalg::gemm_tn,
    };
    gemm(a, b, c, Par::Serial, &mut Scratch::new()).unwrap();
}

fn launch(
    stream: &Stream,
    form: Form,
    [m, n, k]: [usize; 3],
    gap: usize,
    [a, b, c]: [&mut Buffer<f32>; 3],
    c_stride: usize,
) -> Result<(), Error> {
    let [(.., a_stride), (.., b_stride)] = operands(form, [m, n, k], gap);
    let (a, b, c) = (a.view(), b.view(), c.view_mut());
    match form {
        Form::Nn => stream.launch(&GemmNn { a, b, c, m, n, k, a_stride, b_stride, c_stride }),
        Form::Nt => stream.launch(&GemmNt { a, b, c, m, n, k, a_stride, b_stride, c_stride }),
        Form::Tn => stream.launch(&GemmTn { a, b, c, m, n, k, a_stride, b_stride, c_stride }),
    }
}

fn compare(stream: &Stream, form: Form, shape: [usize; 3], gap: usize) {
    let [m, n, k] = shape;
    let [a, b] = operands(form, shape, gap).map(|(rows, cols, stride)| elements(rows, cols, stride));
    let (a, b) = (numbers(1, a), numbers(2, b));
    let stride = n + gap;
    let mut expected = numbers(3, elements(m, n, stride));
    let mut c = Buffer::from_slice(stream, &expected).unwrap();
    on_host(form, shape, gap, &a, &b, &mut expected);
    let [mut a, mut b] = [&a, &b].map(|values| Buffer::from_slice(stream, values).unwrap());
    if k > 1024 {
        let count = chunks(k as u128) as usize;
        let mut parts = Buffer::uninit(stream.device(), count * m * n).unwrap();
        launch(stream, form, shape, gap, [&mut a, &mut b, &mut parts], n).unwrap();
        let join = JoinParts { parts: parts.view(), out: c.view_mut(), count, rows: m, cols: n, stride };
        stream.launch(&join).unwrap();
    } else {
        launch(stream, form, shape, gap, [&mut a, &mut b, &mut c], stride).unwrap();
    }
    assert_eq!(c.to_vec(stream).unwrap(), expected, "{form:?} {shape:?}, gap {gap}");
}

#[test]
fn products_are_the_hosts() {
    let stream = stream();
    for form in [Form::Nn, Form::Nt, Form::Tn] {
        for shape in [[0, 3, 4], [3, 0, 4], [3, 4, 0], [1, 1, 1], [129, 65, 9], [7, 66, 40], [5, 3, 1025], [2, 9, 3000]]
        {
            compare(&stream, form, shape, 0);
            compare(&stream, form, shape, 3);
        }
    }
}

#[test]
fn strides_of_products_are_checked() {
    let stream = stream();
    let [mut a, mut b, mut c] = [6, 8, 12].map(|n| Buffer::<f32>::zeroed(&stream, n).unwrap());
    // (3, 2) by (2, 4), with the result's rows closer than they are long.
    let error = launch(&stream, Form::Nn, [3, 4, 2], 0, [&mut a, &mut b, &mut c], 3).unwrap_err();
    let range = |least, most, got| LaunchError::Range { kernel: "gemm_nn_f32", argument: "c_stride", least, most, got };
    assert_eq!(error, Error::Launch(range(4, (1 << 31) - 1, 3)));
    // Chunks' results are dense.
    let [mut a, mut b, mut c] = [3 * 1025, 4 * 1025, 24].map(|n| Buffer::<f32>::zeroed(&stream, n).unwrap());
    let error = launch(&stream, Form::Nn, [3, 4, 1025], 0, [&mut a, &mut b, &mut c], 5).unwrap_err();
    assert_eq!(error, Error::Launch(range(4, 4, 5)));
    launch(&stream, Form::Nn, [3, 4, 1025], 0, [&mut a, &mut b, &mut c], 4).unwrap();
}

#[test]
fn sums_of_rows_and_columns_are_the_hosts() {
    let stream = stream();
    for (rows, cols, gap) in [(0, 3, 0), (3, 0, 0), (1, 1, 2), (33, 31, 1), (5, 2100, 0), (1024, 33, 0), (2100, 35, 3)]
    {
        let stride = cols + gap;
        let a = numbers(7, elements(rows, cols, stride));
        let device = Buffer::from_slice(&stream, &a).unwrap();
        let view = MatRef::with_stride(&a, rows, cols, stride).unwrap();

        let mut expected = vec![0.0; rows];
        linalg::sum_cols(view, &mut expected, Par::Serial).unwrap();
        let mut out = Buffer::uninit(stream.device(), rows).unwrap();
        stream.launch(&SumCols { a: device.view(), out: out.view_mut(), rows, cols, stride }).unwrap();
        assert_eq!(out.to_vec(&stream).unwrap(), expected, "columns of {rows} x {cols}");

        let mut expected = vec![0.0; cols];
        linalg::sum_rows(view, &mut expected, Par::Serial).unwrap();
        let count = chunks(rows as u128) as usize;
        let mut parts = Buffer::uninit(stream.device(), count * cols).unwrap();
        stream.launch(&SumRows { a: device.view(), out: parts.view_mut(), rows, cols, stride }).unwrap();
        let mut out = Buffer::uninit(stream.device(), cols).unwrap();
        let join = JoinParts { parts: parts.view(), out: out.view_mut(), count, rows: 1, cols, stride: cols };
        stream.launch(&join).unwrap();
        assert_eq!(out.to_vec(&stream).unwrap(), expected, "rows of {rows} x {cols}");
    }
}
