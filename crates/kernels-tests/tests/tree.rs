//! The tree of sums on the device against that of per-core.

use arith::fixed::Scale;
use arith::random::Stream;
use kernels_tests::{Arg, Bench, Buffer, assert_bits};
use per_core::SumTree;

const ALPHA: f32 = 0.6;
const EPSILON: f32 = 1e-3;
/// The scale's: priorities stay below 4.
const LARGEST: f32 = 3.0;
/// Capacities around full blocks, full nodes and full levels.
const CAPACITIES: [usize; 10] = [1, 2, 15, 16, 17, 255, 256, 257, 4097, 5000];

const INDEPENDENT: &str = "seg_tree_sample_f32";
const STRATIFIED: &str = "seg_tree_sample_stratified_f32";

/// A tree on a device.
struct Tree {
    bench: Bench,
    capacity: usize,
    leaves: Buffer<f32>,
    nodes: Buffer<u64>,
    total: Buffer<u64>,
    status: Buffer<u32>,
}

impl Tree {
    fn new(capacity: usize) -> Self {
        let bench = Bench::new("tree");
        let blocks = capacity.div_ceil(16);
        let (mut nodes, mut width) = (0, blocks);
        loop {
            width = width.div_ceil(16);
            nodes += width;
            if width == 1 {
                break;
            }
        }
        Self {
            capacity,
            leaves: bench.buffer(&vec![0.0; 16 * blocks]),
            nodes: bench.buffer(&vec![0; 16 * nodes]),
            total: bench.buffer(&[0]),
            status: bench.buffer(&[0]),
            bench,
        }
    }

    /// Sizes and scale, the end of most parameters.
    fn sizes(&self, m: usize) -> [Arg; 4] {
        [Arg::U32(self.capacity as u32), Arg::U32(m as u32), Arg::F32(LARGEST), Arg::U32(self.capacity as u32)]
    }

    fn update(&self, indices: &[u32], td: &[f32], width: u32) {
        let (at, errors) = (self.bench.buffer(indices), self.bench.buffer(td));
        let [capacity, m, largest, leaves] = self.sizes(indices.len());
        let tree = [(&self.leaves).into(), (&self.nodes).into(), (&self.total).into(), (&self.status).into()];
        let rest = [(&at).into(), (&errors).into(), capacity, m, ALPHA.into(), EPSILON.into(), largest, leaves];
        self.bench.run("seg_tree_update_f32", indices.len(), width, &[&tree[..], &rest].concat());
    }

    /// That every sum is that of what lies below it.
    fn check(&self) {
        let scale = Scale::new(LARGEST, self.capacity).unwrap();
        let mut below: Vec<u64> = self.bench.read(&self.leaves).iter().map(|&leaf| scale.quantize(leaf)).collect();
        let nodes = self.bench.read(&self.nodes);
        let mut start = 0;
        while below.len() > 16 || start == 0 {
            let sums: Vec<u64> = below.chunks(16).map(|parts| parts.iter().sum()).collect();
            let width = sums.len().next_multiple_of(16);
            let level = &nodes[start..start + width];
            assert_eq!(&level[..sums.len()], sums);
            assert!(level[sums.len()..].iter().all(|&sum| sum == 0));
            (below, start) = (level.to_vec(), start + width);
        }
        assert_eq!(start, nodes.len());
        assert_eq!(self.bench.read(&self.total), [below.iter().sum::<u64>()]);
    }
}

fn priority(td: f32) -> f32 {
    arith::powf(td.abs() + EPSILON, ALPHA)
}

/// Indices with many repetitions, and errors of both signs; the last leaf gets a large one.
fn batch(capacity: usize, m: usize, number: u64) -> (Vec<u32>, Vec<f32>) {
    let stream = Stream::new(number, 1);
    let mut indices: Vec<_> = (0..m as u64).map(|j| stream.bounded(j, capacity as u64) as u32).collect();
    let mut td: Vec<_> = (0..m as u64).map(|j| 3.0 * (2.0 * stream.uniform(10_000 + j) - 1.0)).collect();
    (indices[m - 1], td[m - 1]) = (capacity as u32 - 1, -6.0);
    (indices, td)
}

/// The tree after some batches, and that of the CPU.
fn both(capacity: usize) -> (Tree, SumTree) {
    let (device, mut host) = (Tree::new(capacity), SumTree::new(capacity).unwrap());
    for (number, (m, width)) in (0..).zip([(1, 32), (31, 32), (100, 32), (300, 128), (700, 1024)]) {
        let (indices, td) = batch(capacity, m, number);
        device.update(&indices, &td, width);
        host.update(&indices, &td.iter().map(|&td| priority(td)).collect::<Vec<_>>()).unwrap();
        let mut expected = vec![0.0; capacity];
        host.copy_priorities(&mut expected).unwrap();
        assert_bits("leaves", &device.bench.read(&device.leaves)[..capacity], &expected);
        device.check();
    }
    assert_eq!(device.bench.read(&device.status), [0]);
    assert_eq!(host.scale(), Scale::new(LARGEST, capacity).unwrap());
    assert_eq!(device.bench.read(&device.total), [host.total()]);
    (device, host)
}

#[test]
fn updates_leave_the_same_tree() {
    for capacity in CAPACITIES {
        both(capacity);
    }
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
        let at = device.bench.buffer(&thresholds);
        let (out, weights) = (device.bench.room::<u32>(thresholds.len()), device.bench.room::<u64>(thresholds.len()));
        let tree = [(&device.leaves).into(), (&device.nodes).into(), (&at).into(), (&out).into(), (&weights).into()];
        let args = [&tree[..], &device.sizes(thresholds.len())].concat();
        device.bench.run("seg_tree_find_f32", 16 * thresholds.len(), 64, &args);
        assert_eq!(device.bench.read(&out), expected, "capacity {capacity}");
        let expected: Vec<_> =
            expected.iter().map(|&leaf| host.scale().quantize(host.priority(leaf as usize).unwrap())).collect();
        assert_eq!(device.bench.read(&weights), expected);
    }
}

fn sample(device: &Tree, kernel: &str, m: usize, first: u64) -> (Vec<u32>, Vec<u64>) {
    let (out, weights) = (device.bench.room::<u32>(m), device.bench.room::<u64>(m));
    let tree =
        [(&device.leaves).into(), (&device.nodes).into(), (&device.total).into(), (&out).into(), (&weights).into()];
    let draws = [Arg::U64(3), Arg::U64(9), Arg::U64(first)];
    let args = [&tree[..], &device.sizes(m), &draws].concat();
    device.bench.run(kernel, 16 * m, 128, &args);
    (device.bench.read(&out), device.bench.read(&weights))
}

#[test]
fn draws_are_the_same() {
    for capacity in CAPACITIES {
        let (device, host) = both(capacity);
        for m in [1, 7, 64, 333] {
            // Numbers of blocks wrap.
            let (stream, first, mut expected) = (Stream::new(3, 9), u64::MAX - 5, vec![0; m]);
            host.sample(&stream, first, &mut expected).unwrap();
            assert_eq!(sample(&device, INDEPENDENT, m, first).0, expected, "capacity {capacity}");
            host.sample_stratified(&stream, first, &mut expected).unwrap();
            assert_eq!(sample(&device, STRATIFIED, m, first).0, expected, "capacity {capacity}");
        }
    }
}

#[test]
fn an_empty_tree_draws_nothing() {
    for capacity in CAPACITIES {
        for kernel in [INDEPENDENT, STRATIFIED] {
            let (out, weights) = sample(&Tree::new(capacity), kernel, 5, 0);
            assert_eq!((out, weights), (vec![u32::MAX; 5], vec![0; 5]));
        }
    }
}

#[test]
fn updates_that_are_wrong_are_told_and_passed_over() {
    for (index, td, status) in
        [(100, 1.0, 1), (u32::MAX, 1.0, 1), (3, f32::NAN, 2), (3, f32::INFINITY, 2), (3, 1e9, 2), (100, f32::NAN, 1)]
    {
        let tree = Tree::new(100);
        tree.update(&[3, 5], &[1.0, 2.0], 32);
        let before = (tree.bench.read(&tree.leaves), tree.bench.read(&tree.nodes), tree.bench.read(&tree.total));
        tree.update(&[index], &[td], 32);
        let after = (tree.bench.read(&tree.leaves), tree.bench.read(&tree.nodes), tree.bench.read(&tree.total));
        assert_eq!(before, after);
        assert_eq!(tree.bench.read(&tree.status), [status], "{index} {td}");
        tree.update(&[7], &[1.0], 32);
        tree.check();
    }
}
