//! What runs again and again allocates nothing, neither on the host nor on the device.
#![cfg(feature = "cuda")]

mod cuda_common;

use cuda_common::*;
use gpu::Graph;
use gpu::cust::memory::mem_get_info;
use per_core::cuda::replay::{PrioritizedReplay, Rows};
use per_core::cuda::{Cdf, Draws, SumTree};
use per_core::replay::{Columns, Config};
use test_support::{Counting, allocations_of};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// That `work` allocates nothing once it has run.
fn nothing(what: &str, mut work: impl FnMut()) {
    work();
    let (free, _) = mem_get_info().unwrap();
    assert_eq!(allocations_of(|| (0..5).for_each(|_| work())), 0, "{what}");
    assert_eq!(mem_get_info().unwrap().0, free, "{what}");
}

/// The only test of this file: nothing else allocates meanwhile.
#[test]
fn launches_allocate_nothing() {
    let stream = stream();
    let mut columns = Columns::new();
    let observation = columns.add::<f32>("observation", 3).unwrap();
    let mut replay = PrioritizedReplay::new(&stream, Config::new(50), columns).unwrap();
    let rows = upload(&stream, &[1.0_f32; 60]);
    let rows = [Rows::new(observation, rows.view())];
    let (errors, mut batch) = (upload(&stream, &[0.5_f32; 16]), replay.batch(&stream, 16).unwrap());
    let before = mem_get_info().unwrap().0;
    let more = upload(&stream, &[0_u8; 1 << 20]);
    assert!(mem_get_info().unwrap().0 < before, "allocations can be seen");
    drop(more);
    nothing("insert", || replay.insert_batch(&stream, &rows).unwrap());
    nothing("sample", || replay.sample_proportional(&stream, &mut batch).unwrap());
    nothing("update", || replay.update_priorities(&stream, batch.handles(), errors.view()).unwrap());
    nothing("total", || assert!(replay.total_priority(&stream).unwrap() > 0.0));
    let step = Graph::capture(&stream, |stream| {
        replay.sample_proportional(stream, &mut batch)?;
        replay.update_priorities(stream, batch.handles(), errors.view())
    });
    let step = step.unwrap();
    nothing("a step", || step.launch(&stream).unwrap());

    let mut tree = SumTree::new(&stream, 100).unwrap();
    let (at, of, mut draws) =
        (upload(&stream, &[3_u32; 8]), upload(&stream, &[1.0_f32; 8]), Draws::new(&stream, 0, 0, 0).unwrap());
    let (mut out, mut weights) = (room::<u32>(&stream, 8), room::<u64>(&stream, 8));
    nothing("the tree", || {
        tree.update(&stream, at.view(), of.view()).unwrap();
        tree.sample(&stream, &mut draws, out.view_mut(), weights.view_mut()).unwrap();
        tree.check(&stream).unwrap();
    });
    let mut cdf = Cdf::with_capacity(&stream, 60).unwrap();
    nothing("the CDF", || {
        cdf.build(&stream, of.view()).unwrap();
        cdf.sample(&stream, &mut draws, out.view_mut()).unwrap();
    });
}
