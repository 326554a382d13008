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
    /// If memory for `k * n` elements (the last panel's columns rounded up to 8, 16 or 32) cannot be had, as `Vec` does;
    /// [`try_new`](Self::try_new) says so instead.
    pub fn new(k: usize, n: usize) -> Self {
        Self { k, n, data: vec![0.0; pack::len(k, n).unwrap_or(usize::MAX)] }
    }

    /// Zeros of `k` x `n` elements, for sizes that nobody has checked.
    ///
    /// # Errors
    /// [`Error::TooLarge`] if the address space or the memory cannot hold them.
    pub fn try_new(k: usize, n: usize) -> Result<Self, Error> {
        let refused =
            Error::TooLarge { operation: "PackedB::try_new", rows: k, row_stride: n, limit: crate::view::LIMIT };
        let len = pack::len(k, n).filter(|&len| len <= crate::view::LIMIT).ok_or(refused)?;
        let mut data = Vec::new();
        data.try_reserve_exact(len).map_err(|_| refused)?;
        data.resize(len, 0.0);
        Ok(Self { k, n, data })
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
