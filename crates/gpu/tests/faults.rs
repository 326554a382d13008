//! Kernels that fail on the device. That ends the device's context, so each has a process of its own.
#![cfg(feature = "cuda")]

mod common;

use common::{is_emulated, stream};
use gpu::kernels::sum::SumChunks;
use gpu::{Buffer, Error, Graph};

#[test]
fn a_fault_is_told_by_every_call_from_then_on() {
    for late in ["0", "1"] {
        let output = test_support::run_apart("child_that_reads_what_nothing_wrote", |command| {
            command.env("LOCKSTEP_EMU_ASYNC", late).env("LOCKSTEP_EMU_CHECKS", "all")
        });
        // The emulator also says where.
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!text.contains("cuda-emu") || text.contains("sum_chunks_f32"), "{text}");
    }
}

#[test]
#[ignore = "run by the test above"]
fn child_that_reads_what_nothing_wrote() {
    let stream = stream();
    if !is_emulated(stream.device()) {
        // A GPU reads whatever the memory holds.
        return;
    }
    let whole = Buffer::from_slice(&stream, &[1.0_f32; 64]).unwrap();
    let x = Buffer::<f32>::uninit(stream.device(), 64).unwrap();
    let mut out = Buffer::zeroed(&stream, 1).unwrap();
    let graph =
        Graph::capture(&stream, |stream| stream.launch(&SumChunks { x: whole.view(), out: out.view_mut(), n: 64 }));
    let graph = graph.unwrap();
    // By the launch itself, or by whatever waits for it.
    let failed = stream
        .launch(&SumChunks { x: x.view(), out: out.view_mut(), n: 64 })
        .and_then(|()| stream.synchronize())
        .unwrap_err();
    let Error::Driver(error) = failed else { panic!("{failed:?}") };
    assert!(error.call == "cuLaunchKernel" || error.call == "cuStreamSynchronize", "{error}");
    for later in [
        stream.launch(&SumChunks { x: whole.view(), out: out.view_mut(), n: 64 }),
        stream.synchronize(),
        stream.device().synchronize(),
        out.view_mut().zero(&stream),
        out.to_vec(&stream).map(drop),
        Buffer::<u8>::uninit(stream.device(), 1).map(drop),
        stream.record().map(drop),
        graph.launch(&stream),
    ] {
        assert!(matches!(later, Err(Error::Driver(later)) if later.code == error.code), "{later:?}");
    }
    // A launch that its contract forbids still says so.
    let refused = stream.launch(&SumChunks { x: x.view(), out: out.view_mut(), n: 63 });
    assert!(matches!(refused, Err(Error::Launch(_))), "{refused:?}");
}
