//! A launch allocates nothing on the host once its kernel is loaded, nor does a replay.
#![cfg(feature = "cuda")]

mod common;

use common::stream;
use gpu::kernels::mingru::ScanForward;
use gpu::kernels::random::FillUniform;
use gpu::{Buffer, Error, Graph, Stream};
use test_support::{Counting, allocations_of};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn fill(stream: &Stream, out: &mut Buffer<f32>) -> Result<(), Error> {
    let n = out.len();
    stream.launch(&FillUniform { seed: 1, stream: 2, first: 0, out: out.view_mut(), n })
}

/// The only test of this file: nothing else allocates meanwhile.
#[test]
fn launches_and_replays_allocate_nothing() {
    let stream = stream();
    fills(&stream);
    scans(&stream);
}

fn fills(stream: &Stream) {
    let mut x = Buffer::<f32>::zeroed(stream, 1000).unwrap();
    let graph = Graph::capture(stream, |stream| fill(stream, &mut x)).unwrap();
    let mut host = vec![0.0; 1000];
    let mut work = || {
        for _ in 0..10 {
            fill(stream, &mut x).unwrap();
            graph.launch(stream).unwrap();
        }
        x.view_mut().zero(stream).unwrap();
        x.view().read(stream, &mut host).unwrap();
        // Refused, which allocates nothing either.
        let refused = stream.launch(&FillUniform { seed: 1, stream: 2, first: 0, out: x.view_mut(), n: 999 });
        assert!(matches!(refused, Err(Error::Launch(_))));
    };
    work();
    assert_eq!(allocations_of(work), 0);
}

fn scans(stream: &Stream) {
    let of = |len| Buffer::<f32>::zeroed(stream, len).unwrap();
    let (combined, x, keep, h0) = (of(72), of(24), of(6), of(8));
    let (mut out, mut checkpoints, mut h_last) = (of(24), of(16), of(8));
    let mut scan = || {
        let kernel = ScanForward {
            combined: combined.view(),
            x: x.view(),
            keep: keep.view(),
            h0: h0.view(),
            out: out.view_mut(),
            checkpoints: checkpoints.view_mut(),
            h_last: h_last.view_mut(),
            batch: 2,
            time: 3,
            hidden: 4,
            interval: 2,
        };
        stream.launch(&kernel).unwrap();
    };
    scan();
    assert_eq!(allocations_of(scan), 0);
}
