//! Which thread this is, and what orders threads.

use core::arch::nvptx;

macro_rules! registers {
    ($($(#[$doc:meta])* $name:ident, $register:ident;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub fn $name() -> u32 {
            // SAFETY: it reads a special register.
            unsafe { nvptx::$register() as u32 }
        }
    )*};
}

registers! {
    /// Index of the thread in its block: `mov.u32 %tid.x`.
    thread_idx_x, _thread_idx_x;
    /// Index of the block in the grid: `mov.u32 %ctaid.x`.
    block_idx_x, _block_idx_x;
    /// Threads of a block: `mov.u32 %ntid.x`.
    block_dim_x, _block_dim_x;
    /// Blocks of the grid: `mov.u32 %nctaid.x`.
    grid_dim_x, _grid_dim_x;
}

/// Index of the thread in the grid: `mad.wide.u32 %ctaid.x, %ntid.x, %tid.x`.
#[inline(always)]
pub fn index_1d() -> usize {
    block_idx_x() as usize * block_dim_x() as usize + thread_idx_x() as usize
}

/// Waits for all threads of the block, and shows each what the others have written: `bar.sync 0`. All threads of the
/// block must come to the same call.
#[inline(always)]
pub fn sync_threads() {
    // SAFETY: it touches no memory; threads that don't come make others wait, which is no unsafety.
    unsafe { nvptx::_syncthreads() }
}

/// [`sync_threads`], and whether `vote` was true in any of the threads: `bar.red.or.pred 0`.
#[inline(always)]
pub fn sync_threads_or(vote: bool) -> bool {
    // SAFETY: as above.
    unsafe { barrier_or(i32::from(vote)) != 0 }
}

unsafe extern "C" {
    #[link_name = "llvm.nvvm.barrier0.or"]
    fn barrier_or(vote: i32) -> i32;
    #[link_name = "llvm.nvvm.membar.cta"]
    fn membar_cta();
    #[link_name = "llvm.nvvm.membar.gl"]
    fn membar_gl();
    #[link_name = "llvm.nvvm.membar.sys"]
    fn membar_sys();
}

/// Writes before it are seen by threads of the block before writes after it: `membar.cta`.
#[inline(always)]
pub fn block_fence() {
    // SAFETY: it has no conditions.
    unsafe { membar_cta() }
}

/// The same for all threads of the GPU: `membar.gl`.
#[inline(always)]
pub fn device_fence() {
    // SAFETY: it has no conditions.
    unsafe { membar_gl() }
}

/// The same for the host and other GPUs too: `membar.sys`.
#[inline(always)]
pub fn system_fence() {
    // SAFETY: it has no conditions.
    unsafe { membar_sys() }
}
