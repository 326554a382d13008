//! Buffers, views, copies.
#![cfg(feature = "cuda")]

mod common;

use common::stream;
use gpu::{Buffer, Error, Pinned};

fn numbers(n: u32) -> Vec<u32> {
    (0..n).map(|i| i.wrapping_mul(2_654_435_761)).collect()
}

#[test]
fn what_is_written_is_read() {
    let stream = stream();
    for n in [0, 1, 2, 31, 1000] {
        let elements = numbers(n);
        let buffer = Buffer::from_slice(&stream, &elements).unwrap();
        assert_eq!((buffer.len(), buffer.is_empty()), (n as usize, n == 0));
        assert_eq!(buffer.to_vec(&stream).unwrap(), elements);
        assert_eq!(Buffer::<u32>::zeroed(&stream, n as usize).unwrap().to_vec(&stream).unwrap(), vec![0; n as usize]);
    }
}

#[test]
fn parts_are_where_slices_are() {
    let stream = stream();
    let elements = numbers(100);
    let mut buffer = Buffer::from_slice(&stream, &elements).unwrap();
    let part = buffer.view().slice(10..90).unwrap().slice(5..8).unwrap();
    assert_eq!(part.to_vec(&stream).unwrap(), elements[15..18]);

    let (mut low, mut high) = buffer.view_mut().split_at(40).unwrap();
    assert_eq!((low.len(), high.len()), (40, 60));
    low.copy_from(&stream, high.view().slice(20..60).unwrap()).unwrap();
    high.reborrow().slice(1..3).unwrap().write(&stream, &[7, 8]).unwrap();
    high.slice(3..4).unwrap().zero(&stream).unwrap();
    let mut expected = elements.clone();
    expected.copy_within(60..100, 0);
    expected[41..44].copy_from_slice(&[7, 8, 0]);
    assert_eq!(buffer.to_vec(&stream).unwrap(), expected);
}

#[test]
fn lengths_and_ranges_are_checked() {
    let stream = stream();
    let mut buffer = Buffer::from_slice(&stream, &numbers(10)).unwrap();
    let length = |operation, expected, got| Error::Length { operation, expected, got };
    assert_eq!(buffer.view_mut().write(&stream, &[1; 9]).unwrap_err(), length("ViewMut::write", 10, 9));
    assert_eq!(buffer.view().read(&stream, &mut [0; 11]).unwrap_err(), length("View::read", 10, 11));
    let other = Buffer::from_slice(&stream, &numbers(4)).unwrap();
    let copied = buffer.view_mut().copy_from(&stream, other.view());
    assert_eq!(copied.unwrap_err(), length("ViewMut::copy_from", 10, 4));
    #[allow(clippy::reversed_empty_ranges, reason = "that is the case")]
    for (start, end) in [(0, 11), (11, 11), (3, 2), (usize::MAX, 0), (0, usize::MAX)] {
        assert_eq!(buffer.view().slice(start..end).unwrap_err(), Error::Range { start, end, len: 10 });
        assert_eq!(buffer.view_mut().slice(start..end).unwrap_err(), Error::Range { start, end, len: 10 });
    }
    assert_eq!(buffer.view_mut().split_at(11).unwrap_err(), Error::Range { start: 0, end: 11, len: 10 });
    assert_eq!(buffer.to_vec(&stream).unwrap(), numbers(10));
}

#[test]
fn memory_that_there_is_not() {
    let stream = stream();
    let too_large = Error::TooLarge { elements: usize::MAX, bytes: 8 };
    assert_eq!(Buffer::<u64>::uninit(stream.device(), usize::MAX).unwrap_err(), too_large);
    assert_eq!(Pinned::<u64>::zeroed(stream.device(), usize::MAX).unwrap_err(), too_large);
    let error = Buffer::<u64>::uninit(stream.device(), usize::MAX / 16).unwrap_err();
    assert!(error.to_string().starts_with("cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY ("), "{error}");
    // The device goes on.
    assert_eq!(Buffer::from_slice(&stream, &[5_u64]).unwrap().to_vec(&stream).unwrap(), [5]);
}

#[test]
fn pinned_memory_travels_with_its_transfer() {
    let stream = stream();
    let device = stream.device();
    let elements = numbers(300);
    let mut buffer = Buffer::<u32>::uninit(device, 300).unwrap();
    let mut pinned = Pinned::zeroed(device, 300).unwrap();
    pinned.copy_from_slice(&elements);
    let written = buffer.view_mut().write_async(&stream, pinned).unwrap();
    let read = buffer.view().read_async(&stream, Pinned::zeroed(device, 300).unwrap()).unwrap();
    assert_eq!(*read.wait().unwrap(), *elements);
    let pinned = written.wait().unwrap();
    assert_eq!(*pinned, *elements);

    let error = buffer.view().read_async(&stream, Pinned::zeroed(device, 299).unwrap()).unwrap_err();
    assert_eq!(error, Error::Length { operation: "an asynchronous copy", expected: 300, got: 299 });
    // Dropped before it ends: it waits.
    drop(buffer.view().read_async(&stream, pinned).unwrap());
    let nothing = Buffer::<u32>::uninit(device, 0).unwrap();
    let transfer = nothing.view().read_async(&stream, Pinned::zeroed(device, 0).unwrap()).unwrap();
    assert_eq!(transfer.wait().unwrap().len(), 0);
}

#[test]
fn threads_share_a_device() {
    let stream = stream();
    let shared = Buffer::from_slice(&stream, &numbers(64)).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (stream, shared) = (&stream, &shared);
            scope.spawn(move || {
                // A thread that never had a context.
                let own = stream.device().stream().unwrap();
                for round in 0..20 {
                    let mut buffer = Buffer::<u32>::zeroed(&own, 64).unwrap();
                    buffer.view_mut().copy_from(&own, shared.view()).unwrap();
                    assert_eq!(buffer.to_vec(&own).unwrap(), numbers(64), "thread {thread}, round {round}");
                    assert_eq!(shared.to_vec(stream).unwrap(), numbers(64));
                }
            });
        }
    });
    // Freed by a thread that made nothing.
    std::thread::spawn(move || drop(shared)).join().unwrap();
    stream.synchronize().unwrap();
}

#[test]
fn bytes_are_elements_of_other_types_where_they_can_be() {
    let stream = stream();
    let mut buffer = Buffer::from_slice(&stream, &(0..24_u8).collect::<Vec<_>>()).unwrap();
    let words = buffer.view().cast::<u32>().unwrap();
    assert_eq!(words.to_vec(&stream).unwrap()[1], u32::from_le_bytes([4, 5, 6, 7]));
    assert_eq!(words.slice(1..3).unwrap().cast::<u8>().unwrap().to_vec(&stream).unwrap(), [4, 5, 6, 7, 8, 9, 10, 11]);
    // A part of an element, and a beginning that isn't aligned.
    assert!(buffer.view().slice(0..7).unwrap().cast::<u32>().is_none());
    assert!(buffer.view().slice(2..6).unwrap().cast::<u32>().is_none());
    assert_eq!(buffer.view().slice(2..2).unwrap().cast::<u16>().unwrap().len(), 0);
    buffer.view_mut().slice(8..16).unwrap().cast::<u64>().unwrap().write(&stream, &[u64::MAX]).unwrap();
    assert_eq!(buffer.to_vec(&stream).unwrap()[7..17], [7, 255, 255, 255, 255, 255, 255, 255, 255, 16]);
}
