//! The whole grid of shapes: the tiled scan gives the bits of the serial contract oracle.
mod common;
use common::*;
use half::bf16;
use mingru::Par;
use mingru::oracle::{Case, Results};
use rayon::ThreadPool;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Every interval, on every number of threads that can matter.
///
/// Threads decide one thing: into how many tiles of at least 64 units a row is cut. So a row of up to 64 units is one tile
/// on any number of threads above 1, and one number of them, taken in turns, stands for all; rows of 256 units get all
/// of 1 to 8.
fn check<S: Format>(turn: usize, case: &Case<f32>, pools: &[ThreadPool]) {
    let (case, expected) = expected::<S>(case);
    let isas = isas();
    let several = if case.shape.2 > 64 { 1..pools.len() } else { 1 + turn % 7..2 + turn % 7 };
    for (i, interval) in [1, 4, 8, 16].into_iter().enumerate() {
        let isa = isas[(turn + i) % isas.len()];
        for pool in pools[..1].iter().chain(&pools[several.clone()]) {
            let got = pool.install(|| run::<S>(&case, interval, isa, Par::Rayon));
            let threads = pool.current_num_threads();
            let format = std::any::type_name::<S>();
            let what = || format!("{format} shape {:?} K {interval} {isa:?} {threads} threads", case.shape);
            // The slow comparison names the element.
            if !same(&case, interval, &expected, &got) {
                assert_results(&what(), &case, interval, &expected, &got);
                panic!("{}: the comparisons disagree", what());
            }
        }
    }
}

/// [`assert_results`] as a question, for results without NaN.
fn same(case: &Case<f32>, interval: usize, a: &Results<f32>, b: &Results<f32>) -> bool {
    let equal = |x: &[f32], y: &[f32]| {
        x.len() == y.len() && x.iter().zip(y).fold(true, |all, (x, y)| all & (x.to_bits() == y.to_bits()))
    };
    equal(&checkpoints(case, &a.h, interval), &b.h)
        && equal(&a.out, &b.out)
        && equal(&a.h_last, &b.h_last)
        && equal(&a.d_combined, &b.d_combined)
        && equal(&a.d_x, &b.d_x)
        && equal(&a.d_h0, &b.d_h0)
}

#[test]
#[ignore = "9,252 cases in two formats: minutes in release mode"]
fn every_shape_of_the_grid() {
    let next = AtomicUsize::new(1);
    let work = || {
        let pools: Vec<ThreadPool> =
            (1..=8).map(|n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap()).collect();
        loop {
            let time = 258_usize.wrapping_sub(next.fetch_add(1, Ordering::Relaxed));
            if !(1..=257).contains(&time) {
                return;
            }
            let mut turn = 3 * time;
            for hidden in [1, 3, 16, 33, 64, 256] {
                for batch in [1, 2, 7] {
                    for resets in [Resets::Never, Resets::Sometimes] {
                        let case = case((1000 * time + turn) as u64, (batch, time, hidden), resets);
                        check::<f32>(turn, &case, &pools);
                        check::<bf16>(turn + 1, &case, &pools);
                        turn += 2;
                    }
                }
            }
        }
    };
    let workers = std::thread::available_parallelism().map_or(1, |n| n.get());
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        workers.into_iter().for_each(|worker| worker.join().unwrap());
    });
}
