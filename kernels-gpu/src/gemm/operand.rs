//! From an operand in global memory to its tile in shared memory, which has the elements of a step side by side.

use super::{DEPTH, THREADS};
use crate::device::global::{load4, store4};
use crate::device::shared::SharedArray;
use crate::device::thread::thread_idx_x;
use core::marker::PhantomData;

/// Four neighbours of a row.
pub(super) type Quad = [f32; 4];

/// How an operand lies in memory: (extent, k) or (k, extent), where the extent is m or n.
pub(super) trait Order: Copy {
    /// Index in the extent, from the tile's first, and step, from the tile's first, of quad `q` of a tile.
    fn quad<const EXTENT: u32>(q: u32) -> (u32, u32);
    /// Row, column, rows and columns, from index and step, and their limits.
    fn row_and_column<T>(index: T, step: T) -> (T, T);
    /// Where the element `index` of step `k` lies among the elements of the step.
    fn place(k: u32, index: u32) -> u32;
    /// Files quad `q` in the tile.
    ///
    /// # Safety
    /// As [`SharedArray::write`].
    unsafe fn put<const EXTENT: u32>(tile: SharedArray<f32>, q: u32, quad: Quad);
}

/// (extent, k): a quad has four steps of one index, which go to four rows of the tile.
#[derive(Clone, Copy)]
pub(super) struct ChainInRows;

impl Order for ChainInRows {
    #[inline(always)]
    fn quad<const EXTENT: u32>(q: u32) -> (u32, u32) {
        (q / (DEPTH / 4), q % (DEPTH / 4) * 4)
    }

    #[inline(always)]
    fn row_and_column<T>(index: T, step: T) -> (T, T) {
        (index, step)
    }

    /// A warp writes 16 indices of steps k and k + 4 at a time: these lie in the two halves of the banks.
    #[inline(always)]
    fn place(k: u32, index: u32) -> u32 {
        index ^ (k / 4 % 2 * 16)
    }

    #[inline(always)]
    unsafe fn put<const EXTENT: u32>(tile: SharedArray<f32>, q: u32, quad: Quad) {
        let (index, step) = Self::quad::<EXTENT>(q);
        let first = tile.from(step * EXTENT + Self::place(step, index));
        let [a, b, c, d] = quad;
        // SAFETY: the caller's.
        unsafe {
            first.write(0, a);
            first.write(EXTENT, b);
            first.write(2 * EXTENT, c);
            first.write(3 * EXTENT, d);
        }
    }
}

/// (k, extent): a quad has four indices of one step.
#[derive(Clone, Copy)]
pub(super) struct ChainInColumns;

impl Order for ChainInColumns {
    #[inline(always)]
    fn quad<const EXTENT: u32>(q: u32) -> (u32, u32) {
        (q % (EXTENT / 4) * 4, q / (EXTENT / 4))
    }

    #[inline(always)]
    fn row_and_column<T>(index: T, step: T) -> (T, T) {
        (step, index)
    }

    #[inline(always)]
    fn place(_k: u32, index: u32) -> u32 {
        index
    }

    #[inline(always)]
    unsafe fn put<const EXTENT: u32>(tile: SharedArray<f32>, q: u32, quad: Quad) {
        let (index, step) = Self::quad::<EXTENT>(q);
        // SAFETY: the caller's.
        unsafe { tile.write4(step * EXTENT + index, quad) };
    }
}

/// An operand of a product.
#[derive(Clone, Copy)]
pub(super) struct Operand<O> {
    data: *const f32,
    stride: usize,
    extent: u32,
    /// Whether quads are aligned.
    aligned: bool,
    order: PhantomData<O>,
}

impl<O: Order> Operand<O> {
    #[inline(always)]
    pub(super) fn new(data: *const f32, stride: u32, extent: u32) -> Self {
        let aligned = data.addr().is_multiple_of(16) && stride.is_multiple_of(4);
        Self { data, stride: stride as usize, extent, aligned, order: PhantomData }
    }

    /// The thread's quads of the tile of indices from `first` and steps from `t` on, zero from step `end` on.
    ///
    /// # Safety
    /// The operand has `extent` indices and at least `end` steps.
    #[inline(always)]
    pub(super) unsafe fn fetch<const N: usize, const EXTENT: u32>(self, first: u32, t: u32, end: u32) -> [Quad; N] {
        let mut quads = [[0.0; 4]; N];
        let (rows, cols) = O::row_and_column(self.extent, end);
        for (i, quad) in quads.iter_mut().enumerate() {
            let (index, step) = O::quad::<EXTENT>(thread_idx_x() + i as u32 * THREADS);
            let (row, col) = O::row_and_column(first + index, t + step);
            if row < rows {
                // SAFETY: there is such a row.
                *quad = unsafe { load(self.data.add(row as usize * self.stride), col, cols, self.aligned) };
            }
        }
        quads
    }

    /// Files the thread's quads in a tile.
    ///
    /// # Safety
    /// Nobody else accesses the tile's quads of this thread between the same two barriers.
    #[inline(always)]
    pub(super) unsafe fn put<const N: usize, const EXTENT: u32>(self, tile: SharedArray<f32>, quads: [Quad; N]) {
        for (i, &quad) in quads.iter().enumerate() {
            // SAFETY: the caller's.
            unsafe { O::put::<EXTENT>(tile, thread_idx_x() + i as u32 * THREADS, quad) };
        }
    }
}

/// Elements `col..col + 4` of a row of `cols`, zero where there are none.
///
/// # Safety
/// The row has `cols` elements; `aligned` says that quads of it are.
#[inline(always)]
unsafe fn load(row: *const f32, col: u32, cols: u32, aligned: bool) -> Quad {
    let at = row.wrapping_add(col as usize);
    if aligned && col + 4 <= cols {
        // SAFETY: there are these elements.
        return unsafe { load4(at) };
    }
    // SAFETY: there is this element.
    [0, 1, 2, 3].map(|i| if col + i < cols { unsafe { *at.wrapping_add(i as usize) } } else { 0.0 })
}

/// Sets elements `col..col + 4` of a row of `cols`, those that there are.
///
/// # Safety
/// As [`load`], and nobody else accesses them.
#[inline(always)]
pub(super) unsafe fn store(row: *mut f32, col: u32, cols: u32, aligned: bool, quad: Quad) {
    let at = row.wrapping_add(col as usize);
    if aligned && col + 4 <= cols {
        // SAFETY: there are these elements.
        return unsafe { store4(at, quad) };
    }
    let [a, b, c, d] = quad;
    for (i, value) in [(0, a), (1, b), (2, c), (3, d)] {
        if col + i < cols {
            // SAFETY: there is this element.
            unsafe { *at.wrapping_add(i as usize) = value };
        }
    }
}
