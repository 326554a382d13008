//! Matrices whose rows lie apart, and the chunks of sums.

/// Elements of a chunk, `arith::sum::CHUNK`.
pub(super) const CHUNK: u128 = arith::sum::CHUNK as u128;

/// Chunks of a sum of `n`; one if there is nothing to sum, which is +0.
pub const fn chunks(n: u128) -> u128 {
    let chunks = n.div_ceil(CHUNK);
    if chunks == 0 { 1 } else { chunks }
}

/// Elements from the first of a matrix through its last: (rows, cols), rows `stride` elements apart.
pub const fn matrix_len(rows: u128, cols: u128, stride: u128) -> u128 {
    if rows == 0 || cols == 0 { 0 } else { (rows - 1) * stride + cols }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_row_has_no_gap() {
        assert_eq!(matrix_len(0, 3, 5), 0);
        assert_eq!(matrix_len(3, 0, 5), 0);
        assert_eq!(matrix_len(1, 3, 5), 3);
        assert_eq!(matrix_len(4, 3, 5), 18);
        assert_eq!([0, 1, 1024, 1025].map(chunks), [1, 1, 1, 2]);
    }
}
