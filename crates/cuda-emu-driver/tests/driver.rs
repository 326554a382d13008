//! The API as a program calls it, work run at once.

mod common;

use std::ffi::{CStr, CString, c_void};
use std::ptr::null;

use common::*;
use cuda::Code;
use cuda::api::*;

#[test]
fn a_kernel_adds_vectors_of_every_size_around_a_block() {
    let gpu = Gpu::new();
    let function = gpu.function("add");
    for n in [1, 63, 64, 65, 1000] {
        let a: Vec<u32> = (0..n).map(|i| 3 * i).collect();
        let b: Vec<u32> = (0..n).map(|i| i * i + 1).collect();
        let (from_a, from_b, to) = (upload(&a), upload(&b), upload(&vec![0; n as usize]));
        ok(add(function, 0, [from_a, from_b, to], n));
        let expected: Vec<u32> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
        assert_eq!(download(to, n as usize), expected);
        for address in [from_a, from_b, to] {
            // SAFETY: no pointers.
            ok(unsafe { cuMemFree_v2(address) });
        }
    }
}

#[test]
fn parameters_may_come_in_a_buffer() {
    let gpu = Gpu::new();
    let function = gpu.function("add");
    let (a, b, c) = (upload(&[1, 2]), upload(&[10, 20]), upload(&[0, 0]));
    let mut buffer = [a.to_ne_bytes(), b.to_ne_bytes(), c.to_ne_bytes()].concat();
    buffer.extend(2_u32.to_ne_bytes());
    let size = buffer.len();
    let mark = |n: usize| std::ptr::without_provenance::<c_void>(n);
    let extra = [mark(1), buffer.as_ptr().cast(), mark(2), (&raw const size).cast(), null()];
    // SAFETY: the list is as the function describes it.
    ok(unsafe { cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, 0, null(), extra.as_ptr()) });
    assert_eq!(download(c, 2), [11, 22]);
    let short = size - 4;
    let extra = [mark(1), buffer.as_ptr().cast(), mark(2), (&raw const short).cast(), null()];
    // SAFETY: as above.
    let code = unsafe { cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, 0, null(), extra.as_ptr()) };
    expect(Code::InvalidValue, code);
}

#[test]
fn faults_have_the_code_of_a_device_and_stick_to_the_context() {
    let cases: [(&str, Option<u64>, u32, Code); 5] = [
        ("store", Some(0), 1, Code::IllegalAddress),
        ("store", Some(64), 1, Code::IllegalAddress),
        ("store", Some(2), 1, Code::MisalignedAddress),
        ("fail", None, 1, Code::LaunchFailed),
        ("wait", None, 64, Code::LaunchTimeout),
    ];
    let healthy = Gpu::new();
    for (kernel, offset, threads, code) in cases {
        let gpu = Gpu::new();
        let target = upload(&[0; 16]);
        let address = match offset {
            Some(0) => 0,
            Some(offset) => target + offset,
            None => 0,
        };
        let parameters: &[*const c_void] = &[(&raw const address).cast()];
        let parameters = if offset.is_some() { parameters } else { &[] };
        expect(code, launch(gpu.function(kernel), 1, threads, 0, parameters));
        // SAFETY: no pointers but results.
        unsafe {
            expect(code, cuCtxSynchronize());
            refused(code, 5_u64, |out| cuMemAlloc_v2(out, 64));
            expect(code, cuMemsetD32_v2(target, 1, 4));
            expect(code, cuStreamSynchronize(0));
        }
        drop(gpu);
        // SAFETY: no pointers.
        unsafe {
            ok(cuCtxSetCurrent(healthy.context));
            ok(cuCtxSynchronize());
        }
    }
}

#[test]
fn launches_that_a_device_refuses_leave_the_context_usable() {
    let gpu = Gpu::new();
    let function = gpu.function("store");
    let target = upload(&[1]);
    let parameters: [*const c_void; 1] = [(&raw const target).cast()];
    for (blocks, threads) in [([0, 1, 1], [1, 1, 1]), ([1, 65_536, 1], [1, 1, 1]), ([1, 1, 1], [1025, 1, 1])] {
        let ([x, y, z], [u, v, w]) = (blocks, threads);
        // SAFETY: there is a pointer for each parameter.
        let code = unsafe { cuLaunchKernel(function, x, y, z, u, v, w, 0, 0, parameters.as_ptr(), null()) };
        expect(Code::InvalidValue, code);
    }
    // SAFETY: as above.
    let code = unsafe { cuLaunchKernel(function, 1 << 20, 8192, 1, 1, 1, 1, 0, 0, parameters.as_ptr(), null()) };
    expect(Code::LaunchOutOfResources, code);
    // Beyond 48 KiB a function has to allow it.
    let with_shared = |bytes| {
        // SAFETY: as above.
        unsafe { cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, bytes, 0, parameters.as_ptr(), null()) }
    };
    expect(Code::InvalidValue, with_shared((48 << 10) + 1));
    // SAFETY: no pointers.
    ok(unsafe { cuFuncSetAttribute(function, 8, 64 << 10) });
    ok(with_shared(64 << 10));
    assert_eq!(download(target, 1), [7]);
}

#[test]
fn handles_that_are_freed_or_of_another_kind_are_errors() {
    let gpu = Gpu::new();
    // SAFETY: handles may have any value.
    unsafe {
        let stream = get(|out| cuStreamCreate(out, 0));
        let event = get(|out| cuEventCreate(out, 0));
        ok(cuStreamDestroy_v2(stream));
        expect(Code::InvalidHandle, cuStreamSynchronize(stream));
        expect(Code::InvalidHandle, cuStreamDestroy_v2(stream));
        expect(Code::InvalidHandle, cuStreamDestroy_v2(0));
        expect(Code::InvalidHandle, cuEventRecord(gpu.module, 0));
        expect(Code::InvalidHandle, cuStreamSynchronize(event));
        expect(Code::InvalidHandle, launch(0xdead_beef, 1, 1, 0, &[]));
        expect(Code::InvalidContext, cuCtxSetCurrent(event));
        let function = gpu.function("fail");
        ok(cuModuleUnload(gpu.module));
        expect(Code::InvalidHandle, launch(function, 1, 1, 0, &[]));
        expect(Code::InvalidHandle, cuModuleUnload(gpu.module));
    }
}

#[test]
fn memory_is_checked_and_counted() {
    let _gpu = Gpu::new();
    // SAFETY: host pointers are null or have as many bytes.
    unsafe {
        let address = get(|out| cuMemAlloc_v2(out, 64));
        let mut word = 0_u32;
        expect(Code::InvalidValue, cuMemcpyDtoH_v2((&raw mut word).cast(), address + 61, 4));
        expect(Code::InvalidValue, cuMemcpyHtoD_v2(address, null(), 4));
        expect(Code::InvalidValue, cuMemcpyDtoD_v2(address, address + 32, 33));
        expect(Code::InvalidValue, cuMemsetD32_v2(address + 2, 0, 1));
        expect(Code::InvalidValue, cuMemsetD32_v2(address, 0, 17));
        expect(Code::InvalidValue, cuMemsetD32_v2(address, 0, usize::MAX));
        refused(Code::InvalidValue, 5, |out| cuMemAlloc_v2(out, 0));
        refused(Code::OutOfMemory, 5, |out| cuMemAlloc_v2(out, usize::MAX));
        expect(Code::InvalidValue, cuMemAlloc_v2(None, 64));
        ok(cuMemsetD8_v2(address, 0xab, 64));
        ok(cuMemsetD16_v2(address + 4, 0x1234, 2));
        ok(cuMemsetD32_v2(address + 8, 0xdead_beef, 1));
        ok(cuMemcpyDtoD_v2(address + 32, address, 12));
        assert_eq!(download(address + 32, 4), [0xabab_abab, 0x1234_1234, 0xdead_beef, 0xabab_abab]);
        expect(Code::InvalidValue, cuMemFree_v2(address + 4));
        ok(cuMemFree_v2(address));
        expect(Code::InvalidValue, cuMemFree_v2(address));
        ok(cuMemFree_v2(0));
        let pinned = get(|out| cuMemAllocHost_v2(out, 5000));
        pinned.cast::<u8>().add(4999).write(1);
        ok(cuMemFreeHost(pinned));
        expect(Code::InvalidValue, cuMemFreeHost(pinned));
    }
}

#[test]
fn contexts_stack_and_free_what_is_theirs() {
    let gpu = Gpu::new();
    // SAFETY: handles may have any value.
    unsafe {
        let address = upload(&[1, 2, 3]);
        let inner = get(|out| cuCtxCreate_v2(out, 0, 0));
        assert_eq!(get(|out| cuCtxGetCurrent(out)), inner);
        let other = upload(&[4]);
        ok(cuCtxDestroy_v2(inner));
        assert_eq!(get(|out| cuCtxGetCurrent(out)), gpu.context);
        expect(Code::InvalidValue, cuMemFree_v2(other));
        assert_eq!(download(address, 3), [1, 2, 3]);
        assert_eq!(get(|out| cuCtxPopCurrent_v2(out)), gpu.context);
        expect(Code::InvalidContext, cuCtxSynchronize());
        ok(cuCtxPushCurrent_v2(gpu.context));
        ok(cuCtxSetLimit(0, 4096));
        assert_eq!(get(|out| cuCtxGetLimit(out, 0)), 4096);
        refused(Code::UnsupportedLimit, 1, |out| cuCtxGetLimit(out, 6));
        refused(Code::InvalidDevice, 1, |out| cuCtxCreate_v2(out, 0, 1));
        // A context that is destroyed on another thread stays on this one's stack.
        let lost = get(|out| cuCtxCreate_v2(out, 0, 0));
        std::thread::spawn(move || ok(cuCtxDestroy_v2(lost))).join().unwrap();
        expect(Code::ContextIsDestroyed, cuCtxSynchronize());
        ok(cuCtxSetCurrent(gpu.context));
    }
}

#[test]
fn the_primary_context_lives_as_long_as_its_users() {
    // SAFETY: handles may have any value.
    unsafe {
        ok(cuInit(0));
        let state = || {
            let mut flags = std::mem::MaybeUninit::uninit();
            let active = get(|out| cuDevicePrimaryCtxGetState(0, Some(&mut flags), out));
            (flags.assume_init(), active)
        };
        ok(cuDevicePrimaryCtxSetFlags_v2(0, 4));
        assert_eq!(state(), (4, 0));
        let first = get(|out| cuDevicePrimaryCtxRetain(out, 0));
        assert_eq!(get(|out| cuDevicePrimaryCtxRetain(out, 0)), first);
        expect(Code::InvalidContext, cuCtxDestroy_v2(first));
        ok(cuDevicePrimaryCtxRelease_v2(0));
        assert_eq!(state(), (4, 1));
        ok(cuDevicePrimaryCtxRelease_v2(0));
        assert_eq!(state(), (4, 0));
        expect(Code::InvalidContext, cuDevicePrimaryCtxRelease_v2(0));
        expect(Code::InvalidContext, cuCtxSetCurrent(first));
    }
}

#[test]
fn modules_have_variables_and_errors_have_codes() {
    let gpu = Gpu::new();
    let load = |text: &str| {
        let text = CString::new(text).unwrap();
        let mut module = std::mem::MaybeUninit::uninit();
        // SAFETY: the text ends with NUL.
        unsafe { cuModuleLoadData(Some(&mut module), text.as_ptr().cast()) }
    };
    expect(Code::InvalidPtx, load(".version 8.0 .target sm_75 .visible .entry k() { nonsense; }"));
    expect(Code::NoBinaryForGpu, load("\x7fELF and so on"));
    // SAFETY: strings end with NUL.
    unsafe {
        let mut bytes = std::mem::MaybeUninit::uninit();
        let address = get(|out| cuModuleGetGlobal_v2(out, Some(&mut bytes), gpu.module, c"table".as_ptr()));
        assert_eq!(bytes.assume_init(), 16);
        assert_eq!(download(address, 4), [0; 4]);
        refused(Code::NotFound, 9, |out| cuModuleGetGlobal_v2(out, None, gpu.module, c"chair".as_ptr()));
        refused(Code::NotFound, 9, |out| cuModuleGetFunction(out, gpu.module, c"subtract".as_ptr()));
        refused(Code::FileNotFound, 9, |out| cuModuleLoad(out, c"/no/such/file.ptx".as_ptr()));
        let name = get(|out| cuGetErrorName(700, out));
        assert_eq!(CStr::from_ptr(name), c"CUDA_ERROR_ILLEGAL_ADDRESS");
        let text = get(|out| cuGetErrorString(700, out));
        assert_eq!(CStr::from_ptr(text), c"an illegal memory access was encountered");
        refused(Code::InvalidValue, null(), |out| cuGetErrorName(12_345, out));
        expect(Code::NotSupported, cuMemAllocManaged());
    }
}

#[test]
fn occupancy_is_the_least_of_three_limits() {
    let gpu = Gpu::new();
    let function = gpu.function("add");
    // SAFETY: only results are pointers.
    let blocks = |threads, dynamic| unsafe {
        get(|out| cuOccupancyMaxActiveBlocksPerMultiprocessor(out, function, threads, dynamic))
    };
    // 2048 threads; at most 32 blocks; 228 KiB of shared memory, 1 KiB of each block for the system.
    assert_eq!((blocks(1024, 0), blocks(1000, 0), blocks(32, 0), blocks(32, 37 << 10)), (2, 2, 32, 6));
    let mut threads = std::mem::MaybeUninit::uninit();
    // SAFETY: as above.
    unsafe {
        let least = get(|out| cuOccupancyMaxPotentialBlockSize(out, Some(&mut threads), function, None, 0, 0));
        assert_eq!((least, threads.assume_init()), (32, 1024));
    }
}

#[test]
fn graphs_launch_as_often_as_one_likes() {
    let gpu = Gpu::new();
    let function = gpu.function("add");
    let (a, b) = (upload(&[1, 2, 3]), upload(&[10, 20, 30]));
    let n = 3_u32;
    let parameters = [(&raw const a).cast(), (&raw const b).cast(), (&raw const b).cast(), (&raw const n).cast()];
    let node = KernelNode {
        function,
        blocks: [1, 1, 1],
        threads: [32, 1, 1],
        shared_bytes: 0,
        parameters: parameters.as_ptr(),
        extra: null(),
    };
    // SAFETY: arrays have as many elements as is said.
    unsafe {
        let graph = get(|out| cuGraphCreate(out, 0));
        let first = get(|out| cuGraphAddKernelNode(out, graph, null(), 0, Some(&node)));
        // What a node says of itself makes another one.
        let same = get(|out| cuGraphKernelNodeGetParams(first, out));
        assert_eq!((same.function, same.blocks, same.threads), (function, [1, 1, 1], [32, 1, 1]));
        let second = get(|out| cuGraphAddKernelNode(out, graph, [first].as_ptr(), 1, Some(&same)));
        let mut count = 0;
        ok(cuGraphGetNodes(graph, std::ptr::null_mut(), Some(&mut count)));
        assert_eq!(count, 2);
        let mut nodes = [7; 3];
        count = 3;
        ok(cuGraphGetNodes(graph, nodes.as_mut_ptr(), Some(&mut count)));
        assert_eq!((nodes, count), ([first, second, 0], 2));
        let (mut from, mut to) = ([0; 1], [0; 1]);
        count = 1;
        ok(cuGraphGetEdges(graph, from.as_mut_ptr(), to.as_mut_ptr(), Some(&mut count)));
        assert_eq!((from, to, count), ([first], [second], 1));
        assert_eq!(get(|out| cuGraphNodeGetType(second, out)), 0);
        let executable = get(|out| cuGraphInstantiateWithFlags(out, graph, 0));
        ok(cuGraphDestroy(graph));
        expect(Code::InvalidHandle, cuGraphNodeGetType(first, Some(&mut std::mem::MaybeUninit::uninit())));
        for _ in 0..2 {
            ok(cuGraphLaunch(executable, 0));
        }
        // b += a, twice a launch.
        assert_eq!(download(b, 3), [14, 28, 42]);
        ok(cuGraphExecDestroy(executable));
        expect(Code::InvalidHandle, cuGraphLaunch(executable, 0));
    }
}

#[test]
fn a_capture_runs_nothing_until_its_graph_is_launched() {
    let gpu = Gpu::new();
    let function = gpu.function("add");
    let (a, b) = (upload(&[1; 4]), upload(&[0; 4]));
    // SAFETY: only results are pointers.
    unsafe {
        let stream = get(|out| cuStreamCreate(out, 1));
        ok(cuStreamBeginCapture_v2(stream, 0));
        assert_eq!(get(|out| cuStreamIsCapturing(stream, out)), 1);
        ok(cuMemsetD32Async(b, 5, 4, stream));
        ok(add(function, stream, [a, b, b], 4));
        let graph = get(|out| cuStreamEndCapture(stream, out));
        assert_eq!(get(|out| cuStreamIsCapturing(stream, out)), 0);
        assert_eq!(download(b, 4), [0; 4]);
        let executable = get(|out| cuGraphInstantiate_v2(out, graph, None, std::ptr::null_mut(), 0));
        ok(cuGraphLaunch(executable, stream));
        ok(cuStreamSynchronize(stream));
        assert_eq!(download(b, 4), [6; 4]);
        let file = std::env::temp_dir().join(format!("graph-{}.dot", std::process::id()));
        let path = CString::new(file.to_str().unwrap()).unwrap();
        ok(cuGraphDebugDotPrint(graph, path.as_ptr(), 0));
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::remove_file(&file).unwrap();
        assert!(
            text.contains("[label=\"fill\"]") && text.contains("[label=\"add\"]") && text.contains(" -> "),
            "{text}"
        );
        expect(Code::IllegalState, cuStreamEndCapture(stream, Some(&mut std::mem::MaybeUninit::uninit())));
    }
}

#[test]
fn what_a_capture_does_not_allow_breaks_it() {
    let _gpu = Gpu::new();
    let b = upload(&[0; 4]);
    // SAFETY: only results are pointers.
    unsafe {
        let [stream, other] = [0, 1].map(|_| get(|out| cuStreamCreate(out, 1)));
        let event = get(|out| cuEventCreate(out, 2));
        let freed = get(|out| cuMemAlloc_v2(out, 4));
        let breaking: [&dyn Fn() -> i32; 5] = [
            &|| cuStreamSynchronize(stream),
            &|| cuStreamQuery(stream),
            &|| cuEventRecord(event, stream),
            &|| cuCtxSynchronize(),
            &|| cuMemFree_v2(freed),
        ];
        for (i, breaking) in breaking.into_iter().enumerate() {
            ok(cuStreamBeginCapture_v2(stream, 2));
            ok(cuMemsetD32Async(b, 5, 4, stream));
            // Other streams may be waited for.
            ok(cuStreamSynchronize(other));
            assert_eq!(get(|out| cuStreamIsCapturing(stream, out)), 1);
            expect(Code::CaptureUnsupported, breaking());
            assert_eq!(get(|out| cuStreamIsCapturing(stream, out)), 2, "{i}");
            expect(Code::CaptureInvalidated, cuStreamEndCapture(stream, Some(&mut std::mem::MaybeUninit::uninit())));
            assert_eq!(get(|out| cuStreamIsCapturing(stream, out)), 0);
        }
        ok(cuMemFree_v2(freed));
        ok(cuCtxSynchronize());
        assert_eq!(download(b, 4), [0; 4]);
    }
}
