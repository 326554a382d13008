//! Resampling: as many ancestors as weights, from a stream.
//!
//! `cargo bench --bench resample` prints nanoseconds a particle, median and minimum over interleaved turns of all schemes, so
//! that noise of the machine meets them alike; `-- --test` takes one turn. Weights are uniform in [0, 1), or of the form
//! `exp(-8 u)` as a sharp likelihood makes them. The build of the CDF is measured by itself.

use arith::random::{Stream, uniform};
use per_core::Cdf;
use per_core::resample::{self, Base, Random, Scheme, Scratch};
use std::hint::black_box;
use std::time::Instant;

const SIZES: [usize; 3] = [1_024, 65_536, 1_048_576];
const SCHEMES: [(&str, Scheme); 6] = [
    ("multinomial", Scheme::Multinomial),
    ("stratified", Scheme::Stratified),
    ("systematic", Scheme::Systematic),
    ("residual, multinomial", Scheme::Residual(Base::Multinomial)),
    ("residual, stratified", Scheme::Residual(Base::Stratified)),
    ("residual, systematic", Scheme::Residual(Base::Systematic)),
];

fn weights(n: usize, sharp: bool) -> Vec<f32> {
    let stream = Stream::new(1, 0);
    let shape = |u: f32| if sharp { arith::exp(-8.0 * u) } else { u };
    (0..n as u64).map(|i| shape(uniform(stream.block(i)[0]))).collect()
}

/// What is measured at one size: its name, how to do it once, and its times, each over `turns` calls.
struct Case<'a> {
    name: &'static str,
    work: Box<dyn FnMut() + 'a>,
    times: Vec<f64>,
}

fn measure(n: usize, sharp: bool, turns: usize) {
    let weights = weights(n, sharp);
    let mut cdf = Cdf::new();
    cdf.build(&weights).expect("uniform numbers are weights");
    let mut rebuilt = cdf.clone();
    let mut cases = vec![Case {
        name: "build of the cdf",
        work: Box::new(|| black_box(&mut rebuilt).build(black_box(&weights)).expect("weights")),
        times: Vec::new(),
    }];
    for (name, scheme) in SCHEMES {
        let (mut scratch, mut out, mut first_index, cdf) = (Scratch::new(), vec![0; n], 0, &cdf);
        let work = move || {
            // Other draws each time.
            first_index += n as u64;
            let random = Random::Stream { stream: Stream::new(2, 0), first_index };
            resample::ancestors(cdf, scheme, random, &mut scratch, black_box(&mut out)).expect("mass");
        };
        cases.push(Case { name, work: Box::new(work), times: Vec::new() });
    }
    // Small sizes are repeated within a turn: the clock has its own cost.
    let calls = (65_536 / n).max(1);
    for _ in 0..turns {
        for case in &mut cases {
            (case.work)();
            let start = Instant::now();
            (0..calls).for_each(|_| (case.work)());
            case.times.push(start.elapsed().as_secs_f64() * 1e9 / (calls * n) as f64);
        }
    }
    for Case { name, mut times, .. } in cases {
        times.sort_by(f64::total_cmp);
        let kind = if sharp { "exp(-8 u)" } else { "u" };
        println!("{n:>9} weights {kind:<9} {name:<22} {:7.2} ns (min {:.2})", times[times.len() / 2], times[0]);
    }
}

fn main() {
    let turns = if std::env::args().any(|arg| arg == "--test") { 1 } else { 101 };
    for n in SIZES {
        for sharp in [false, true] {
            measure(n, sharp, turns);
        }
    }
}
