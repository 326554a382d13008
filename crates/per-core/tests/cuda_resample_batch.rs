//! Rows of weights on a device have the ancestors of the CPU, in every order of threads.
#![cfg(feature = "cuda")]

mod cuda_common;

use arith::random;
use cuda_common::*;
use gpu::{Graph, Stream};
use per_core::cuda::resample::{Batch, ancestors_batch};
use per_core::cuda::{Draws, Error, NOTHING};
use per_core::resample::{self, Base, Scheme};
use proptest::prelude::*;

const SCHEMES: [Scheme; 6] = [
    Scheme::Multinomial,
    Scheme::Stratified,
    Scheme::Systematic,
    Scheme::Residual(Base::Multinomial),
    Scheme::Residual(Base::Stratified),
    Scheme::Residual(Base::Systematic),
];

const OPERATION: &str = "resample::ancestors_batch";

/// The CPU's ancestors of the words from block `first` on.
fn on_host(weights: &[f32], rows: usize, scheme: Scheme, first: u64, m: usize) -> Result<Vec<u32>, per_core::Error> {
    let mut out = vec![0; rows * m];
    let numbers = random::Stream::new(3, 9);
    resample::ancestors_batch(weights, rows, scheme, &numbers, first, &mut resample::Batch::new(), &mut out)?;
    Ok(out)
}

fn check(stream: &Stream, weights: &[f32], rows: usize, m: usize, first: u64) {
    let items = weights.len() / rows;
    let on_device = upload(stream, weights);
    let mut draws = Draws::new(stream, 3, 9, first).unwrap();
    for scheme in SCHEMES {
        draws.seek(stream, first).unwrap();
        // Room for more and longer rows than there are.
        let mut batch = Batch::new(stream, scheme, rows + 1, items + 2).unwrap();
        let mut out = room::<u32>(stream, rows * m);
        ancestors_batch(stream, on_device.view(), rows, scheme, &mut draws, &mut batch, out.view_mut()).unwrap();
        let told = batch.check(stream);
        match on_host(weights, rows, scheme, first, m) {
            Ok(expected) => {
                assert_eq!(out.to_vec(stream).unwrap(), expected, "{scheme:?} of {rows} x {items}, {m}");
                let next = first.wrapping_add((rows * scheme.words(m)) as u64);
                assert_eq!((draws.next(stream).unwrap(), told), (next, Ok(())));
            }
            Err(expected) => {
                assert_eq!(out.to_vec(stream).unwrap(), vec![NOTHING; rows * m]);
                let told = told.unwrap_err().to_string();
                assert_eq!((draws.next(stream).unwrap(), told), (first, expected.to_string()));
                assert_eq!(batch.check(stream), Ok(()));
            }
        }
    }
}

/// Rows with something above zero.
fn rows() -> impl Strategy<Value = (usize, Vec<f32>)> {
    (1..5_usize, sizes()).prop_flat_map(|(rows, items)| {
        let weights = prop::collection::vec(weight(), rows * items);
        weights.prop_map(move |mut weights| {
            weights.iter_mut().step_by(items).for_each(|weight| *weight += 0.25);
            // A sum with the largest float in it is still finite.
            weights.iter_mut().for_each(|weight| *weight = weight.min(f32::MAX));
            (rows, weights)
        })
    })
}

fn run(cases: u32) {
    for_any(cases, &(rows(), 0..3_usize, any::<u64>()), |((rows, weights), draws, first)| {
        let items = weights.len() / rows;
        check(&stream(), &weights, rows, [items, 7, 2 * items + 3][draws], first);
    });
}

#[test]
fn any_rows_have_the_ancestors_of_the_cpu() {
    run(24);
}

#[test]
fn every_order_of_threads_has_the_same_ancestors() {
    in_every_order("child_in_some_order");
}

#[test]
#[ignore = "run by the test above"]
fn child_in_some_order() {
    run(4);
}

#[test]
fn one_item_may_have_all_offspring() {
    let mut weights = vec![1e-30; 3 * 5000];
    weights[4999] = 1e30;
    weights[5000] = 1e30;
    weights[12_345] = 1e30;
    check(&stream(), &weights, 3, 6000, u64::MAX - 100);
    check(&stream(), &[0.0, 0.0, 3.0], 3, 1, 0);
    check(&stream(), &[0.5; 6], 2, 0, 7);
}

#[test]
fn a_wrong_row_refuses_the_whole_batch() {
    for (wrong, at) in [(f32::NAN, 303), (-1.0, 100), (f32::INFINITY, 399), (f32::NEG_INFINITY, 0)] {
        let mut weights = vec![0.5; 400];
        weights[at] = wrong;
        weights[350] = -2.0;
        check(&stream(), &weights, 4, 50, 5);
    }
    let mut weights = vec![0.5; 400];
    weights[100..200].fill(-0.0);
    check(&stream(), &weights, 4, 50, 5);
    // The first row counts, whatever is wrong with it.
    weights[250] = f32::NAN;
    check(&stream(), &weights, 4, 50, 5);
}

#[test]
fn two_launches_in_a_graph_draw_anew() {
    let stream = stream();
    let weights: Vec<_> = (0..900).map(|i| random::Stream::new(1, 1).uniform(i) + 0.01).collect();
    let mut on_device = upload(&stream, &weights);
    for scheme in SCHEMES {
        let mut draws = Draws::new(&stream, 3, 9, 0).unwrap();
        let mut batch = Batch::new(&stream, scheme, 3, 300).unwrap();
        let mut out = room::<u32>(&stream, 300);
        let graph = Graph::capture(&stream, |stream| {
            ancestors_batch(stream, on_device.view(), 3, scheme, &mut draws, &mut batch, out.view_mut())
        });
        let graph = graph.unwrap();
        assert_eq!(graph.operations(), 2);
        for round in 0..3 {
            let weights: Vec<_> = weights.iter().map(|weight| weight * (1 + round) as f32).collect();
            on_device.view_mut().write(&stream, &weights).unwrap();
            graph.launch(&stream).unwrap();
            let first = round * 3 * scheme.words(100) as u64;
            assert_eq!(out.to_vec(&stream).unwrap(), on_host(&weights, 3, scheme, first, 100).unwrap(), "{scheme:?}");
        }
    }
}

#[test]
fn what_the_host_sees_is_refused() {
    let stream = stream();
    let weights = upload(&stream, &[1.0_f32; 12]);
    let mut draws = Draws::new(&stream, 3, 9, 0).unwrap();
    let mut batch = Batch::new(&stream, Scheme::Systematic, 3, 4).unwrap();
    let mut out = upload(&stream, &[7_u32; 12]);
    let mut refused = |n: usize, rows, scheme, m: usize| {
        let (weights, out) = (weights.view().slice(0..n).unwrap(), out.view_mut().slice(0..m).unwrap());
        match ancestors_batch(&stream, weights, rows, scheme, &mut draws, &mut batch, out) {
            Err(Error::Sampler(error)) => error,
            other => panic!("{other:?}"),
        }
    };
    let length = |what, expected, got| per_core::Error::LengthMismatch { operation: OPERATION, what, expected, got };
    assert_eq!(refused(11, 3, Scheme::Systematic, 3), length("weights", 9, 11));
    assert_eq!(refused(12, 3, Scheme::Systematic, 4), length("out", 3, 4));
    assert_eq!(refused(12, 0, Scheme::Systematic, 0), length("weights", 0, 12));
    assert_eq!(refused(0, 3, Scheme::Systematic, 3), per_core::Error::Empty { operation: OPERATION });
    assert_eq!(refused(12, 4, Scheme::Systematic, 4), length("scratch", 4, 3));
    assert_eq!(refused(12, 2, Scheme::Systematic, 2), length("scratch", 6, 4));
    assert_eq!(refused(12, 3, Scheme::Residual(Base::Multinomial), 3), length("scratch", 12, 0));
    assert_eq!(out.to_vec(&stream).unwrap(), [7; 12]);
    // No rows.
    let none = (weights.view().slice(0..0).unwrap(), out.view_mut().slice(0..0).unwrap());
    ancestors_batch(&stream, none.0, 0, Scheme::Systematic, &mut draws, &mut batch, none.1).unwrap();
    assert_eq!(draws.next(&stream).unwrap(), 0);
}
