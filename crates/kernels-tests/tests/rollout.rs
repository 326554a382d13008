//! A step of a rollout on the device against the crates that the trainer's own is made of.

use arith::random::Stream;
use cuda_emu::{Counters, FaultKind, LaunchError};
use kernels_tests::{Arg, Bench, Buffer, assert_bits};
use linalg::{MatMut, MatRef, Par, Scratch, gemm_nt};
use mingru::{MinGruStack, StackStep};
use trainer::loss::Logits;
use trainer::{Affine, Layout, PolicyConfig};

/// Environment steps before the rollout: beyond 32 bits.
const FIRST_STEP: u64 = (1 << 32) - 1;
const SEED: u64 = 77;
/// T, and the step that is taken.
const HORIZON: usize = 3;
const STEP: usize = 2;

fn normals(stream: u64, n: usize, factor: f32) -> Vec<f32> {
    let mut values = vec![0.0; n];
    Stream::new(3, stream).fill_normal(0, &mut values);
    values.into_iter().map(|value| factor * value).collect()
}

/// A policy and what it gets.
struct Case {
    environments: usize,
    layout: Layout,
    parameters: Vec<f32>,
    observations: Vec<f32>,
    keep: Vec<f32>,
    state: Vec<f32>,
}

/// What a step gives.
struct Expected {
    state: Vec<f32>,
    /// (N, A + 1).
    output: Vec<f32>,
    actions: Vec<u32>,
    log_probs: Vec<f32>,
}

impl Case {
    fn new(environments: usize, observation: usize, encoder: &[usize], layers: usize, actions: usize) -> Self {
        let config = PolicyConfig { encoder: encoder.to_vec(), layers };
        let layout = Layout::new(&config, observation, actions).unwrap();
        let states = layers * environments * layout.hidden;
        Self {
            environments,
            parameters: normals(0, layout.len, 0.5),
            layout,
            observations: normals(1, environments * observation, 1.0),
            keep: (0..environments).map(|i| if i % 3 == 1 { 0.0 } else { 1.0 }).collect(),
            state: normals(2, states, 1.0),
        }
    }

    fn inputs(&self) -> usize {
        self.layout.encoder[0].inputs
    }

    /// `x W^T + b`.
    fn affine(&self, layer: &Affine, x: &[f32]) -> Vec<f32> {
        let rows = self.environments;
        let mut y = vec![0.0; rows * layer.outputs];
        let x = MatRef::new(x, rows, layer.inputs).unwrap();
        let weight = MatRef::new(&self.parameters[layer.weight.clone()], layer.outputs, layer.inputs).unwrap();
        let out = MatMut::new(&mut y, rows, layer.outputs).unwrap();
        gemm_nt(x, weight, out, Par::Serial, &mut Scratch::new()).unwrap();
        for row in y.chunks_mut(layer.outputs) {
            for (y, bias) in row.iter_mut().zip(&self.parameters[layer.bias.clone()]) {
                *y += bias;
            }
        }
        y
    }

    /// The step on the CPU, and the draws where `drawn`.
    fn expected(&self, drawn: bool) -> Expected {
        let Self { environments, layout, .. } = self;
        let mut x = self.observations.clone();
        for layer in &layout.encoder {
            x = self.affine(layer, &x).into_iter().map(arith::tanh).collect();
        }
        let stack = MinGruStack::new(layout.layers, layout.hidden).unwrap();
        let mut weights = stack.packed_weights().unwrap();
        stack.pack(&self.parameters[layout.mingru.clone()], &mut weights).unwrap();
        let (mut state, mut h) = (self.state.clone(), x.clone());
        let input = StackStep { batch: *environments, weights: &weights, x: &x, keep: &self.keep };
        stack.step(&input, &mut state, &mut h, &mut stack.step_scratch(*environments).unwrap()).unwrap();
        let output = self.affine(&layout.decoder, &h);
        let (mut actions, mut log_probs) = (vec![0; *environments], vec![0.0; *environments]);
        if drawn {
            // Kind 3 of the trainer's streams: actions.
            let word = |i: u64| Stream::new(SEED, 3 << 56 | i).block(FIRST_STEP + STEP as u64)[0];
            let words: Vec<_> = (0..*environments as u64).map(word).collect();
            let logits = Logits::new(&output, layout.actions + 1, layout.actions).unwrap();
            logits.sample(arith::simd::Isa::detect(), &words, &mut actions, &mut log_probs).unwrap();
        }
        Expected { state, output, actions, log_probs }
    }

    /// The parameters as the kernels want them, by the kernel for that.
    fn packed(&self) -> Vec<f32> {
        let bench = Bench::new("gemm");
        let mut packed = self.parameters.clone();
        let mut transpose = |start: usize, outputs: usize, inputs: usize| {
            let matrix = &self.parameters[start..start + outputs * inputs];
            let (from, to) = (bench.buffer(matrix), bench.room::<f32>(matrix.len()));
            let sizes = [outputs, inputs].map(|size| Arg::U32(size as u32));
            let blocks = outputs.div_ceil(32) * inputs.div_ceil(32);
            bench.run("transpose_f32", blocks * 256, 256, &[&[(&from).into(), (&to).into()], &sizes[..]].concat());
            packed[start..start + matrix.len()].copy_from_slice(&bench.read(&to));
        };
        let layout = &self.layout;
        for layer in layout.encoder.iter().chain([&layout.decoder]) {
            transpose(layer.weight.start, layer.outputs, layer.inputs);
        }
        for layer in 0..layout.layers {
            let h = layout.hidden;
            transpose(layout.mingru.start + layer * 3 * h * h, 3 * h, h);
        }
        packed
    }

    /// Columns of the activations in shared memory: rows begin in different banks.
    fn width(&self) -> usize {
        let widths = self.layout.encoder.iter().map(|layer| layer.outputs);
        let most = widths.chain([self.inputs(), self.layout.actions + 1]).max().unwrap();
        most.saturating_sub(4).next_multiple_of(32) + 4
    }
}

/// The arrays of a case on a device.
struct Arrays {
    observations: Buffer<f32>,
    keep: Buffer<f32>,
    state: Buffer<f32>,
    packed: Buffer<f32>,
    widths: Buffer<u32>,
    failed: Buffer<u32>,
}

impl Arrays {
    fn new(bench: &mut Bench, case: &Case) -> Self {
        bench.shared_bytes = 64 * case.width() as u64;
        let widths: Vec<_> = case.layout.encoder.iter().map(|layer| layer.outputs as u32).collect();
        Self {
            observations: bench.buffer(&case.observations),
            keep: bench.buffer(&case.keep),
            state: bench.buffer(&case.state),
            packed: bench.buffer(&case.packed()),
            widths: bench.buffer(&widths),
            failed: bench.buffer(&[u32::MAX]),
        }
    }

    fn inputs(&self) -> [Arg; 5] {
        let Self { observations, keep, state, packed, widths, .. } = self;
        [observations.into(), keep.into(), state.into(), packed.into(), widths.into()]
    }
}

fn sizes(case: &Case) -> [Arg; 8] {
    let Layout { encoder, layers, actions, hidden, len, .. } = &case.layout;
    let (inputs, width) = (case.inputs(), case.width());
    [case.environments, inputs, *hidden, encoder.len(), *layers, *len, *actions, width]
        .map(|size| Arg::U32(size as u32))
}

/// A step by the kernel.
struct Got {
    arrays: Arrays,
    all_observations: Vec<f32>,
    all_actions: Vec<u32>,
    all_log_probs: Vec<f32>,
    all_values: Vec<f32>,
    all_keep: Vec<f32>,
    actions: Vec<u32>,
    counters: Counters,
}

/// What stands in the trajectories where nothing was written.
const BLANK: f32 = -99.0;

fn step(bench: &mut Bench, case: &Case) -> Got {
    let arrays = Arrays::new(bench, case);
    let rows = case.environments * HORIZON;
    let first_step = bench.buffer(&[FIRST_STEP]);
    let [all_observations, all_log_probs, all_values, all_keep] =
        [rows * case.inputs(), rows, rows, rows].map(|n| bench.buffer(&vec![BLANK; n]));
    let (all_actions, actions) = (bench.buffer(&vec![u32::MAX; rows]), bench.room::<u32>(case.environments));
    let mut args = arrays.inputs().to_vec();
    args.extend([Arg::from(&first_step), (&all_observations).into(), (&all_actions).into(), (&all_log_probs).into()]);
    args.extend([Arg::from(&all_values), (&all_keep).into(), (&actions).into(), (&arrays.failed).into()]);
    args.extend(sizes(case));
    args.extend([Arg::U32(HORIZON as u32), Arg::U32(STEP as u32), Arg::U64(SEED)]);
    let counters = bench.run("rollout_step_f32", case.environments.div_ceil(8) * 256, 256, &args);
    Got {
        all_observations: bench.read(&all_observations),
        all_actions: bench.read(&all_actions),
        all_log_probs: bench.read(&all_log_probs),
        all_values: bench.read(&all_values),
        all_keep: bench.read(&all_keep),
        actions: bench.read(&actions),
        arrays,
        counters,
    }
}

/// Values (N) by the kernel for these alone.
fn values(bench: &mut Bench, case: &Case) -> Vec<f32> {
    let arrays = Arrays::new(bench, case);
    let values = bench.room::<f32>(case.environments);
    let mut args = arrays.inputs().to_vec();
    args.extend([Arg::from(&values), (&arrays.failed).into()]);
    args.extend(sizes(case));
    bench.run("rollout_values_f32", case.environments.div_ceil(8) * 256, 256, &args);
    assert_bits("state", &bench.read(&arrays.state), &case.state);
    assert_eq!(bench.read(&arrays.failed), [u32::MAX]);
    bench.read(&values)
}

/// Row `STEP` of each environment of (N, T, width) is `expected` (N, width), and nothing else was written.
fn assert_rows(what: &str, got: &[f32], expected: &[f32], width: usize) {
    for (environment, rows) in got.chunks(HORIZON * width).enumerate() {
        for (t, row) in rows.chunks(width).enumerate() {
            let expected = &expected[environment * width..][..width];
            let expected = if t == STEP { expected.to_vec() } else { vec![BLANK; width] };
            assert_bits(&format!("{what} of {environment}, step {t}"), row, &expected);
        }
    }
}

fn compare(case: &Case, seed: Option<u64>) {
    let mut bench = Bench::new("rollout");
    bench.options.seed = seed;
    let (expected, got, outputs) = (case.expected(true), step(&mut bench, case), case.layout.actions + 1);
    assert_bits("state", &bench.read(&got.arrays.state), &expected.state);
    let expected_values: Vec<_> = expected.output.chunks(outputs).map(|row| row[outputs - 1]).collect();
    assert_rows("value", &got.all_values, &expected_values, 1);
    assert_rows("log-probability", &got.all_log_probs, &expected.log_probs, 1);
    assert_rows("keep", &got.all_keep, &case.keep, 1);
    assert_rows("observation", &got.all_observations, &case.observations, case.inputs());
    assert_eq!(got.actions, expected.actions);
    for (i, actions) in got.all_actions.chunks(HORIZON).enumerate() {
        assert_eq!(actions, [u32::MAX, u32::MAX, expected.actions[i]], "{i}");
    }
    assert_eq!(bench.read(&got.arrays.failed), [u32::MAX]);
    assert_bits("values alone", &values(&mut bench, case), &expected_values);
}

#[test]
fn a_step_has_the_bits_of_the_cpu() {
    // One of everything; no stack; widths that aren't multiples of 4 or of a warp; more units than threads; one action,
    // and more than a warp has lanes.
    compare(&Case::new(1, 1, &[1], 1, 1), None);
    compare(&Case::new(9, 4, &[20], 0, 2), None);
    compare(&Case::new(19, 5, &[24, 7, 33], 2, 3), Some(1));
    compare(&Case::new(3, 2, &[300], 1, 5), Some(2));
    for actions in [31, 32, 33, 100, 1023] {
        compare(&Case::new(10, 3, &[16], 1, actions), None);
    }
}

#[test]
fn every_action_is_drawn_sometimes() {
    let mut bench = Bench::new("rollout");
    let drawn = step(&mut bench, &Case::new(64, 3, &[8], 1, 4)).actions;
    assert_eq!((0..5).map(|a| drawn.contains(&a)).collect::<Vec<_>>(), [true, true, true, true, false]);
}

#[test]
fn an_output_that_isnt_finite_is_told() {
    let mut case = Case::new(20, 3, &[8], 1, 3);
    // A NaN in an observation, and a state that overflows.
    case.observations[3 * 13] = f32::NAN;
    case.state[8 * 17] = f32::INFINITY;
    let mut bench = Bench::new("rollout");
    let (expected, got) = (case.expected(false), step(&mut bench, &case));
    assert_eq!(bench.read(&got.arrays.failed), [13]);
    for environment in [13, 17] {
        assert_eq!(got.actions[environment], 0);
        assert!(got.all_log_probs[environment * HORIZON + STEP].is_nan());
    }
    assert_bits("state", &bench.read(&got.arrays.state), &expected.state);
}

#[test]
fn layers_that_dont_come_to_the_parameters_end_with_an_error() {
    let case = Case::new(3, 2, &[8], 1, 3);
    let mut bench = Bench::new("rollout");
    let arrays = Arrays::new(&mut bench, &case);
    let values = bench.room::<f32>(3);
    let mut args = arrays.inputs().to_vec();
    args.extend([Arg::from(&values), (&arrays.failed).into()]);
    args.extend(sizes(&case));
    let parameters = args.len() - 3;
    args[parameters] = Arg::U32(case.layout.len as u32 - 1);
    match bench.try_run("rollout_values_f32", 256, 256, &args) {
        Err(LaunchError::Fault(fault)) => assert!(matches!(fault.kind, FaultKind::Trap), "{fault}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn weights_are_read_once_for_eight_environments() {
    let mut bench = Bench::new("rollout");
    let case = Case::new(16, 4, &[64], 2, 3);
    let counters = step(&mut bench, &case).counters;
    assert_eq!((counters.shared_bank_conflicts, counters.local_requests), (0, 0));
    // Two blocks read all parameters; each environment's observation, state and flag, and its results.
    let parameters = 2 * case.layout.len;
    let beside = 16 * (2 * 4 + 2 * 2 * 64 + 8);
    let bytes = 32 * (counters.global_load_sectors + counters.global_store_sectors);
    println!("{bytes} bytes, {} of parameters", 4 * parameters);
    assert!(bytes as usize <= 4 * (parameters + beside) * 11 / 10, "{bytes}");
}
