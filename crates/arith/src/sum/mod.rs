//! The one summation order for floats.
//!
//! Chunks of [`CHUNK`] consecutive elements; inside a chunk [`LANES`] lanes, lane j adding elements j, j + 32, ... to
//! +0 in this order; the lanes join by a tree of adjacent pairs, and so do the chunk sums, in index order, an odd one
//! out moving up unchanged. A warp, two AVX-512 registers, four AVX2 registers and a scalar loop all do exactly this.
//! The tree over chunks has a fixed shape, so whoever owns an aligned range of chunks owns a subtree
//! ([`ChunkTree`] joins subtrees as it joins chunks).

mod chunk;
mod slices;
mod tree;

pub use chunk::{CHUNK, LANES, Lanes, join_lanes};
pub use slices::{dot, dot_with, sum, sum_of_squares, sum_of_squares_with, sum_with};
pub use tree::{ChunkTree, Join, tree_sum};
