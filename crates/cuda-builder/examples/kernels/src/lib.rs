//! A kernel that needs nothing but `core`.
#![no_std]
#![feature(abi_ptx, stdarch_nvptx)]

use core::arch::nvptx::{_block_dim_x, _block_idx_x, _thread_idx_x, trap};
use core::panic::PanicInfo;

/// `out[i] = a * x[i] + out[i]`, rounded twice. `x`, `out`: (n). One thread an element.
///
/// # Safety
/// `x` and `out` hold n elements and don't overlap.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn axpy_f32(a: f32, x: *const f32, out: *mut f32, n: u32) {
    // SAFETY: these read special registers.
    let (block, width, thread) = unsafe { (_block_idx_x(), _block_dim_x(), _thread_idx_x()) };
    let i = (block as u32).wrapping_mul(width as u32).wrapping_add(thread as u32);
    if i < n {
        let i = i as usize;
        // SAFETY: i < n, and no other thread has this i.
        unsafe { *out.add(i) += a * *x.add(i) };
    }
}

/// A thread that panics stops the kernel.
#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    // SAFETY: it ends the kernel with an error.
    unsafe { trap() }
}
