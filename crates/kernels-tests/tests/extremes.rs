//! Trees of smallest and largest priorities on the device.

use arith::random::Stream;
use kernels_tests::{Bench, Buffer, Extremes};
use per_core::{MaxTree, MinTree};
use std::num::NonZero;

const CAPACITIES: [usize; 10] = [1, 2, 15, 16, 17, 255, 256, 257, 4097, 70_000];

fn both(bench: &Bench, capacity: usize) -> [Extremes; 2] {
    ["min", "max"].map(|order| Extremes::new(bench, order, capacity))
}

/// Few different ones, so that the first of many goes and comes; absent ones, zeros and what is no priority among them.
fn priority(word: u32) -> f32 {
    match word % 16 {
        0 => 0.0,
        1 => -0.0,
        2 => -1.0,
        3 => f32::MAX,
        4 => f32::from_bits(1),
        5 => f32::NAN,
        6 => f32::INFINITY,
        7 => -f32::NAN,
        k => (k / 2) as f32,
    }
}

#[test]
fn refreshed_trees_are_those_of_the_leaves_in_every_order() {
    for capacity in CAPACITIES {
        let mut bench = Bench::new("tree");
        let trees = both(&bench, capacity);
        let mut leaves = vec![0.0; capacity];
        let on_device: Buffer<f32> = bench.buffer(&leaves);
        let stream = Stream::new(capacity as u64, 3);
        let mut next = 0;
        for round in 0..16 {
            // Batches in which siblings on all levels change together, and single ones.
            let m = [1, 5, 64, 300][round % 4];
            let spread = [capacity, 300, 5000, capacity][round / 4].min(capacity) as u64;
            let mut indices = Vec::new();
            for _ in 0..m {
                let at = stream.bounded(next, spread) as usize;
                // The same leaf more than once: it has one value, which the launch before has left.
                leaves[at] = if round == 9 { 0.0 } else { priority(stream.word(100_000 + next)) };
                indices.extend([at as u32, u32::MAX]);
                next += 1;
            }
            bench.write(&on_device, &leaves);
            bench.options.seed = Some(round as u64);
            bench.options.threads = NonZero::new(1 + round % 3);
            for tree in &trees {
                tree.refresh(&bench, &on_device, &indices, [32, 128, 512][round % 3]);
                tree.check(&bench, &leaves);
            }
        }
    }
}

/// What the host takes in its place.
fn valid(priority: f32) -> f32 {
    if priority.is_finite() { priority.max(0.0) } else { 0.0 }
}

#[test]
fn firsts_are_those_of_the_host() {
    let (bench, capacity) = (Bench::new("tree"), 1000);
    let trees = both(&bench, capacity);
    let (mut min, mut max) = (MinTree::new(capacity).unwrap(), MaxTree::new(capacity).unwrap());
    let on_device = bench.buffer(&vec![0.0; capacity]);
    let stream = Stream::new(1, 3);
    let mut leaves = vec![0.0; capacity];
    for round in 0..20 {
        let indices: Vec<_> = (0..40).map(|j| stream.bounded(1000 * round + j, capacity as u64) as u32).collect();
        let values: Vec<_> = (0..40).map(|j| valid(priority(stream.word(5000 * round + j)))).collect();
        for (&at, &value) in indices.iter().zip(&values) {
            leaves[at as usize] = value;
        }
        bench.write(&on_device, &leaves);
        min.update(&indices, &values).unwrap();
        max.update(&indices, &values).unwrap();
        for tree in &trees {
            tree.refresh(&bench, &on_device, &indices, 64);
        }
        let [smallest, largest] = trees.each_ref().map(|tree| bench.read(&tree.first)[0]);
        assert_eq!(min.min().map(|p| trees[0].key(p)), Some(smallest));
        assert_eq!(max.max().map(|p| trees[1].key(p)), Some(largest));
    }
}

#[test]
fn rebuilt_trees_are_those_of_the_leaves() {
    for capacity in CAPACITIES {
        let bench = Bench::new("tree");
        let stream = Stream::new(capacity as u64, 9);
        for round in 0..2 {
            let leaves: Vec<_> = (0..capacity as u64).map(|i| priority(stream.word(i + round))).collect();
            let on_device = bench.buffer(&leaves);
            for tree in both(&bench, capacity) {
                for _ in 0..2 {
                    tree.rebuild(&bench, &on_device);
                    tree.check(&bench, &leaves);
                }
            }
        }
    }
}

#[test]
fn siblings_that_change_together_are_all_seen() {
    // One leaf of each of 64 blocks, under 4 nodes: all come to the same elements at the same time, and what one has seen of
    // its siblings is often out of date when it writes.
    let (mut bench, capacity) = (Bench::new("tree"), 1024);
    let trees = both(&bench, capacity);
    let mut leaves = vec![0.0; capacity];
    let on_device = bench.buffer(&leaves);
    let indices: Vec<u32> = (0..64).map(|block| 16 * block + block % 16).collect();
    for round in 0..150_u64 {
        for (i, &at) in indices.iter().enumerate() {
            leaves[at as usize] = priority(Stream::new(round, 4).word(i as u64));
        }
        bench.write(&on_device, &leaves);
        bench.options.seed = Some(round);
        bench.options.threads = NonZero::new(2);
        for tree in &trees {
            tree.refresh(&bench, &on_device, &indices, if round % 2 == 0 { 1024 } else { 64 });
            tree.check(&bench, &leaves);
        }
    }
}
