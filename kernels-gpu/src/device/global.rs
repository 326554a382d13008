//! Four neighbours in global memory with one request. LLVM would take such an access apart where it can, and these can't be.

/// Elements `from..from + 4`: `ld.global.v4.f32`.
///
/// # Safety
/// They are in global memory and aligned to 16 bytes, and nobody writes them while the kernel runs.
#[inline(always)]
pub unsafe fn load4(from: *const f32) -> [f32; 4] {
    let (a, b, c, d);
    // SAFETY: the caller's.
    unsafe {
        core::arch::asm!(
            "{{ .reg .u64 %at; cvta.to.global.u64 %at, {}; ld.global.v4.f32 {{{}, {}, {}, {}}}, [%at]; }}",
            in(reg64) from,
            out(reg32) a,
            out(reg32) b,
            out(reg32) c,
            out(reg32) d,
            options(pure, readonly, nostack, preserves_flags),
        );
    }
    [a, b, c, d]
}

/// Sets elements `to..to + 4`: `st.global.v4.f32`.
///
/// # Safety
/// They are in global memory and aligned to 16 bytes, and nobody else accesses them while the kernel runs.
#[inline(always)]
pub unsafe fn store4(to: *mut f32, [a, b, c, d]: [f32; 4]) {
    // SAFETY: the caller's.
    unsafe {
        core::arch::asm!(
            "{{ .reg .u64 %at; cvta.to.global.u64 %at, {}; st.global.v4.f32 [%at], {{{}, {}, {}, {}}}; }}",
            in(reg64) to,
            in(reg32) a,
            in(reg32) b,
            in(reg32) c,
            in(reg32) d,
            options(nostack, preserves_flags),
        );
    }
}
