//! What decides the speed of trees, CDFs and a replay's rows on a GPU, counted.

use arith::random::Stream;
use cuda_emu::Counters;
use kernels_tests::{Bench, DeviceCdf, DeviceItems, DeviceReplay, DeviceTree, Extremes, NewItems};
use std::num::NonZero;

const M: usize = 1024;
const POWERS: (f32, f32) = (0.6, 1e-3);

fn indices(capacity: usize, m: usize) -> Vec<u32> {
    (0..m as u64).map(|j| Stream::new(1, 1).bounded(j, capacity as u64) as u32).collect()
}

fn td(m: usize) -> Vec<f32> {
    (0..m as u64).map(|j| Stream::new(2, 2).uniform(j)).collect()
}

/// Sectors that loads and stores touched.
fn sectors(counters: &Counters) -> u64 {
    counters.global_load_sectors + counters.global_store_sectors
}

fn assert_at_most(what: &str, large: u64, small: u64, tenths: u64) {
    assert!(10 * large <= tenths * small, "{what}: {large} against {small}");
}

/// An update and a draw in a tree of priorities that are alike.
fn launches(capacity: usize) -> [Counters; 3] {
    let device = DeviceTree::new(&vec![0.5; capacity]);
    let at = indices(capacity, M);
    let update = device.update(&at, &td(M), POWERS, 128);
    assert_eq!(device.head().ready, 1);
    let (_, _, sample) = device.sample("seg_tree_sample_f32", M, (1, 2));
    let (_, _, stratified) = device.sample("seg_tree_sample_stratified_f32", M, (1, 2));
    [update, sample, stratified]
}

#[test]
fn eight_times_the_leaves_cost_hardly_more() {
    let (small, large) = (launches(1 << 17), launches(1 << 20));
    for ((what, small), large) in ["update", "sample", "stratified"].iter().zip(small).zip(large) {
        assert_at_most(&format!("{what}: instructions"), large.instructions, small.instructions, 13);
        assert_at_most(&format!("{what}: sectors"), sectors(&large), sectors(&small), 13);
        assert_at_most(&format!("{what}: atomics"), large.atomics, small.atomics, 13);
    }
    let [update, sample, _] = large;
    // A draw: 4 sectors of each of 4 levels, 2 of a block of leaves, a few of the head; all lanes of a warp at once.
    assert!(sectors(&sample) <= 20 * M as u64, "{}", sectors(&sample));
    // An update: claim, leaf, priority before alpha, 4 levels; the rest is shared.
    assert!(update.atomics <= 10 * M as u64, "{}", update.atomics);
}

#[test]
fn updates_take_time_that_grows_with_their_number() {
    // The launches that look and that apply.
    let passes = |device: &DeviceTree, indices: &[u32]| {
        let td = td(indices.len());
        [1, 2].map(|pass| device.try_update(indices, &td, POWERS, (&[pass], 256)).unwrap())
    };
    let run = |m: usize| passes(&DeviceTree::new(&vec![0.5; 1 << 16]), &indices(1 << 16, m));
    let (small, large) = (run(M), run(16 * M));
    for (small, large) in small.iter().zip(&large) {
        assert_at_most("instructions", large.instructions, 16 * small.instructions, 11);
        assert_at_most("atomics", large.atomics, 16 * small.atomics, 11);
    }
    // To look at them first takes less than half.
    assert_at_most("a look", 2 * large[0].instructions, large[1].instructions, 10);
    // And when all are of one leaf: each claims it once.
    let [_, same] = passes(&DeviceTree::new(&[0.5; 100]), &vec![7; 16 * M]);
    let [_, large] = large;
    assert_at_most("instructions of repetitions", same.instructions, large.instructions, 30);
}

#[test]
fn a_rebuild_that_isnt_needed_is_a_look_at_the_head() {
    let device = DeviceTree::new(&vec![0.5; 1 << 16]);
    let counters = device.rebuild();
    assert_eq!((counters.atomics, counters.global_store_requests), (0, 0));
    assert!(counters.instructions <= 10 * counters.blocks * 8, "{counters:?}");
}

#[test]
fn extremes_that_stay_cost_one_level() {
    let device = DeviceTree::new(&vec![0.5; 1 << 16]);
    let tree = Extremes::new(&device.bench, "max", 1 << 16);
    tree.rebuild(&device.bench, &device.leaves);
    let at = indices(1 << 16, M);
    let same = tree.refresh(&device.bench, &device.leaves, &at, 128);
    // Two sectors of a block and one element each.
    assert!(sectors(&same) <= 4 * M as u64, "{}", sectors(&same));
    assert_eq!(same.global_store_requests, 0);
}

#[test]
fn a_build_of_a_cdf_reads_weights_twice_and_writes_keys_once() {
    let n: u64 = 1 << 16;
    let mut device = DeviceCdf::new(Bench::new("cdf"), &vec![0.5; n as usize]);
    // Blocks one after the other: none looks for another's sum more than once.
    device.bench.options.threads = NonZero::new(1);
    let [survey, build] = device.build();
    // 4 bytes a weight in each of the two, whole sectors, and next to nothing else.
    for counters in [survey, build] {
        let least = 4 * n / 32;
        assert!((least..least + least / 10).contains(&counters.global_load_sectors), "{counters:?}");
    }
    // What each tile starts with, and the head.
    assert_eq!(survey.global_store_sectors, 16 + 4);
    // A key of 8 bytes for each of n / 16 blocks and 16 / 15 of these in all levels, a few words a tile.
    let keys = 8 * n / 16 / 32;
    assert!((keys..keys * 3 / 2).contains(&build.global_store_sectors), "{build:?}");
    assert_eq!(build.shared_bank_conflicts, 0);
}

/// An update and an insertion in a full ring, each with what follows it.
fn items(capacity: usize) -> [(&'static str, Counters); 4] {
    let mut device = DeviceItems::new(capacity);
    device.width = 256;
    // Many at once are looked at first.
    device.passes = &[1, 2];
    device.insert(NewItems::With(&vec![0.5; capacity]), POWERS.0);
    assert_eq!(device.tree.head().present as usize, capacity);
    device.passes = &[0];
    let numbers: Vec<_> = indices(capacity, M).into_iter().map(u64::from).collect();
    let [update, updated] = device.update(&numbers, &td(M), POWERS);
    let [insert, inserted] = device.insert(NewItems::LargestNow(M), POWERS.0);
    [("update", update), ("after an update", updated), ("insert", insert), ("after an insertion", inserted)]
}

#[test]
fn eight_times_the_items_cost_hardly_more() {
    for ((what, small), (_, large)) in items(1 << 17).into_iter().zip(items(1 << 20)) {
        // Two trees of extremes are climbed afterwards; in a smaller one more of the 1,024 climbs meet another on their way and
        // end. And blocks for sums, which a larger one has more of, look whether these serve.
        let tenths = if what.starts_with("after") { 15 } else { 13 };
        assert_at_most(&format!("{what}: instructions"), large.instructions, small.instructions, tenths);
        assert_at_most(&format!("{what}: the longest warp"), large.longest_warp, small.longest_warp, 13);
        assert_at_most(&format!("{what}: sectors"), sectors(&large), sectors(&small), tenths);
        assert_at_most(&format!("{what}: atomics"), large.atomics, small.atomics, 13);
    }
}

#[test]
fn rows_are_moved_in_whole_sectors() {
    let (capacity, stride, m) = (4096_usize, 256_usize, 512);
    let device = DeviceReplay::new(capacity, stride, &vec![1_u8; capacity * stride]);
    let without = DeviceReplay::new(capacity, 0, &[]).sample(m, 1).2;
    let counters = device.sample(m, 1).2;
    let least = (m * stride / 32) as u64;
    // A warp moves 512 bytes a request: 16 sectors.
    assert_eq!(counters.global_store_sectors - without.global_store_sectors, least);
    assert_eq!(counters.global_store_requests - without.global_store_requests, least / 16);
    assert_eq!(counters.global_load_sectors - without.global_load_sectors, least);
    let rows = device.tree.bench.buffer(&vec![2_u8; m * stride]);
    let counters = device.insert_rows(&rows, 0, m, 1);
    assert_eq!(counters.global_store_sectors, least);
    // And the number of the first one, and whether they were refused.
    assert!(counters.global_load_sectors <= least + least / 16 * 2, "{counters:?}");
}

#[test]
fn batches_of_large_replays_cost_hardly_more() {
    let [small, large] =
        [1 << 17, 1 << 20].map(|capacity| DeviceReplay::new(capacity, 64, &vec![1_u8; 64 * capacity]).sample(M, 1).2);
    assert_at_most("instructions", large.instructions, small.instructions, 13);
    assert_at_most("sectors", sectors(&large), sectors(&small), 13);
}
