//! The scan on the device against crate mingru.

use arith::random::Stream;
use bytemuck::Pod;
use kernels_tests::{Arg, Bench, assert_bits};
use mingru::{Backward, Forward, Gradients, Outputs, Par, Shape, Storage, bf16, checkpoints_len};

fn normals<S: Storage>(stream: u64, n: usize) -> Vec<S> {
    let mut values = vec![0.0; n];
    Stream::new(11, stream).fill_normal(0, &mut values);
    values.into_iter().map(|value| S::store(2.0 * value)).collect()
}

fn floats<S: Storage>(values: &[S]) -> Vec<f32> {
    values.iter().map(|value| value.load()).collect()
}

fn compare<S: Storage + Pod>(suffix: &str, shape: Shape, interval: usize) {
    let bench = Bench::new("mingru");
    let Shape { batch, time, hidden } = shape;
    let (steps, n, units) = (batch * time, batch * time * hidden, batch * hidden);
    let (combined, x, d_out) = (normals::<S>(0, 3 * n), normals::<S>(1, n), normals::<S>(2, n));
    let (h0, d_h_last) = (normals::<f32>(3, units), normals::<f32>(4, units));
    // Resets at the first step, in a row, and at the last.
    let keep: Vec<_> = (0..steps).map(|i| if i % 5 < 2 && i % 3 != 1 { 0.0 } else { 1.0 }).collect();
    let sizes = [batch, time, hidden].map(|size| Arg::U32(size as u32));

    let forward = |interval: usize| {
        let (mut out, mut h_last) = (vec![S::default(); n], vec![0.0; units]);
        let mut checkpoints = vec![0.0; checkpoints_len(shape, interval).unwrap()];
        let input = Forward { shape, interval, combined: &combined, x: &x, keep: &keep, h0: &h0 };
        let outputs = Outputs { out: &mut out, checkpoints: &mut checkpoints, h_last: &mut h_last };
        mingru::forward(&input, outputs, Par::Serial).unwrap();
        (out, checkpoints, h_last)
    };
    let (out, checkpoints, h_last) = forward(interval);
    let [dcombined, dx, dd_out] = [&combined, &x, &d_out].map(|values| bench.buffer(values));
    let [dkeep, dh0, dd_h_last] = [&keep, &h0, &d_h_last].map(|values| bench.buffer(values));
    let (got_out, got_checkpoints) = (bench.room::<S>(n), bench.room::<f32>(checkpoints.len()));
    let got_h_last = bench.room::<f32>(units);
    let args: [Arg; 7] = [
        (&dcombined).into(),
        (&dx).into(),
        (&dkeep).into(),
        (&dh0).into(),
        (&got_out).into(),
        (&got_checkpoints).into(),
        (&got_h_last).into(),
    ];
    let args = [&args[..], &sizes, &[Arg::U32(interval as u32)]].concat();
    bench.run(&format!("mingru_scan_forward_{suffix}"), units, 64, &args);
    assert_bits("out", &floats(&bench.read(&got_out)), &floats(&out));
    assert_bits("checkpoints", &bench.read(&got_checkpoints), &checkpoints);
    assert_bits("h_last", &bench.read(&got_h_last), &h_last);

    let (_, states, _) = forward(1);
    let (mut d_combined, mut d_x, mut d_h0) = (vec![S::default(); 3 * n], vec![S::default(); n], vec![0.0; units]);
    let input = Backward {
        shape,
        interval: 1,
        combined: &combined,
        x: &x,
        keep: &keep,
        checkpoints: &states,
        d_out: &d_out,
        d_h_last: &d_h_last,
    };
    let gradients = Gradients { d_combined: &mut d_combined, d_x: &mut d_x, d_h0: &mut d_h0 };
    mingru::backward(&input, gradients, Par::Serial).unwrap();
    let dstates = bench.buffer(&states);
    let (got_combined, got_x, got_h0) = (bench.room::<S>(3 * n), bench.room::<S>(n), bench.room::<f32>(units));
    let args: [Arg; 9] = [
        (&dcombined).into(),
        (&dx).into(),
        (&dkeep).into(),
        (&dstates).into(),
        (&dd_out).into(),
        (&dd_h_last).into(),
        (&got_combined).into(),
        (&got_x).into(),
        (&got_h0).into(),
    ];
    let args = [&args[..], &sizes].concat();
    bench.run(&format!("mingru_scan_backward_reference_{suffix}"), units, 64, &args);
    assert_bits("d_combined", &floats(&bench.read(&got_combined)), &floats(&d_combined));
    assert_bits("d_x", &floats(&bench.read(&got_x)), &floats(&d_x));
    assert_bits("d_h0", &bench.read(&got_h0), &d_h0);
}

#[test]
fn the_scan_has_the_bits_of_the_cpu() {
    // No work, one of everything, ends of warps, and chunks that don't divide the steps.
    for (batch, time, hidden, interval) in
        [(0, 3, 4, 2), (2, 0, 3, 2), (2, 3, 0, 1), (1, 1, 1, 1), (3, 17, 33, 4), (2, 40, 64, 64), (5, 9, 31, 3)]
    {
        let shape = Shape { batch, time, hidden };
        compare::<f32>("f32", shape, interval);
        compare::<bf16>("bf16", shape, interval);
    }
}
