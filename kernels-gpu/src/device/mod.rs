//! What a kernel has of its GPU. Names are those of `cuda_std`; each text says the PTX instruction.
//!
//! What threads of a warp do together is declared as LLVM's own intrinsics rather than written as `asm!`: LLVM knows of
//! these that they may not be moved to where fewer threads arrive.

pub mod atomic;
pub mod block;
pub mod global;
pub mod grid;
pub mod look_back;
pub mod shared;
pub mod thread;
pub mod warp;

/// Ends the kernel with an error: `trap`.
#[inline(always)]
pub fn trap() -> ! {
    // SAFETY: it has no conditions.
    unsafe { core::arch::nvptx::trap() }
}
