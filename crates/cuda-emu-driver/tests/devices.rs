//! Several devices, each with memory of its own.

mod common;

use common::*;
use cuda::Code;
use cuda::api::*;
use std::ffi::c_void;

/// A context on a device, current from now on.
fn on(device: i32) -> Gpu {
    let gpu = Gpu::on(device);
    // SAFETY: a result.
    assert_eq!(get(|out| unsafe { cuCtxGetDevice(out) }), device);
    gpu
}

#[test]
fn devices_share_nothing_but_copies() {
    // SAFETY: this is the file's only test, so that no other thread of it looks at the environment.
    unsafe { std::env::set_var("LOCKSTEP_EMU_DEVICES", "2") };
    // SAFETY: results.
    unsafe {
        ok(cuInit(0));
        assert_eq!(get(|out| cuDeviceGetCount(out)), 2);
        assert_eq!(get(|out| cuDeviceGet(out, 1)), 1);
        refused(Code::InvalidDevice, 7, |out| cuDeviceGet(out, 2));
        refused(Code::InvalidDevice, 7, |out| cuDeviceGet(out, -1));
        assert_ne!(get(|out| cuDeviceGetUuid(out, 0)), get(|out| cuDeviceGetUuid(out, 1)));
        // Primary contexts are those of their devices.
        let [first, second] = [0, 1].map(|device| get(|out| cuDevicePrimaryCtxRetain(out, device)));
        assert_ne!(first, second);
        ok(cuDevicePrimaryCtxRelease_v2(1));
        assert_eq!(get(|out| cuDevicePrimaryCtxGetState(0, Some(&mut std::mem::MaybeUninit::uninit()), out)), 1);
        assert_eq!(get(|out| cuDevicePrimaryCtxGetState(1, Some(&mut std::mem::MaybeUninit::uninit()), out)), 0);
        ok(cuDevicePrimaryCtxRelease_v2(0));
    }

    let first = on(0);
    let here = upload(&[1, 2, 3, 4]);
    let second = on(1);
    let there = upload(&[10, 20, 30, 40]);
    let sums = upload(&[0; 4]);
    assert_ne!(here, there);

    // Each counts its own memory.
    let memory = || {
        let mut total = std::mem::MaybeUninit::<usize>::uninit();
        // SAFETY: results.
        get(|out| unsafe { cuMemGetInfo_v2(out, Some(&mut total)) })
    };
    let free = memory();
    // SAFETY: handles and results.
    unsafe { ok(cuCtxPushCurrent_v2(first.context)) };
    assert_eq!(memory(), free + 16);
    // SAFETY: as above.
    unsafe { ok(cuMemcpyDtoD_v2(there, here, 8)) };
    assert_eq!(download(there, 4), [1, 2, 30, 40]);
    // SAFETY: as above.
    let popped = get(|out| unsafe { cuCtxPopCurrent_v2(out) });
    assert_eq!(popped, first.context);

    // A kernel of one that reads the other's memory: no address of its device.
    ok(add(second.function("add"), 0, [there, there, sums], 4));
    assert_eq!(download(sums, 4), [2, 4, 60, 80]);
    expect(Code::IllegalAddress, add(second.function("add"), 0, [there, here, sums], 4));
    // The other one has no fault.
    drop(second);
    // SAFETY: handles.
    unsafe { ok(cuCtxSetCurrent(first.context)) };
    assert_eq!(download(here, 4), [1, 2, 3, 4]);
    let to: *const c_void = (&raw const here).cast();
    ok(launch(first.function("store"), 1, 1, 0, &[to]));
    assert_eq!(download(here, 4), [7, 2, 3, 4]);
    // What belonged to the other's context is gone.
    let mut word = [0_u32; 1];
    // SAFETY: the array has as many bytes.
    expect(Code::InvalidValue, unsafe { cuMemcpyDtoH_v2(word.as_mut_ptr().cast(), there, 4) });
}
