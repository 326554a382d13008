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
    /// The launch that has at least `threads` threads, in blocks of `width`, each with `shared` bytes; none without threads.
    ///
    /// # Errors
    /// [`LaunchError::Block`], [`LaunchError::Grid`], [`LaunchError::Shared`].
    pub fn geometry(
        &self,
        threads: u128,
        width: Option<u32>,
        shared: u128,
        limits: &Limits,
    ) -> Result<Option<Geometry>, LaunchError> {
        let width = self.width(width, limits)?;
        let bytes = shared.saturating_add(u128::from(limits.declared));
        let too_much = LaunchError::Shared { kernel: self.name, bytes, limit: limits.shared };
        if bytes > u128::from(limits.shared) {
            return Err(too_much);
        }
        // It is below the limit, which has 32 bits.
        let shared = u32::try_from(shared).map_err(|_| too_much)?;
        let too_many = LaunchError::Grid { kernel: self.name, threads, block: width, limit: limits.grid };
        let blocks = u32::try_from(threads.div_ceil(u128::from(width))).ok().filter(|&blocks| blocks <= limits.grid);
        let blocks = blocks.ok_or(too_many)?;
        Ok((blocks > 0).then_some(Geometry { blocks, threads: width, shared }))
    }

    /// Threads of a block.
    fn width(&self, asked: Option<u32>, limits: &Limits) -> Result<u32, LaunchError> {
        let (usual, most) = match self.block {
            Block::Any { usual, most } => (usual.min(limits.block), most.min(limits.block)),
            Block::Exactly(width) => (width, width),
        };
        let exact = matches!(self.block, Block::Exactly(_));
        let width = asked.unwrap_or(usual);
        let fits = width <= limits.block && if exact { width == most } else { (1..=most).contains(&width) };
        if fits && width.is_multiple_of(WARP) {
            return Ok(width);
        }
        let allowed = if exact { most.to_string() } else { format!("up to {most}") };
        Err(LaunchError::Block { kernel: self.name, allowed, got: width })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { block: 512, grid: 100, shared: 1000, declared: 100 };
    const ANY: Contract =
        Contract { name: "k", module: "m", parameters: &[], block: Block::Any { usual: 128, most: 1024 } };
    const EXACTLY: Contract = Contract { block: Block::Exactly(1024), ..ANY };

    fn geometry(threads: u128, width: Option<u32>, shared: u128) -> Result<Option<Geometry>, LaunchError> {
        ANY.geometry(threads, width, shared, &LIMITS)
    }

    #[test]
    fn grids_are_rounded_up() {
        let launch = |blocks, threads, shared| Ok(Some(Geometry { blocks, threads, shared }));
        assert_eq!(geometry(0, None, 0), Ok(None));
        assert_eq!(geometry(1, None, 7), launch(1, 128, 7));
        assert_eq!(geometry(128, None, 0), launch(1, 128, 0));
        assert_eq!(geometry(129, None, 900), launch(2, 128, 900));
        assert_eq!(geometry(3200, Some(32), 0), launch(100, 32, 0));
        let wide = Limits { block: 1024, ..LIMITS };
        assert_eq!(EXACTLY.geometry(1025, None, 0, &wide), launch(2, 1024, 0));
        assert_eq!(EXACTLY.geometry(1025, Some(1024), 0, &wide), launch(2, 1024, 0));
    }

    #[test]
    fn what_the_device_lacks_is_refused() {
        let grid = LaunchError::Grid { kernel: "k", threads: 3201, block: 32, limit: 100 };
        assert_eq!(geometry(3201, Some(32), 0), Err(grid));
        assert!(matches!(geometry(u128::MAX, None, 0), Err(LaunchError::Grid { .. })));
        let shared = LaunchError::Shared { kernel: "k", bytes: 1001, limit: 1000 };
        assert_eq!(geometry(1, None, 901), Err(shared));
        let block = |allowed: &str, got| Err(LaunchError::Block { kernel: "k", allowed: allowed.to_owned(), got });
        for width in [0, 1, 33, 513, 544, u32::MAX] {
            assert_eq!(geometry(1, Some(width), 0), block("up to 512", width));
        }
        assert_eq!(EXACTLY.geometry(1, None, 0, &LIMITS), block("1024", 1024));
        assert_eq!(EXACTLY.geometry(1, Some(512), 0, &Limits { block: 1024, ..LIMITS }), block("1024", 512));
    }
}
