//! A stack's forward and backward pass on a GPU: recorded once, replayed on new inputs, compared with the CPU bit for bit.
//!
//! Run: `cargo run --release -p mingru --features cuda --example cuda_graph`. Without a CUDA driver it says so; the emulated
//! one, which `cargo xtask test` leaves in `target/cuda-emu`, serves with `LD_LIBRARY_PATH=target/cuda-emu`.

use arith::random::Stream as Draws;
use gpu::{Buffer, Device, Graph};
use mingru::cuda::{self, MinGruStack};
use mingru::{Par, StackForward, StackGradients};
use std::process::ExitCode;

const LAYERS: usize = 2;
const BATCH: usize = 4;
const TIME: usize = 20;
const HIDDEN: usize = 32;
const INTERVAL: usize = 8;

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether all results were the CPU's.
fn run() -> Result<bool, cuda::Error> {
    let device = Device::new(0)?;
    let stream = device.stream()?;
    println!("device: {}", device.name()?);

    let stack = MinGruStack::new(LAYERS, HIDDEN)?;
    let (sequence, states) = (BATCH * TIME * HIDDEN, LAYERS * BATCH * HIDDEN);
    let weights = normals(0, 0.2, stack.on_cpu().weights_len());
    let d_weights = vec![0.0; weights.len()];
    let mut tape = stack.tape(&device, BATCH, TIME, INTERVAL)?;

    // Inputs, then outputs.
    let weights_on_device = Buffer::from_slice(&stream, &weights)?;
    let mut x = Buffer::zeroed(&stream, sequence)?;
    let keep = Buffer::from_slice(&stream, &[1.0; BATCH * TIME])?;
    let zeros = Buffer::zeroed(&stream, states)?;
    let d_out = Buffer::from_slice(&stream, &vec![1.0; sequence])?;
    let [mut out, mut d_x] = [Buffer::zeroed(&stream, sequence)?, Buffer::zeroed(&stream, sequence)?];
    let [mut h_last, mut d_h0] = [Buffer::zeroed(&stream, states)?, Buffer::zeroed(&stream, states)?];
    let mut gradient = Buffer::from_slice(&stream, &d_weights)?;

    let graph = Graph::capture(&stream, |stream| -> Result<(), cuda::Error> {
        let weights = weights_on_device.view();
        let (x, keep, h0) = (x.view(), keep.view(), zeros.view());
        let input = cuda::StackForward { batch: BATCH, time: TIME, weights, x, keep, h0 };
        stack.forward(stream, input, &mut tape, out.view_mut(), h_last.view_mut())?;
        let (x, h0) = (d_x.view_mut(), d_h0.view_mut());
        let gradients = cuda::StackGradients { weights: gradient.view_mut(), x, h0 };
        stack.backward(stream, weights, &mut tape, d_out.view(), zeros.view(), gradients)
    })?;
    println!("recorded {} operations", graph.operations());

    let mut same = true;
    for replay in 1..=3 {
        let inputs = normals(replay, 1.0, sequence);
        x.view_mut().write(&stream, &inputs)?;
        graph.launch(&stream)?;
        let got = (out.to_vec(&stream)?, gradient.to_vec(&stream)?);
        let equal = bits(&got) == bits(&on_cpu(&weights, &inputs)?);
        same &= equal;
        println!("replay {replay}: {}", if equal { "the CPU's bits" } else { "other bits than the CPU's" });
    }
    Ok(same)
}

/// Outputs and the weights' gradient of a loss that is the sum of all outputs.
fn on_cpu(weights: &[f32], x: &[f32]) -> Result<(Vec<f32>, Vec<f32>), mingru::Error> {
    let stack = mingru::MinGruStack::new(LAYERS, HIDDEN)?;
    let mut tape = stack.tape(BATCH, TIME, INTERVAL)?;
    let zeros = vec![0.0; stack.state_len(BATCH)?];
    let (mut out, mut h_last) = (vec![0.0; x.len()], zeros.clone());
    let input = StackForward { batch: BATCH, time: TIME, weights, x, keep: &[1.0; BATCH * TIME], h0: &zeros };
    stack.forward(&input, &mut tape, &mut out, &mut h_last, Par::Rayon)?;
    let (mut d_weights, mut d_x, mut d_h0) = (vec![0.0; weights.len()], vec![0.0; x.len()], zeros.clone());
    let gradients = StackGradients { weights: &mut d_weights, x: &mut d_x, h0: &mut d_h0 };
    stack.backward(weights, &mut tape, &vec![1.0; x.len()], &zeros, gradients, Par::Rayon)?;
    Ok((out, d_weights))
}

/// `spread` times draws of the standard normal distribution.
fn normals(stream: u64, spread: f32, n: usize) -> Vec<f32> {
    let mut values = vec![0.0; n];
    Draws::new(1, stream).fill_normal(0, &mut values);
    values.into_iter().map(|value| spread * value).collect()
}

fn bits((out, gradient): &(Vec<f32>, Vec<f32>)) -> Vec<u32> {
    out.iter().chain(gradient).map(|value| value.to_bits()).collect()
}
