//! Operands that don't fit: a typed error that names them, and nothing changed.

mod support;

use linalg::{Error, MatMut, MatRef, PackedB, Par, Scratch};
use support::SENTINEL;

#[test]
fn views_refuse_what_the_slice_cannot_hold() {
    let mut data = [0.0; 11];
    let short = |operation, rows, cols, row_stride, expected| Error::DataTooShort {
        operation,
        rows,
        cols,
        row_stride,
        expected,
        got: 11,
    };
    assert_eq!(MatRef::new(&data, 3, 4).unwrap_err(), short("MatRef::new", 3, 4, 4, 12));
    assert_eq!(MatMut::new(&mut data, 3, 4).unwrap_err(), short("MatMut::new", 3, 4, 4, 12));
    // The last row needs no gap: 2 * 4 + 3 elements.
    assert!(MatRef::with_stride(&data, 3, 3, 4).is_ok());
    assert!(MatMut::with_stride(&mut data, 3, 3, 4).is_ok());
    assert_eq!(MatRef::with_stride(&data, 3, 4, 4).unwrap_err(), short("MatRef::with_stride", 3, 4, 4, 12));
    assert_eq!(MatMut::with_stride(&mut data, 3, 3, 5).unwrap_err(), short("MatMut::with_stride", 3, 3, 5, 13));
    let overlap = Error::StrideTooShort { operation: "MatMut::with_stride", expected: 3, got: 2 };
    assert_eq!(MatMut::with_stride(&mut data, 2, 3, 2).unwrap_err(), overlap);
    assert!(overlap.to_string().contains("at least 3") && overlap.to_string().contains("got 2"));
}

#[test]
fn sizes_that_overflow() {
    let data = [0.0; 4];
    for (rows, cols, stride) in
        [(usize::MAX, usize::MAX, usize::MAX), (2, 1, usize::MAX), (usize::MAX, 2, 2), (1 << 33, 1 << 33, 1 << 33)]
    {
        let error = MatRef::with_stride(&data, rows, cols, stride).unwrap_err();
        assert!(
            matches!(error, Error::TooLarge { operation: "MatRef::with_stride", rows: r, row_stride: s, .. } if (r, s) == (rows, stride)),
            "{error}"
        );
    }
    // Sizes that wrap to something small.
    assert!(MatRef::new(&data, 1 << 62, 4).is_err());
    assert!(MatRef::new(&data, (1 << 63) + 1, 2).is_err());
    // Nothing to read, however long the other side.
    assert!(MatRef::new(&[], usize::MAX, 0).is_ok());
    assert!(MatRef::new(&[], 0, usize::MAX).is_ok());
}

#[test]
fn rows_and_elements_outside_are_none() {
    let mut data = [1.0, 2.0, 3.0, 4.0, 5.0];
    let a = MatRef::with_stride(&data, 2, 2, 3).unwrap();
    assert_eq!((a.row(1), a.row(2)), (Some(&[4.0, 5.0][..]), None));
    assert_eq!((a.get(1, 1), a.get(0, 2), a.get(2, 0), a.get(usize::MAX, 0)), (Some(5.0), None, None, None));
    let mut c = MatMut::with_stride(&mut data, 2, 2, 3).unwrap();
    assert_eq!(c.reborrow().row_mut(0).map(|row| row.to_vec()), Some(vec![1.0, 2.0]));
    assert!(c.row_mut(2).is_none());
    assert_eq!((c.rows(), c.cols(), c.row_stride()), (2, 2, 3));
}

/// Runs `f` on a sentinel-filled output of `rows` x `cols` and checks the error and that nothing was written.
fn refused(rows: usize, cols: usize, want: Error, f: impl FnOnce(MatMut<'_>) -> Result<(), Error>) {
    let mut c = vec![SENTINEL; rows * cols];
    assert_eq!(f(MatMut::new(&mut c, rows, cols).unwrap()).unwrap_err(), want);
    assert!(c.iter().all(|x| x.to_bits() == SENTINEL.to_bits()), "{want}: the output was written");
}

#[test]
fn products_refuse_other_shapes() {
    let data = vec![1.0; 1000];
    let view = |rows, cols| MatRef::new(&data, rows, cols).unwrap();
    let scratch = &mut Scratch::new();
    let shape = |operation, operand, expected, got| Error::Shape { operation, operand, expected, got };
    let par = Par::Serial;
    refused(2, 4, shape("gemm_nn", "b", (3, 4), (5, 4)), |c| linalg::gemm_nn(view(2, 3), view(5, 4), c, par, scratch));
    refused(2, 5, shape("gemm_nn", "c", (2, 4), (2, 5)), |c| linalg::gemm_nn(view(2, 3), view(3, 4), c, par, scratch));
    refused(3, 4, shape("gemm_nn", "c", (2, 4), (3, 4)), |c| linalg::gemm_nn(view(2, 3), view(3, 4), c, par, scratch));
    refused(2, 4, shape("gemm_nt", "b", (4, 3), (4, 5)), |c| linalg::gemm_nt(view(2, 3), view(4, 5), c, par, scratch));
    refused(4, 2, shape("gemm_nt", "c", (2, 4), (4, 2)), |c| linalg::gemm_nt(view(2, 3), view(4, 3), c, par, scratch));
    refused(2, 4, shape("gemm_tn", "b", (3, 4), (2, 4)), |c| linalg::gemm_tn(view(3, 2), view(2, 4), c, par, scratch));
    refused(3, 4, shape("gemm_tn", "c", (2, 4), (3, 4)), |c| linalg::gemm_tn(view(3, 2), view(3, 4), c, par, scratch));
    let packed = PackedB::new(3, 4);
    refused(2, 4, shape("gemm_packed", "a", (2, 3), (2, 4)), |c| linalg::gemm_packed(view(2, 4), &packed, c, par));
    refused(2, 3, shape("gemm_packed", "c", (2, 4), (2, 3)), |c| linalg::gemm_packed(view(2, 3), &packed, c, par));
}

#[test]
fn packing_another_shape_keeps_the_old_operand() {
    let identity = [1.0, 0.0, 0.0, 1.0];
    let mut packed = PackedB::new(2, 2);
    packed.pack_nn(MatRef::new(&identity, 2, 2).unwrap()).unwrap();
    let wrong = [7.0; 6];
    let wrong = MatRef::new(&wrong, 3, 2).unwrap();
    let shape = |operation| Error::Shape { operation, operand: "b", expected: (2, 2), got: (3, 2) };
    assert_eq!(packed.pack_nn(wrong).unwrap_err(), shape("PackedB::pack_nn"));
    assert_eq!(packed.pack_nt(wrong).unwrap_err(), shape("PackedB::pack_nt"));
    let mut c = [SENTINEL; 4];
    let a = [2.0, 3.0, 4.0, 5.0];
    linalg::gemm_packed(MatRef::new(&a, 2, 2).unwrap(), &packed, MatMut::new(&mut c, 2, 2).unwrap(), Par::Serial)
        .unwrap();
    assert_eq!(c, a);
}

#[test]
fn endless_sides_without_elements_are_done_at_once() {
    let scratch = &mut Scratch::new();
    let endless = MatRef::new(&[], usize::MAX, 0).unwrap();
    let flat = MatRef::new(&[], 0, usize::MAX).unwrap();
    for par in [Par::Serial, Par::Rayon] {
        let tall = |f: &mut dyn FnMut(MatMut<'_>)| f(MatMut::new(&mut [], usize::MAX, 0).unwrap());
        tall(&mut |c| linalg::gemm_nn(endless, MatRef::new(&[], 0, 0).unwrap(), c, par, scratch).unwrap());
        tall(&mut |c| linalg::gemm_nt(endless, MatRef::new(&[], 0, 0).unwrap(), c, par, scratch).unwrap());
        tall(&mut |c| linalg::gemm_tn(flat, MatRef::new(&[], 0, 0).unwrap(), c, par, scratch).unwrap());
        tall(&mut |c| linalg::gemm_packed(endless, &PackedB::new(0, 0), c, par).unwrap());
        linalg::gemm_nt(flat, flat, MatMut::new(&mut [], 0, 0).unwrap(), par, scratch).unwrap();
        linalg::sum_rows(endless, &mut [], par).unwrap();
        linalg::sum_cols(flat, &mut [], par).unwrap();
    }
}

#[test]
fn packed_operands_too_large() {
    for (k, n) in [(usize::MAX, 1), (1, usize::MAX), (1 << 40, 1 << 40), (1 << 60, 2), (1 << 58, 8)] {
        let error = PackedB::try_new(k, n).unwrap_err();
        assert!(
            matches!(error, Error::TooLarge { operation: "PackedB::try_new", rows, row_stride, .. } if (rows, row_stride) == (k, n)),
            "{error}"
        );
    }
    let packed = PackedB::try_new(3, 5).unwrap();
    assert_eq!((packed.k(), packed.n()), (3, 5));
}

#[test]
fn sums_refuse_other_lengths() {
    let data = [1.0; 6];
    let a = MatRef::new(&data, 2, 3).unwrap();
    let mut out = [SENTINEL; 4];
    let length = |operation, expected| Error::Length { operation, operand: "out", expected, got: 4 };
    assert_eq!(linalg::sum_rows(a, &mut out, Par::Serial).unwrap_err(), length("sum_rows", 3));
    assert_eq!(linalg::sum_cols(a, &mut out, Par::Rayon).unwrap_err(), length("sum_cols", 2));
    assert_eq!(out, [SENTINEL; 4]);
}
