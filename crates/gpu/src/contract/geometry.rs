//! Grids and blocks of a launch.

use super::{Block, Contract, LaunchError};

/// Threads of a warp.
const WARP: u32 = 32;

/// What a device allows a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Threads of a block; fewer for kernels with many registers.
    pub block: u32,
    /// Blocks of a grid.
    pub grid: u32,
    /// Bytes of shared memory of a block.
    pub shared: u32,
    /// Bytes that the kernel declares itself.
    pub declared: u32,
}

/// How much there is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    grid: Grid,
    least: u128,
    shared: u128,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Grid {
    Threads(u128),
    Blocks(u128),
}

impl Work {
    /// Threads that may be cut into blocks anywhere; the last block has more than there is work for.
    pub const fn threads(threads: u128) -> Self {
        Self { grid: Grid::Threads(threads), least: 1, shared: 0 }
    }

    /// Blocks, each with work of its own.
    pub const fn blocks(blocks: u128) -> Self {
        Self { grid: Grid::Blocks(blocks), least: 1, shared: 0 }
    }

    /// The same, where a block needs so many threads at least.
    #[must_use]
    pub const fn at_least(self, threads: u128) -> Self {
        Self { least: threads, ..self }
    }

    /// The same, where a block needs so many bytes of shared memory beyond those that the kernel declares.
    #[must_use]
    pub const fn shared(self, bytes: u128) -> Self {
        Self { shared: bytes, ..self }
    }
}

/// A launch: a one-dimensional grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Blocks.
    pub blocks: u32,
    /// Threads of a block.
    pub threads: u32,
    /// Bytes of shared memory that the launch adds to those that the kernel declares.
    pub shared: u32,
}

impl Contract {
    /// The launch that does `work` in blocks of `width` threads; none without work.
    ///
    /// # Errors
    /// [`LaunchError::Block`], [`LaunchError::Grid`], [`LaunchError::Shared`].
    pub fn geometry(&self, work: &Work, width: Option<u32>, limits: &Limits) -> Result<Option<Geometry>, LaunchError> {
        let kernel = self.name;
        let threads = self.width(work, width, limits)?;
        let bytes = work.shared.saturating_add(u128::from(limits.declared));
        let shared = u32::try_from(work.shared).ok().filter(|_| bytes <= u128::from(limits.shared));
        let shared = shared.ok_or(LaunchError::Shared { kernel, bytes, limit: limits.shared })?;
        let blocks = match work.grid {
            Grid::Threads(wanted) => wanted.div_ceil(u128::from(threads)),
            Grid::Blocks(blocks) => blocks,
        };
        let fitting = u32::try_from(blocks).ok().filter(|&blocks| blocks <= limits.grid);
        let blocks = fitting.ok_or(LaunchError::Grid { kernel, blocks, limit: limits.grid })?;
        Ok((blocks > 0).then_some(Geometry { blocks, threads, shared }))
    }

    /// Threads of a block.
    fn width(&self, work: &Work, asked: Option<u32>, limits: &Limits) -> Result<u32, LaunchError> {
        let (usual, least, most) = match self.block {
            Block::Any { usual, most } => (usual, WARP, most),
            Block::Exactly(width) => (width, width, width),
        };
        let (least, most) = (u128::from(least).max(work.least), most.min(limits.block));
        // Without a wish: the usual width as far as it is possible.
        let usual = u128::from(usual.min(most)).max(least.next_multiple_of(WARP.into()));
        let width = asked.map_or(usual, u128::from);
        let fits = (least..=u128::from(most)).contains(&width) && width.is_multiple_of(WARP.into());
        let fitting = u32::try_from(width).ok().filter(|_| fits);
        fitting.ok_or(LaunchError::Block { kernel: self.name, least, most, got: width })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { block: 512, grid: 100, shared: 1000, declared: 100 };
    const ANY: Contract =
        Contract { name: "k", module: "m", parameters: &[], block: Block::Any { usual: 128, most: 1024 } };
    const EXACTLY: Contract = Contract { block: Block::Exactly(1024), ..ANY };
    const WIDE: Limits = Limits { block: 1024, ..LIMITS };

    fn geometry(work: Work, width: Option<u32>) -> Result<Option<Geometry>, LaunchError> {
        ANY.geometry(&work, width, &LIMITS)
    }

    fn launch(blocks: u32, threads: u32, shared: u32) -> Result<Option<Geometry>, LaunchError> {
        Ok(Some(Geometry { blocks, threads, shared }))
    }

    #[test]
    fn grids_are_rounded_up() {
        assert_eq!(geometry(Work::threads(0), None), Ok(None));
        assert_eq!(geometry(Work::threads(1).shared(7), None), launch(1, 128, 7));
        assert_eq!(geometry(Work::threads(128), None), launch(1, 128, 0));
        assert_eq!(geometry(Work::threads(129).shared(900), None), launch(2, 128, 900));
        assert_eq!(geometry(Work::threads(3200), Some(32)), launch(100, 32, 0));
        assert_eq!(EXACTLY.geometry(&Work::threads(1025), None, &WIDE), launch(2, 1024, 0));
        assert_eq!(EXACTLY.geometry(&Work::threads(1025), Some(1024), &WIDE), launch(2, 1024, 0));
    }

    #[test]
    fn blocks_with_work_of_their_own_are_not_cut() {
        assert_eq!(geometry(Work::blocks(0), None), Ok(None));
        for width in [32, 128, 512] {
            assert_eq!(geometry(Work::blocks(7), Some(width)), launch(7, width, 0));
        }
        // Wider than usual where the work needs it.
        assert_eq!(geometry(Work::blocks(7).at_least(33), None), launch(7, 128, 0));
        assert_eq!(geometry(Work::blocks(7).at_least(129), None), launch(7, 160, 0));
        let error = geometry(Work::blocks(7).at_least(33), Some(32)).unwrap_err();
        assert_eq!(error, LaunchError::Block { kernel: "k", least: 33, most: 512, got: 32 });
    }

    #[test]
    fn what_the_device_lacks_is_refused() {
        let grid = LaunchError::Grid { kernel: "k", blocks: 101, limit: 100 };
        assert_eq!(geometry(Work::threads(3201), Some(32)), Err(grid.clone()));
        assert_eq!(geometry(Work::blocks(101), None), Err(grid));
        assert!(matches!(geometry(Work::threads(u128::MAX), None), Err(LaunchError::Grid { .. })));
        let shared = |bytes| Err(LaunchError::Shared { kernel: "k", bytes, limit: 1000 });
        assert_eq!(geometry(Work::threads(1).shared(901), None), shared(1001));
        assert_eq!(geometry(Work::threads(1).shared(u128::MAX), None), shared(u128::MAX));
        let block = |least, most, got| Err(LaunchError::Block { kernel: "k", least, most, got });
        for width in [0, 1, 33, 513, 544, u32::MAX] {
            assert_eq!(geometry(Work::threads(1), Some(width)), block(32, 512, width.into()));
        }
        assert_eq!(geometry(Work::blocks(1).at_least(513), None), block(513, 512, 544));
        assert_eq!(EXACTLY.geometry(&Work::threads(1), None, &LIMITS), block(1024, 512, 1024));
        assert_eq!(EXACTLY.geometry(&Work::threads(1), Some(512), &WIDE), block(1024, 1024, 512));
    }
}
