//! Operands as the blocks see them: pointers and strides, already checked.

use crate::pack::{self, PANEL};
use crate::{MatMut, MatRef};

/// `A[i, t]` is `ptr[i * row + t * k]`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Left {
    pub(crate) ptr: *const f32,
    pub(crate) row: usize,
    pub(crate) k: usize,
}

impl Left {
    /// The rows of `a`.
    pub(crate) fn rows(a: &MatRef<'_>) -> Self {
        Self { ptr: a.data().as_ptr(), row: a.row_stride(), k: 1 }
    }

    /// The columns of `a`.
    pub(crate) fn columns(a: &MatRef<'_>) -> Self {
        Self { ptr: a.data().as_ptr(), row: 1, k: a.row_stride() }
    }

    /// From row `i` and step `t` on.
    #[inline]
    pub(crate) fn at(self, i: usize, t: usize) -> Self {
        Self { ptr: self.ptr.wrapping_add(i * self.row + t * self.k), ..self }
    }
}

/// `B[t, j]`, from row `t0` and column `j0` on.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Right {
    /// Element `(t, j)` is `ptr[t * stride + j]`.
    Rows { ptr: *const f32, stride: usize },
    /// Packed panels of a `k` x `n` operand.
    Panels { ptr: *const f32, k: usize, n: usize, t0: usize, j0: usize },
}

impl Right {
    /// The rows of `b`.
    pub(crate) fn rows(b: &MatRef<'_>) -> Self {
        Self::Rows { ptr: b.data().as_ptr(), stride: b.row_stride() }
    }

    /// All of a packed operand.
    pub(crate) fn panels(data: &[f32], k: usize, n: usize) -> Self {
        Self::Panels { ptr: data.as_ptr(), k, n, t0: 0, j0: 0 }
    }

    /// From row `t` and column `j` on; `j` is a multiple of 16 for panels.
    #[inline]
    pub(crate) fn at(self, t: usize, j: usize) -> Self {
        match self {
            Self::Rows { ptr, stride } => Self::Rows { ptr: ptr.wrapping_add(t * stride + j), stride },
            Self::Panels { ptr, k, n, t0, j0 } => Self::Panels { ptr, k, n, t0: t0 + t, j0: j0 + j },
        }
    }

    /// The first element and the stride of `t` of a tile that starts at row `t` and column `j`, a multiple of 16.
    #[inline]
    pub(crate) fn tile(self, t: usize, j: usize) -> (*const f32, usize) {
        match self {
            Self::Rows { ptr, stride } => (ptr.wrapping_add(t * stride + j), stride),
            Self::Panels { ptr, k, n, t0, j0 } => {
                let inside = (j0 + j) % PANEL;
                let start = j0 + j - inside;
                let w = pack::width(n - start);
                (ptr.wrapping_add(start * k + (t0 + t) * w + inside), w)
            }
        }
    }
}

/// `C[i, j]` is `ptr[i * row + j]`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Out {
    pub(crate) ptr: *mut f32,
    pub(crate) row: usize,
}

impl Out {
    /// All of `c`.
    pub(crate) fn of(c: &mut MatMut<'_>) -> Self {
        Self { ptr: c.ptr(), row: c.row_stride() }
    }

    /// From row `i` and column `j` on.
    #[inline]
    pub(crate) fn at(self, i: usize, j: usize) -> Self {
        Self { ptr: self.ptr.wrapping_add(i * self.row + j), ..self }
    }
}

/// `out = left * right`, of `m` x `n` elements with chains of `k`.
///
/// Whoever makes one promises that the operands have these elements, that they can be read and written while the job
/// runs, and that nobody else accesses those of `out` meanwhile. Jobs with disjoint `out` can then run at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job {
    pub(crate) left: Left,
    pub(crate) right: Right,
    pub(crate) out: Out,
    pub(crate) m: usize,
    pub(crate) n: usize,
    pub(crate) k: usize,
}

// SAFETY: `left` and `right` are only read, and `out` belongs to the job alone: see above.
unsafe impl Send for Job {}
// SAFETY: a shared job gives out its pointers and accesses nothing.
unsafe impl Sync for Job {}

impl Job {
    /// The `m` rows from `i` on.
    #[inline]
    pub(crate) fn rows(&self, i: usize, m: usize) -> Self {
        Self { left: self.left.at(i, 0), out: self.out.at(i, 0), m, ..*self }
    }

    /// Rows before `i`, and those from `i` on.
    pub(crate) fn split_rows(self, i: usize) -> (Self, Self) {
        (self.rows(0, i), self.rows(i, self.m - i))
    }

    /// Columns before `j`, and those from `j` on.
    pub(crate) fn split_columns(self, j: usize) -> (Self, Self) {
        (Self { n: j, ..self }, Self { right: self.right.at(0, j), out: self.out.at(0, j), n: self.n - j, ..self })
    }

    /// Multiplications, saturating.
    pub(crate) fn work(&self) -> usize {
        self.m.saturating_mul(self.n).saturating_mul(self.k)
    }
}
