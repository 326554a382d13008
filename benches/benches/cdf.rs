//! Cumulative sums: the build, and draws from them.
//!
//! `cargo bench --bench cdf` runs criterion; `cargo bench --bench cdf -- --peers` prints medians as the lines that
//! `benches/peers/cdf.py` prints, to be compared with those. Weights are uniform in [0, 1), thresholds and draws random.

use arith::random::{Stream, uniform};
use criterion::{BenchmarkId, Criterion, Throughput};
use per_core::Cdf;
use std::hint::black_box;
use std::time::{Duration, Instant};

const SIZES: [usize; 3] = [8_192, 262_144, 1_048_576];
const DRAWS: usize = 8_192;

fn weights(n: usize) -> Vec<f32> {
    let stream = Stream::new(1, 0);
    (0..n as u64).map(|i| uniform(stream.block(i)[0])).collect()
}

fn built(weights: &[f32]) -> Cdf {
    let mut cdf = Cdf::new();
    cdf.build(weights).expect("uniform numbers are weights");
    cdf
}

fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads")
}

/// One piece of work: its task, its number of weights, what it counts, and how to do it once.
struct Case {
    task: &'static str,
    weights: usize,
    elements: usize,
    work: Box<dyn FnMut() + Send>,
}

/// Everything that is measured, for a number of threads.
fn cases(threads: usize) -> Vec<Case> {
    let mut cases = Vec::new();
    for n in SIZES {
        let weights = weights(n);
        let mut cdf = built(&weights);
        let work: Box<dyn FnMut() + Send> = if threads == 1 {
            Box::new(move || black_box(&mut cdf).build(black_box(&weights)).expect("weights"))
        } else {
            Box::new(move || black_box(&mut cdf).build_par(black_box(&weights)).expect("weights"))
        };
        cases.push(Case { task: "cdf_build", weights: n, elements: n, work });
    }
    let n = SIZES[2];
    let cdf = built(&weights(n));
    let stream = Stream::new(2, 0);
    let thresholds: Vec<u64> = (0..DRAWS as u64)
        .map(|i| {
            let [low, high, ..] = stream.block(i);
            arith::fixed::bounded(u64::from(high) << 32 | u64::from(low), cdf.total())
        })
        .collect();
    let (searched, mut out) = (cdf.clone(), vec![0; DRAWS]);
    let work: Box<dyn FnMut() + Send> = if threads == 1 {
        Box::new(move || searched.search(black_box(&thresholds), black_box(&mut out)).expect("mass"))
    } else {
        Box::new(move || searched.search_par(black_box(&thresholds), black_box(&mut out)).expect("mass"))
    };
    cases.push(Case { task: "cdf_search", weights: n, elements: DRAWS, work });
    let (drawn, mut out, mut first) = (cdf.clone(), vec![0; DRAWS], 0);
    let work: Box<dyn FnMut() + Send> = Box::new(move || {
        // Other draws each time.
        first += DRAWS as u64;
        if threads == 1 {
            drawn.sample(&stream, first, black_box(&mut out)).expect("mass");
        } else {
            drawn.sample_par(&stream, first, black_box(&mut out)).expect("mass");
        }
    });
    cases.push(Case { task: "cdf_draw", weights: n, elements: DRAWS, work });
    if threads == 1 {
        let mut out = vec![0.0; n];
        let work: Box<dyn FnMut() + Send> = Box::new(move || cdf.to_f32(black_box(&mut out)).expect("mass"));
        cases.push(Case { task: "cdf_to_f32", weights: n, elements: n, work });
    }
    cases
}

fn shape(case: &Case) -> String {
    if case.elements == case.weights {
        format!("{}", case.weights)
    } else {
        format!("{}of{}", case.elements, case.weights)
    }
}

/// Medians and minima as JSON lines, in the form of `benches/peers/_common.py`; for two threads where there are two cores.
fn peers() {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    for threads in [1, 2].into_iter().filter(|&threads| threads <= cores) {
        for mut case in cases(threads) {
            let mut times = pool(threads).install(|| {
                (0..3).for_each(|_| (case.work)());
                let mut times = Vec::new();
                let end = Instant::now() + Duration::from_millis(1500);
                while Instant::now() < end && times.len() < 20_000 {
                    let start = Instant::now();
                    (case.work)();
                    times.push(start.elapsed().as_secs_f64());
                }
                times
            });
            times.sort_by(f64::total_cmp);
            let (median, min) = (times[times.len() / 2], times[0]);
            println!(
                "{{\"peer\": \"lockstep\", \"task\": \"{}\", \"shape\": \"{}\", \"threads\": {threads}, \
                 \"median_s\": {median:e}, \"min_s\": {min:e}, \"unit\": \"s\", \"value\": {median:e}, \"reps\": {}}}",
                case.task,
                shape(&case),
                times.len()
            );
        }
    }
}

fn benches(criterion: &mut Criterion) {
    for threads in [1, 2] {
        let pool = pool(threads);
        for mut case in cases(threads) {
            let mut group = criterion.benchmark_group(case.task);
            group.throughput(Throughput::Elements(case.elements as u64));
            group.bench_function(BenchmarkId::new(format!("{threads}_threads"), shape(&case)), |bench| {
                pool.install(|| bench.iter(|| (case.work)()));
            });
            group.finish();
        }
    }
}

fn main() {
    if std::env::args().any(|arg| arg == "--peers") {
        return peers();
    }
    let mut criterion = Criterion::default().configure_from_args();
    benches(&mut criterion);
    criterion.final_summary();
}
