//! Register tiles: the one place where products are computed.
//!
//! A tile keeps up to 12 x 32 accumulators in registers and runs one FMA chain for each over `k` ascending. It can
//! resume chains that an earlier tile left in C, so that blocking for caches never splits a chain.

mod scalar;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;

use arith::simd::Isa;

/// Most rows of a tile, of all instruction sets.
pub(crate) const MAX_ROWS: usize = 12;

/// Most columns of a tile, of all instruction sets.
pub(crate) const MAX_COLS: usize = 32;

/// The operands of one tile.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tile {
    /// `A[r, t]` is `a[r * a_row + t * a_k]`.
    pub(crate) a: *const f32,
    pub(crate) a_row: usize,
    pub(crate) a_k: usize,
    /// `B[t, j]` is `b[t * b_k + j]`.
    pub(crate) b: *const f32,
    pub(crate) b_k: usize,
    /// `C[r, j]` is `c[r * c_row + j]`.
    pub(crate) c: *mut f32,
    pub(crate) c_row: usize,
    /// Length of the chains.
    pub(crate) k: usize,
    /// Columns of the tile.
    pub(crate) cols: usize,
    /// Whether the chains start from what C holds, rather than from +0.
    pub(crate) resume: bool,
}

/// Runs a tile.
///
/// # Safety
/// 1. The instruction set is the kernel set's, and this machine has it.
/// 2. The tile has the rows and columns that it was picked for.
/// 3. All `A[r, t]` and `B[t, j]` of the tile can be read; all `C[r, j]` can be written, and read if `resume` is set.
/// 4. Nobody else accesses those elements of C meanwhile.
pub(crate) type Run = unsafe fn(&Tile);

/// The tiles of one instruction set.
#[derive(Debug)]
pub(crate) struct Kernels {
    /// Most rows of a tile.
    pub(crate) rows: usize,
    /// Most columns of a tile: 16 or 32.
    pub(crate) cols: usize,
    pick: fn(rows: usize, cols: usize, unit: bool) -> Run,
}

impl Kernels {
    /// The tiles for `isa`, or for the best one below it that this machine has.
    pub(crate) fn of(isa: Isa) -> &'static Self {
        #[cfg(target_arch = "x86_64")]
        match isa.min(Isa::detect()) {
            Isa::Avx512 => return &avx512::KERNELS,
            Isa::Avx2 => return &avx2::KERNELS,
            _ => {}
        }
        let _ = isa;
        &scalar::KERNELS
    }

    /// The kernel of `rows` x `cols`, from 1 to the most; `unit` says that `a_row` is 1.
    #[inline]
    pub(crate) fn pick(&self, rows: usize, cols: usize, unit: bool) -> Run {
        debug_assert!((1..=self.rows).contains(&rows) && (1..=self.cols).contains(&cols));
        (self.pick)(rows, cols, unit)
    }
}

/// A table of `$tile::<rows, vectors, masked, unit>` for rows 1 to 12 or 6.
#[cfg(target_arch = "x86_64")]
macro_rules! table {
    ($tile:ident, $vectors:literal, $masked:literal, $unit:literal; $($rows:literal)*) => {
        [$($tile::<$rows, $vectors, $masked, $unit> as $crate::kernel::Run),*]
    };
}
#[cfg(target_arch = "x86_64")]
use table;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_instruction_set_has_its_own_tiles() {
        let size = |isa| (Kernels::of(isa).rows, Kernels::of(isa).cols);
        assert_eq!(size(Isa::Scalar), (4, 16));
        #[cfg(target_arch = "x86_64")]
        {
            // Where the machine lacks one, the next below.
            assert_eq!(size(Isa::Avx2), if Isa::Avx2.is_available() { (6, 16) } else { size(Isa::Scalar) });
            assert_eq!(size(Isa::Avx512), if Isa::Avx512.is_available() { (12, 32) } else { size(Isa::Avx2) });
        }
    }
}
