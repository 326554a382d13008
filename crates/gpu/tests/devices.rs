//! Two devices: what is on one is refused by the other, before anything is submitted.
#![cfg(feature = "cuda")]

mod common;

use common::is_emulated;
use gpu::kernels::random::FillUniform;
use gpu::{Buffer, Device, Error, Graph, LaunchError, Pinned, Stream};

#[test]
fn what_is_on_one_device_is_refused_by_another() {
    test_support::run_apart("child_with_two_devices", |command| command.env("LOCKSTEP_EMU_DEVICES", "2"));
}

#[track_caller]
fn refused<T: std::fmt::Debug>(operation: &str, result: Result<T, Error>) {
    match result {
        Err(Error::OtherDevice { operation: named }) => assert_eq!(named, operation),
        other => panic!("{operation}: {other:?}"),
    }
}

fn draws(stream: &Stream, out: &mut Buffer<f32>) -> Result<(), Error> {
    let n = out.len();
    stream.launch(&FillUniform { seed: 1, stream: 2, first: 0, out: out.view_mut(), n })
}

#[test]
#[ignore = "run by the test above"]
fn child_with_two_devices() {
    let count = Device::count().unwrap();
    assert!(
        matches!(Device::new(count), Err(Error::NoDevice { ordinal, count: of }) if (ordinal, of) == (count, count))
    );
    let first = Device::new(0).unwrap();
    if count < 2 {
        assert!(!is_emulated(&first), "the emulator has as many devices as it is told");
        println!("this machine has one device");
        return;
    }
    let second = Device::new(1).unwrap();
    assert_ne!(first, second);
    assert_eq!((first.ordinal(), second.ordinal(), Device::new(1).unwrap()), (0, 1, second.clone()));
    let [here, there] = [&first, &second].map(|device| device.stream().unwrap());

    // Both give the same bits, whichever was used last.
    let mut expected = vec![0.0; 100];
    arith::random::Stream::new(1, 2).fill_uniform(0, &mut expected);
    let mut buffers = [&here, &there].map(|stream| Buffer::from_slice(stream, &[7.0_f32; 100]).unwrap());
    let [mine, theirs] = &mut buffers;
    draws(&there, theirs).unwrap();
    draws(&here, mine).unwrap();
    assert_eq!(theirs.to_vec(&there).unwrap(), expected);
    assert_eq!(mine.to_vec(&here).unwrap(), expected);

    // Everything that a stream of one could do with memory of the other.
    let mut host = [0.0; 100];
    refused("View::read", theirs.view().read(&here, &mut host));
    assert_eq!(host, [0.0; 100]);
    refused("View::read", theirs.to_vec(&here));
    refused("ViewMut::write", theirs.view_mut().write(&here, &[1.0; 100]));
    refused("ViewMut::zero", theirs.view_mut().zero(&here));
    refused("ViewMut::copy_from", mine.view_mut().copy_from(&here, theirs.view()));
    refused("ViewMut::copy_from", mine.view_mut().copy_from(&there, theirs.view()));
    let pinned = || Pinned::<f32>::zeroed(&first, 100).unwrap();
    refused("an asynchronous copy", theirs.view_mut().write_async(&here, pinned()));
    refused("an asynchronous copy", theirs.view().read_async(&here, pinned()));
    match draws(&here, theirs) {
        Err(Error::Launch(LaunchError::Device { argument, .. })) => assert_eq!(argument, "out"),
        other => panic!("{other:?}"),
    }

    // A recording is of one device. A stream may wait for another one's event.
    let graph = Graph::capture(&here, |stream| draws(stream, mine)).unwrap();
    refused("Graph::launch", graph.launch(&there));
    graph.launch(&here).unwrap();
    let event = there.record().unwrap();
    here.wait(&event).unwrap();

    // Nothing was changed by what was refused.
    assert_eq!(theirs.to_vec(&there).unwrap(), expected);
    assert_eq!(mine.to_vec(&here).unwrap(), expected);
}
