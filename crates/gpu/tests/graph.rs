//! Graphs: recording, replaying, and what can't be recorded.
#![cfg(feature = "cuda")]

mod common;

use common::stream;
use gpu::kernels::random::FillUniform;
use gpu::kernels::sum::SumChunks;
use gpu::{Buffer, Device, Error, Graph, Pinned, Stream};
use std::sync::atomic::{AtomicBool, Ordering};

fn fill(stream: &Stream, out: &mut Buffer<f32>, first: u64) -> Result<(), Error> {
    let n = out.len();
    stream.launch(&FillUniform { seed: 1, stream: 2, first, out: out.view_mut(), n })
}

fn uniform(first: u64, n: usize) -> Vec<f32> {
    let mut expected = vec![0.0; n];
    arith::random::Stream::new(1, 2).fill_uniform(first, &mut expected);
    expected
}

#[test]
fn a_replay_does_what_was_recorded() {
    let stream = stream();
    let mut x = Buffer::from_slice(&stream, &[7.0; 2000]).unwrap();
    let mut copy = Buffer::from_slice(&stream, &[8.0; 2000]).unwrap();
    let mut sums = Buffer::from_slice(&stream, &[9.0; 2]).unwrap();
    let graph = Graph::capture(&stream, |stream| {
        copy.view_mut().copy_from(stream, x.view())?;
        fill(stream, &mut x, 5)?;
        stream.launch(&SumChunks { x: x.view(), out: sums.view_mut(), n: 2000 })?;
        x.view_mut().slice(0..1)?.zero(stream)
    });
    let graph = graph.unwrap();
    assert_eq!(graph.operations(), 4);
    // Nothing has run yet.
    assert_eq!((x.to_vec(&stream).unwrap(), sums.to_vec(&stream).unwrap()), (vec![7.0; 2000], vec![9.0; 2]));
    assert_eq!(copy.to_vec(&stream).unwrap(), [8.0; 2000]);
    let mut expected = uniform(5, 2000);
    let expected_sums: Vec<_> = expected.chunks(1024).map(arith::sum::sum).collect();
    expected[0] = 0.0;
    let mut before = vec![7.0; 2000];
    let other = stream.device().stream().unwrap();
    for replay in 0..4 {
        // Each on the stream or on another one: synchronized between.
        let stream = if replay % 2 == 0 { &stream } else { &other };
        graph.launch(stream).unwrap();
        assert_eq!(copy.to_vec(stream).unwrap(), before);
        assert_eq!(
            (x.to_vec(stream).unwrap(), sums.to_vec(stream).unwrap()),
            (expected.clone(), expected_sums.clone())
        );
        before = expected.clone();
    }
}

#[test]
fn a_graph_keeps_its_memory() {
    let stream = stream();
    let x = Buffer::from_slice(&stream, &[1.0; 1024]).unwrap();
    let mut sum = Buffer::from_slice(&stream, &[0.0]).unwrap();
    let graph = Graph::capture(&stream, |stream| {
        // Freed during the capture; the graph doesn't use it.
        drop(Buffer::<u8>::uninit(stream.device(), 100)?);
        let mut between = Buffer::uninit(stream.device(), 1)?;
        stream.launch(&SumChunks { x: x.view(), out: between.view_mut(), n: 1024 })?;
        sum.view_mut().copy_from(stream, between.view())
    });
    let graph = graph.unwrap();
    drop(x);
    // Would get the memory of `x` and `between`, were it free.
    let _others: Vec<_> = (0..4).map(|_| Buffer::from_slice(&stream, &[5.0; 1024]).unwrap()).collect();
    graph.launch(&stream).unwrap();
    assert_eq!(sum.to_vec(&stream).unwrap(), [1024.0]);
}

#[test]
fn what_cannot_be_recorded_is_refused_and_breaks_nothing() {
    let stream = stream();
    let mut x = Buffer::from_slice(&stream, &[1.0_f32; 8]).unwrap();
    let event = stream.record().unwrap();
    let inner = Graph::capture(&stream, |stream| fill(stream, &mut x, 0)).unwrap();
    let graph = Graph::capture(&stream, |stream| {
        fill(stream, &mut x, 3)?;
        let refused = [
            stream.synchronize(),
            stream.device().synchronize(),
            stream.record().map(drop),
            stream.wait(&event),
            x.to_vec(stream).map(drop),
            x.view_mut().write(stream, &[0.0; 8]),
            Buffer::from_slice(stream, &[1]).map(drop),
            inner.launch(stream),
            Graph::capture(stream, |_| Ok::<_, Error>(())).map(drop),
        ];
        for (i, refused) in refused.into_iter().enumerate() {
            assert!(matches!(refused, Err(Error::Capturing { .. })), "{i}: {refused:?}");
        }
        Ok::<_, Error>(())
    });
    let graph = graph.unwrap();
    assert_eq!(graph.operations(), 1);
    graph.launch(&stream).unwrap();
    assert_eq!(x.to_vec(&stream).unwrap(), uniform(3, 8));
}

/// Apart from tests that capture on the same device, for which it can't be waited meanwhile.
#[test]
fn an_error_or_a_panic_ends_the_capture() {
    test_support::run_apart("child_whose_captures_fail", |command| command);
}

#[test]
#[ignore = "run by the test above"]
fn child_whose_captures_fail() {
    let stream = stream();
    let mut x = Buffer::from_slice(&stream, &[1.0; 8]).unwrap();
    let error = Graph::capture(&stream, |stream| {
        fill(stream, &mut x, 0)?;
        x.view_mut().slice(0..9)?.zero(stream)
    });
    assert_eq!(error.unwrap_err(), Error::Range { start: 0, end: 9, len: 8 });
    let panicked = std::panic::catch_unwind(|| {
        Graph::capture(&stream, |_| -> Result<(), Error> { panic!("of the test") }).map(drop)
    });
    assert!(panicked.is_err());
    // The stream and the device go on, and nothing of it has run.
    stream.device().synchronize().unwrap();
    assert_eq!(x.to_vec(&stream).unwrap(), [1.0; 8]);
    let nothing = Graph::capture(&stream, |_| Ok::<_, Error>(())).unwrap();
    assert_eq!(nothing.operations(), 0);
    nothing.launch(&stream).unwrap();
    stream.synchronize().unwrap();
}

#[test]
fn threads_capture_side_by_side() {
    let device = stream().device().clone();
    std::thread::scope(|scope| {
        for thread in 0..3_u64 {
            let device = &device;
            scope.spawn(move || {
                let stream = device.stream().unwrap();
                for round in 0..5 {
                    let mut x = Buffer::zeroed(&stream, 100).unwrap();
                    let first = 1000 * thread + round;
                    let graph = Graph::capture(&stream, |stream| fill(stream, &mut x, first)).unwrap();
                    graph.launch(&stream).unwrap();
                    assert_eq!(x.to_vec(&stream).unwrap(), uniform(first, 100), "thread {thread}, round {round}");
                }
            });
        }
    });
}

#[test]
fn memory_freed_by_another_thread_waits_for_the_capture() {
    let stream = stream();
    let mut x = Buffer::zeroed(&stream, 100).unwrap();
    let graph = Graph::capture(&stream, |stream| {
        fill(stream, &mut x, 7)?;
        std::thread::scope(|scope| {
            // Another handle of the same device: freeing would wait for the device, which breaks a capture.
            scope.spawn(|| drop(Buffer::<f32>::uninit(&Device::new(0).unwrap(), 1000).unwrap()));
            scope.spawn(|| drop(Pinned::<f32>::zeroed(&Device::new(0).unwrap(), 1000).unwrap()));
        });
        Ok::<_, Error>(())
    });
    graph.unwrap().launch(&stream).unwrap();
    assert_eq!(x.to_vec(&stream).unwrap(), uniform(7, 100));
}

#[test]
fn what_other_threads_may_not_record_is_never_recorded() {
    let stream = stream();
    let source = Buffer::from_slice(&stream, &[1.0; 1000]).unwrap();
    let mut x = Buffer::zeroed(&stream, 100).unwrap();
    let ended = AtomicBool::new(false);
    let until_the_end = |operation: &dyn Fn() -> Result<(), Error>| {
        while !ended.load(Ordering::Relaxed) {
            let result = operation();
            assert!(matches!(result, Ok(()) | Err(Error::Capturing { .. })), "{result:?}");
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| until_the_end(&|| source.to_vec(&stream).map(|copy| assert_eq!(copy, [1.0; 1000]))));
        scope.spawn(|| {
            let pinned = || Pinned::zeroed(stream.device(), 1000);
            until_the_end(&|| source.view().read_async(&stream, pinned()?)?.wait().map(drop));
        });
        scope.spawn(|| until_the_end(&|| stream.record()?.synchronize()));
        scope.spawn(|| until_the_end(&|| stream.synchronize()));
        let graphs: Vec<_> =
            (0..300).map(|first| Graph::capture(&stream, |stream| fill(stream, &mut x, first))).collect();
        ended.store(true, Ordering::Relaxed);
        // Never a copy or a wait of the others.
        assert!(graphs.into_iter().all(|graph| graph.unwrap().operations() == 1));
    });
}
