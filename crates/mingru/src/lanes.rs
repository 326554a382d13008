//! Blocks of units: one AVX-512 register, or two of AVX2.

/// Units of a block.
pub(crate) const LANES: usize = 16;

/// Units `at..at + LANES` of a row. The row is long enough: callers pass only whole blocks.
#[inline(always)]
pub(crate) fn block<S>(row: &[S], at: usize) -> &[S; LANES] {
    row[at..at + LANES].first_chunk().expect("a whole block")
}

/// Units `at..at + LANES` of a row, to write.
#[inline(always)]
pub(crate) fn block_mut<S>(row: &mut [S], at: usize) -> &mut [S; LANES] {
    row[at..at + LANES].first_chunk_mut().expect("a whole block")
}

/// The units from `at` to the end of a row, fewer than a block; past them stand defaults.
#[inline(always)]
pub(crate) fn tail<S: Copy + Default>(row: &[S], at: usize) -> [S; LANES] {
    let mut block = [S::default(); LANES];
    for (to, from) in block.iter_mut().zip(&row[at..]) {
        *to = *from;
    }
    block
}

/// Writes the units from `at` to the end of a row.
#[inline(always)]
pub(crate) fn store_tail<S: Copy>(row: &mut [S], at: usize, block: &[S; LANES]) {
    for (to, from) in row[at..].iter_mut().zip(block) {
        *to = *from;
    }
}
