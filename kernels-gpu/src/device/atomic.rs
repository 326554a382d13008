//! Atomic operations on memory, without an order among other accesses (relaxed). Integers only: the order in which threads
//! come isn't determined, and of these operations the result doesn't depend on it.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// `*to += value`, wrapping; what was there before: `atom.add.u64`, or `red` where that isn't used.
///
/// # Safety
/// `to` is valid, aligned to 8 bytes, and while the kernel runs accessed by atomic operations only.
#[inline(always)]
pub unsafe fn fetch_add_u64(to: *mut u64, value: u64) -> u64 {
    // SAFETY: the caller's.
    unsafe { AtomicU64::from_ptr(to) }.fetch_add(value, Ordering::Relaxed)
}

/// `*to |= value`; what was there before: `atom.or.b32`.
///
/// # Safety
/// As [`fetch_add_u64`], aligned to 4 bytes.
#[inline(always)]
pub unsafe fn fetch_or_u32(to: *mut u32, value: u32) -> u32 {
    // SAFETY: the caller's.
    unsafe { AtomicU32::from_ptr(to) }.fetch_or(value, Ordering::Relaxed)
}

/// `*to = max(*to, value)`; what was there before: `atom.max.u32`.
///
/// # Safety
/// As [`fetch_add_u64`], aligned to 4 bytes.
#[inline(always)]
pub unsafe fn fetch_max_u32(to: *mut u32, value: u32) -> u32 {
    // SAFETY: the caller's.
    unsafe { AtomicU32::from_ptr(to) }.fetch_max(value, Ordering::Relaxed)
}

/// `*to = min(*to, value)`; what was there before: `atom.min.u32`.
///
/// # Safety
/// As [`fetch_add_u64`], aligned to 4 bytes.
#[inline(always)]
pub unsafe fn fetch_min_u32(to: *mut u32, value: u32) -> u32 {
    // SAFETY: the caller's.
    unsafe { AtomicU32::from_ptr(to) }.fetch_min(value, Ordering::Relaxed)
}
