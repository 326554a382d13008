//! How kernels tell what is wrong with their inputs.
//!
//! ```text
//! status: (1) u64, 0 at first: the first faulty position of a batch and what is there. It is only ever raised, so that it
//!         is the same for every order in which threads come.
//!
//!         bits 33..64   2^31 - 1 - j, where j is the first faulty position: below 2^31 - 1, so this isn't 0
//!         bit  32       which fault
//!         bits 0..32    the value that is at fault
//! ```

use crate::device::atomic::fetch_max_u64;

/// What is wrong with an input: a bit, and a value.
#[derive(Clone, Copy)]
pub enum Fault {
    /// This index isn't below the number of items, or this threshold (its low half) not below the total.
    OutOfRange(u32),
    /// This priority, weight or TD error isn't finite (and >= 0), or its power isn't finite.
    Invalid(f32),
}

/// Tells that position j has this fault.
///
/// # Safety
/// `status` is as the module says.
#[inline(always)]
pub unsafe fn report(status: *mut u64, fault: Fault, j: u32) {
    let (kind, value) = match fault {
        Fault::OutOfRange(index) => (0, index),
        Fault::Invalid(value) => (1, value.to_bits()),
    };
    // Counts are below 2^31.
    let position = u64::from((i32::MAX as u32).wrapping_sub(j));
    // SAFETY: the caller's; only atomic operations access it.
    unsafe { fetch_max_u64(status, position << 33 | kind << 32 | u64::from(value)) };
}
