//! The products.

use super::scratch::Parts;
use super::{Error, MatView, MatViewMut, Scratch};
use crate::gemm::expect;
use gpu::Stream;
use gpu::kernels::gemm::{GemmNn, GemmNt, GemmTn};

macro_rules! products {
    ($($(#[$doc:meta])* $name:ident, $Kernel:ident: |$a:ident, $b:ident| ($m:expr, $k:expr, $n:expr), $expected:expr;)*) => {$(
        $(#[$doc])*
        ///
        /// # Errors
        /// [`Shape`](crate::Error::Shape); [`Error::Device`].
        pub fn $name(
            stream: &Stream,
            $a: MatView<'_>,
            $b: MatView<'_>,
            c: MatViewMut<'_>,
            scratch: &mut Scratch,
        ) -> Result<(), Error> {
            let (m, k, n) = ($m, $k, $n);
            expect(stringify!($name), "b", $expected(k, n), $b.shape())?;
            expect(stringify!($name), "c", (m, n), c.shape())?;
            let MatViewMut { data, row_stride, .. } = c;
            let result = Parts { out: data, rows: m, cols: n, row_stride };
            Ok(scratch.join(stream, k, result, |c, c_stride| {
                let (a_stride, b_stride) = ($a.row_stride, $b.row_stride);
                stream.launch(&$Kernel { a: $a.data, b: $b.data, c, m, n, k, a_stride, b_stride, c_stride })
            })?)
        }
    )*};
}

products! {
    /// `C = A B`, the bits of [`linalg::gemm_nn`](crate::gemm_nn).
    ///
    /// - `a`: (m, k)
    /// - `b`: (k, n)
    /// - `c`: (m, n), overwritten; +0 if k is 0
    gemm_nn, GemmNn: |a, b| (a.rows, a.cols, b.cols), |k, n| (k, n);
    /// `C = A B^T`, the bits of [`linalg::gemm_nt`](crate::gemm_nt).
    ///
    /// - `a`: (m, k)
    /// - `b`: (n, k)
    /// - `c`: (m, n), overwritten; +0 if k is 0
    gemm_nt, GemmNt: |a, b| (a.rows, a.cols, b.rows), |k, n| (n, k);
    /// `C = A^T B`, the bits of [`linalg::gemm_tn`](crate::gemm_tn).
    ///
    /// - `a`: (k, m)
    /// - `b`: (k, n)
    /// - `c`: (m, n), overwritten; +0 if k is 0
    gemm_tn, GemmTn: |a, b| (a.cols, a.rows, b.cols), |k, n| (k, n);
}
