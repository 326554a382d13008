//! Pieces of work that are measured in turns, by criterion or for `benches/peers`.

use criterion::{BenchmarkId, Criterion, Throughput};
use std::time::{Duration, Instant};

/// How to do a piece of work once.
pub type Work = Box<dyn FnMut()>;

/// One piece of work.
pub struct Case {
    /// What it is, by the name that it has in `benches/peers`.
    pub task: &'static str,
    /// How much of it, by the name that it has there.
    pub shape: String,
    /// Elements that one call handles.
    pub elements: usize,
    /// The call.
    pub work: Work,
}

/// Medians as JSON lines for `--peers` on the command line, otherwise criterion.
pub fn run(cases: Vec<Case>) {
    if is_for_peers() {
        return print_medians(cases);
    }
    let mut criterion = Criterion::default().configure_from_args();
    for mut case in cases {
        let mut group = criterion.benchmark_group(case.task);
        group.throughput(Throughput::Elements(case.elements as u64));
        group.bench_function(BenchmarkId::from_parameter(&case.shape), |bench| bench.iter(|| (case.work)()));
        group.finish();
    }
    criterion.final_summary();
}

/// Whether the command line has `--peers`.
pub fn is_for_peers() -> bool {
    std::env::args().any(|arg| arg == "--peers")
}

/// Medians and minima as JSON lines, in the form of `benches/peers/_common.py`. The cases take short turns, so that a
/// slow moment of the machine meets them all.
fn print_medians(mut cases: Vec<Case>) {
    const TURN: Duration = Duration::from_millis(20);
    let mut times = vec![Vec::new(); cases.len()];
    for _ in 0..50 {
        for (case, times) in cases.iter_mut().zip(&mut times) {
            (0..3).for_each(|_| (case.work)());
            let end = Instant::now() + TURN;
            while Instant::now() < end {
                let start = Instant::now();
                (case.work)();
                times.push(start.elapsed().as_secs_f64());
            }
        }
    }
    for (case, times) in cases.iter().zip(&mut times) {
        times.sort_by(f64::total_cmp);
        let (median, min) = (times[times.len() / 2], times[0]);
        println!(
            "{{\"peer\": \"lockstep\", \"task\": \"{}\", \"shape\": \"{}\", \"threads\": 1, \"median_s\": {median:e}, \
             \"min_s\": {min:e}, \"unit\": \"s\", \"value\": {median:e}, \"reps\": {}, \"ns_per_element\": {:.2}}}",
            case.task,
            case.shape,
            times.len(),
            median * 1e9 / case.elements as f64
        );
    }
}
