//! The tree of sums on the device against that of per-core.

use arith::random::Stream;
use kernels_tests::{DeviceTree, fault};
use per_core::{DistinctScratch, SumTree};
use std::num::NonZero;

const ALPHA: f32 = 0.6;
const EPSILON: f32 = 1e-3;
const POWERS: (f32, f32) = (ALPHA, EPSILON);
/// Capacities around full blocks, full nodes and full levels.
const CAPACITIES: [usize; 10] = [1, 2, 15, 16, 17, 255, 256, 257, 4097, 5000];

const INDEPENDENT: &str = "seg_tree_sample_f32";
const STRATIFIED: &str = "seg_tree_sample_stratified_f32";

fn priority(td: f32) -> f32 {
    arith::powf(td.abs() + EPSILON, ALPHA)
}

/// Indices with many repetitions, and errors of both signs.
fn batch(capacity: usize, m: usize, number: u64) -> (Vec<u32>, Vec<f32>) {
    let stream = Stream::new(number, 1);
    let indices: Vec<_> = (0..m as u64).map(|j| stream.bounded(j, capacity as u64) as u32).collect();
    let td = (0..m as u64).map(|j| 3.0 * (2.0 * stream.uniform(10_000 + j) - 1.0)).collect();
    (indices, td)
}

/// The tree after some batches, and that of the CPU.
fn both(capacity: usize) -> (DeviceTree, SumTree) {
    let (mut device, mut host) = (DeviceTree::new(&vec![0.0; capacity]), SumTree::new(capacity).unwrap());
    for (number, (m, width)) in (0..).zip([(1, 32), (31, 32), (100, 32), (300, 128), (700, 1024)]) {
        let (indices, td) = batch(capacity, m, number);
        device.bench.options.seed = Some(number);
        device.update(&indices, &td, POWERS, width);
        device.rebuild();
        host.update(&indices, &td.iter().map(|&td| priority(td)).collect::<Vec<_>>()).unwrap();
        device.check(&host);
    }
    assert_eq!(device.bench.read(&device.status), [0]);
    (device, host)
}

#[test]
fn updates_leave_the_same_tree() {
    for capacity in CAPACITIES {
        let (device, _) = both(capacity);
        assert_eq!(device.head().updates, 1 + 31 + 100 + 300 + 700);
    }
}

#[test]
fn the_last_of_many_updates_of_a_leaf_counts_in_every_order() {
    let (indices, td) = batch(3, 2000, 77);
    let mut host = SumTree::new(3).unwrap();
    host.update(&indices, &td.iter().map(|&td| priority(td)).collect::<Vec<_>>()).unwrap();
    for seed in 0..12 {
        let mut device = DeviceTree::new(&[0.0; 3]);
        device.bench.options.seed = Some(seed);
        device.bench.options.threads = NonZero::new(1 + seed as usize % 3);
        device.update(&indices, &td, POWERS, [32, 64, 256, 1024][seed as usize % 4]);
        device.rebuild();
        device.check(&host);
        let largest = td.iter().map(|td| td.abs() + EPSILON).fold(0.0, f32::max);
        assert_eq!(device.head().largest, largest.to_bits());
    }
}

/// Priorities of all magnitudes: the stored scale never serves for long.
fn wild(stream: &Stream, i: u64) -> f32 {
    let [a, b, c, _] = stream.block(i);
    match b % 8 {
        0 => 0.0,
        1 => -0.0,
        2 => f32::from_bits(1 + a % 5),
        3 => f32::MAX,
        4 => f32::from_bits(a % 0x7f80_0000),
        _ => (1.0 + (a >> 9) as f32 * f32::EPSILON) * (1 << (c % 12)) as f32,
    }
}

#[test]
fn scales_follow_whatever_the_priorities() {
    let mut rebuilt = 0;
    for (capacity, seed) in [1, 3, 16, 30, 100, 300, 4097].into_iter().zip(0..) {
        let stream = Stream::new(seed, 5);
        let first: Vec<_> = (0..capacity as u64).map(|i| wild(&stream, i)).collect();
        let (mut device, mut host) = (DeviceTree::new(&first), SumTree::new(capacity).unwrap());
        host.rebuild(&first).unwrap();
        device.check(&host);
        for round in 0..24 {
            let m = 1 + stream.bounded(1000 + round, 40) as usize;
            let index = |j: u64| stream.bounded(2000 + 100 * round + j, capacity as u64) as u32;
            let value = |j: u64| {
                let value = wild(&stream, 9000 + 100 * round + j);
                // Mostly near each other, so that the sums serve some of the time, and all zero once.
                if round == 20 {
                    0.0
                } else if round % 5 < 3 {
                    1.0 + value % 8.0
                } else {
                    value
                }
            };
            let mut indices: Vec<_> = (0..m as u64).map(index).collect();
            let mut values: Vec<_> = (0..m as u64).map(value).collect();
            if round == 20 {
                indices = (0..capacity as u32).collect();
                values = vec![0.0; capacity];
            }
            device.bench.options.seed = Some(round);
            device.set(&indices, &values, 32);
            rebuilt += u32::from(device.head().ready == 0);
            device.rebuild();
            host.update(&indices, &values).unwrap();
            device.check(&host);
            if host.total() > 0 {
                device.bench.write(&device.position, &[7, 0]);
                let (out, ..) = device.sample(INDEPENDENT, 33, (1, 2));
                let mut expected = vec![0; 33];
                host.sample(&Stream::new(1, 2), 7, &mut expected).unwrap();
                assert_eq!(out, expected, "capacity {capacity}, round {round}");
            }
        }
    }
    // Both happened often.
    assert!((20..100).contains(&rebuilt), "{rebuilt} of 168");
}

#[test]
fn sums_without_room_are_made_anew() {
    // All leaves rise by 2^5 at the scale of 1.99: the total would pass 2^63.
    let capacity = 1 << 12;
    let (device, mut host) = (DeviceTree::new(&vec![1.99; capacity]), SumTree::new(capacity).unwrap());
    host.rebuild(&vec![1.99; capacity]).unwrap();
    for i in (0..capacity as u32).step_by(512) {
        let (indices, values) = ((i..i + 512).collect::<Vec<_>>(), vec![1.99 * 1024.0; 512]);
        device.set(&indices, &values, 256);
        device.rebuild();
        host.update(&indices, &values).unwrap();
        device.check(&host);
    }
    assert_ne!(device.head().stored, 1);
}

#[test]
fn nothing_is_drawn_while_the_sums_are_of_no_use() {
    let device = DeviceTree::new(&[1.0, 2.0, 3.0]);
    device.set(&[1], &[1e30], 32);
    assert_eq!(device.head().ready, 0);
    let (out, weights, _) = device.sample(INDEPENDENT, 5, (0, 0));
    assert_eq!((out, weights), (vec![u32::MAX; 5], vec![0; 5]));
    assert_eq!(device.bench.read(&device.position), [0, 0]);
    device.rebuild();
    let (out, ..) = device.sample(INDEPENDENT, 5, (0, 0));
    assert_eq!(out, [1; 5]);
    assert_eq!(device.bench.read(&device.position), [5, 0]);
    // A rebuild that isn't needed writes nothing.
    assert_eq!(device.rebuild().global_store_requests, 0);
}

#[test]
fn searches_find_the_same_leaves() {
    for capacity in CAPACITIES {
        let (device, host) = both(capacity);
        let stream = Stream::new(5, 5);
        let ends = [0, 1, host.total() / 2, host.total() - 1];
        let thresholds: Vec<_> = (0..101).map(|j| stream.bounded(j, host.total())).chain(ends).collect();
        let mut expected = vec![0; thresholds.len()];
        host.search(&thresholds, &mut expected).unwrap();
        let (out, weights) = device.find(&thresholds);
        assert_eq!(out, expected, "capacity {capacity}");
        let expected: Vec<_> = expected.iter().map(|&leaf| host.weight(leaf as usize).unwrap()).collect();
        assert_eq!(weights, expected);
        let total = host.total();
        let (out, weights) = device.find(&[0, total, 1, u64::MAX]);
        assert_eq!((out[1], out[3], weights[1], weights[3]), (u32::MAX, u32::MAX, 0, 0));
        assert_eq!(fault(device.bench.read(&device.status)[0]), Some((1, Err(total as u32))));
    }
}

/// As after launches on two streams that nothing has ordered: the memory checks are on.
#[test]
fn sums_and_claims_that_are_wrong_lead_to_no_other_memory() {
    for capacity in CAPACITIES {
        for seed in 0..4 {
            let (device, _) = both(capacity);
            let stream = Stream::new(seed, 6);
            let nodes = device.bench.read(&device.nodes);
            let wrong: Vec<_> =
                (0..nodes.len() as u64).map(|i| stream.double_word(i) >> (stream.word(i) % 64)).collect();
            device.bench.write(&device.nodes, &wrong);
            let claims: Vec<_> =
                (0..capacity as u64).map(|i| stream.double_word(i + 7) >> (stream.word(i) % 64)).collect();
            device.bench.write(&device.claims, &claims);
            let thresholds: Vec<_> = (0..50).map(|j| stream.double_word(j)).collect();
            let below = |leaves: &[u32]| leaves.iter().all(|&leaf| leaf == u32::MAX || (leaf as usize) < capacity);
            assert!(below(&device.find(&thresholds).0));
            assert!(below(&device.sample(INDEPENDENT, 50, (1, 2)).0));
            assert!(below(&device.sample_distinct(capacity.min(20), (1, 2), 64).0));
            let (indices, td) = batch(capacity, 100, seed);
            device.update(&indices, &td, POWERS, 32);
            // A verdict that was another batch's.
            let wrong: Vec<_> =
                (0..100).map(|j| [f32::NAN, f32::INFINITY, -f32::MAX][(j + seed as usize) % 3]).collect();
            device.try_update(&indices, &wrong, (3.0, 0.0), (&[2], 32)).unwrap();
            assert!(device.bench.read(&device.leaves).iter().all(|leaf| leaf.is_finite()));
            assert_eq!(device.head().bins.iter().sum::<u32>() as usize, capacity);
        }
    }
}

#[test]
fn draws_are_the_same() {
    for capacity in CAPACITIES {
        let (device, host) = both(capacity);
        // Numbers of blocks wrap.
        let mut first = u64::MAX - 5;
        device.bench.write(&device.position, &[first, 0]);
        for m in [1, 7, 64, 333] {
            let (stream, mut expected) = (Stream::new(3, 9), vec![0; m]);
            host.sample(&stream, first, &mut expected).unwrap();
            assert_eq!(device.sample(INDEPENDENT, m, (3, 9)).0, expected, "capacity {capacity}");
            // The same launch again draws anew: nothing else must change for that.
            first = first.wrapping_add(m as u64);
            host.sample_stratified(&stream, first, &mut expected).unwrap();
            assert_eq!(device.sample(STRATIFIED, m, (3, 9)).0, expected, "capacity {capacity}");
            first = first.wrapping_add(m as u64);
            assert_eq!(device.bench.read(&device.position), [first, 0]);
        }
    }
}

#[test]
fn an_empty_tree_draws_nothing() {
    for capacity in CAPACITIES {
        for kernel in [INDEPENDENT, STRATIFIED] {
            let tree = DeviceTree::new(&vec![0.0; capacity]);
            let (out, weights, _) = tree.sample(kernel, 5, (3, 9));
            assert_eq!((&out, weights), (&vec![u32::MAX; 5], vec![0; 5]));
            assert_eq!(tree.bench.read(&tree.position), [0, 0]);
            // And what was not drawn is not updated, without a word.
            tree.update(&out, &[1.0; 5], POWERS, 32);
            assert_eq!((tree.head().total, tree.bench.read(&tree.status)), (0, vec![0]));
        }
    }
}

#[test]
fn a_batch_with_a_fault_changes_nothing_and_is_told() {
    // What is at 40 and 45, and which position is told, with what: indices come first.
    let cases = [
        ([(100, 1.0), (7, 1.0)], (40, Err(100))),
        ([(7, f32::NAN), (u32::MAX - 1, 1.0)], (45, Err(u32::MAX - 1))),
        ([(7, f32::NAN), (7, f32::INFINITY)], (40, Ok(f32::NAN))),
        ([(7, 1.0), (7, f32::NEG_INFINITY)], (45, Ok(f32::NEG_INFINITY))),
        // Its power is infinite with this alpha.
        ([(7, -1e30), (7, 1.0)], (40, Ok(-1e30))),
    ];
    for ([first, second], (position, told)) in cases {
        for passes in [&[0][..], &[1, 2]] {
            for (width, seed) in [(32, 0), (64, 1), (256, 2)] {
                let mut host = SumTree::new(100).unwrap();
                host.update(&[3, 5], &[1.5, 2.5]).unwrap();
                let mut device = DeviceTree::new(&[0.0; 100]);
                device.set(&[3, 5], &[1.5, 2.5], 32);
                device.bench.options.seed = Some(seed);
                // The faulty ones are in the second block, after a good one for the same leaf.
                let (mut indices, mut errors) = (vec![7; 50], vec![3.0; 50]);
                (indices[39], errors[39]) = (3, 4.0);
                [(indices[40], errors[40]), (indices[45], errors[45])] = [first, second];
                let before = device.head();
                device.try_update(&indices, &errors, (2.0, 0.0), (passes, width)).unwrap();
                let head = device.head();
                assert_eq!((head.refused, head.faulty, head.updates, head.largest), (1, 0, before.updates, 0));
                device.check(&host);
                let told = told.map(f32::to_bits);
                assert_eq!(fault(device.bench.read(&device.status)[0]), Some((position, told)), "{first:?} {second:?}");
                // The next one is another matter.
                device.try_update(&[7, 3], &[3.0, 4.0], (2.0, 0.0), (passes, width)).unwrap();
                device.rebuild();
                assert_eq!(device.head().refused, 0);
                host.update(&[7, 3], &[arith::powf(3.0, 2.0), arith::powf(4.0, 2.0)]).unwrap();
                device.check(&host);
            }
        }
    }
}

#[test]
fn what_was_not_drawn_may_have_any_error() {
    let device = DeviceTree::new(&[0.5; 10]);
    device.update(&[u32::MAX, 3], &[f32::NAN, 0.25], (1.0, 0.0), 32);
    let mut host = SumTree::new(10).unwrap();
    host.rebuild(&[0.5, 0.5, 0.5, 0.25, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5]).unwrap();
    device.check(&host);
    assert_eq!(device.bench.read(&device.status), [0]);
}

#[test]
fn new_leaves_that_are_no_weights_are_refused_and_told() {
    for capacity in CAPACITIES {
        let (mut device, mut host) = both(capacity);
        let (stream, last) = (Stream::new(4, capacity as u64), capacity - 1);
        for (seed, wrong) in (0..).zip([f32::NAN, f32::INFINITY, -1.0]) {
            device.bench.options.seed = Some(seed);
            let mut leaves: Vec<_> = (0..capacity as u64).map(|i| stream.uniform(i + seed)).collect();
            leaves[0] = -0.0;
            let (good, head) = (leaves.clone(), device.head());
            leaves[last] = wrong;
            leaves[last / 2] = wrong;
            device.load(Some(&leaves));
            device.check(&host);
            let told = (last as u32 / 2, Ok(wrong.to_bits()));
            assert_eq!(fault(device.bench.read(&device.status)[0]), Some(told));
            device.bench.write(&device.status, &[0]);
            let refused = device.head();
            assert_eq!((refused.refused, refused.faulty, refused.survey), (1, 0, head.survey));
            assert_eq!((refused.total, refused.bins), (head.total, head.bins));
            device.load(Some(&good));
            host.rebuild(&good).unwrap();
            device.check(&host);
            assert_eq!((device.head().refused, device.bench.read(&device.status)[0]), (0, 0));
        }
    }
}

#[test]
fn draws_without_replacement_are_the_same() {
    for (capacity, seed) in [1, 2, 17, 300, 5000].into_iter().zip(0..) {
        // Alike; of all magnitudes, so that there are many rounds; and zeros among them.
        for kind in 0..3 {
            let stream = Stream::new(seed, kind);
            let priority = |i: u64| match kind {
                0 => 1.0 + stream.uniform(i),
                1 => arith::powf(2.0, 40.0 * stream.uniform(i)),
                _ => {
                    if stream.uniform(i) < 0.5 && i > 0 {
                        0.0
                    } else {
                        stream.uniform_positive(9000 + i)
                    }
                }
            };
            let priorities: Vec<_> = (0..capacity as u64).map(priority).collect();
            let (mut device, mut host) = (DeviceTree::new(&priorities), SumTree::new(capacity).unwrap());
            host.rebuild(&priorities).unwrap();
            let mut next = u64::MAX - 3;
            device.bench.write(&device.position, &[next, 0]);
            for (m, width) in [1, 2, 33, 150, host.positive()].into_iter().zip([32, 64, 1024, 256, 512]) {
                let m = m.min(host.positive()).min(700);
                device.bench.options.seed = Some(m as u64);
                let mut expected = vec![0; m];
                let stream = Stream::new(3, 9);
                host.sample_distinct(&stream, next, &mut DistinctScratch::new(m), &mut expected).unwrap();
                let (out, weights) = device.sample_distinct(m, (3, 9), width);
                assert_eq!(out, expected, "{m} of {capacity}, kind {kind}");
                let expected: Vec<_> = expected.iter().map(|&leaf| host.weight(leaf as usize).unwrap()).collect();
                assert_eq!(weights, expected);
                next = next.wrapping_add(m as u64);
                assert_eq!(device.bench.read(&device.position), [next, 0]);
            }
            // None, by threads that don't wait for each other.
            assert_eq!(device.sample_distinct(0, (3, 9), 256), (vec![], vec![]));
            // More than there are.
            let m = host.positive() + 1;
            assert_eq!(device.sample_distinct(m, (3, 9), 128), (vec![u32::MAX; m], vec![0; m]));
            assert_eq!(device.bench.read(&device.position), [next, 0]);
        }
    }
}
