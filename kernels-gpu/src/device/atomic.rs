//! Atomic operations on memory, without an order among other accesses (relaxed). Integers only. The order in which threads
//! come isn't determined: kernels use them so that what they leave doesn't depend on it.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

macro_rules! operations {
    ($($(#[$doc:meta])* $name:ident, $atomic:ident, $method:ident, $kind:ty, $bytes:literal;)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        #[doc = concat!("`to` is valid, aligned to ", $bytes, " bytes, and accessed by atomic operations only, unless a barrier")]
        /// or a fence lies between.
        #[inline(always)]
        pub unsafe fn $name(to: *mut $kind, value: $kind) -> $kind {
            // SAFETY: the caller's.
            unsafe { $atomic::from_ptr(to) }.$method(value, Ordering::Relaxed)
        }
    )*};
}

operations! {
    /// `*to += value`, wrapping; what was there before: `atom.add.u32`, or `red` where that isn't used.
    fetch_add_u32, AtomicU32, fetch_add, u32, 4;
    /// `*to += value`, wrapping; what was there before: `atom.add.u64`, or `red` where that isn't used.
    fetch_add_u64, AtomicU64, fetch_add, u64, 8;
    /// `*to |= value`; what was there before: `atom.or.b32`.
    fetch_or_u32, AtomicU32, fetch_or, u32, 4;
    /// `*to = max(*to, value)`; what was there before: `atom.max.u32`.
    fetch_max_u32, AtomicU32, fetch_max, u32, 4;
    /// `*to = max(*to, value)`; what was there before: `atom.max.u64`.
    fetch_max_u64, AtomicU64, fetch_max, u64, 8;
    /// `*to = min(*to, value)`; what was there before: `atom.min.u32`.
    fetch_min_u32, AtomicU32, fetch_min, u32, 4;
    /// `*to = value`; what was there before: `atom.exch.b32`.
    exchange_u32, AtomicU32, swap, u32, 4;
}

macro_rules! accesses {
    ($($load:ident, $store:ident, $atomic:ident, $kind:ty, $bytes:literal, $instruction:literal;)*) => {$(
        #[doc = concat!("What is there, past the caches of a single multiprocessor: `ld.relaxed.", $instruction, "`.")]
        ///
        /// # Safety
        #[doc = concat!("`from` is valid, aligned to ", $bytes, " bytes, and accessed by atomic operations only, unless a barrier")]
        /// or a fence lies between.
        #[inline(always)]
        pub unsafe fn $load(from: *const $kind) -> $kind {
            // SAFETY: the caller's; a load doesn't write.
            unsafe { $atomic::from_ptr(from.cast_mut()) }.load(Ordering::Relaxed)
        }

        #[doc = concat!("`*to = value`: `st.relaxed.", $instruction, "`.")]
        ///
        /// # Safety
        #[doc = concat!("As [`", stringify!($load), "`].")]
        #[inline(always)]
        pub unsafe fn $store(to: *mut $kind, value: $kind) {
            // SAFETY: the caller's.
            unsafe { $atomic::from_ptr(to) }.store(value, Ordering::Relaxed)
        }
    )*};
}

accesses! {
    load_u32, store_u32, AtomicU32, u32, 4, "u32";
    load_u64, store_u64, AtomicU64, u64, 8, "u64";
}
