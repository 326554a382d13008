//! The API as tests call it: results returned, codes asserted.

#![allow(dead_code, reason = "each test binary uses some of it")]

use std::ffi::{CString, c_void};
use std::mem::MaybeUninit;

use cuda::Code;
use cuda::api::*;

/// Kernels: `c = a + b`, a kernel that writes where it is told, and one that traps.
pub(crate) const PTX: &str = "
.version 8.0
.target sm_75
.address_size 64
.visible .global .align 4 .b8 table[16];
.visible .entry add(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)
{
    .reg .pred %p<2>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<8>;
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p1, %r5, %r1;
    @%p1 bra done;
    ld.param.u64 %rd1, [a];
    ld.param.u64 %rd2, [b];
    ld.param.u64 %rd3, [c];
    mul.wide.u32 %rd4, %r5, 4;
    add.s64 %rd1, %rd1, %rd4;
    add.s64 %rd2, %rd2, %rd4;
    add.s64 %rd3, %rd3, %rd4;
    ld.global.u32 %r2, [%rd1];
    ld.global.u32 %r3, [%rd2];
    add.s32 %r2, %r2, %r3;
    st.global.u32 [%rd3], %r2;
done:
    ret;
}
.visible .entry store(.param .u64 to)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [to];
    mov.u32 %r1, 7;
    st.global.u32 [%rd1], %r1;
    ret;
}
.visible .entry fail()
{
    trap;
}
.visible .entry wait()
{
    .reg .pred %p1;
    .reg .b32 %r1;
    mov.u32 %r1, %tid.x;
    setp.lt.u32 %p1, %r1, 32;
    @%p1 bra done;
    bar.sync 1, 96;
done:
    ret;
}
";

/// Asserts a code.
#[track_caller]
pub(crate) fn expect(code: Code, returned: i32) {
    assert_eq!(returned, code as i32, "expected {code:?}");
}

/// Asserts success.
#[track_caller]
pub(crate) fn ok(returned: i32) {
    expect(Code::Success, returned);
}

/// The result of a function that succeeds.
#[track_caller]
pub(crate) fn get<T>(function: impl FnOnce(Out<'_, T>) -> i32) -> T {
    let mut value = MaybeUninit::uninit();
    ok(function(Some(&mut value)));
    // SAFETY: a function that succeeds has written its result.
    unsafe { value.assume_init() }
}

/// The code of a function that has a result and fails. The result stays untouched.
#[track_caller]
pub(crate) fn refused<T: PartialEq + Copy + std::fmt::Debug>(
    code: Code,
    before: T,
    function: impl FnOnce(Out<'_, T>) -> i32,
) {
    let mut value = MaybeUninit::new(before);
    expect(code, function(Some(&mut value)));
    // SAFETY: it was written above.
    assert_eq!(unsafe { value.assume_init() }, before);
}

/// A context of its own, current on this thread, with the kernels loaded.
pub(crate) struct Gpu {
    pub(crate) context: Handle,
    pub(crate) module: Handle,
}

impl Gpu {
    pub(crate) fn new() -> Self {
        Self::on(0)
    }

    pub(crate) fn on(device: i32) -> Self {
        let image = CString::new(PTX).unwrap();
        // SAFETY: the image ends with NUL.
        unsafe {
            ok(cuInit(0));
            let context = get(|out| cuCtxCreate_v2(out, 0, device));
            let module = get(|out| cuModuleLoadData(out, image.as_ptr().cast()));
            Self { context, module }
        }
    }

    pub(crate) fn function(&self, name: &str) -> Handle {
        let name = CString::new(name).unwrap();
        // SAFETY: the name ends with NUL.
        get(|out| unsafe { cuModuleGetFunction(out, self.module, name.as_ptr()) })
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // SAFETY: handles may have any value. A context that has failed can be destroyed too.
        unsafe { cuCtxDestroy_v2(self.context) };
    }
}

/// Words on the device.
pub(crate) fn upload(words: &[u32]) -> u64 {
    let bytes = size_of_val(words);
    // SAFETY: the slice has as many bytes.
    unsafe {
        let address = get(|out| cuMemAlloc_v2(out, bytes));
        ok(cuMemcpyHtoD_v2(address, words.as_ptr().cast(), bytes));
        address
    }
}

/// Words from the device.
pub(crate) fn download(address: u64, count: usize) -> Vec<u32> {
    let mut words = vec![0_u32; count];
    // SAFETY: the vector has as many bytes.
    ok(unsafe { cuMemcpyDtoH_v2(words.as_mut_ptr().cast(), address, 4 * count) });
    words
}

/// Launches a kernel; the code.
pub(crate) fn launch(function: Handle, blocks: u32, threads: u32, stream: Handle, parameters: &[*const c_void]) -> i32 {
    // SAFETY: the caller gives a pointer for each parameter.
    unsafe { cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, stream, parameters.as_ptr(), std::ptr::null()) }
}

/// Launches `c = a + b` of words; the code.
pub(crate) fn add(function: Handle, stream: Handle, [a, b, c]: [u64; 3], n: u32) -> i32 {
    let parameters = [(&raw const a).cast(), (&raw const b).cast(), (&raw const c).cast(), (&raw const n).cast()];
    launch(function, n.div_ceil(64), 64, stream, &parameters)
}
