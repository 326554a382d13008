//! A stack on a device has the bits of the serial stack.
#![cfg(feature = "cuda")]

mod common;

use common::stack::*;
use common::*;
use gpu::{Buffer, Device, Error as DeviceError, Graph, LaunchError, Stream};
use mingru::cuda::{Error, MinGruStack, StackForward, StackGradients, StackStep, Tape};
use mingru::oracle::Case;
use mingru::oracle::stack::{StackCase, StackResults};

fn stream() -> Stream {
    let device = Device::new(0).unwrap_or_else(|error| panic!("{error}; `cargo xtask test` brings a driver along"));
    device.stream().unwrap()
}

/// A case's arrays on a device.
struct Arrays {
    shape: (usize, usize, usize),
    stack: MinGruStack,
    weights: Buffer<f32>,
    x: Buffer<f32>,
    keep: Buffer<f32>,
    h0: Buffer<f32>,
    d_out: Buffer<f32>,
    d_h_last: Buffer<f32>,
    out: Buffer<f32>,
    h_last: Buffer<f32>,
    d_weights: Buffer<f32>,
    d_x: Buffer<f32>,
    d_h0: Buffer<f32>,
}

impl Arrays {
    /// Nothing has written the outputs yet.
    fn new(stream: &Stream, case: &StackCase<f32>) -> Self {
        let Case { shape, x, keep, h0, d_out, d_h_last, .. } = &case.inputs;
        let written = |values: &[f32]| Buffer::from_slice(stream, values).unwrap();
        let blank = |like: &[f32]| Buffer::uninit(stream.device(), like.len()).unwrap();
        Self {
            shape: *shape,
            stack: MinGruStack::new(case.layers, shape.2).unwrap(),
            weights: written(&case.weights),
            x: written(x),
            keep: written(keep),
            h0: written(h0),
            d_out: written(d_out),
            d_h_last: written(d_h_last),
            out: blank(x),
            h_last: blank(h0),
            d_weights: blank(&case.weights),
            d_x: blank(x),
            d_h0: blank(h0),
        }
    }

    /// Writes the inputs of another case of the same sizes.
    fn set(&mut self, stream: &Stream, case: &StackCase<f32>) {
        let Case { x, keep, h0, d_out, d_h_last, .. } = &case.inputs;
        for (buffer, values) in [
            (&mut self.weights, &case.weights),
            (&mut self.x, x),
            (&mut self.keep, keep),
            (&mut self.h0, h0),
            (&mut self.d_out, d_out),
            (&mut self.d_h_last, d_h_last),
        ] {
            buffer.view_mut().write(stream, values).unwrap();
        }
    }

    fn tape(&self, stream: &Stream, extra: usize, interval: usize) -> Tape {
        let (batch, time, _) = self.shape;
        self.stack.tape(stream.device(), batch + extra, time + 2 * extra, interval).unwrap()
    }

    fn forward(&mut self, stream: &Stream, tape: &mut Tape) -> Result<(), Error> {
        let input = StackForward {
            batch: self.shape.0,
            time: self.shape.1,
            weights: self.weights.view(),
            x: self.x.view(),
            keep: self.keep.view(),
            h0: self.h0.view(),
        };
        self.stack.forward(stream, input, tape, self.out.view_mut(), self.h_last.view_mut())
    }

    fn backward(&mut self, stream: &Stream, tape: &mut Tape) -> Result<(), Error> {
        let gradients =
            StackGradients { weights: self.d_weights.view_mut(), x: self.d_x.view_mut(), h0: self.d_h0.view_mut() };
        let (weights, d_out, d_h_last) = (self.weights.view(), self.d_out.view(), self.d_h_last.view());
        self.stack.backward(stream, weights, tape, d_out, d_h_last, gradients)
    }

    fn results(&self, stream: &Stream) -> StackResults<f32> {
        let read = |buffer: &Buffer<f32>| buffer.to_vec(stream).unwrap();
        StackResults {
            out: read(&self.out),
            h_last: read(&self.h_last),
            d_weights: read(&self.d_weights),
            d_x: read(&self.d_x),
            d_h0: read(&self.d_h0),
        }
    }
}

#[test]
fn the_stack_has_the_serial_stacks_bits_on_any_tape() {
    let stream = stream();
    for (seed, (layers, shape)) in [
        (2, (2, 5, 3)),
        (1, (1, 1, 1)),
        // More rows than a chunk of a sum, for the gradients of the weights.
        (1, (7, 150, 3)),
        (2, (2, 33, 16)),
        (3, (3, 10, 33)),
        (2, (1, 20, 64)),
        (2, (3, 0, 4)),
        (0, (2, 3, 4)),
        (2, (0, 3, 4)),
        (2, (3, 3, 0)),
    ]
    .into_iter()
    .enumerate()
    {
        let case = stack_case(seed as u64, layers, shape, Resets::Sometimes);
        let expected = serial(&case);
        for (extra, interval) in [(0, 8), (3, 1), (1, 16)] {
            let mut arrays = Arrays::new(&stream, &case);
            let mut tape = arrays.tape(&stream, extra, interval);
            // Again on the same tape: nothing is left of the first time.
            for _ in 0..2 {
                arrays.forward(&stream, &mut tape).unwrap();
                arrays.backward(&stream, &mut tape).unwrap();
                assert_stack(&format!("{layers} layers {shape:?} K {interval}"), &expected, &arrays.results(&stream));
            }
        }
    }
}

#[test]
fn products_longer_than_a_chunk() {
    let stream = stream();
    // 3 H is 1,050: the gradient of the input has two parts.
    let case = stack_case(1, 1, (1, 2, 350), Resets::Never);
    let mut arrays = Arrays::new(&stream, &case);
    let mut tape = arrays.tape(&stream, 0, 8);
    arrays.forward(&stream, &mut tape).unwrap();
    arrays.backward(&stream, &mut tape).unwrap();
    assert_stack("H = 350", &serial(&case), &arrays.results(&stream));
}

#[test]
fn a_graph_replays_a_stack_on_new_inputs() {
    let stream = stream();
    let (layers, shape) = (2, (3, 9, 17));
    let mut arrays = Arrays::new(&stream, &stack_case(1, layers, shape, Resets::Sometimes));
    let mut tape = arrays.tape(&stream, 0, 4);
    let graph = Graph::capture(&stream, |stream| {
        arrays.forward(stream, &mut tape)?;
        arrays.backward(stream, &mut tape)
    });
    let graph = graph.unwrap();
    // Two copies; a product and a scan a layer; a scan, two products and a sum a layer.
    assert_eq!(graph.operations(), 2 + layers * 2 + layers * 4);
    for seed in 1..4 {
        let case = stack_case(seed, layers, shape, Resets::Sometimes);
        arrays.set(&stream, &case);
        graph.launch(&stream).unwrap();
        assert_stack(&format!("seed {seed}"), &serial(&case), &arrays.results(&stream));
    }
}

#[test]
fn a_rollout_of_steps_is_the_scan_bit_for_bit() {
    let stream = stream();
    for (layers, shape) in [(2, (5, 7, 33)), (1, (1, 3, 64)), (3, (0, 2, 4)), (0, (2, 2, 4))] {
        let case = stack_case(4, layers, shape, Resets::Sometimes);
        let expected = serial(&case);
        let (batch, time, hidden) = shape;
        let stack = MinGruStack::from(mingru::MinGruStack::new(layers, hidden).unwrap());
        let mut scratch = stack.step_scratch(stream.device(), batch + 1).unwrap();
        let weights = Buffer::from_slice(&stream, &case.weights).unwrap();
        let mut h = Buffer::from_slice(&stream, &case.inputs.h0).unwrap();
        let mut out = Buffer::uninit(stream.device(), batch * hidden).unwrap();
        for t in 0..time {
            // (B, T, ...) at this step.
            let at = |values: &[f32], width: usize| -> Vec<f32> {
                (0..batch).flat_map(|b| &values[(b * time + t) * width..][..width]).copied().collect()
            };
            let x = Buffer::from_slice(&stream, &at(&case.inputs.x, hidden)).unwrap();
            let keep = Buffer::from_slice(&stream, &at(&case.inputs.keep, 1)).unwrap();
            let input = StackStep { batch, weights: weights.view(), x: x.view(), keep: keep.view() };
            stack.step(&stream, input, h.view_mut(), out.view_mut(), &mut scratch).unwrap();
            let what = format!("{layers} layers, {shape:?}, step {t}");
            assert_bits(&what, "out", &at(&expected.out, hidden), &out.to_vec(&stream).unwrap());
        }
        assert_bits("the last step", "h", &expected.h_last, &h.to_vec(&stream).unwrap());

        // Wrong ones name the argument, and write nothing.
        let states = h.to_vec(&stream).unwrap();
        let [x, keep] = [batch * hidden + 1, batch].map(|n| Buffer::zeroed(&stream, n).unwrap());
        let input = StackStep { batch, weights: weights.view(), x: x.view(), keep: keep.view() };
        let refused = stack.step(&stream, input, h.view_mut(), out.view_mut(), &mut scratch).unwrap_err();
        assert!(matches!(refused, Error::Size(mingru::Error::Length { argument: "x", .. })), "{refused:?}");
        let input = StackStep { batch: batch + 2, ..input };
        let refused = stack.step(&stream, input, h.view_mut(), out.view_mut(), &mut scratch).unwrap_err();
        assert!(matches!(refused, Error::Size(mingru::Error::Capacity { argument: "batch", .. })), "{refused:?}");
        assert_eq!(h.to_vec(&stream).unwrap(), states);
    }
}

#[test]
fn what_the_cpu_refuses_is_refused() {
    let stream = stream();
    let case = stack_case(1, 2, (2, 3, 4), Resets::Never);
    let mut arrays = Arrays::new(&stream, &case);
    let mut tape = arrays.tape(&stream, 0, 8);
    let size = |refused: Result<(), Error>| match refused {
        Err(Error::Size(error)) => error,
        other => panic!("{other:?}"),
    };
    let (forward, backward) = ("MinGruStack::forward", "MinGruStack::backward");
    let error = size(arrays.backward(&stream, &mut tape));
    assert_eq!(error, mingru::Error::NoForward { operation: backward });
    let mut other = MinGruStack::new(3, 4).unwrap().tape(stream.device(), 2, 3, 8).unwrap();
    let mismatch = |operation| mingru::Error::Mismatch { operation, argument: "tape", expected: (2, 4), got: (3, 4) };
    assert_eq!(size(arrays.forward(&stream, &mut other)), mismatch(forward));
    assert_eq!(size(arrays.backward(&stream, &mut other)), mismatch(backward));
    arrays.shape.1 = 4;
    let capacity = mingru::Error::Capacity { operation: forward, argument: "time", limit: 3, got: 4 };
    assert_eq!(size(arrays.forward(&stream, &mut tape)), capacity);
    arrays.shape.1 = 3;
    arrays.h0 = Buffer::zeroed(&stream, 15).unwrap();
    let length = |operation, argument, expected, got| mingru::Error::Length { operation, argument, expected, got };
    assert_eq!(size(arrays.forward(&stream, &mut tape)), length(forward, "h0", 16, 15));
    arrays.h0 = Buffer::zeroed(&stream, 16).unwrap();
    arrays.forward(&stream, &mut tape).unwrap();
    arrays.d_weights = Buffer::zeroed(&stream, 97).unwrap();
    assert_eq!(size(arrays.backward(&stream, &mut tape)), length(backward, "gradients.weights", 96, 97));
    let interval = arrays.stack.tape(stream.device(), 1, 1, 65).unwrap_err();
    assert!(matches!(interval, Error::Size(mingru::Error::Interval { got: 65, .. })), "{interval:?}");

    // More steps than a kernel can count, without units: the CPU could.
    let stack = MinGruStack::new(1, 0).unwrap();
    let mut tape = stack.tape(stream.device(), 0, 1 << 31, 8).unwrap();
    let [mut out, mut h_last] = [0, 0].map(|n| Buffer::<f32>::zeroed(&stream, n).unwrap());
    let empty = Buffer::zeroed(&stream, 0).unwrap();
    let [weights, x, keep, h0] = [empty.view(); 4];
    let input = StackForward { batch: 0, time: 1 << 31, weights, x, keep, h0 };
    let refused = stack.forward(&stream, input, &mut tape, out.view_mut(), h_last.view_mut());
    let refused = refused.unwrap_err();
    let Error::Device(DeviceError::Launch(LaunchError::Range { argument: "time", got, .. })) = refused else {
        panic!("{refused:?}")
    };
    assert_eq!(got, 1 << 31);
}
