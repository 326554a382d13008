//! The products.

mod block;
mod chunks;
mod operands;
mod plan;
mod tuning;

use crate::pack::Source;
use crate::{Error, MatMut, MatRef, PackedB, Scratch};
use arith::simd::Isa;
use operands::{Job, Left, Out, Right};

/// Who does the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Par {
    /// The calling thread.
    Serial,
    /// The current rayon pool; small products stay on the calling thread.
    Rayon,
}

/// Refuses an operand of another shape than the others ask for.
#[inline]
pub(crate) fn expect(
    operation: &'static str,
    operand: &'static str,
    expected: (usize, usize),
    got: (usize, usize),
) -> Result<(), Error> {
    if expected == got { Ok(()) } else { Err(Error::Shape { operation, operand, expected, got }) }
}

/// `C = A B`: `C[i, j]` is the chain `acc = fma(A[i, t], B[t, j], acc)` over `t` ascending from +0, in chunks of 1024
/// `t`s whose results join by the adjacent-pairs tree.
///
/// - `a`: (m, k)
/// - `b`: (k, n)
/// - `c`: (m, n), overwritten; +0 if k is 0
///
/// Allocates only where `scratch` has not yet grown to its need.
///
/// ```
/// use linalg::{MatMut, MatRef, Par, Scratch, gemm_nn};
/// let mut c = [0.0; 4];
/// gemm_nn(
///     MatRef::new(&[1.0, 2.0, 3.0, 4.0], 2, 2)?,
///     MatRef::new(&[5.0, 6.0, 7.0, 8.0], 2, 2)?,
///     MatMut::new(&mut c, 2, 2)?,
///     Par::Serial,
///     &mut Scratch::new(),
/// )?;
/// assert_eq!(c, [19.0, 22.0, 43.0, 50.0]);
/// # Ok::<(), linalg::Error>(())
/// ```
///
/// # Errors
/// [`Error::Shape`]; `c` stays as it was.
#[inline]
pub fn gemm_nn(a: MatRef<'_>, b: MatRef<'_>, c: MatMut<'_>, par: Par, scratch: &mut Scratch) -> Result<(), Error> {
    gemm_nn_on(Isa::detect(), a, b, c, par, scratch)
}

/// `C = A B^T`, in the order of [`gemm_nn`].
///
/// - `a`: (m, k)
/// - `b`: (n, k)
/// - `c`: (m, n), overwritten; +0 if k is 0
///
/// # Errors
/// [`Error::Shape`]; `c` stays as it was.
#[inline]
pub fn gemm_nt(a: MatRef<'_>, b: MatRef<'_>, c: MatMut<'_>, par: Par, scratch: &mut Scratch) -> Result<(), Error> {
    gemm_nt_on(Isa::detect(), a, b, c, par, scratch)
}

/// `C = A^T B`, in the order of [`gemm_nn`].
///
/// - `a`: (k, m)
/// - `b`: (k, n)
/// - `c`: (m, n), overwritten; +0 if k is 0
///
/// # Errors
/// [`Error::Shape`]; `c` stays as it was.
#[inline]
pub fn gemm_tn(a: MatRef<'_>, b: MatRef<'_>, c: MatMut<'_>, par: Par, scratch: &mut Scratch) -> Result<(), Error> {
    gemm_tn_on(Isa::detect(), a, b, c, par, scratch)
}

/// `C = A B` with `B` packed before, in the order of [`gemm_nn`]. Needs no scratch and never allocates.
///
/// - `a`: (m, k)
/// - `b`: (k, n)
/// - `c`: (m, n), overwritten; +0 if k is 0
///
/// # Errors
/// [`Error::Shape`]; `c` stays as it was.
#[inline]
pub fn gemm_packed(a: MatRef<'_>, b: &PackedB, c: MatMut<'_>, par: Par) -> Result<(), Error> {
    gemm_packed_on(Isa::detect(), a, b, c, par)
}

/// [`gemm_nn`] on an instruction set (on the best one below it, where the machine lacks it).
#[doc(hidden)]
pub fn gemm_nn_on(
    isa: Isa,
    a: MatRef<'_>,
    b: MatRef<'_>,
    mut c: MatMut<'_>,
    par: Par,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let (m, k, n) = (a.rows(), a.cols(), b.cols());
    expect("gemm_nn", "b", (k, n), b.shape())?;
    expect("gemm_nn", "c", (m, n), c.shape())?;
    let source = Source { data: b.data(), stride: b.row_stride(), transposed: false, k, n };
    // SAFETY: `c` is borrowed exclusively; the shapes were compared.
    unsafe { plan::product(isa, Left::rows(&a), source, Out::of(&mut c), [m, n, k], par, scratch) };
    Ok(())
}

/// [`gemm_nt`] on an instruction set (on the best one below it, where the machine lacks it).
#[doc(hidden)]
pub fn gemm_nt_on(
    isa: Isa,
    a: MatRef<'_>,
    b: MatRef<'_>,
    mut c: MatMut<'_>,
    par: Par,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let (m, k, n) = (a.rows(), a.cols(), b.rows());
    expect("gemm_nt", "b", (n, k), b.shape())?;
    expect("gemm_nt", "c", (m, n), c.shape())?;
    let source = Source { data: b.data(), stride: b.row_stride(), transposed: true, k, n };
    // SAFETY: `c` is borrowed exclusively; the shapes were compared.
    unsafe { plan::product(isa, Left::rows(&a), source, Out::of(&mut c), [m, n, k], par, scratch) };
    Ok(())
}

/// [`gemm_tn`] on an instruction set (on the best one below it, where the machine lacks it).
#[doc(hidden)]
pub fn gemm_tn_on(
    isa: Isa,
    a: MatRef<'_>,
    b: MatRef<'_>,
    mut c: MatMut<'_>,
    par: Par,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let (m, k, n) = (a.cols(), a.rows(), b.cols());
    expect("gemm_tn", "b", (k, n), b.shape())?;
    expect("gemm_tn", "c", (m, n), c.shape())?;
    // SAFETY: `c` is borrowed exclusively; the shapes were compared.
    unsafe { plan::product_tn(isa, &a, &b, Out::of(&mut c), [m, n, k], par, scratch) };
    Ok(())
}

/// [`gemm_packed`] on an instruction set (on the best one below it, where the machine lacks it).
#[doc(hidden)]
pub fn gemm_packed_on(isa: Isa, a: MatRef<'_>, b: &PackedB, mut c: MatMut<'_>, par: Par) -> Result<(), Error> {
    let (m, k, n) = (a.rows(), b.k(), b.n());
    expect("gemm_packed", "a", (m, k), a.shape())?;
    expect("gemm_packed", "c", (m, n), c.shape())?;
    let job = Job { left: Left::rows(&a), right: Right::panels(b.data(), k, n), out: Out::of(&mut c), m, n, k };
    // SAFETY: `c` is borrowed exclusively; the shapes were compared, and `b` holds `k` x `n` packed elements.
    unsafe { plan::run(isa, job, par) };
    Ok(())
}
