//! Products.
use crate::{Error, MatMut, MatRef};

/// Who does the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Par {
    /// The calling thread.
    Serial,
    /// The current rayon pool.
    Rayon,
}

/// Packing buffers: grown once, then reused.
#[derive(Debug, Default)]
pub struct Scratch {}

impl Scratch {
    /// Empty.
    pub fn new() -> Self {
        Self::default()
    }
}

fn tree(v: &mut Vec<f32>) -> f32 {
    while v.len() > 1 {
        let half = v.len().div_ceil(2);
        for i in 0..half {
            v[i] = if 2 * i + 1 < v.len() { v[2 * i] + v[2 * i + 1] } else { v[2 * i] };
        }
        v.truncate(half);
    }
    v.first().copied().unwrap_or(0.0)
}

fn simple(k: usize, a: impl Fn(usize, usize) -> f32, b: impl Fn(usize, usize) -> f32, mut c: MatMut<'_>) {
    let mut v = Vec::new();
    for i in 0..c.rows() {
        for j in 0..c.cols() {
            v.clear();
            for p in (0..k).step_by(1024) {
                let mut acc = 0.0;
                for t in p..k.min(p + 1024) {
                    acc = arith::fma(a(i, t), b(t, j), acc);
                }
                v.push(acc);
            }
            let r = tree(&mut v);
            if let Some(row) = c.row_mut(i) {
                row[j] = r;
            }
        }
    }
}

fn shape(
    operation: &'static str,
    operand: &'static str,
    expected: (usize, usize),
    got: (usize, usize),
) -> Result<(), Error> {
    if expected == got { Ok(()) } else { Err(Error::Shape { operation, operand, expected, got }) }
}

/// `C = A B`.
pub fn gemm_nn(a: MatRef<'_>, b: MatRef<'_>, c: MatMut<'_>, _par: Par, _scratch: &mut Scratch) -> Result<(), Error> {
    shape("gemm_nn", "b", (a.cols(), b.cols()), b.shape())?;
    shape("gemm_nn", "c", (a.rows(), b.cols()), c.shape())?;
    simple(a.cols(), |i, k| a.get(i, k).unwrap_or(0.0), |k, j| b.get(k, j).unwrap_or(0.0), c);
    Ok(())
}

/// `C = A B^T`.
pub fn gemm_nt(a: MatRef<'_>, b: MatRef<'_>, c: MatMut<'_>, _par: Par, _scratch: &mut Scratch) -> Result<(), Error> {
    shape("gemm_nt", "b", (b.rows(), a.cols()), b.shape())?;
    shape("gemm_nt", "c", (a.rows(), b.rows()), c.shape())?;
    simple(a.cols(), |i, k| a.get(i, k).unwrap_or(0.0), |k, j| b.get(j, k).unwrap_or(0.0), c);
    Ok(())
}

/// `C = A^T B`.
pub fn gemm_tn(a: MatRef<'_>, b: MatRef<'_>, c: MatMut<'_>, _par: Par, _scratch: &mut Scratch) -> Result<(), Error> {
    shape("gemm_tn", "b", (a.rows(), b.cols()), b.shape())?;
    shape("gemm_tn", "c", (a.cols(), b.cols()), c.shape())?;
    simple(a.rows(), |i, k| a.get(k, i).unwrap_or(0.0), |k, j| b.get(k, j).unwrap_or(0.0), c);
    Ok(())
}

/// A right operand packed once.
#[derive(Clone, Debug)]
pub struct PackedB {
    k: usize,
    n: usize,
    data: Vec<f32>,
}

impl PackedB {
    /// Zeros of `k` x `n`.
    pub fn new(k: usize, n: usize) -> Self {
        Self { k, n, data: vec![0.0; k * n] }
    }

    /// Packs `b` (k, n).
    pub fn pack_nn(&mut self, b: MatRef<'_>) -> Result<(), Error> {
        shape("PackedB::pack_nn", "b", (self.k, self.n), b.shape())?;
        for t in 0..self.k {
            for j in 0..self.n {
                self.data[t * self.n + j] = b.get(t, j).unwrap_or(0.0);
            }
        }
        Ok(())
    }

    /// Packs `b` (n, k).
    pub fn pack_nt(&mut self, b: MatRef<'_>) -> Result<(), Error> {
        shape("PackedB::pack_nt", "b", (self.n, self.k), b.shape())?;
        for t in 0..self.k {
            for j in 0..self.n {
                self.data[t * self.n + j] = b.get(j, t).unwrap_or(0.0);
            }
        }
        Ok(())
    }
}

/// `C = A B`.
pub fn gemm_packed(a: MatRef<'_>, b: &PackedB, c: MatMut<'_>, _par: Par) -> Result<(), Error> {
    shape("gemm_packed", "b", (a.cols(), b.n), (b.k, b.n))?;
    shape("gemm_packed", "c", (a.rows(), b.n), c.shape())?;
    simple(a.cols(), |i, k| a.get(i, k).unwrap_or(0.0), |k, j| b.data[k * b.n + j], c);
    Ok(())
}
