//! Hot paths allocate nothing once their buffers have been used.
mod common;
use common::*;
use mingru::{
    Backward, Forward, Gradients, MinGruStack, Outputs, Par, Shape, StackForward, StackGradients, StackStep, Step,
};
use test_support::{Counting, allocations};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The only test of this file: nothing else allocates meanwhile.
#[test]
fn hot_paths_allocate_nothing() {
    let (batch, time, hidden) = (3, 37, 33);
    let c = case(1, (batch, time, hidden), Resets::Sometimes);
    let shape = Shape { batch, time, hidden };
    let mut checkpoints = vec![0.0; mingru::checkpoints_len(shape, 8).unwrap()];
    let (mut out, mut d_x, mut d_combined) = (c.x.clone(), c.x.clone(), c.combined.clone());
    let (mut h_last, mut d_h0) = (c.h0.clone(), c.h0.clone());

    let stack = MinGruStack::new(2, hidden).unwrap();
    let weights = numbers(1, 1, 0.3, stack.weights_len());
    let mut d_weights = weights.clone();
    let states = numbers(1, 2, 1.0, stack.state_len(batch).unwrap());
    let (mut states_out, mut d_states) = (states.clone(), states.clone());
    let mut tape = stack.tape(batch, time, 8).unwrap();
    let mut packed = stack.packed_weights().unwrap();
    let mut scratch = stack.step_scratch(batch).unwrap();

    let mut all = || {
        let (combined, x, keep) = (&c.combined, &c.x, &c.keep);
        let forward = Forward { shape, interval: 8, combined, x, keep, h0: &c.h0 };
        let output = Outputs { out: &mut out, checkpoints: &mut checkpoints, h_last: &mut h_last };
        mingru::forward(&forward, output, Par::Serial).unwrap();
        let (checkpoints, d_out, d_h_last) = (&checkpoints[..], &c.d_out[..], &c.d_h_last[..]);
        let backward = Backward { shape, interval: 8, combined, x, keep, checkpoints, d_out, d_h_last };
        let output = Gradients { d_combined: &mut d_combined, d_x: &mut d_x, d_h0: &mut d_h0 };
        mingru::backward(&backward, output, Par::Serial).unwrap();
        let (combined, x) = (&c.combined[..batch * 3 * hidden], &c.x[..batch * hidden]);
        let step = Step { batch, hidden, combined, x, keep: &keep[..batch] };
        mingru::step(&step, &mut h_last, &mut out[..batch * hidden]).unwrap();

        // The whole tape, then a part of it.
        for time in [time, 5] {
            let n = batch * time * hidden;
            let (x, keep) = (&c.x[..n], &c.keep[..batch * time]);
            let input = StackForward { batch, time, weights: &weights, x, keep, h0: &states };
            stack.forward(&input, &mut tape, &mut out[..n], &mut states_out, Par::Serial).unwrap();
            let gradients = StackGradients { weights: &mut d_weights, x: &mut d_x[..n], h0: &mut d_states };
            stack.backward(&weights, &mut tape, &c.d_out[..n], &states, gradients, Par::Serial).unwrap();
        }
        stack.pack(&weights, &mut packed).unwrap();
        let x = &c.x[..batch * hidden];
        let input = StackStep { batch, weights: &packed, x, keep: &c.keep[..batch] };
        stack.step(&input, &mut states_out, &mut out[..batch * hidden], &mut scratch).unwrap();
    };
    all();
    let before = allocations();
    assert!(before > 0, "the counter counts");
    all();
    assert_eq!(allocations(), before);
}
