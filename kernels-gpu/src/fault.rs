//! How kernels tell what is wrong with their inputs.
//!
//! ```text
//! status: (2) u32, zeros at first, and only ever added to
//!         [0]  bits: what was wrong
//!         [1]  u32::MAX - j, where j is the first position at which anything was; 0 if nothing
//! ```
//!
//! Both are the same for every order in which threads come.

use crate::device::atomic::{fetch_max_u32, fetch_or_u32};

/// Bit of `status`: an index isn't below the capacity.
pub const INDEX_OUT_OF_RANGE: u32 = 1;
/// Bit of `status`: a priority or weight isn't finite and >= 0, or its power isn't finite.
pub const INVALID_WEIGHT: u32 = 2;
/// Bit of `status`: a uniform number isn't in [0, 1), or a threshold isn't below the total.
pub const OUT_OF_RANGE: u32 = 4;

/// Tells that position j has this fault.
///
/// # Safety
/// `status` is as the module says.
#[inline(always)]
pub unsafe fn report(status: *mut u32, fault: u32, j: u32) {
    // SAFETY: the caller's; only atomic operations access it.
    unsafe {
        fetch_or_u32(status, fault);
        fetch_max_u32(status.add(1), u32::MAX - j);
    }
}
