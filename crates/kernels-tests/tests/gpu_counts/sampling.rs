//! Trees, CDFs, resampling and a replay's rows. `counts_tree.rs` asserts what they have to be.

use arith::random::Stream;
use kernels_tests::table::Row;
use kernels_tests::{Arg, Bench, DeviceCdf, DeviceItems, DeviceReplay, DeviceTree, Extremes, NewItems};

/// Updates, draws, rows.
const M: usize = 1024;

fn indices(capacity: usize) -> Vec<u32> {
    (0..M as u64).map(|j| Stream::new(1, 1).bounded(j, capacity as u64) as u32).collect()
}

fn trees() -> Vec<Row> {
    let mut rows = Vec::new();
    for capacity in [1 << 17, 1 << 20] {
        let mut device = DeviceTree::new(&vec![0.5; capacity]);
        // Leaves that come twice are claimed in the order of threads.
        device.bench.count();
        let td: Vec<f32> = (0..M as u64).map(|j| Stream::new(2, 2).uniform(j)).collect();
        let case = format!("{M} of {capacity} leaves");
        let smallest = Extremes::new(&device.bench, "min", capacity);
        smallest.rebuild(&device.bench, &device.leaves);
        let update = device.update(&indices(capacity), &td, (0.6, 1e-3), 128);
        rows.push(Row::new("seg_tree_update_f32", &case, update, None));
        let refresh = smallest.refresh(&device.bench, &device.leaves, &indices(capacity), 128);
        rows.push(Row::new("min_tree_refresh_f32", &case, refresh, None));
        for kernel in ["seg_tree_sample_f32", "seg_tree_sample_stratified_f32"] {
            rows.push(Row::new(kernel, &case, device.sample(kernel, M, (1, 2)).2, None));
        }
    }
    rows
}

fn cdf() -> Vec<Row> {
    let n = 1 << 18;
    let mut device = DeviceCdf::new(Bench::new("cdf"), &vec![0.5; n]);
    // Blocks one after the other: none looks for another's sum more than once.
    device.bench.count();
    let [survey, build] = device.build();
    let (case, weights) = (format!("{n} weights"), 4 * n as u64);
    // A key of 8 bytes before each 16 weights.
    let keys = weights / 8;
    vec![
        Row::new("cdf_survey_f32", &case, survey, Some(weights)),
        Row::new("cdf_build_f32", &case, build, Some(weights + keys)),
    ]
}

/// As many draws as weights.
fn residual() -> Row {
    let n = 1 << 16;
    let weights: Vec<_> = (0..n as u64).map(|i| Stream::new(3, 3).uniform_positive(i)).collect();
    let mut device = DeviceCdf::new(Bench::new("cdf").with("resample"), &weights);
    // As above.
    device.bench.count();
    device.build();
    let out = device.bench.room::<u32>(n);
    let mut args = device.args().to_vec();
    args.extend([Arg::from(&device.position), Arg::U64(0), (&device.scratch.0).into(), (&device.scratch.1).into()]);
    args.extend([Arg::from(&out), device.size(), device.size(), Arg::U64(1), Arg::U64(2)]);
    let kernel = "resample_residual_systematic_f32";
    let counters = device.bench.run(kernel, 256 * n.div_ceil(4096), 256, &args);
    // Weights, keys and ancestors.
    Row::new(kernel, format!("{n} of {n} weights"), counters, Some((4 * n + n / 2 + 4 * n) as u64))
}

/// Priorities of items, and what follows from them.
fn items() -> Vec<Row> {
    let mut rows = Vec::new();
    for capacity in [1 << 17, 1 << 20] {
        let mut device = DeviceItems::new(capacity);
        // As above: claims, and climbs that meet.
        device.tree.bench.count();
        (device.width, device.passes) = (256, &[1, 2]);
        device.insert(NewItems::With(&vec![0.5; capacity]), 0.6);
        device.passes = &[0];
        let numbers: Vec<_> = indices(capacity).into_iter().map(u64::from).collect();
        let td: Vec<f32> = (0..M as u64).map(|j| Stream::new(2, 2).uniform(j)).collect();
        let case = format!("{M} of {capacity} items");
        let [update, updated] = device.update(&numbers, &td, (0.6, 1e-3));
        rows.push(Row::new("replay_update_f32", &case, update, None));
        rows.push(Row::new("replay_follow_f32", format!("{case}, after an update"), updated, None));
        let [insert, inserted] = device.insert(NewItems::LargestNow(M), 0.6);
        rows.push(Row::new("replay_insert_f32", &case, insert, None));
        rows.push(Row::new("replay_follow_f32", format!("{case}, after an insertion"), inserted, None));
    }
    rows
}

/// As many systematic draws as weights, in each of many rows.
fn rows_of_weights() -> Vec<Row> {
    let (rows, n) = (64, 4096);
    let bench = Bench::counting("resample");
    let weights: Vec<_> = (0..(rows * n) as u64).map(|i| Stream::new(3, 3).uniform_positive(i)).collect();
    let (weights, largest) = (bench.buffer(&weights), bench.room::<f32>(rows));
    let (details, state, faults) = (bench.room::<u64>(rows), bench.buffer(&[0_u32; 2]), bench.buffer(&[0_u64; 3]));
    let sizes = [rows, n].map(|size| Arg::U32(size as u32));
    let found = [(&weights).into(), (&largest).into(), (&details).into(), (&state).into(), (&faults).into()];
    let survey = bench.run("resample_survey_rows_f32", 256 * rows, 256, &[&found[..], &sizes].concat());
    let (position, keys) = (bench.buffer(&[0_u64; 2]), bench.room::<u64>(rows * n / 16));
    let out = bench.room::<u32>(rows * n);
    let drawn = [(&weights).into(), (&largest).into(), (&state).into(), (&position).into(), (&keys).into()];
    let systematic = [Arg::U32(n as u32), Arg::U32(2), Arg::U64(1), Arg::U64(2)];
    let ends = bench.room::<u32>(rows * n);
    let scratch = [(&ends).into(), Arg::U64(0), Arg::U64(0), (&out).into()];
    let args = [&drawn[..], &scratch, &sizes, &systematic].concat();
    let draws = bench.run("resample_rows_f32", 256 * rows, 256, &args);
    let (case, bytes) = (format!("{rows} rows of {n} weights"), (4 * rows * n) as u64);
    vec![
        Row::new("resample_survey_rows_f32", &case, survey, Some(bytes)),
        Row::new("resample_rows_f32", &case, draws, None),
    ]
}

/// Batches with rows of 256 bytes.
fn replay() -> Vec<Row> {
    let (small, large, width) = (1 << 17, 1 << 20, 256);
    let replay_of = |capacity: usize| {
        let mut device = DeviceReplay::new(capacity, width, &vec![1_u8; capacity * width]);
        device.tree.bench.count();
        device
    };
    let device = replay_of(small);
    let rows = device.tree.bench.buffer(&vec![2_u8; M * width]);
    let insert = device.insert_rows(&rows, 0, M, 1);
    let case = format!("{M} rows of {width} bytes");
    let mut rows = vec![Row::new("replay_insert_rows", case, insert, Some((2 * M * width) as u64))];
    for device in [device, replay_of(large)] {
        let case = format!("{M} of {} items with {width} bytes", device.tree.capacity);
        rows.push(Row::new("replay_sample_f32", case, device.sample(M, 1).2, None));
    }
    rows
}

/// The rows of the document.
pub(crate) fn rows() -> Vec<Row> {
    [trees(), cdf(), vec![residual()], rows_of_weights(), items(), replay()].concat()
}
