//! The tree of sums on a device is that of the CPU after every program, in every order of threads.
#![cfg(feature = "cuda")]

mod cuda_common;

use arith::random;
use cuda_common::*;
use gpu::{Graph, LaunchError, Stream};
use per_core::cuda::{DistinctScratch, Draws, Error, NOTHING, SumTree};
use proptest::prelude::*;

const ALPHA: f32 = 0.6;
const EPSILON: f32 = 1e-3;

#[derive(Clone, Debug)]
enum Step {
    Set(Vec<(u32, f32)>),
    /// A batch in which the index or the value is faulty at some positions, if there are any of these.
    Faulty(Vec<(u32, f32)>, Vec<(usize, bool)>),
    SetFromHost(Vec<(u32, f32)>),
    Errors(Vec<(u32, f32)>),
    Rebuild(u64),
    Sample(usize),
    Stratified(usize),
    Distinct(usize),
    Search(u64),
    Copy,
}

/// Steps on a tree of some capacity. Indices are taken modulo the capacity: small ones come often.
fn programs() -> impl Strategy<Value = (usize, Vec<Step>)> {
    let batch = || prop::collection::vec((prop_oneof![0..4_u32, any::<u32>()], weight()), 0..150);
    let errors = || prop::collection::vec((prop_oneof![0..4_u32, any::<u32>()], -5.0_f32..5.0), 0..150);
    let step = prop_oneof![
        4 => batch().prop_map(Step::Set),
        2 => (batch(), prop::collection::vec((0..150_usize, any::<bool>()), 0..3))
            .prop_map(|(batch, faults)| Step::Faulty(batch, faults)),
        1 => batch().prop_map(Step::SetFromHost),
        4 => errors().prop_map(Step::Errors),
        1 => any::<u64>().prop_map(Step::Rebuild),
        2 => (0..90_usize).prop_map(Step::Sample),
        2 => (0..90_usize).prop_map(Step::Stratified),
        2 => (0..40_usize).prop_map(Step::Distinct),
        1 => any::<u64>().prop_map(Step::Search),
        1 => Just(Step::Copy),
    ];
    (sizes(), prop::collection::vec(step, 1..12))
}

/// The tree of both.
struct Both {
    stream: Stream,
    device: SumTree,
    host: per_core::SumTree,
    draws: Draws,
    /// Where the draws are.
    next: u64,
}

impl Both {
    fn new(stream: Stream, capacity: usize) -> Self {
        // Blocks wrap.
        let next = u64::MAX - 20;
        let draws = Draws::new(&stream, 3, 9, next).unwrap();
        let device = SumTree::new(&stream, capacity).unwrap();
        Self { device, host: per_core::SumTree::new(capacity).unwrap(), draws, next, stream }
    }

    fn batch(&self, batch: &[(u32, f32)]) -> (Vec<u32>, Vec<f32>) {
        let capacity = self.device.capacity() as u32;
        batch.iter().map(|&(index, value)| (index % capacity, value)).unzip()
    }

    fn run(&mut self, step: &Step) {
        let stream = &self.stream;
        match step {
            Step::Set(batch) => {
                let (indices, values) = self.batch(batch);
                let (at, of) = (upload(stream, &indices), upload(stream, &values));
                self.device.update(stream, at.view(), of.view()).unwrap();
                self.host.update(&indices, &values).unwrap();
            }
            Step::Faulty(batch, faults) => {
                let (mut indices, mut values) = self.batch(batch);
                for &(j, of_index) in faults.iter().filter(|(j, _)| *j < batch.len()) {
                    if of_index {
                        indices[j] = self.device.capacity() as u32 + j as u32;
                    } else {
                        values[j] = [f32::NAN, -1.0, f32::INFINITY][j % 3];
                    }
                }
                let (at, of) = (upload(stream, &indices), upload(stream, &values));
                self.device.update(stream, at.view(), of.view()).unwrap();
                let said = self.host.update(&indices, &values).map_err(|error| Error::from(error).to_string());
                assert_eq!(self.device.check(stream).map_err(|error| error.to_string()), said);
            }
            Step::SetFromHost(batch) => {
                let (indices, values) = self.batch(batch);
                self.device.update_from_host(stream, &indices, &values).unwrap();
                self.host.update(&indices, &values).unwrap();
            }
            Step::Errors(batch) => {
                let (indices, errors) = self.batch(batch);
                let (at, of) = (upload(stream, &indices), upload(stream, &errors));
                self.device.update_from_errors(stream, at.view(), of.view(), ALPHA, EPSILON).unwrap();
                let values: Vec<_> = errors.iter().map(|td| arith::powf(td.abs() + EPSILON, ALPHA)).collect();
                self.host.update(&indices, &values).unwrap();
            }
            Step::Rebuild(seed) => {
                let numbers = random::Stream::new(*seed, 1);
                let values: Vec<_> = (0..self.device.capacity() as u64).map(|i| numbers.uniform(i)).collect();
                let of = upload(stream, &values);
                self.device.rebuild(stream, of.view()).unwrap();
                self.host.rebuild(&values).unwrap();
            }
            Step::Sample(m) => self.draw(*m, false),
            Step::Stratified(m) => self.draw(*m, true),
            Step::Distinct(m) => self.draw_distinct(*m),
            Step::Search(seed) => self.search(*seed),
            Step::Copy => {
                self.device = SumTree::from_host(stream, &self.host).unwrap();
                assert_eq!(self.device.to_host(stream).unwrap(), self.host);
            }
        }
        self.check();
    }

    fn draw(&mut self, m: usize, stratified: bool) {
        let Self { stream, device, host, draws, next } = self;
        let (mut out, mut weights) = (room::<u32>(stream, m), room::<u64>(stream, m));
        let (to, of) = (out.view_mut(), weights.view_mut());
        let (drawn, numbers) = (&mut vec![NOTHING; m], random::Stream::new(3, 9));
        if stratified {
            device.sample_stratified(stream, draws, to, of).unwrap();
        } else {
            device.sample(stream, draws, to, of).unwrap();
        }
        let mut expected = vec![0; m];
        if host.total() > 0 {
            if stratified {
                host.sample_stratified(&numbers, *next, drawn).unwrap();
            } else {
                host.sample(&numbers, *next, drawn).unwrap();
            }
            *next = next.wrapping_add(m as u64);
            expected = drawn.iter().map(|&leaf| host.weight(leaf as usize).unwrap()).collect();
        }
        assert_eq!(out.to_vec(stream).unwrap(), *drawn);
        assert_eq!(weights.to_vec(stream).unwrap(), expected);
        assert_eq!(draws.next(stream).unwrap(), *next);
    }

    fn draw_distinct(&mut self, m: usize) {
        let Self { stream, device, host, draws, next } = self;
        let (mut out, mut weights) = (room::<u32>(stream, m), room::<u64>(stream, m));
        let mut scratch = DistinctScratch::new(stream, m + 3).unwrap();
        device.sample_distinct(stream, draws, &mut scratch, out.view_mut(), weights.view_mut()).unwrap();
        let (mut expected, mut of) = (vec![NOTHING; m], vec![0; m]);
        if m <= host.positive() && host.total() > 0 {
            let (numbers, mut scratch) = (random::Stream::new(3, 9), per_core::DistinctScratch::new(m));
            host.sample_distinct(&numbers, *next, &mut scratch, &mut expected).unwrap();
            of = expected.iter().map(|&leaf| host.weight(leaf as usize).unwrap()).collect();
            *next = next.wrapping_add(m as u64);
        }
        assert_eq!(out.to_vec(stream).unwrap(), expected);
        assert_eq!(weights.to_vec(stream).unwrap(), of);
        assert_eq!(draws.next(stream).unwrap(), *next);
    }

    fn search(&mut self, seed: u64) {
        let Self { stream, device, host, .. } = self;
        if host.total() == 0 {
            return;
        }
        let numbers = random::Stream::new(seed, 2);
        let thresholds = (0..40).map(|j| numbers.bounded(j, host.total())).chain([0, host.total() - 1]);
        let thresholds: Vec<_> = thresholds.collect();
        let mut expected = vec![0; 42];
        host.search(&thresholds, &mut expected).unwrap();
        let (at, mut out, mut weights) = (upload(stream, &thresholds), room::<u32>(stream, 42), room(stream, 42));
        device.search(stream, at.view(), out.view_mut(), weights.view_mut()).unwrap();
        assert_eq!(out.to_vec(stream).unwrap(), expected);
        let expected: Vec<_> = expected.iter().map(|&leaf| host.weight(leaf as usize).unwrap()).collect();
        assert_eq!(weights.to_vec(stream).unwrap(), expected);
    }

    fn check(&mut self) {
        let Self { stream, device, host, .. } = self;
        let mass = device.mass(stream).unwrap();
        assert_eq!((mass.total, mass.scale, mass.positive), (host.total(), host.scale(), host.positive()));
        let mut expected = vec![0.0; device.capacity()];
        host.copy_priorities(&mut expected).unwrap();
        assert_eq!(bits(&device.priorities().unwrap().to_vec(stream).unwrap()), bits(&expected));
        assert_eq!(device.check(stream), Ok(()));
    }
}

fn run_programs(cases: u32) {
    for_any(cases, &programs(), |(capacity, steps)| {
        let mut both = Both::new(stream(), capacity);
        steps.iter().for_each(|step| both.run(step));
    });
}

#[test]
fn any_program_leaves_the_tree_of_the_cpu() {
    run_programs(32);
}

#[test]
fn every_order_of_threads_leaves_the_same_tree() {
    in_every_order("child_in_some_order");
}

#[test]
#[ignore = "run by the test above"]
fn child_in_some_order() {
    run_programs(8);
}

#[test]
fn a_graph_updates_and_draws_anew_each_time() {
    let mut both = Both::new(stream(), 300);
    both.run(&Step::Rebuild(5));
    let Both { stream, device, host, draws, next } = &mut both;
    let (mut at, mut of) = (room::<u32>(stream, 64), room::<f32>(stream, 64));
    let (mut out, mut weights) = (room::<u32>(stream, 50), room::<u64>(stream, 50));
    let graph = Graph::capture(stream, |stream| {
        device.update_from_errors(stream, at.view(), of.view(), ALPHA, EPSILON)?;
        device.sample_stratified(stream, draws, out.view_mut(), weights.view_mut())
    });
    let graph = graph.unwrap();
    let mut seen = Vec::new();
    for round in 0..4 {
        let numbers = random::Stream::new(round, 7);
        let indices: Vec<_> = (0..64).map(|j| numbers.bounded(j, 300) as u32).collect();
        // Of other magnitudes each time, so that sums are made anew between.
        let factor = [1.0, 1e20, 1e-20, 3.0][round as usize];
        let errors: Vec<_> = (0..64).map(|j| factor * (numbers.uniform(100 + j) - 0.5)).collect();
        at.view_mut().write(stream, &indices).unwrap();
        of.view_mut().write(stream, &errors).unwrap();
        graph.launch(stream).unwrap();
        let values: Vec<_> = errors.iter().map(|td| arith::powf(td.abs() + EPSILON, ALPHA)).collect();
        host.update(&indices, &values).unwrap();
        let mut expected = vec![0; 50];
        host.sample_stratified(&random::Stream::new(3, 9), *next, &mut expected).unwrap();
        *next = next.wrapping_add(50);
        assert_eq!(out.to_vec(stream).unwrap(), expected);
        seen.push(expected);
    }
    seen.dedup();
    assert_eq!(seen.len(), 4);
    both.check();
}

#[test]
fn operations_are_few_launches() {
    let stream = stream();
    let mut device = SumTree::new(&stream, 5000).unwrap();
    let (at, of, thresholds) =
        (upload(&stream, &[0_u32; 64]), upload(&stream, &[1.0_f32; 64]), upload(&stream, &[0_u64; 64]));
    let (mut out, mut weights) = (room::<u32>(&stream, 64), room::<u64>(&stream, 64));
    let mut draws = Draws::new(&stream, 0, 0, 0).unwrap();
    let mut count = |work: &mut dyn FnMut(&mut SumTree) -> Result<(), Error>| {
        Graph::capture(&stream, |_| work(&mut device)).unwrap().operations()
    };
    // The update, and what makes the sums anew if that is needed.
    assert_eq!(count(&mut |tree| tree.update(&stream, at.view(), of.view())), 2);
    assert_eq!(count(&mut |tree| tree.update_from_errors(&stream, at.view(), of.view(), ALPHA, EPSILON)), 2);
    assert_eq!(count(&mut |tree| tree.sample(&stream, &mut draws, out.view_mut(), weights.view_mut())), 1);
    assert_eq!(count(&mut |tree| tree.sample_stratified(&stream, &mut draws, out.view_mut(), weights.view_mut())), 1);
    let all = upload(&stream, &[1.0_f32; 5000]);
    assert_eq!(count(&mut |tree| tree.rebuild(&stream, all.view())), 2);
    let mut scratch = DistinctScratch::new(&stream, 64).unwrap();
    let distinct =
        count(&mut |tree| tree.sample_distinct(&stream, &mut draws, &mut scratch, out.view_mut(), weights.view_mut()));
    assert_eq!(distinct, 1);
    assert_eq!(count(&mut |tree| tree.search(&stream, thresholds.view(), out.view_mut(), weights.view_mut())), 1);
}

#[test]
fn a_batch_with_a_fault_changes_nothing_and_is_told() {
    const OPERATION: &str = "SumTree::update";
    let index =
        |position, index| per_core::Error::BatchIndexOutOfRange { operation: OPERATION, position, index, count: 100 };
    let value = |position, value| per_core::Error::InvalidWeight { operation: OPERATION, position, value };
    let cases = [
        (100, 1.0, index(40, 100)),
        (u32::MAX - 1, f32::NAN, index(40, u32::MAX - 1)),
        (3, f32::INFINITY, value(40, f32::INFINITY)),
        (3, -1.0, value(40, -1.0)),
        (3, f32::NEG_INFINITY, value(40, f32::NEG_INFINITY)),
    ];
    for (faulty, priority, expected) in cases {
        let mut both = Both::new(stream(), 100);
        let (mut indices, mut values) = (vec![7; 50], vec![3.0; 50]);
        for j in [40, 45] {
            (indices[j], values[j]) = (faulty, priority);
        }
        // A value that is none comes after an index that is none, wherever they are.
        (indices[39], values[39]) = (3, if faulty == 3 { 4.0 } else { f32::NAN });
        let (at, of) = (upload(&both.stream, &indices), upload(&both.stream, &values));
        both.device.update(&both.stream, at.view(), of.view()).unwrap();
        let told = both.device.check(&both.stream).unwrap_err();
        assert_eq!(told, Error::Sampler(expected));
        // The host refuses the same batch by the same error.
        assert_eq!(both.host.update(&indices, &values).unwrap_err(), expected);
        let Error::Sampler(refused) = both.device.update_from_host(&both.stream, &indices, &values).unwrap_err() else {
            panic!("another error")
        };
        assert_eq!(refused, expected);
        // Told once.
        both.check();
    }
}

#[test]
fn errors_that_have_no_power_are_told_as_they_came() {
    let mut both = Both::new(stream(), 10);
    let at = upload(&both.stream, &[2_u32, 1]);
    for (td, alpha, told) in [(f32::NEG_INFINITY, 0.6, f32::NEG_INFINITY), (-f32::MAX, 2.0, -f32::MAX)] {
        let of = upload(&both.stream, &[0.0, td]);
        both.device.update_from_errors(&both.stream, at.view(), of.view(), alpha, 0.0).unwrap();
        let expected = per_core::Error::InvalidWeight { operation: "SumTree::update", position: 1, value: told };
        assert_eq!(both.device.check(&both.stream), Err(expected.into()));
        both.check();
    }
    let of = upload(&both.stream, &[1.0, f32::NAN]);
    both.device.update_from_errors(&both.stream, at.view(), of.view(), 0.5, 0.0).unwrap();
    let told = both.device.check(&both.stream).unwrap_err();
    assert!(
        matches!(told, Error::Sampler(per_core::Error::InvalidWeight { position: 1, value, .. }) if value.is_nan())
    );
    both.check();
}

#[test]
fn thresholds_past_the_end_find_nothing_and_are_told() {
    let stream = stream();
    let mut device = SumTree::new(&stream, 20).unwrap();
    let (mut out, mut weights) = (room::<u32>(&stream, 4), room::<u64>(&stream, 4));
    device.rebuild_from_host(&stream, &[0.5; 20]).unwrap();
    let total = device.total(&stream).unwrap();
    let thresholds = upload(&stream, &[total - 1, 0, total, u64::MAX]);
    device.search(&stream, thresholds.view(), out.view_mut(), weights.view_mut()).unwrap();
    assert_eq!(out.to_vec(&stream).unwrap(), [19, 0, NOTHING, NOTHING]);
    assert_eq!(weights.to_vec(&stream).unwrap(), [total / 20, total / 20, 0, 0]);
    assert_eq!(device.check(&stream), Err(Error::Threshold { operation: "SumTree::search", position: 2 }));
    assert_eq!(device.check(&stream), Ok(()));
}

#[test]
fn long_batches_are_looked_at_first() {
    let mut both = Both::new(stream(), 5000);
    let numbers = random::Stream::new(2, 8);
    for (m, faulty) in [(8192, None), (8193, None), (8193, Some(8192)), (9000, Some(0)), (9000, None)] {
        let indices: Vec<_> = (0..m).map(|j| numbers.bounded(j, 5000) as u32).collect();
        let mut values: Vec<_> = (0..m).map(|j| numbers.uniform(j)).collect();
        if let Some(position) = faulty {
            values[position] = f32::NAN;
        }
        let (at, of) = (upload(&both.stream, &indices), upload(&both.stream, &values));
        both.device.update(&both.stream, at.view(), of.view()).unwrap();
        let told = both.device.check(&both.stream).map_err(|error| error.to_string());
        let expected = both.host.update(&indices, &values).map_err(|error| error.to_string());
        assert_eq!(told, expected);
        both.check();
    }
}

#[test]
fn exponents_and_offsets_out_of_range_are_refused() {
    let mut both = Both::new(stream(), 10);
    let (at, of) = (upload(&both.stream, &[2_u32]), upload(&both.stream, &[1.0_f32]));
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -1e-9] {
        for (name, alpha, epsilon) in [("alpha", bad, 0.1), ("epsilon", 0.5, bad)] {
            let refused =
                both.device.update_from_errors(&both.stream, at.view(), of.view(), alpha, epsilon).unwrap_err();
            let Error::Setting { operation: "SumTree::update_from_errors", name: told, value } = refused else {
                panic!("{refused}")
            };
            assert_eq!((told, value.to_bits()), (name, bad.to_bits()));
        }
    }
    both.check();
}

#[test]
fn what_the_host_sees_is_refused() {
    let stream = stream();
    assert_eq!(SumTree::new(&stream, 0).unwrap_err(), per_core::Error::Empty { operation: "SumTree::new" }.into());
    let (operation, max) = ("SumTree::new", (1 << 31) - 1);
    let expected = per_core::Error::TooManyWeights { operation, count: 1 << 31, max };
    assert_eq!(SumTree::new(&stream, 1 << 31).unwrap_err(), expected.into());
    let mut device = SumTree::new(&stream, 20).unwrap();
    let (at, of) = (upload(&stream, &[1_u32, 2, 3]), upload(&stream, &[1.0_f32, 2.0]));
    let error = device.update(&stream, at.view(), of.view()).unwrap_err();
    let length = LaunchError::Length { kernel: "seg_tree_set_f32", argument: "powers", expected: 3, got: 2 };
    assert_eq!(error, Error::Gpu(length.into()));
    let operation = "SumTree::priority";
    let expected = per_core::Error::IndexOutOfRange { operation, index: 20, count: 20 };
    assert_eq!(device.priority(&stream, 20), Err(expected.into()));
    let (operation, what) = ("SumTree::rebuild", "priorities");
    let expected = per_core::Error::LengthMismatch { operation, what, expected: 20, got: 19 };
    assert_eq!(device.rebuild_from_host(&stream, &[0.0; 19]), Err(expected.into()));
    let length = LaunchError::Length { kernel: "seg_tree_survey_f32", argument: "source", expected: 20, got: 2 };
    assert_eq!(device.rebuild(&stream, of.view()), Err(Error::Gpu(length.into())));
    assert_eq!(device.total(&stream), Ok(0));
}

#[test]
fn priorities_that_cannot_be_are_refused_as_a_whole() {
    let mut both = Both::new(stream(), 20);
    both.run(&Step::Rebuild(3));
    let mut priorities = [1.0; 20];
    (priorities[6], priorities[11]) = (-2.0, f32::INFINITY);
    let of = upload(&both.stream, &priorities);
    both.device.rebuild(&both.stream, of.view()).unwrap();
    let expected = both.host.rebuild(&priorities).unwrap_err();
    assert_eq!(both.device.check(&both.stream), Err(expected.into()));
    both.check();
    both.run(&Step::Sample(30));
    // What comes next is another matter.
    both.run(&Step::Set(vec![(3, 2.0)]));
    both.run(&Step::Rebuild(4));
}
