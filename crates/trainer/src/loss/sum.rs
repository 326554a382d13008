//! Contract-order sums of numbers that are nowhere stored.

use arith::sum::{CHUNK, ChunkTree};

/// The contract-order sum of n elements that `fill(start, out)` computes, a chunk at a time; `chunk_sum` is
/// [`arith::sum::sum`] or [`arith::sum::sum_of_squares`].
pub(crate) fn sum_chunks(n: usize, chunk_sum: impl Fn(&[f32]) -> f32, mut fill: impl FnMut(usize, &mut [f32])) -> f32 {
    let mut tree = ChunkTree::new();
    let mut buffer = [0.0; CHUNK];
    for start in (0..n).step_by(CHUNK) {
        let chunk = &mut buffer[..CHUNK.min(n - start)];
        fill(start, chunk);
        tree.push(chunk_sum(chunk));
    }
    tree.finish().unwrap_or(0.0)
}
