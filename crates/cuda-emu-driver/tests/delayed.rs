//! Work that waits until something synchronizes.

mod common;

use std::ffi::c_void;
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

use common::*;
use cuda::Code;
use cuda::api::*;

fn gpu() -> Gpu {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: all threads of this program that read the environment do it through the standard library, which
        // locks it.
        unsafe { std::env::set_var("LOCKSTEP_EMU_ASYNC", "1") };
    });
    Gpu::new()
}

unsafe extern "C" fn count(data: *mut c_void) {
    // SAFETY: all tests pass a counter that outlives the work.
    unsafe { &*data.cast::<AtomicU32>() }.fetch_add(1, Ordering::Relaxed);
}

unsafe extern "C" fn call_the_driver(data: *mut c_void) {
    // SAFETY: as above.
    let code = unsafe { cuCtxSynchronize() };
    // SAFETY: as above.
    unsafe { &*data.cast::<AtomicU32>() }.store(code as u32, Ordering::Relaxed);
}

fn data(counter: &AtomicU32) -> *mut c_void {
    (&raw const *counter).cast_mut().cast()
}

#[test]
fn work_runs_when_its_stream_is_waited_for() {
    let _gpu = gpu();
    let counters = [AtomicU32::new(0), AtomicU32::new(0)];
    let seen = || counters.each_ref().map(|counter| counter.load(Ordering::Relaxed));
    // SAFETY: counters outlive the streams.
    unsafe {
        let streams = [get(|out| cuStreamCreate(out, 1)), get(|out| cuStreamCreate(out, 1))];
        for (&stream, counter) in streams.iter().zip(&counters) {
            ok(cuLaunchHostFunc(stream, Some(count), data(counter)));
        }
        assert_eq!(seen(), [0, 0]);
        ok(cuStreamSynchronize(streams[1]));
        assert_eq!(seen(), [0, 1]);
        ok(cuCtxSynchronize());
        assert_eq!(seen(), [1, 1]);
    }
}

#[test]
fn an_event_carries_its_stream_along() {
    let gpu = gpu();
    let function = gpu.function("add");
    let (a, b, c) = (upload(&[1; 8]), upload(&[0; 8]), upload(&[0; 8]));
    // SAFETY: only results are pointers.
    unsafe {
        let (first, second) = (get(|out| cuStreamCreate(out, 1)), get(|out| cuStreamCreate(out, 1)));
        let event = get(|out| cuEventCreate(out, 0));
        ok(cuMemsetD32Async(b, 2, 8, first));
        ok(cuEventRecord(event, first));
        ok(cuMemsetD32Async(b, 9, 8, first));
        ok(cuStreamWaitEvent(second, event, 0));
        ok(add(function, second, [a, b, c], 8));
        expect(Code::NotReady, {
            let end = get(|out| cuEventCreate(out, 0));
            ok(cuEventRecord(end, second));
            cuEventElapsedTime(Some(&mut std::mem::MaybeUninit::uninit()), event, end)
        });
        ok(cuStreamSynchronize(second));
        // What comes before the event has run, and no more.
        assert_eq!(download(c, 8), [3; 8]);
        assert_eq!(download(b, 8), [2; 8]);
        ok(cuEventQuery(event));
        ok(cuStreamSynchronize(first));
        assert_eq!(download(b, 8), [9; 8]);
    }
}

#[test]
fn the_legacy_stream_waits_for_blocking_streams_and_they_for_it() {
    let _gpu = gpu();
    let counter = AtomicU32::new(0);
    // SAFETY: the counter outlives the streams.
    unsafe {
        let (blocking, free) = (get(|out| cuStreamCreate(out, 0)), get(|out| cuStreamCreate(out, 1)));
        ok(cuLaunchHostFunc(blocking, Some(count), data(&counter)));
        ok(cuLaunchHostFunc(free, Some(count), data(&counter)));
        ok(cuLaunchHostFunc(0, Some(count), data(&counter)));
        ok(cuLaunchHostFunc(blocking, Some(count), data(&counter)));
        assert_eq!(counter.load(Ordering::Relaxed), 0);
        ok(cuStreamSynchronize(0));
        assert_eq!(counter.load(Ordering::Relaxed), 2);
        ok(cuLaunchHostFunc(0, Some(count), data(&counter)));
        ok(cuLaunchHostFunc(blocking, Some(count), data(&counter)));
        ok(cuStreamSynchronize(blocking));
        assert_eq!(counter.load(Ordering::Relaxed), 5);
        ok(cuStreamDestroy_v2(free));
        assert_eq!(counter.load(Ordering::Relaxed), 6);
    }
}

#[test]
fn polling_gets_on_item_by_item() {
    let _gpu = gpu();
    let counter = AtomicU32::new(0);
    // SAFETY: the counter outlives the stream.
    unsafe {
        let stream = get(|out| cuStreamCreate(out, 1));
        for _ in 0..3 {
            ok(cuLaunchHostFunc(stream, Some(count), data(&counter)));
        }
        expect(Code::NotReady, cuStreamQuery(stream));
        expect(Code::NotReady, cuStreamQuery(stream));
        ok(cuStreamQuery(stream));
        assert_eq!(counter.load(Ordering::Relaxed), 3);
    }
}

#[test]
fn pinned_memory_is_read_late_and_other_memory_at_once() {
    let _gpu = gpu();
    // SAFETY: host memory outlives the work.
    unsafe {
        let stream = get(|out| cuStreamCreate(out, 1));
        let target = upload(&[0, 0]);
        let mut pageable = 1_u32;
        let pinned = get(|out| cuMemAllocHost_v2(out, 4)).cast::<u32>();
        pinned.write(1);
        ok(cuMemcpyHtoDAsync_v2(target, (&raw const pageable).cast(), 4, stream));
        ok(cuMemcpyHtoDAsync_v2(target + 4, pinned.cast(), 4, stream));
        (&raw mut pageable).write_volatile(2);
        pinned.write(2);
        ok(cuStreamSynchronize(stream));
        assert_eq!(download(target, 2), [1, 2]);
        ok(cuMemFreeHost(pinned.cast()));
    }
}

#[test]
fn a_late_fault_is_reported_by_the_wait_and_drops_the_rest() {
    let gpu = gpu();
    let counter = AtomicU32::new(0);
    // SAFETY: the counter outlives the stream.
    unsafe {
        let stream = get(|out| cuStreamCreate(out, 1));
        ok(launch(gpu.function("fail"), 1, 1, stream, &[]));
        ok(cuLaunchHostFunc(stream, Some(count), data(&counter)));
        expect(Code::LaunchFailed, cuStreamSynchronize(stream));
        expect(Code::LaunchFailed, cuCtxSynchronize());
    }
    drop(gpu);
    assert_eq!(counter.load(Ordering::Relaxed), 0);
}

#[test]
fn memory_is_freed_in_order() {
    let gpu = gpu();
    // SAFETY: only results are pointers.
    unsafe {
        let stream = get(|out| cuStreamCreate(out, 1));
        let address = get(|out| cuMemAllocAsync(out, 4, stream));
        ok(launch(gpu.function("store"), 1, 1, stream, &[(&raw const address).cast()]));
        ok(cuMemFreeAsync(address, stream));
        ok(cuStreamSynchronize(stream));
        expect(Code::InvalidValue, cuMemFreeAsync(address, stream));
    }
}

#[test]
fn a_host_function_may_not_call_the_driver() {
    let _gpu = gpu();
    let code = AtomicU32::new(0);
    // SAFETY: the counter outlives the work.
    unsafe {
        ok(cuLaunchHostFunc(0, Some(call_the_driver), data(&code)));
        ok(cuStreamSynchronize(0));
    }
    assert_eq!(code.load(Ordering::Relaxed), Code::NotPermitted as u32);
}

#[test]
fn thousands_of_waits_between_two_streams_need_no_stack() {
    let _gpu = gpu();
    let counter = AtomicU32::new(0);
    const ROUNDS: u32 = 20_000;
    // SAFETY: the counter outlives the streams.
    unsafe {
        let streams = [get(|out| cuStreamCreate(out, 1)), get(|out| cuStreamCreate(out, 1))];
        let event = get(|out| cuEventCreate(out, 2));
        for round in 0..ROUNDS as usize {
            ok(cuLaunchHostFunc(streams[round % 2], Some(count), data(&counter)));
            ok(cuEventRecord(event, streams[round % 2]));
            ok(cuStreamWaitEvent(streams[(round + 1) % 2], event, 0));
        }
        ok(cuStreamSynchronize(streams[ROUNDS as usize % 2]));
    }
    assert_eq!(counter.load(Ordering::Relaxed), ROUNDS);
}
