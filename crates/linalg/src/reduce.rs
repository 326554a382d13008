//! Sums along rows and columns, in the order of `arith::sum`.

use crate::{Error, MatRef, Par};
use arith::simd::{Isa, Kernel};
use arith::sum::{CHUNK, ChunkTree, Join, LANES, join_lanes};

/// Elements (about 10 us of one core) below which a sum is not cut for other threads.
const GRAIN: usize = 1 << 16;

/// `out[j] = sum over i of a[i, j]`, the rows added in the order of `arith::sum`: a layer's bias gradient.
///
/// - `a`: (rows, cols)
/// - `out`: (cols), overwritten; +0 if there are no rows
///
/// Allocates nothing.
///
/// ```
/// let mut out = [0.0; 2];
/// linalg::sum_rows(linalg::MatRef::new(&[1.0, 2.0, 3.0, 4.0], 2, 2)?, &mut out, linalg::Par::Serial)?;
/// assert_eq!(out, [4.0, 6.0]);
/// # Ok::<(), linalg::Error>(())
/// ```
///
/// # Errors
/// [`Error::Length`]; `out` stays as it was.
pub fn sum_rows(a: MatRef<'_>, out: &mut [f32], par: Par) -> Result<(), Error> {
    sum_rows_on(Isa::detect(), a, out, par)
}

/// `out[i] = sum over j of a[i, j]`, in the order of `arith::sum`. Rows are shared between threads; one row is not.
///
/// - `a`: (rows, cols)
/// - `out`: (rows), overwritten; +0 if there are no columns
///
/// Allocates nothing.
///
/// ```
/// let mut out = [0.0; 2];
/// linalg::sum_cols(linalg::MatRef::new(&[1.0, 2.0, 3.0, 4.0], 2, 2)?, &mut out, linalg::Par::Serial)?;
/// assert_eq!(out, [3.0, 7.0]);
/// # Ok::<(), linalg::Error>(())
/// ```
///
/// # Errors
/// [`Error::Length`]; `out` stays as it was.
pub fn sum_cols(a: MatRef<'_>, out: &mut [f32], par: Par) -> Result<(), Error> {
    sum_cols_on(Isa::detect(), a, out, par)
}

/// [`sum_rows`] on an instruction set (on the best one below it, where the machine lacks it).
#[doc(hidden)]
pub fn sum_rows_on(isa: Isa, a: MatRef<'_>, out: &mut [f32], par: Par) -> Result<(), Error> {
    if out.len() != a.cols() {
        return Err(Error::Length { operation: "sum_rows", operand: "out", expected: a.cols(), got: out.len() });
    }
    columns(isa, a, 0, out, par == Par::Rayon);
    Ok(())
}

/// [`sum_cols`] on an instruction set (on the best one below it, where the machine lacks it).
#[doc(hidden)]
pub fn sum_cols_on(isa: Isa, a: MatRef<'_>, out: &mut [f32], par: Par) -> Result<(), Error> {
    if out.len() != a.rows() {
        return Err(Error::Length { operation: "sum_cols", operand: "out", expected: a.rows(), got: out.len() });
    }
    rows(isa, a, 0, out, par == Par::Rayon);
    Ok(())
}

/// The sums of the rows from `i` on.
fn rows(isa: Isa, a: MatRef<'_>, i: usize, out: &mut [f32], parallel: bool) {
    if parallel && out.len() > 1 && a.cols().saturating_mul(out.len()) >= 2 * GRAIN {
        let (first, second) = out.split_at_mut(out.len() / 2);
        let middle = i + first.len();
        rayon::join(|| rows(isa, a, i, first, true), || rows(isa, a, middle, second, true));
    } else if a.cols() <= CHUNK {
        isa.run(ShortRows { a, i, out });
    } else {
        for (r, out) in out.iter_mut().enumerate() {
            *out = arith::sum::sum_with(isa, a.row(i + r).unwrap_or(&[]));
        }
    }
}

/// The sums of the rows from `i` on, each of one chunk at most.
struct ShortRows<'a> {
    a: MatRef<'a>,
    i: usize,
    out: &'a mut [f32],
}

impl Kernel for ShortRows<'_> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        for (r, out) in self.out.iter_mut().enumerate() {
            let row = self.a.row(self.i + r).unwrap_or(&[]);
            let mut lanes = [0.0f32; LANES];
            let (groups, rest) = row.as_chunks::<LANES>();
            for group in groups {
                for (lane, x) in lanes.iter_mut().zip(group) {
                    *lane += x;
                }
            }
            for (lane, x) in lanes.iter_mut().zip(rest) {
                *lane += x;
            }
            *out = join_lanes(&lanes);
        }
    }
}

/// Columns of the widest block.
const WIDE: usize = 64;

/// The sums of the columns from `j` on.
fn columns(isa: Isa, a: MatRef<'_>, mut j: usize, out: &mut [f32], parallel: bool) {
    if parallel && out.len() > WIDE && a.rows().saturating_mul(out.len()) >= 2 * GRAIN {
        let (first, second) = out.split_at_mut((out.len() / 2).next_multiple_of(WIDE).min(out.len() - 1));
        let middle = j + first.len();
        rayon::join(|| columns(isa, a, j, first, true), || columns(isa, a, middle, second, true));
        return;
    }
    let chunks = a.rows().div_ceil(CHUNK);
    let mut rest = out;
    macro_rules! blocks {
        ($($width:tt)*) => {$(
            while rest.len() >= $width {
                let (block, after) = core::mem::take(&mut rest).split_at_mut($width);
                block.copy_from_slice(&tree::<{ $width }>(isa, a, j, 0, chunks, parallel));
                j += $width;
                rest = after;
            }
        )*};
    }
    blocks!(WIDE 16 4 1);
}

/// Joins the sums of `W` columns from `j` on over `chunks` chunks from chunk `first` on; the range is a subtree.
fn tree<const W: usize>(isa: Isa, a: MatRef<'_>, j: usize, first: usize, chunks: usize, parallel: bool) -> [f32; W] {
    if parallel && chunks > 1 && (chunks * CHUNK).saturating_mul(W) >= 2 * GRAIN {
        let half = chunks.next_power_of_two() / 2;
        let (left, right) = rayon::join(
            || tree(isa, a, j, first, half, true),
            || tree::<W>(isa, a, j, first + half, chunks - half, true),
        );
        return left.join(right);
    }
    let mut sums = ChunkTree::new();
    for chunk in first..first + chunks {
        let start = chunk * CHUNK;
        sums.push(isa.run(ChunkSums::<W> { a, j, start, rows: CHUNK.min(a.rows() - start) }));
    }
    sums.finish().unwrap_or([0.0; W])
}

/// The sums of `W` columns from `j` on over the `rows` rows of one chunk, from row `start` on.
struct ChunkSums<'a, const W: usize> {
    a: MatRef<'a>,
    j: usize,
    start: usize,
    rows: usize,
}

impl<const W: usize> Kernel for ChunkSums<'_, W> {
    type Output = [f32; W];
    #[inline(always)]
    fn run(self) -> [f32; W] {
        let (data, stride) = (self.a.data(), self.a.row_stride());
        let mut lanes = [[0.0f32; W]; LANES];
        for i in 0..self.rows {
            let at = (self.start + i) * stride + self.j;
            let lane = &mut lanes[i % LANES];
            let row = &data[at..at + W];
            for (lane, x) in lane.iter_mut().zip(row) {
                *lane += x;
            }
        }
        let mut width = LANES / 2;
        while width > 0 {
            for i in 0..width {
                let (left, right) = (lanes[2 * i], lanes[2 * i + 1]);
                for (c, sum) in lanes[i].iter_mut().enumerate() {
                    *sum = left[c] + right[c];
                }
            }
            width /= 2;
        }
        lanes[0]
    }
}
