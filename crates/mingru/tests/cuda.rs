//! The scan on a device has the bits of the serial contract oracle, in every order in which threads may run.
#![cfg(feature = "cuda")]

mod common;

use arith::simd::Isa;
use common::*;
use gpu::{Buffer, Device, Error, Graph, LaunchError, Stream};
use half::bf16;
use mingru::cuda::{self, Backward, Forward, Gradients, Outputs, Sequence};
use mingru::oracle::{Case, Results};
use mingru::{Par, Shape};
use proptest::prelude::*;

fn stream() -> Stream {
    let device = Device::new(0).unwrap_or_else(|error| panic!("{error}; `cargo xtask test` brings a driver along"));
    device.stream().unwrap()
}

/// A case's arrays on a device.
struct Arrays<S> {
    shape: Shape,
    interval: usize,
    combined: Buffer<S>,
    x: Buffer<S>,
    keep: Buffer<f32>,
    h0: Buffer<f32>,
    d_out: Buffer<S>,
    d_h_last: Buffer<f32>,
    out: Buffer<S>,
    checkpoints: Buffer<f32>,
    h_last: Buffer<f32>,
    d_combined: Buffer<S>,
    d_x: Buffer<S>,
    d_h0: Buffer<f32>,
}

impl<S: Format + Sequence> Arrays<S> {
    /// Nothing has written the outputs yet.
    fn new(stream: &Stream, case: &Case<f32>, interval: usize) -> Self {
        let (batch, time, hidden) = case.shape;
        let shape = Shape { batch, time, hidden };
        let sequence = |values: &[f32]| Buffer::from_slice(stream, &store::<S>(values)).unwrap();
        let floats = |values: &[f32]| Buffer::from_slice(stream, values).unwrap();
        let (n, units, device) = (batch * time * hidden, batch * hidden, stream.device());
        let checkpoints = mingru::checkpoints_len(shape, interval).unwrap();
        Self {
            shape,
            interval,
            combined: sequence(&case.combined),
            x: sequence(&case.x),
            keep: floats(&case.keep),
            h0: floats(&case.h0),
            d_out: sequence(&case.d_out),
            d_h_last: floats(&case.d_h_last),
            out: Buffer::uninit(device, n).unwrap(),
            checkpoints: Buffer::uninit(device, checkpoints).unwrap(),
            h_last: Buffer::uninit(device, units).unwrap(),
            d_combined: Buffer::uninit(device, 3 * n).unwrap(),
            d_x: Buffer::uninit(device, n).unwrap(),
            d_h0: Buffer::uninit(device, units).unwrap(),
        }
    }

    fn forward(&mut self, stream: &Stream) -> Result<(), Error> {
        let input = Forward {
            shape: self.shape,
            interval: self.interval,
            combined: self.combined.view(),
            x: self.x.view(),
            keep: self.keep.view(),
            h0: self.h0.view(),
        };
        let output = Outputs {
            out: self.out.view_mut(),
            checkpoints: self.checkpoints.view_mut(),
            h_last: self.h_last.view_mut(),
        };
        cuda::forward(stream, input, output)
    }

    fn backward(&mut self, stream: &Stream) -> Result<(), Error> {
        let input = Backward {
            shape: self.shape,
            interval: self.interval,
            combined: self.combined.view(),
            x: self.x.view(),
            keep: self.keep.view(),
            checkpoints: self.checkpoints.view(),
            d_out: self.d_out.view(),
            d_h_last: self.d_h_last.view(),
        };
        let output =
            Gradients { d_combined: self.d_combined.view_mut(), d_x: self.d_x.view_mut(), d_h0: self.d_h0.view_mut() };
        cuda::backward(stream, input, output)
    }

    fn results(&self, stream: &Stream) -> Results<f32> {
        let sequence = |buffer: &Buffer<S>| widen(&buffer.to_vec(stream).unwrap());
        let floats = |buffer: &Buffer<f32>| buffer.to_vec(stream).unwrap();
        Results {
            h: floats(&self.checkpoints),
            out: sequence(&self.out),
            h_last: floats(&self.h_last),
            d_combined: sequence(&self.d_combined),
            d_x: sequence(&self.d_x),
            d_h0: floats(&self.d_h0),
        }
    }
}

/// The device against the oracle, and against the scan on the CPU.
fn check<S: Format + Sequence>(stream: &Stream, case: &Case<f32>, interval: usize) {
    let what = format!("{} {:?} K {interval}", std::any::type_name::<S>(), case.shape);
    let mut arrays = Arrays::<S>::new(stream, case, interval);
    arrays.forward(stream).unwrap();
    arrays.backward(stream).unwrap();
    let got = arrays.results(stream);
    let (stored, expected) = expected::<S>(case);
    assert_results(&what, &stored, interval, &expected, &got);
    let cpu = run::<S>(case, interval, Isa::detect(), Par::Serial);
    for (name, cpu, got) in [
        ("checkpoints", &cpu.h, &got.h),
        ("out", &cpu.out, &got.out),
        ("d_combined", &cpu.d_combined, &got.d_combined),
        ("d_h0", &cpu.d_h0, &got.d_h0),
    ] {
        assert_bits(&what, name, cpu, got);
    }
}

fn resets() -> impl Strategy<Value = Resets> {
    prop_oneof![Just(Resets::Never), Just(Resets::Sometimes), Just(Resets::Always)]
}

#[test]
fn any_shape_has_the_bits_of_the_cpu() {
    let stream = stream();
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(24));
    // Ends of warps and of windows are among them.
    let shapes = (0..4_usize, 0..80_usize, 0..70_usize);
    let cases = (any::<u64>(), shapes, resets(), 1..=mingru::MAX_INTERVAL);
    let result = runner.run(&cases, |(seed, shape, resets, interval)| {
        let case = case(seed, shape, resets);
        check::<f32>(&stream, &case, interval);
        check::<bf16>(&stream, &case, interval);
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
}

/// Seeds of the emulator's order of blocks and warps; a GPU has an order of its own each time.
const SEEDS: [&str; 4] = ["0", "1", "77", "18446744073709551615"];

#[test]
fn every_order_of_threads_has_the_same_bits() {
    for (i, seed) in SEEDS.into_iter().enumerate() {
        // By turns, work also waits until something synchronizes.
        let late = (i % 2).to_string();
        test_support::run_apart("child_in_some_order", |command| {
            command.env("LOCKSTEP_EMU_SEED", seed).env("LOCKSTEP_EMU_ASYNC", &late)
        });
    }
}

#[test]
#[ignore = "run by the test above"]
fn child_in_some_order() {
    let stream = stream();
    for (shape, interval) in [((3, 17, 33), 4), ((2, 70, 40), 64), ((1, 65, 96), 1), ((5, 9, 31), 3)] {
        let case = case(9, shape, Resets::Sometimes);
        check::<f32>(&stream, &case, interval);
        check::<bf16>(&stream, &case, interval);
    }
}

#[test]
fn a_graph_replays_both_scans_on_new_inputs() {
    let stream = stream();
    let shape = (2, 21, 35);
    let first = case(1, shape, Resets::Sometimes);
    let mut arrays = Arrays::<f32>::new(&stream, &first, 8);
    let graph = Graph::capture(&stream, |stream| {
        arrays.forward(stream)?;
        arrays.backward(stream)
    });
    let graph = graph.unwrap();
    assert_eq!(graph.operations(), 2);
    for seed in 1..4 {
        let case = case(seed, shape, Resets::Sometimes);
        for (buffer, values) in [
            (&mut arrays.combined, &case.combined),
            (&mut arrays.x, &case.x),
            (&mut arrays.keep, &case.keep),
            (&mut arrays.h0, &case.h0),
            (&mut arrays.d_out, &case.d_out),
            (&mut arrays.d_h_last, &case.d_h_last),
        ] {
            buffer.view_mut().write(&stream, values).unwrap();
        }
        graph.launch(&stream).unwrap();
        let (_, expected) = expected::<f32>(&case);
        assert_results(&format!("seed {seed}"), &case, 8, &expected, &arrays.results(&stream));
    }
}

#[test]
fn what_the_cpu_refuses_is_refused_and_nothing_is_written() {
    let stream = stream();
    let case = case(3, (2, 5, 6), Resets::Never);
    let arrays = || {
        let mut arrays = Arrays::<f32>::new(&stream, &case, 2);
        for output in [&mut arrays.out, &mut arrays.checkpoints, &mut arrays.h_last, &mut arrays.d_combined] {
            output.view_mut().zero(&stream).unwrap();
        }
        arrays
    };
    let mut wrong = arrays();
    for interval in [0, mingru::MAX_INTERVAL + 1] {
        wrong.interval = interval;
        for refused in [wrong.forward(&stream), wrong.backward(&stream)] {
            let range = LaunchError::Range {
                kernel: "",
                argument: "interval",
                least: 1,
                most: mingru::MAX_INTERVAL as u128,
                got: interval as u128,
            };
            assert_eq!(without_kernel(refused), range);
        }
    }
    let length = |argument, expected, got| LaunchError::Length { kernel: "", argument, expected, got };
    let mut wrong = arrays();
    wrong.keep = Buffer::from_slice(&stream, &[1.0; 9]).unwrap();
    assert_eq!(without_kernel(wrong.forward(&stream)), length("keep", 10, 9));
    assert_eq!(without_kernel(wrong.backward(&stream)), length("keep", 10, 9));
    wrong = arrays();
    wrong.shape.time = 6;
    assert_eq!(without_kernel(wrong.forward(&stream)), length("combined", 216, 180));
    wrong = arrays();
    wrong.h_last = Buffer::zeroed(&stream, 13).unwrap();
    assert_eq!(without_kernel(wrong.forward(&stream)), length("h_last", 12, 13));
    assert_eq!(wrong.out.to_vec(&stream).unwrap(), [0.0; 60]);
    wrong = arrays();
    wrong.d_h0 = Buffer::zeroed(&stream, 11).unwrap();
    assert_eq!(without_kernel(wrong.backward(&stream)), length("d_h0", 12, 11));
    assert_eq!(wrong.d_combined.to_vec(&stream).unwrap(), [0.0; 180]);
}

/// The refusal of a launch, whichever kernel it was.
fn without_kernel(refused: Result<(), Error>) -> LaunchError {
    match refused {
        Err(Error::Launch(LaunchError::Length { argument, expected, got, .. })) => {
            LaunchError::Length { kernel: "", argument, expected, got }
        }
        Err(Error::Launch(LaunchError::Range { argument, least, most, got, .. })) => {
            LaunchError::Range { kernel: "", argument, least, most, got }
        }
        other => panic!("{other:?}"),
    }
}
