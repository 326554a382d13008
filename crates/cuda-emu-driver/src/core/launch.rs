//! Launches of kernels, checked before they are queued.

use std::sync::Arc;

use cuda_emu::Grid;

use super::device;
use super::module::Function;
use crate::error::{Error, Result, invalid};

/// Most blocks of a launch that the emulator runs.
const MOST_BLOCKS: u128 = 1 << 32;

/// A kernel with all that it needs to run.
#[derive(Debug)]
pub(crate) struct Launch {
    pub(crate) function: Arc<Function>,
    /// The handle of the function, for those who ask a node of a graph.
    pub(crate) handle: usize,
    pub(crate) grid: Grid,
    /// Parameters as the kernel lays them out.
    pub(crate) parameters: Box<[u8]>,
}

/// Refuses what a device refuses at the launch.
///
/// # Errors
/// A dimension of 0 or beyond the device, more dynamic shared memory than the function allows; more threads than the
/// kernel allows.
pub(crate) fn check(function: &Function, grid: &Grid) -> Result<()> {
    let name = &function.info.name;
    if grid.blocks.contains(&0) || grid.threads.contains(&0) {
        return Err(invalid!("`{name}`: {:?} blocks of {:?} threads", grid.blocks, grid.threads));
    }
    for (axis, number) in [5, 6, 7].into_iter().enumerate() {
        if i64::from(grid.blocks[axis]) > i64::from(device::attribute(number)?) {
            return Err(invalid!("`{name}`: {} blocks along axis {axis}", grid.blocks[axis]));
        }
    }
    if grid.blocks.iter().map(|&n| u128::from(n)).product::<u128>() > MOST_BLOCKS {
        return Err(Error::Resources(format!("`{name}`: {:?} blocks, more than {MOST_BLOCKS} in all", grid.blocks)));
    }
    for (axis, number) in [2, 3, 4].into_iter().enumerate() {
        if i64::from(grid.threads[axis]) > i64::from(device::attribute(number)?) {
            return Err(invalid!("`{name}`: {} threads along axis {axis}", grid.threads[axis]));
        }
    }
    let threads = grid.threads.iter().map(|&n| u64::from(n)).product::<u64>();
    if threads > device::THREADS_PER_BLOCK as u64 {
        return Err(invalid!("`{name}`: {threads} threads, at most {} are possible", device::THREADS_PER_BLOCK));
    }
    if let Some(most) = function.info.max_threads.filter(|&most| threads > most) {
        return Err(Error::Resources(format!("`{name}`: {threads} threads, the kernel allows {most}")));
    }
    let most = function.dynamic_shared_bytes();
    if grid.shared_bytes > most {
        return Err(invalid!(
            "`{name}`: {} bytes of dynamic shared memory, the function allows {most} (cuFuncSetAttribute)",
            grid.shared_bytes
        ));
    }
    Ok(())
}
