//! Occupancy.

use super::api;
use crate::core::driver::Driver;
use crate::core::occupancy::{active_blocks, best_block, shared_for};
use crate::raw::{Handle, Out, put, wanted};

api! {
    /// Blocks of a function that a multiprocessor holds.
    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks: Out<'_, i32>, function: Handle, threads: i32, dynamic_bytes: usize,
    ) {
        let function = Driver::get()?.functions.get(function)?;
        put(blocks, active_blocks(&function, threads, dynamic_bytes as u64)?)
    }

    /// The size of a block that fills a multiprocessor best, and the least number of blocks that fills the device.
    fn cuOccupancyMaxPotentialBlockSize(
        blocks: Out<'_, i32>, threads: Out<'_, i32>, function: Handle,
        dynamic_for: Option<unsafe extern "C" fn(i32) -> usize>, dynamic_bytes: usize, limit: i32,
    ) {
        let (blocks_out, threads_out) = (wanted(blocks)?, wanted(threads)?);
        let function = Driver::get()?.functions.get(function)?;
        let dynamic = |threads| match dynamic_for {
            None => dynamic_bytes as u64,
            // SAFETY: it may be called with any size by the caller's promise.
            Some(dynamic_for) => unsafe { dynamic_for(threads) as u64 },
        };
        let (blocks, threads) = best_block(&function, dynamic, limit)?;
        blocks_out.write(blocks);
        threads_out.write(threads);
        Ok(())
    }

    /// Most dynamic shared memory in bytes with which a multiprocessor holds so many blocks.
    fn cuOccupancyAvailableDynamicSMemPerBlock(bytes: Out<'_, usize>, function: Handle, blocks: i32, threads: i32) {
        let function = Driver::get()?.functions.get(function)?;
        put(bytes, shared_for(&function, blocks, threads)? as usize)
    }
}
