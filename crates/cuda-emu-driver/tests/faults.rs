//! A kernel with a planted fault of each kind, and the code that the driver gives for it.

mod common;

use std::ffi::CString;

use common::*;
use cuda::Code;
use cuda::api::*;

/// Runs a kernel that has `data`, a pointer to 32 words (or to none, or to freed ones), in `%rd1`, the thread in `%r1`
/// and its word's address in `%rd2`; the code.
fn run(body: &str, threads: u32, data: impl FnOnce() -> u64) -> i32 {
    let text = format!(
        ".version 8.7 .target sm_90 .address_size 64
.extern .func __assertfail (.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);
.extern .func nowhere (); .const .b32 constant = 1; .global .b8 text[3] = {{104, 105, 0}};
.func deep (.param .b32 a) {{ .local .b8 frame[4096]; .reg .b64 %rd<2>; mov.u64 %rd1, frame; st.local.u8 [%rd1], 1;
{{ .param .b32 p; st.param.b32 [p], 0; call deep, (p); }} ret; }}
.visible .entry k(.param .u64 data) {{ .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<8>; .shared .align 8 .b8 tile[128];
.shared .align 8 .b64 bar; .local .align 4 .b8 own[16]; ld.param.u64 %rd1, [data]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4;
add.u64 %rd2, %rd1, %rd2; setp.lt.u32 %p1, %r1, 16;
{body}
ret; }}"
    );
    // SAFETY: the image ends with NUL, and the name too.
    unsafe {
        let gpu = Gpu::new();
        let image = CString::new(text).unwrap();
        let module = get(|out| cuModuleLoadData(out, image.as_ptr().cast()));
        let function = get(|out| cuModuleGetFunction(out, module, c"k".as_ptr()));
        let data = data();
        let code = launch(function, 1, threads, 0, &[(&raw const data).cast()]);
        // It sticks.
        if code != Code::Success as i32 {
            assert_eq!(cuCtxSynchronize(), code);
        }
        drop(gpu);
        code
    }
}

#[test]
fn of_each_kind() {
    let words = || upload(&[1; 32]);
    let unwritten = || {
        // SAFETY: only the result is a pointer.
        unsafe { get(|out| cuMemAlloc_v2(out, 128)) }
    };
    for (body, code) in [
        // Out of bounds, in each space.
        ("ld.global.u32 %r2, [%rd2+4];", Code::IllegalAddress),
        ("st.shared.u32 [tile+136], %r1;", Code::IllegalAddress),
        ("ld.local.u32 %r2, [own+16];", Code::IllegalAddress),
        ("mov.u64 %rd3, constant; cvta.const.u64 %rd3, %rd3; st.u32 [%rd3], 1;", Code::IllegalAddress),
        ("ld.global.u32 %r2, [%rd1+2];", Code::MisalignedAddress),
        ("st.shared.u64 [tile+4], %rd1;", Code::MisalignedAddress),
        // What only this device sees is a failed launch: races and unwritten memory.
        ("st.global.u32 [%rd1], %r1;", Code::LaunchFailed),
        ("st.shared.u32 [tile], %r1;", Code::LaunchFailed),
        ("ld.shared.u32 %r2, [tile];", Code::LaunchFailed),
        ("ld.local.u32 %r2, [own]; setp.eq.u32 %p2, %r2, 7; @%p2 bra a; a:", Code::LaunchFailed),
        // Barriers and exchanges that can't be.
        ("@%p1 bra a; bar.sync 0; bra b; a: bar.sync 0; b:", Code::LaunchFailed),
        ("@%p1 bra a; bar.warp.sync -1; bra b; a: bar.sync 1, 64; b:", Code::LaunchTimeout),
        ("@%p1 ret; bar.sync 1, 64;", Code::LaunchTimeout),
        ("shfl.sync.idx.b32 %r2, %r1, 0, 31, 1;", Code::LaunchFailed),
        ("bar.sync 16;", Code::IllegalInstruction),
        ("mov.u32 %r2, bar; mbarrier.arrive.shared.b64 %rd3, [%r2];", Code::LaunchFailed),
        // Control.
        ("list: .branchtargets a; brx.idx %r1, list; a:", Code::IllegalInstruction),
        ("call %rd1, ();", Code::InvalidPc),
        ("call nowhere;", Code::LaunchFailed),
        ("trap;", Code::LaunchFailed),
        ("{ .param .b32 p; st.param.b32 [p], 0; call deep, (p); }", Code::HardwareStackError),
        (
            "mov.u64 %rd3, text; cvta.global.u64 %rd3, %rd3; { .param .b64 a, b, d, e; .param .b32 c; st.param.b64 [a], %rd3;
st.param.b64 [b], %rd3; st.param.b32 [c], 7; st.param.b64 [d], %rd3; st.param.b64 [e], 1; call __assertfail, (a, b, c, d, e); }",
            Code::Assert,
        ),
    ] {
        assert_eq!(run(body, 32, words), code as i32, "{body}");
    }
    assert_eq!(run("ld.global.u32 %r2, [%rd2];", 32, unwritten), Code::LaunchFailed as i32);
    assert_eq!(run("ld.global.u32 %r2, [%rd2];", 32, || 0), Code::IllegalAddress as i32);
    let freed = || {
        let address = words();
        // SAFETY: the address is a number.
        ok(unsafe { cuMemFree_v2(address) });
        address
    };
    assert_eq!(run("st.global.u32 [%rd2], %r1;", 32, freed), Code::IllegalAddress as i32);
    // The same kernel without a fault.
    assert_eq!(run("ld.global.u32 %r2, [%rd2]; st.global.u32 [%rd2], %r2;", 32, words), Code::Success as i32);
}
