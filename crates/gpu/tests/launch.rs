//! Kernels through their contracts.
#![cfg(feature = "cuda")]

mod common;

use arith::random::Stream as Draws;
use common::stream;
use gpu::kernels::mingru::ScanForward;
use gpu::kernels::random::{FillDoubleWords, FillNormal, FillUniform, FillWords};
use gpu::kernels::rollout::Values;
use gpu::kernels::sum::{DotChunks, JoinSums, SumChunks};
use gpu::{Buffer, Error, LaunchError, Stream};

/// Sizes at which blocks, warps and Philox blocks end.
const SIZES: [usize; 9] = [0, 1, 3, 4, 5, 31, 1024, 1025, 3000];

/// What the kernel leaves in a buffer of `n` elements, in blocks of each of several widths: the same.
fn results<T: gpu::Pod + PartialEq + std::fmt::Debug>(
    stream: &Stream,
    n: usize,
    launch: impl Fn(&mut Buffer<T>, u32) -> Result<(), Error>,
) -> Vec<T> {
    let results = [32, 96, 1024].map(|width| {
        let mut out = Buffer::uninit(stream.device(), n).unwrap();
        launch(&mut out, width).unwrap();
        out.to_vec(stream).unwrap()
    });
    assert!(results.iter().all(|result| *result == results[0]), "n = {n}: the width of blocks changes the result");
    results.into_iter().next().unwrap()
}

#[test]
fn draws_are_the_hosts() {
    let stream = stream();
    let draws = Draws::new(5, 9);
    for n in SIZES {
        for first in [0, 1, 3, u64::from(u32::MAX)] {
            let uniform = results(&stream, n, |out, width| {
                let kernel = FillUniform { seed: 5, stream: 9, first, out: out.view_mut(), n };
                stream.launch_in_blocks(&kernel, width)
            });
            let mut expected = vec![0.0; n];
            draws.fill_uniform(first, &mut expected);
            assert_eq!(uniform, expected, "{n} from {first}");
        }
        let normal = results(&stream, n, |out, width| {
            stream.launch_in_blocks(&FillNormal { seed: 5, stream: 9, first: 2, out: out.view_mut(), n }, width)
        });
        let mut expected = vec![0.0; n];
        draws.fill_normal(2, &mut expected);
        assert_eq!(normal, expected);
        let words = results::<u32>(&stream, 2 * n, |out, width| {
            stream.launch_in_blocks(&FillWords { seed: 5, stream: 9, first: 6, out: out.view_mut(), n: 2 * n }, width)
        });
        let doubles = results::<u64>(&stream, n, |out, width| {
            stream.launch_in_blocks(&FillDoubleWords { seed: 5, stream: 9, first: 3, out: out.view_mut(), n }, width)
        });
        let pairs = words.chunks(2).map(|pair| u64::from(pair[0]) | u64::from(pair[1]) << 32);
        assert_eq!(doubles, pairs.collect::<Vec<_>>());
    }
}

#[test]
fn sums_are_the_hosts() {
    let stream = stream();
    for n in SIZES.into_iter().chain([1024 * 33 + 7]) {
        let (mut x, mut y) = (vec![0.0; n], vec![0.0; n]);
        Draws::new(1, 0).fill_normal(0, &mut x);
        Draws::new(1, 1).fill_normal(0, &mut y);
        let [x_device, y_device] = [&x, &y].map(|values| Buffer::from_slice(&stream, values).unwrap());
        let chunks = n.div_ceil(1024);
        let sums = results(&stream, chunks, |out, width| {
            stream.launch_in_blocks(&SumChunks { x: x_device.view(), out: out.view_mut(), n }, width)
        });
        assert_eq!(sums, x.chunks(1024).map(arith::sum::sum).collect::<Vec<_>>());
        let products = results(&stream, chunks, |out, width| {
            let kernel = DotChunks { x: x_device.view(), y: y_device.view(), out: out.view_mut(), n };
            stream.launch_in_blocks(&kernel, width)
        });
        if n == 0 {
            continue;
        }
        let join = |sums: &[f32]| {
            let sums = Buffer::from_slice(&stream, sums).unwrap();
            let mut joined = Buffer::uninit(stream.device(), 1).unwrap();
            stream.launch(&JoinSums { sums: sums.view(), out: joined.view_mut(), n: chunks }).unwrap();
            joined.to_vec(&stream).unwrap()[0]
        };
        assert_eq!(join(&sums), arith::sum::sum(&x));
        assert_eq!(join(&products), arith::sum::dot(&x, &y));
    }
}

/// Launches a scan of (2, 3, 4) with these lengths of `keep` and `out`, and this interval.
fn scan(stream: &Stream, keep: usize, out: usize, interval: usize) -> Result<(), Error> {
    let of = |len| Buffer::<f32>::zeroed(stream, len).unwrap();
    let (combined, x, keep, h0) = (of(72), of(24), of(keep), of(8));
    let (mut out, mut checkpoints, mut h_last) = (of(out), of(16), of(8));
    stream.launch(&ScanForward {
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
        interval,
    })
}

#[test]
fn what_a_contract_forbids_is_refused() {
    const KERNEL: &str = "mingru_scan_forward_f32";
    let stream = stream();
    scan(&stream, 6, 24, 2).unwrap();
    let length =
        |argument, expected, got| Error::Launch(LaunchError::Length { kernel: KERNEL, argument, expected, got });
    assert_eq!(scan(&stream, 5, 24, 2).unwrap_err(), length("keep", 6, 5));
    assert_eq!(scan(&stream, 6, 25, 2).unwrap_err(), length("out", 24, 25));
    let error = scan(&stream, 6, 24, 3).unwrap_err();
    assert_eq!(error, length("checkpoints", 8, 16));
    assert_eq!(error.to_string(), "mingru_scan_forward_f32: `checkpoints` must have 8 elements, got 16");
    let range =
        |argument, least, most, got| Error::Launch(LaunchError::Range { kernel: KERNEL, argument, least, most, got });
    assert_eq!(scan(&stream, 6, 24, 0).unwrap_err(), range("interval", 1, 64, 0));
    assert_eq!(scan(&stream, 6, 24, 65).unwrap_err(), range("interval", 1, 64, 65));
    // Sizes come first: the kernel's have 32 bits.
    let most = (1 << 31) - 1;
    assert_eq!(scan(&stream, 6, 24, 1 << 31).unwrap_err(), range("interval", 0, most, 1 << 31));
    assert_eq!(scan(&stream, 6, 24, usize::MAX).unwrap_err(), range("interval", 0, most, usize::MAX as u128));
}

#[test]
fn a_product_of_sizes_has_a_limit_too() {
    let stream = stream();
    let empty = || Buffer::<f32>::uninit(stream.device(), 0).unwrap();
    let read = empty();
    let (mut out, mut checkpoints, mut h_last) = (empty(), empty(), empty());
    // No steps, so no sequences; but 2^32 states.
    let error = stream.launch(&ScanForward {
        combined: read.view(),
        x: read.view(),
        keep: read.view(),
        h0: read.view(),
        out: out.view_mut(),
        checkpoints: checkpoints.view_mut(),
        h_last: h_last.view_mut(),
        batch: 1 << 16,
        time: 0,
        hidden: 1 << 16,
        interval: 1,
    });
    let (argument, most) = ("batch * hidden", (1 << 31) - 1);
    let kernel = "mingru_scan_forward_f32";
    let expected = LaunchError::Range { kernel, argument, least: 0, most, got: 1 << 32 };
    assert_eq!(error.unwrap_err(), Error::Launch(expected));
}

#[test]
fn blocks_that_a_kernel_cannot_have() {
    let stream = stream();
    let sums = Buffer::from_slice(&stream, &[1.0_f32; 3]).unwrap();
    let mut out = Buffer::uninit(stream.device(), 1).unwrap();
    for width in [0, 31, 48, 1056, u32::MAX - 31] {
        let kernel = FillUniform { seed: 0, stream: 0, first: 0, out: out.view_mut(), n: 1 };
        let error = stream.launch_in_blocks(&kernel, width).unwrap_err();
        assert!(
            matches!(error, Error::Launch(LaunchError::Block { got, .. }) if got == width.into()),
            "{width}: {error}"
        );
        // The kernel joins by blocks of exactly 1,024.
        let kernel = JoinSums { sums: sums.view(), out: out.view_mut(), n: 3 };
        let error = stream.launch_in_blocks(&kernel, width).unwrap_err();
        let expected = LaunchError::Block { kernel: "join_sums_f32", least: 1024, most: 1024, got: width.into() };
        assert_eq!(error, Error::Launch(expected));
    }
    stream.launch_in_blocks(&JoinSums { sums: sums.view(), out: out.view_mut(), n: 3 }, 1024).unwrap();
    assert_eq!(out.to_vec(&stream).unwrap(), [3.0]);
    let error = stream.launch(&JoinSums { sums: sums.view().slice(0..0).unwrap(), out: out.view_mut(), n: 0 });
    assert!(matches!(error, Err(Error::Launch(LaunchError::Range { argument: "n", got: 0, .. }))));
}

#[test]
fn blocks_have_all_the_shared_memory_of_the_device() {
    let stream = stream();
    // One environment, one input, one action, no layers between: value = weight * input + bias, the second output's.
    let [observations, keep] = [3.0, 1.0].map(|value| Buffer::from_slice(&stream, &[value]).unwrap());
    let packed = Buffer::from_slice(&stream, &[5.0, 0.5, 7.0, 0.25]).unwrap();
    let (state, widths) = (Buffer::uninit(stream.device(), 0).unwrap(), Buffer::uninit(stream.device(), 0).unwrap());
    let mut failed = Buffer::from_slice(&stream, &[u32::MAX]).unwrap();
    // 64 bytes a column: 256 bytes, and more than the 48 KiB that a block has without asking.
    for width in [4, 1024] {
        let mut values = Buffer::uninit(stream.device(), 1).unwrap();
        let kernel = Values {
            observations: observations.view(),
            keep: keep.view(),
            state: state.view(),
            packed: packed.view(),
            widths: widths.view(),
            values: values.view_mut(),
            failed: failed.view_mut(),
            environments: 1,
            inputs: 1,
            hidden: 1,
            encoder: 0,
            layers: 0,
            parameters: 4,
            count: 1,
            width,
        };
        // SAFETY: the parameters are those of this policy, and `width` is large enough.
        unsafe { stream.launch_trusted(&kernel, None) }.unwrap();
        assert_eq!(values.to_vec(&stream).unwrap(), [1.75], "{width}");
    }
    assert_eq!(failed.to_vec(&stream).unwrap(), [u32::MAX]);
}
