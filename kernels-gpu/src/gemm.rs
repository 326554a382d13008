//! Products of matrices in the contract's order: `C[i, j]` is the chain of fused multiply-adds over k ascending from +0, in
//! chunks of 1,024 steps, which the tree of adjacent pairs joins.
//!
//! A block makes a tile of 128 x 64 elements over one chunk, with 128 threads, 8 x 8 elements each. Eight steps of both
//! operands at a time go through shared memory; while they are used, the next eight are on their way. A chain never leaves
//! its thread, so tiles change no bit. Chunks are blocks of their own: with more than one, `join_parts_f32` of module `sum`
//! joins what they leave.

mod operand;
mod transpose;

use crate::device::shared::SharedArray;
use crate::device::thread::{block_idx_x, sync_threads, thread_idx_x};
use crate::device::warp::{LANES, lane_id};
use crate::shared_array;
use arith::fma;
use arith::sum::CHUNK;
use operand::{Operand, Order};

pub use transpose::transpose_f32;

/// Rows of a tile: 32 for each warp.
const ROWS: u32 = 128;
/// Columns of a tile.
const COLS: u32 = 64;
/// Steps of a chain that lie in shared memory at a time.
const DEPTH: u32 = 8;
/// Threads of a block.
const THREADS: u32 = 128;

shared_array!(
    /// (2, DEPTH, ROWS): the left operand's steps in use, and those to come.
    left_tiles, "gemm_left_tiles": f32; (2 * DEPTH * ROWS) as usize
);
shared_array!(
    /// (2, DEPTH, COLS): the same of the right operand.
    right_tiles, "gemm_right_tiles": f32; (2 * DEPTH * COLS) as usize
);

/// The result, as the kernels' text says.
#[derive(Clone, Copy)]
struct Out {
    data: *mut f32,
    stride: usize,
    m: u32,
    n: u32,
}

/// The accumulators of a thread: rows `4 y + 0..4` and `16 + 4 y + 0..4` of its warp's 32, columns `4 x + 0..4` and
/// `32 + 4 x + 0..4`, for lane `8 y + x`. So lanes of an access to shared memory read the same or neighbouring words.
type Accumulators = [[f32; 8]; 8];

/// Where a thread's accumulators lie in the tile.
#[derive(Clone, Copy)]
struct Corner {
    row: u32,
    col: u32,
}

impl Corner {
    #[inline(always)]
    fn new() -> Self {
        let lane = lane_id();
        Self { row: thread_idx_x() / LANES * 32 + lane / 8 * 4, col: lane % 8 * 4 }
    }
}

/// The thread's eight elements of step `k` of a tile, from `first` and from `first + distance` on.
///
/// # Safety
/// The tile isn't written between the same two barriers.
#[inline(always)]
unsafe fn fragment<O: Order, const EXTENT: u32>(tile: SharedArray<f32>, k: u32, first: u32, distance: u32) -> [f32; 8] {
    // What depends on the thread comes first, what is constant last: then steps differ in the instruction's offset alone.
    let [near, far] = [first, first + distance].map(|index| tile.from(O::place(k, index)));
    // SAFETY: in the tile, and the caller's.
    let [[a, b, c, d], [e, f, g, h]] = unsafe { [near.read4(k * EXTENT), far.read4(k * EXTENT)] };
    [a, b, c, d, e, f, g, h]
}

/// The tiles of both operands that are in use.
#[derive(Clone, Copy)]
struct Tiles {
    left: SharedArray<f32>,
    right: SharedArray<f32>,
}

impl Tiles {
    #[inline(always)]
    fn new(buffer: u32) -> Self {
        Self { left: left_tiles().from(buffer * DEPTH * ROWS), right: right_tiles().from(buffer * DEPTH * COLS) }
    }
}

/// One step of all chains.
///
/// # Safety
/// The tiles aren't written between the same two barriers.
#[inline(always)]
unsafe fn step<L: Order, R: Order>(sums: &mut Accumulators, tiles: Tiles, k: u32, corner: Corner) {
    // SAFETY: the caller's.
    let (a, b) = unsafe {
        (fragment::<L, ROWS>(tiles.left, k, corner.row, 16), fragment::<R, COLS>(tiles.right, k, corner.col, 32))
    };
    for i in 0..8 {
        for j in 0..8 {
            sums[i][j] = fma(a[i], b[j], sums[i][j]);
        }
    }
}

/// Writes a thread's accumulators, whose first is element (row, col).
///
/// # Safety
/// As the kernels.
#[inline(always)]
unsafe fn store(out: Out, sums: Accumulators, row: u32, col: u32) {
    let aligned = out.data.addr().is_multiple_of(16) && out.stride.is_multiple_of(4);
    let put = |row: u32, sums: [f32; 8]| {
        if row < out.m {
            let [a, b, c, d, e, f, g, h] = sums;
            // SAFETY: row is below m, and the caller's.
            unsafe {
                let data = out.data.add(row as usize * out.stride);
                operand::store(data, col, out.n, aligned, [a, b, c, d]);
                operand::store(data, col + 32, out.n, aligned, [e, f, g, h]);
            }
        }
    };
    // Written out: indexed by a loop that the compiler doesn't unroll, the sums would be in local memory.
    let [a, b, c, d, e, f, g, h] = sums;
    put(row, a);
    put(row + 1, b);
    put(row + 2, c);
    put(row + 3, d);
    put(row + 16, e);
    put(row + 17, f);
    put(row + 18, g);
    put(row + 19, h);
}

/// # Safety
/// As the kernels.
#[inline(always)]
unsafe fn product<L: Order, R: Order>(a: Operand<L>, b: Operand<R>, out: Out, k: u32) {
    let (rows, cols) = (out.m.div_ceil(ROWS), out.n.div_ceil(COLS));
    let block = block_idx_x();
    let (Some(strip), Some(chunk)) = (block.checked_div(cols), block.checked_div(cols * rows)) else { return };
    let (row, col) = ((strip - chunk * rows) * ROWS, (block - strip * cols) * COLS);
    // Steps of this chunk.
    let mut t = chunk * CHUNK as u32;
    let end = k.min(t + CHUNK as u32);
    if chunk > 0 && t >= k {
        return;
    }
    let corner = Corner::new();
    let idle = row + thread_idx_x() / LANES * 32 >= out.m;
    let mut sums = [[0.0; 8]; 8];
    let mut buffer = 0;
    // SAFETY: the caller's.
    let (mut left, mut right) = unsafe { (a.fetch::<2, ROWS>(row, t, end), b.fetch::<1, COLS>(col, t, end)) };
    while t < end {
        let tiles = Tiles::new(buffer);
        // SAFETY: nobody reads this buffer since the last barrier, and each thread has quads of its own.
        unsafe {
            a.put::<2, ROWS>(tiles.left, left);
            b.put::<1, COLS>(tiles.right, right);
        }
        sync_threads();
        let next = t + DEPTH;
        // SAFETY: the caller's; past the end they are zero, and aren't used.
        (left, right) = unsafe { (a.fetch::<2, ROWS>(row, next, end), b.fetch::<1, COLS>(col, next, end)) };
        // Zeros don't stand in for steps that there aren't: a sum of -0 would become +0.
        // SAFETY: the other buffer is written next.
        unsafe {
            if idle {
                // Its part of the loads is all that the warp has to do.
            } else if next <= end {
                // Their places in shared memory are constants from a few bases.
                unrolled!([0 1 2 3 4 5 6 7] |k| step::<L, R>(&mut sums, tiles, k, corner));
            } else {
                for k in 0..end - t {
                    step::<L, R>(&mut sums, tiles, k, corner);
                }
            }
        }
        (t, buffer) = (next, 1 - buffer);
    }
    let part = chunk as usize * out.m as usize * out.stride;
    // SAFETY: there is such a chunk.
    let out = Out { data: unsafe { out.data.add(part) }, ..out };
    // SAFETY: the caller's, and this thread alone has these elements.
    unsafe { store(out, sums, row + corner.row, col + corner.col) };
}

macro_rules! kernels {
    ($($name:ident: $text:literal, $a:ident $a_shape:literal, $b:ident $b_shape:literal;)*) => {$(
        #[doc = concat!("`C = ", $text, "`, as `linalg::", stringify!($name), "` without its suffix.")]
        ///
        #[doc = concat!(
            "Inputs: `a` ", $a_shape, " and `b` ", $b_shape, ", rows `a_stride` and `b_stride` elements apart. Output: `c`",
        )]
        /// (m, n), rows `c_stride` apart, overwritten; +0 if k is 0. If k > 1,024, `c` is instead the chunks' results,
        /// (ceil(k / 1024), m, n), dense and with `c_stride` = n, for `join_parts_f32`. Strides are at least the length of
        /// a row, in elements; what lies between rows isn't touched.
        ///
        /// `ceil(m / 128) * ceil(n / 64) * max(1, ceil(k / 1024))` blocks of exactly 128 threads, a tile and chunk each.
        /// Rows are read and written in pieces of 16 bytes where data and stride are aligned to that; elements take 4
        /// requests instead of one where not.
        ///
        /// # Safety
        /// The crate's conventions; a matrix may have 2^31 elements and more.
        #[unsafe(no_mangle)]
        pub unsafe extern "ptx-kernel" fn $name(
            a: *const f32, b: *const f32, c: *mut f32, m: u32, n: u32, k: u32, a_stride: u32, b_stride: u32, c_stride: u32,
        ) {
            let a = Operand::<operand::$a>::new(a, a_stride, m);
            let b = Operand::<operand::$b>::new(b, b_stride, n);
            // SAFETY: the caller's.
            unsafe { product(a, b, Out { data: c, stride: c_stride as usize, m, n }, k) }
        }
    )*};
}

kernels! {
    gemm_nn_f32: "A B", ChainInRows "(m, k)", ChainInColumns "(k, n)";
    gemm_nt_f32: "A B^T", ChainInRows "(m, k)", ChainInRows "(n, k)";
    gemm_tn_f32: "A^T B", ChainInColumns "(k, m)", ChainInColumns "(k, n)";
}
