//! Trees allocate when they are made and never after. One test only: the counter belongs to the process.

use arith::random::Stream;
use per_core::{DistinctScratch, MaxTree, MinTree, SumTree};
use test_support::{Counting, allocations_of};

#[global_allocator]
static COUNTING: Counting = Counting;

#[test]
fn trees_allocate_nothing_after_new() {
    const CAPACITY: usize = 70_001;
    let stream = Stream::new(1, 1);
    let priorities: Vec<f32> = (0..CAPACITY as u64).map(|i| stream.uniform(i)).collect();
    let indices: Vec<u32> = (0..2000).map(|i| stream.word(i) % CAPACITY as u32).collect();
    let values: Vec<f32> = (0..2000).map(|i| stream.uniform(9000 + i)).collect();
    let mut out = vec![0; 1000];
    let mut trees = None;
    let made =
        allocations_of(|| trees = Some((SumTree::new(CAPACITY), MinTree::new(CAPACITY), MaxTree::new(CAPACITY))));
    assert!(made > 0, "the counter works");
    let Some((Ok(mut sum), Ok(mut min), Ok(mut max))) = trees else { panic!("a capacity") };
    let mut scratch = DistinctScratch::new(out.len());
    // The first look at the environment may allocate.
    arith::simd::Isa::detect();
    let found = allocations_of(|| {
        sum.rebuild(&priorities).unwrap();
        min.rebuild(&priorities).unwrap();
        max.rebuild(&priorities).unwrap();
        // By differences, by new sums for want of exactness and of room, and all at once.
        for batch in [1, 64, 2000] {
            sum.update(&indices[..batch], &values[..batch]).unwrap();
            min.update(&indices[..batch], &values[..batch]).unwrap();
            max.update(&indices[..batch], &values[..batch]).unwrap();
        }
        sum.update(&[3, 4], &[1e30, 1e-30]).unwrap();
        sum.update(&[3], &[1.0]).unwrap();
        let all = u32::try_from(CAPACITY).unwrap();
        (0..all).step_by(7).for_each(|i| sum.update(&[i], &[0.5]).unwrap());
        sum.sample(&stream, 0, &mut out).unwrap();
        sum.sample_stratified(&stream, 0, &mut out).unwrap();
        for index in 0..20 {
            sum.sample_distinct(&stream, index, &mut scratch, &mut out).unwrap();
        }
        assert!(sum.update(&[1], &[f32::NAN]).is_err());
    });
    assert_eq!(found, 0);
}
