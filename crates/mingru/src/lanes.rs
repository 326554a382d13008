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

/// The block at `at` of a whole operand, borrowed where the operand reaches that far (what lies past the row is computed
/// with, and thrown away), and else copied to `room`.
#[inline(always)]
pub(crate) fn tail<'a, S: Copy + Default>(operand: &'a [S], at: usize, room: &'a mut [S; LANES]) -> &'a [S; LANES] {
    let rest = &operand[at..];
    if let Some(block) = rest.first_chunk() {
        return block;
    }
    for (to, from) in room.iter_mut().zip(rest) {
        *to = *from;
    }
    room
}

/// Writes the units from `at` to the end of a row.
#[inline(always)]
pub(crate) fn store_tail<S: Copy>(row: &mut [S], at: usize, block: &[S; LANES]) {
    for (to, from) in row[at..].iter_mut().zip(block) {
        *to = *from;
    }
}
