//! Order between streams, where work waits until something synchronizes.
#![cfg(feature = "cuda")]

mod common;

use common::{is_emulated, stream};
use gpu::kernels::random::FillUniform;
use gpu::{Buffer, Stream};

#[test]
fn streams_have_no_order_unless_one_waits() {
    test_support::run_apart("child_with_late_work", |command| command.env("LOCKSTEP_EMU_ASYNC", "1"));
}

fn fill(stream: &Stream, out: &mut Buffer<f32>) {
    let n = out.len();
    stream.launch(&FillUniform { seed: 1, stream: 2, first: 0, out: out.view_mut(), n }).unwrap();
}

#[test]
#[ignore = "run by the test above"]
fn child_with_late_work() {
    let first = stream();
    let second = first.device().stream().unwrap();
    let mut expected = vec![0.0; 100];
    arith::random::Stream::new(1, 2).fill_uniform(0, &mut expected);

    // Without an event the second stream may read too early; the emulator's does.
    let mut x = Buffer::from_slice(&first, &[7.0; 100]).unwrap();
    fill(&first, &mut x);
    let read = x.to_vec(&second).unwrap();
    if is_emulated(first.device()) {
        assert_eq!(read, [7.0; 100]);
    }
    assert_eq!(x.to_vec(&first).unwrap(), expected);

    let mut x = Buffer::from_slice(&first, &[7.0; 100]).unwrap();
    fill(&first, &mut x);
    let event = first.record().unwrap();
    if is_emulated(first.device()) {
        assert!(!event.is_over().unwrap());
    }
    second.wait(&event).unwrap();
    assert_eq!(x.to_vec(&second).unwrap(), expected);
    assert!(event.is_over().unwrap());

    // Memory that waiting work uses is freed after it.
    let mut late = Buffer::from_slice(&first, &[7.0; 100]).unwrap();
    fill(&first, &mut late);
    drop(late);
    let event = {
        let mut late = Buffer::from_slice(&first, &[7.0; 100]).unwrap();
        fill(&first, &mut late);
        first.record().unwrap()
    };
    event.synchronize().unwrap();
    first.synchronize().unwrap();
}
