//! Trees: batch updates of random leaves, and draws of all kinds, 1,024 at a time.
//!
//! `cargo bench --bench trees` runs criterion; `cargo bench --bench trees -- --peers` prints medians as the lines that
//! `benches/peers` prints. One thread. Priorities are uniform in (0, 1]; indices and priorities are other ones each time.

use arith::random::{Stream, uniform_positive};
use lockstep_benches::turns::{self, Case, Work};
use per_core::{DistinctScratch, MaxTree, MinTree, SumTree};
use std::hint::black_box;

const SIZES: [usize; 3] = [1 << 14, 1 << 17, 1 << 20];
const BATCH: usize = 1024;
/// Batches that take turns: more leaves together than a core's caches hold.
const BATCHES: usize = 256;

fn priorities(seed: u64, n: usize) -> Vec<f32> {
    let stream = Stream::new(seed, 0);
    (0..n as u64).map(|i| uniform_positive(stream.word(i))).collect()
}

fn indices(capacity: usize) -> Vec<u32> {
    let stream = Stream::new(3, 0);
    let capacity = u32::try_from(capacity).expect("small");
    (0..(BATCH * BATCHES) as u64).map(|i| stream.word(i) % capacity).collect()
}

/// Batches of updates, one after the other.
fn updates(capacity: usize, mut update: impl FnMut(&[u32], &[f32]) + 'static) -> Work {
    // One batch of values more than of indices: an index doesn't get the same value again.
    let (indices, values) = (indices(capacity), priorities(4, BATCH * (BATCHES + 1)));
    let (mut turn, mut value) = (0, 0);
    Box::new(move || {
        let batch = |turn| turn * BATCH..(turn + 1) * BATCH;
        update(black_box(&indices[batch(turn)]), black_box(&values[batch(value)]));
        (turn, value) = ((turn + 1) % BATCHES, (value + 1) % (BATCHES + 1));
    })
}

/// Batches of draws, others each time.
fn draws(mut draw: impl FnMut(&Stream, u64, &mut [u32]) + 'static) -> Work {
    let (stream, mut first, mut out) = (Stream::new(5, 0), 0, vec![0; BATCH]);
    Box::new(move || {
        draw(&stream, first, black_box(&mut out));
        first += BATCH as u64;
    })
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for capacity in SIZES {
        let weights = priorities(1, capacity);
        let mut sums = SumTree::new(capacity).expect("a capacity");
        sums.rebuild(&weights).expect("weights");
        let (mut smallest, mut largest) =
            (MinTree::new(capacity).expect("a capacity"), MaxTree::new(capacity).expect("a capacity"));
        smallest.rebuild(&weights).expect("weights");
        largest.rebuild(&weights).expect("weights");
        let mut scratch = DistinctScratch::new(BATCH);
        let (s, t, u, mut outlier) = (sums.clone(), sums.clone(), sums.clone(), sums.clone());
        let mut value = 1.0;
        let (mut changed, mut rebuilt) = (sums.clone(), sums);
        let work: [(&'static str, usize, Work); 8] = [
            ("tree_update", BATCH, updates(capacity, move |i, v| changed.update(i, v).expect("a batch"))),
            ("tree_sample", BATCH, draws(move |r, i, out| s.sample(r, i, out).expect("mass"))),
            ("tree_sample_stratified", BATCH, draws(move |r, i, out| t.sample_stratified(r, i, out).expect("mass"))),
            (
                "tree_sample_distinct",
                BATCH,
                draws(move |r, i, out| u.sample_distinct(r, i, &mut scratch, out).expect("mass")),
            ),
            ("tree_rebuild", capacity, Box::new(move || rebuilt.rebuild(black_box(&weights)).expect("weights"))),
            (
                "tree_new_scale",
                1,
                // Each of these changes the scale by more than can be read with a shift.
                Box::new(move || {
                    value = if value == 1.0 { 1e9 } else { 1.0 };
                    outlier.update(&[7], &[value]).expect("a batch");
                }),
            ),
            ("min_tree_update", BATCH, updates(capacity, move |i, v| smallest.update(i, v).expect("a batch"))),
            ("max_tree_update", BATCH, updates(capacity, move |i, v| largest.update(i, v).expect("a batch"))),
        ];
        let shape = |elements| format!("{elements}of{capacity}");
        cases.extend(work.map(|(task, elements, work)| Case { task, shape: shape(elements), elements, work }));
    }
    cases
}

fn main() {
    turns::run(cases());
}
