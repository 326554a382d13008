//! A right operand that is packed once and used for many products.

use crate::pack::{self, Source};
use crate::{Error, MatRef};
use arith::simd::Isa;

/// A packed right operand `B` (k, n) of [`gemm_packed`](crate::gemm_packed): weights, say, between two updates.
///
/// It starts as zeros. Packing again reuses the memory.
#[derive(Clone, Debug)]
pub struct PackedB {
    k: usize,
    n: usize,
    data: Vec<f32>,
}

impl PackedB {
    /// Zeros of `k` x `n` elements.
    ///
    /// # Panics
    /// If memory for `k * n` elements (`n` rounded up to a multiple of 8, 16 or 32) cannot be had, as `Vec` does.
    pub fn new(k: usize, n: usize) -> Self {
        Self { k, n, data: vec![0.0; pack::len(k, n).unwrap_or(usize::MAX)] }
    }

    /// Rows, the length of the chains.
    #[inline]
    pub fn k(&self) -> usize {
        self.k
    }

    /// Columns.
    #[inline]
    pub fn n(&self) -> usize {
        self.n
    }

    /// Packs `b` (k, n).
    ///
    /// # Errors
    /// [`Error::Shape`]; the old contents stay.
    pub fn pack_nn(&mut self, b: MatRef<'_>) -> Result<(), Error> {
        crate::gemm::expect("PackedB::pack_nn", "b", (self.k, self.n), b.shape())?;
        Source { data: b.data(), stride: b.row_stride(), transposed: false, k: self.k, n: self.n }.pack(
            Isa::detect(),
            false,
            &mut self.data,
        );
        Ok(())
    }

    /// Packs the transpose of `b` (n, k), the usual layout of a layer's weights (outputs, inputs).
    ///
    /// # Errors
    /// [`Error::Shape`]; the old contents stay.
    pub fn pack_nt(&mut self, b: MatRef<'_>) -> Result<(), Error> {
        crate::gemm::expect("PackedB::pack_nt", "b", (self.n, self.k), b.shape())?;
        Source { data: b.data(), stride: b.row_stride(), transposed: true, k: self.k, n: self.n }.pack(
            Isa::detect(),
            false,
            &mut self.data,
        );
        Ok(())
    }

    /// The panels.
    #[inline]
    pub(crate) fn data(&self) -> &[f32] {
        &self.data
    }
}
