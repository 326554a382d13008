//! How kernels tell what is wrong with their inputs.
//!
//! ```text
//! status: (1) u64, 0 at first: what is wrong first, and where. It is only ever raised, so that it is the same for every order
//!         in which threads come.
//!
//!         bit  63       which fault: what is out of range, or no weight where others have no power, comes before what is
//!                       invalid, as on the host, which looks for the former first
//!         bits 32..63   2^31 - 1 - j, where j is the first such position: below 2^31 - 1, so this isn't 0
//!         bits 0..32    the value that is at fault
//! ```

use crate::device::atomic::fetch_max_u64;

/// What is wrong with an input: a bit, and a value.
#[derive(Clone, Copy)]
pub enum Fault {
    /// This index isn't below the number of items, no item has this number (its low half), or this threshold (its low half)
    /// isn't below the total.
    OutOfRange(u32),
    /// This priority of a new item isn't finite and >= 0.
    NoWeight(f32),
    /// This weight or TD error isn't finite (and >= 0), or the power of this or of a new item's priority isn't finite.
    Invalid(f32),
}

/// Tells that position j has this fault.
///
/// # Safety
/// `status` is as the module says.
#[inline(always)]
pub unsafe fn report(status: *mut u64, fault: Fault, j: u32) {
    let (kind, value) = match fault {
        Fault::OutOfRange(index) => (1, index),
        Fault::NoWeight(value) => (1, value.to_bits()),
        Fault::Invalid(value) => (0, value.to_bits()),
    };
    // Counts are below 2^31.
    let position = u64::from((i32::MAX as u32).wrapping_sub(j));
    // SAFETY: the caller's; only atomic operations access it.
    unsafe { fetch_max_u64(status, kind << 63 | position << 32 | u64::from(value)) };
}
