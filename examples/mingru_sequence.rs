//! minGRU on sequences, in three parts.
//!
//! 1. One unit by hand: a reset *inside* a sequence starts the state afresh exactly there.
//! 2. A rollout, step by step, gives the bits of the scan over the whole sequence.
//! 3. A stack of two layers learns, by gradient descent, to answer the bit that it saw 12 steps ago: without memory no
//!    better than chance, with it nearly always right.
//!
//! Run: `cargo run --release --example mingru_sequence` (a few seconds).

use arith::random::{Stream, uniform};
use mingru::{Forward, MinGruStack, Outputs, Par, Shape, StackForward, StackGradients, StackStep};

fn main() -> Result<(), mingru::Error> {
    reset_inside_a_sequence()?;
    steps_are_the_scan()?;
    remember_a_bit()
}

/// One row, one unit, three steps; `keep` is 0 where an episode begins.
fn reset_inside_a_sequence() -> Result<(), mingru::Error> {
    // [hidden | gate | proj] of each step. A projection of 100 shuts the highway: the output is the state.
    let combined = [0.3, 0.1, 100.0, -0.7, -0.4, 100.0, 1.2, 2.0, 100.0];
    println!("1. h0 = 0.25, three steps");
    for keep in [[1.0, 1.0, 1.0], [1.0, 0.0, 1.0]] {
        let (mut out, mut checkpoints, mut h_last) = ([0.0_f32; 3], [0.0], [0.0]);
        let shape = Shape { batch: 1, time: 3, hidden: 1 };
        let input = Forward { shape, interval: 8, combined: &combined, x: &[0.0; 3], keep: &keep, h0: &[0.25] };
        let output = Outputs { out: &mut out, checkpoints: &mut checkpoints, h_last: &mut h_last };
        mingru::forward(&input, output, Par::Serial)?;
        println!("   keep {keep:?}: states {out:?}");
    }
    Ok(())
}

/// What an actor computes step by step is what the learner recomputes at once.
fn steps_are_the_scan() -> Result<(), mingru::Error> {
    const BATCH: usize = 4;
    const TIME: usize = 32;
    const HIDDEN: usize = 24;
    let stack = MinGruStack::new(2, HIDDEN)?;
    let weights = normals(1, 0.2, stack.weights_len());
    let x = normals(2, 1.0, BATCH * TIME * HIDDEN);
    let keep: Vec<f32> = (0..BATCH * TIME).map(|i| if i % 11 == 5 { 0.0 } else { 1.0 }).collect();
    let h0 = vec![0.0; stack.state_len(BATCH)?];

    let mut tape = stack.tape(BATCH, TIME, 8)?;
    let (mut out, mut h_last) = (vec![0.0; x.len()], h0.clone());
    let input = StackForward { batch: BATCH, time: TIME, weights: &weights, x: &x, keep: &keep, h0: &h0 };
    stack.forward(&input, &mut tape, &mut out, &mut h_last, Par::Rayon)?;

    let mut packed = stack.packed_weights()?;
    stack.pack(&weights, &mut packed)?;
    let (mut scratch, mut h, mut same) = (stack.step_scratch(BATCH)?, h0, true);
    for t in 0..TIME {
        let now = |v: &[f32], width: usize| -> Vec<f32> {
            (0..BATCH).flat_map(|b| v[(b * TIME + t) * width..][..width].iter().copied()).collect()
        };
        let mut step_out = vec![0.0; BATCH * HIDDEN];
        let input = StackStep { batch: BATCH, weights: &packed, x: &now(&x, HIDDEN), keep: &now(&keep, 1) };
        stack.step(&input, &mut h, &mut step_out, &mut scratch)?;
        same &= bits(&step_out) == bits(&now(&out, HIDDEN));
    }
    same &= bits(&h) == bits(&h_last);
    println!("2. {TIME} steps of {BATCH} rows, 2 layers, with resets: the scan's bits: {same}");
    Ok(())
}

/// Inputs: a bit at the first step, noise afterwards. Target: the bit, at the last step.
fn remember_a_bit() -> Result<(), mingru::Error> {
    const BATCH: usize = 64;
    const DELAY: usize = 12;
    const TIME: usize = DELAY + 1;
    const HIDDEN: usize = 16;
    const UPDATES: u64 = 300;
    const RATE: f32 = 0.2;
    println!("3. remember a bit for {DELAY} steps: 2 layers of {HIDDEN} units, {UPDATES} steps of gradient descent");
    let stack = MinGruStack::new(2, HIDDEN)?;
    let mut weights = normals(3, 0.3, stack.weights_len());
    // The answer is the sign of a fixed sum of the last output: only the stack learns.
    let readout = normals(4, 0.5, HIDDEN);
    let embedding = normals(5, 1.0, 2 * HIDDEN);
    let keep = vec![1.0; BATCH * TIME];
    let h0 = vec![0.0; stack.state_len(BATCH)?];
    let d_h_last = h0.clone();

    let mut tape = stack.tape(BATCH, TIME, 8)?;
    let (mut out, mut h_last) = (vec![0.0; BATCH * TIME * HIDDEN], h0.clone());
    let (mut d_out, mut d_x, mut d_h0) = (out.clone(), out.clone(), h0.clone());
    let mut d_weights = vec![0.0; weights.len()];
    for update in 0..=UPDATES {
        let mut x = normals(100 + 2 * update, 0.3, BATCH * TIME * HIDDEN);
        let coins = Stream::new(7, 101 + 2 * update);
        let target: Vec<bool> = (0..BATCH as u64).map(|b| uniform(coins.block(b)[0]) < 0.5).collect();
        for (row, &bit) in x.chunks_exact_mut(TIME * HIDDEN).zip(&target) {
            row[..HIDDEN].copy_from_slice(&embedding[usize::from(bit) * HIDDEN..][..HIDDEN]);
        }
        let input = StackForward { batch: BATCH, time: TIME, weights: &weights, x: &x, keep: &keep, h0: &h0 };
        stack.forward(&input, &mut tape, &mut out, &mut h_last, Par::Rayon)?;

        // The logistic loss, ln(1 + e^-m) with the margin m = +-(readout . out), and its gradient.
        let (mut loss, mut right) = (0.0, 0);
        for (b, &bit) in target.iter().enumerate() {
            let last = (b * TIME + DELAY) * HIDDEN..(b * TIME + TIME) * HIDDEN;
            let logit = out[last.clone()].iter().zip(&readout).fold(0.0, |sum, (&h, &r)| arith::fma(h, r, sum));
            let sign = if bit { 1.0 } else { -1.0 };
            loss += arith::softplus(-sign * logit) / BATCH as f32;
            right += usize::from(sign * logit > 0.0);
            let slope = -sign * arith::sigmoid(-sign * logit) / BATCH as f32;
            d_out[last].iter_mut().zip(&readout).for_each(|(d, &r)| *d = slope * r);
        }
        if update % 50 == 0 {
            println!("   update {update:3}: loss {loss:.4}, {right} of {BATCH} right");
        }
        let gradients = StackGradients { weights: &mut d_weights, x: &mut d_x, h0: &mut d_h0 };
        stack.backward(&weights, &mut tape, &d_out, &d_h_last, gradients, Par::Rayon)?;
        // Steps of one length, whatever the gradient's: over a long delay it starts out tiny.
        let length = d_weights.iter().fold(0.0, |sum, &d| arith::fma(d, d, sum)).sqrt();
        weights.iter_mut().zip(&d_weights).for_each(|(w, d)| *w -= RATE * d / (length + 1e-12));
    }
    Ok(())
}

/// Normal draws of stream `stream`.
fn normals(stream: u64, deviation: f32, n: usize) -> Vec<f32> {
    let stream = Stream::new(7, stream);
    let pair = |i: u64| {
        let words = stream.block(i);
        arith::random::normal_pair(words[0], words[1]).0 * deviation
    };
    (0..n as u64).map(pair).collect()
}

fn bits(v: &[f32]) -> Vec<u32> {
    v.iter().map(|v| v.to_bits()).collect()
}
