//! Hints to the memory system: a scan reads and writes a dozen streams at strides that hardware doesn't foresee.

/// Asks for the cache line that lies `offset` elements from `element`. The address may be anything.
#[inline(always)]
pub(crate) fn prefetch<S>(element: *const S, offset: isize) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch reads nothing that the program can see and faults for no address.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(element.wrapping_offset(offset).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (element, offset);
}
