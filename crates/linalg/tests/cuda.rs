//! Products and sums on a device have the bits of the CPU's.
#![cfg(feature = "cuda")]

mod support;

use gpu::{Buffer, Device, Graph, Stream};
use linalg::cuda::{self, Error, MatView, MatViewMut};
use linalg::{MatMut, MatRef, Par, Scratch};
use proptest::prelude::*;
use support::{Matrix, SENTINEL, assert_same};

fn stream() -> Stream {
    let device = Device::new(0).unwrap_or_else(|error| panic!("{error}; `cargo xtask test` brings a driver along"));
    device.stream().unwrap()
}

#[derive(Clone, Copy, Debug)]
enum Form {
    Nn,
    Nt,
    Tn,
}

const FORMS: [Form; 3] = [Form::Nn, Form::Nt, Form::Tn];

/// A product: rows of `c`, columns of `c`, terms; elements between rows.
#[derive(Clone, Copy, Debug)]
struct Case {
    form: Form,
    m: usize,
    n: usize,
    k: usize,
    gap: usize,
}

impl Case {
    fn operands(self, seed: u64) -> [Matrix; 2] {
        let Self { m, n, k, .. } = self;
        let (a, b) = match self.form {
            Form::Nn => ((m, k), (k, n)),
            Form::Nt => ((m, k), (n, k)),
            Form::Tn => ((k, m), (k, n)),
        };
        [Matrix::special(a.0, a.1, seed), Matrix::special(b.0, b.1, seed + 4)]
    }

    fn on_host(self, [a, b]: &[Matrix; 2]) -> Box<[f32]> {
        let mut c = Matrix::sentinel(self.m, self.n).strided(self.gap);
        let out = MatMut::with_stride(&mut c, self.m, self.n, self.n + self.gap).unwrap();
        let gemm = match self.form {
            Form::Nn => linalg::gemm_nn,
            Form::Nt => linalg::gemm_nt,
            Form::Tn => linalg::gemm_tn,
        };
        gemm(a.view(), b.view(), out, Par::Serial, &mut Scratch::new()).unwrap();
        c
    }

    fn on_device(self, stream: &Stream, operands: &[Matrix; 2], scratch: &mut cuda::Scratch) -> Vec<f32> {
        let Self { m, n, gap, .. } = self;
        let [a, b] = operands;
        let [a_data, b_data] = [a, b].map(|matrix| Buffer::from_slice(stream, &matrix.strided(gap)).unwrap());
        let view =
            |matrix: &Matrix, data| MatView::with_stride(data, matrix.rows, matrix.cols, matrix.cols + gap).unwrap();
        let mut c = Buffer::from_slice(stream, &Matrix::sentinel(m, n).strided(gap)).unwrap();
        let out = MatViewMut::with_stride(c.view_mut(), m, n, n + gap).unwrap();
        let gemm = match self.form {
            Form::Nn => cuda::gemm_nn,
            Form::Nt => cuda::gemm_nt,
            Form::Tn => cuda::gemm_tn,
        };
        gemm(stream, view(a, a_data.view()), view(b, b_data.view()), out, scratch).unwrap();
        c.to_vec(stream).unwrap()
    }

    fn check(self, stream: &Stream, seed: u64, scratch: &mut cuda::Scratch) {
        let operands = self.operands(seed);
        let expected = self.on_host(&operands);
        // Gaps too: nothing was written there.
        assert_same(&self.on_device(stream, &operands, scratch), &expected, self.n + self.gap, &format!("{self:?}"));
    }
}

/// Sums along both sides.
fn check_sums(stream: &Stream, matrix: &Matrix, gap: usize, scratch: &mut cuda::Scratch) {
    let what = format!("{} x {}, gap {gap}", matrix.rows, matrix.cols);
    let data = Buffer::from_slice(stream, &matrix.strided(gap)).unwrap();
    let view = MatView::with_stride(data.view(), matrix.rows, matrix.cols, matrix.cols + gap).unwrap();
    let mut expected = vec![SENTINEL; matrix.rows];
    linalg::sum_cols(matrix.view(), &mut expected, Par::Serial).unwrap();
    let mut out = Buffer::from_slice(stream, &vec![SENTINEL; matrix.rows]).unwrap();
    cuda::sum_cols(stream, view, out.view_mut()).unwrap();
    assert_same(&out.to_vec(stream).unwrap(), &expected, 1, &what);

    let mut expected = vec![SENTINEL; matrix.cols];
    linalg::sum_rows(matrix.view(), &mut expected, Par::Serial).unwrap();
    let mut out = Buffer::from_slice(stream, &vec![SENTINEL; matrix.cols]).unwrap();
    cuda::sum_rows(stream, view, out.view_mut(), scratch).unwrap();
    assert_same(&out.to_vec(stream).unwrap(), &expected, 1, &what);
}

#[test]
fn edges_of_tiles_and_chunks() {
    let (stream, mut scratch) = (stream(), cuda::Scratch::new());
    for form in FORMS {
        for (m, n, k) in
            [(0, 3, 4), (3, 0, 4), (3, 4, 0), (1, 1, 1), (129, 65, 9), (5, 3, 1024), (5, 3, 1025), (2, 9, 3000)]
        {
            for gap in [0, 3] {
                Case { form, m, n, k, gap }.check(&stream, 1, &mut scratch);
            }
        }
    }
    for (rows, cols) in [(0, 3), (3, 0), (1, 1), (33, 31), (5, 2100), (1024, 33), (2100, 35)] {
        for gap in [0, 1] {
            check_sums(&stream, &Matrix::special(rows, cols, 2), gap, &mut scratch);
        }
    }
}

#[test]
fn any_shape_has_the_bits_of_the_cpu() {
    let stream = stream();
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(48));
    let cases = (0..3_usize, 0..140_usize, 0..140_usize, 0..60_usize, 0..6_usize, any::<u32>());
    let result = runner.run(&cases, |(form, m, n, k, gap, seed)| {
        let case = Case { form: FORMS[form], m, n, k, gap };
        case.check(&stream, seed.into(), &mut cuda::Scratch::new());
        check_sums(&stream, &Matrix::special(m, n, seed.into()), gap, &mut cuda::Scratch::new());
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn every_order_of_threads_has_the_same_bits() {
    for seed in ["0", "5", "18446744073709551615"] {
        test_support::run_apart("child_in_some_order", |command| command.env("LOCKSTEP_EMU_SEED", seed));
    }
}

#[test]
#[ignore = "run by the test above"]
fn child_in_some_order() {
    let (stream, mut scratch) = (stream(), cuda::Scratch::new());
    for form in FORMS {
        Case { form, m: 131, n: 70, k: 20, gap: 1 }.check(&stream, 3, &mut scratch);
        Case { form, m: 5, n: 66, k: 2050, gap: 0 }.check(&stream, 4, &mut scratch);
    }
    check_sums(&stream, &Matrix::special(2050, 40, 5), 2, &mut scratch);
}

#[test]
fn a_graph_keeps_the_scratch_that_it_used() {
    let stream = stream();
    let case = Case { form: Form::Nt, m: 3, n: 4, k: 2000, gap: 0 };
    let operands = case.operands(2);
    let [a, b] = operands.each_ref().map(|matrix| Buffer::from_slice(&stream, &matrix.values).unwrap());
    let mut c = Buffer::zeroed(&stream, 12).unwrap();
    let mut scratch = cuda::Scratch::new();
    let graph = Graph::capture(&stream, |stream| {
        let (a, b) = (MatView::new(a.view(), 3, 2000)?, MatView::new(b.view(), 4, 2000)?);
        cuda::gemm_nt(stream, a, b, MatViewMut::new(c.view_mut(), 3, 4)?, &mut scratch)
    });
    let graph = graph.unwrap();
    assert_eq!(graph.operations(), 2);
    // Larger scratch takes its place, and something else the memory, were it free.
    Case { m: 30, ..case }.check(&stream, 2, &mut scratch);
    let _other = Buffer::from_slice(&stream, &[SENTINEL; 24]).unwrap();
    graph.launch(&stream).unwrap();
    assert_same(&c.to_vec(&stream).unwrap(), &case.on_host(&operands), 4, "replayed");
}

#[test]
fn the_stride_of_a_single_row_may_be_anything() {
    let stream = stream();
    let row = Buffer::from_slice(&stream, &[1.0_f32, 2.0, 4.0]).unwrap();
    let mut out = Buffer::<f32>::zeroed(&stream, 1).unwrap();
    let matrix = MatView::with_stride(row.view(), 1, 3, usize::MAX).unwrap();
    let c = MatViewMut::with_stride(out.view_mut(), 1, 1, usize::MAX).unwrap();
    cuda::gemm_nt(&stream, matrix, matrix, c, &mut cuda::Scratch::new()).unwrap();
    assert_eq!(out.to_vec(&stream).unwrap(), [21.0]);
}

#[test]
fn what_the_cpu_refuses_is_refused() {
    let stream = stream();
    let data = Buffer::<f32>::zeroed(&stream, 12).unwrap();
    let mut out = Buffer::<f32>::zeroed(&stream, 12).unwrap();
    let mut scratch = cuda::Scratch::new();
    let host = [0.0; 12];
    let operand = |result: Result<MatView<'_>, Error>| match result {
        Err(Error::Operand(error)) => error,
        other => panic!("{other:?}"),
    };
    let refused = MatRef::with_stride(&host, 4, 3, 4).unwrap_err().to_string();
    let error = operand(MatView::with_stride(data.view(), 4, 3, 4)).to_string();
    assert_eq!(error.replace("MatView", "MatRef"), refused);
    let error = operand(MatView::with_stride(data.view(), 2, 3, 2)).to_string();
    assert!(error.contains("row stride must be at least 3"), "{error}");
    let error = operand(MatView::new(data.view(), usize::MAX, 2)).to_string();
    assert!(error.contains("no room"), "{error}");

    let matrix = |rows, cols| MatView::new(data.view(), rows, cols).unwrap();
    let c = MatViewMut::new(out.view_mut(), 3, 3).unwrap();
    let error = cuda::gemm_nn(&stream, matrix(3, 4), matrix(3, 4), c, &mut scratch).unwrap_err();
    let expected = linalg::Error::Shape { operation: "gemm_nn", operand: "b", expected: (4, 4), got: (3, 4) };
    assert_eq!(error, Error::Operand(expected));
    let c = MatViewMut::new(out.view_mut(), 3, 2).unwrap();
    let error = cuda::gemm_nt(&stream, matrix(3, 4), matrix(3, 4), c, &mut scratch).unwrap_err();
    let expected = linalg::Error::Shape { operation: "gemm_nt", operand: "c", expected: (3, 3), got: (3, 2) };
    assert_eq!(error, Error::Operand(expected));
    let error = cuda::sum_rows(&stream, matrix(3, 4), out.view_mut(), &mut scratch).unwrap_err();
    let expected = linalg::Error::Length { operation: "sum_rows", operand: "out", expected: 4, got: 12 };
    assert_eq!(error, Error::Operand(expected));
    let error = cuda::sum_cols(&stream, matrix(3, 4), out.view_mut()).unwrap_err();
    let expected = linalg::Error::Length { operation: "sum_cols", operand: "out", expected: 3, got: 12 };
    assert_eq!(error, Error::Operand(expected));
    assert_eq!(out.to_vec(&stream).unwrap(), [0.0; 12]);
}
