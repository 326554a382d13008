//! The smallest and the largest priority on a device are those of the CPU, in every order of threads.
#![cfg(feature = "cuda")]

mod cuda_common;

use cuda_common::*;
use gpu::{Graph, LaunchError};
use per_core::cuda::{Error, MaxTree, MinTree, SumTree};
use proptest::prelude::*;

/// Batches of updates, and whether the trees are made anew instead of refreshed.
fn run(cases: u32) {
    let stream = stream();
    let batch = prop::collection::vec((prop_oneof![0..4_u32, any::<u32>()], weight()), 0..60);
    let programs = (sizes(), prop::collection::vec((batch, any::<bool>()), 1..8));
    for_any(cases, &programs, |(capacity, steps)| {
        let mut leaves = SumTree::new(&stream, capacity).unwrap();
        let (mut min, mut max) = (MinTree::new(&stream, capacity).unwrap(), MaxTree::new(&stream, capacity).unwrap());
        let (mut least, mut most) =
            (per_core::MinTree::new(capacity).unwrap(), per_core::MaxTree::new(capacity).unwrap());
        assert_eq!((min.min(&stream), max.max(&stream)), (Ok(None), Ok(None)));
        for (batch, anew) in steps {
            let (indices, values): (Vec<_>, Vec<_>) =
                batch.iter().map(|&(index, value)| (index % capacity as u32, value)).unzip();
            let (at, of) = (upload(&stream, &indices), upload(&stream, &values));
            leaves.update(&stream, at.view(), of.view()).unwrap();
            let priorities = leaves.priorities().unwrap();
            if anew {
                min.rebuild(&stream, priorities).unwrap();
                max.rebuild(&stream, priorities).unwrap();
            } else {
                min.refresh(&stream, priorities, at.view()).unwrap();
                max.refresh(&stream, priorities, at.view()).unwrap();
            }
            least.update(&indices, &values).unwrap();
            most.update(&indices, &values).unwrap();
            assert_eq!((min.min(&stream), max.max(&stream)), (Ok(least.min()), Ok(most.max())));
        }
    });
}

#[test]
fn any_program_has_the_extremes_of_the_cpu() {
    run(24);
}

#[test]
fn every_order_of_threads_has_the_same() {
    in_every_order("child_in_some_order");
}

#[test]
#[ignore = "run by the test above"]
fn child_in_some_order() {
    run(6);
}

#[test]
fn a_refresh_is_one_launch_of_as_many_leaves() {
    let stream = stream();
    let leaves = upload(&stream, &[0.0, 3.0, 2.0_f32]);
    let (mut min, at) = (MinTree::new(&stream, 3).unwrap(), upload(&stream, &[1, 2, 3, u32::MAX]));
    let graph = Graph::capture(&stream, |stream| min.refresh(stream, leaves.view(), at.view())).unwrap();
    assert_eq!(graph.operations(), 1);
    graph.launch(&stream).unwrap();
    assert_eq!(min.min(&stream), Ok(Some(2.0)));
    let refused = min.refresh(&stream, leaves.view().slice(0..2).unwrap(), at.view());
    let kernel = "min_tree_refresh_f32";
    let length = LaunchError::Length { kernel, argument: "leaves", expected: 3, got: 2 };
    assert_eq!(refused, Err(Error::Gpu(length.into())));
    assert_eq!(MaxTree::new(&stream, 0).unwrap_err(), per_core::Error::Empty { operation: "MaxTree::new" }.into());
}
