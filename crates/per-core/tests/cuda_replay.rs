//! The replay on a device is that of the CPU after every program, in every order of threads.
#![cfg(feature = "cuda")]

mod cuda_common;

use arith::random;
use cuda_common::*;
use gpu::{Buffer, Graph, Stream, View};
use half::bf16;
use per_core::cuda::NOTHING;
use per_core::cuda::replay::{Batch, Error, PrioritizedReplay, Rows};
use per_core::replay::{self, AllZero, Column, Columns, Config, Draws, Episodes, Handle, NStep, NewItems, Weights};
use proptest::prelude::*;

/// Draws of a batch.
const DRAWS: usize = 19;
/// Steps of the sequences of each batch.
const STEPS: [usize; 3] = [1, 5, 20];

#[derive(Clone, Debug)]
enum Step {
    Insert {
        n: usize,
        seed: u64,
        priorities: bool,
        from_host: bool,
    },
    Sample {
        batch: usize,
        beta: f32,
    },
    Update {
        batch: usize,
        seed: u64,
        from_host: bool,
    },
    Remove {
        batch: usize,
        from: usize,
    },
    SetAlpha(f32),
    /// Inserts items of priority 0 until there are no others.
    AllZero,
    Clear,
    Copy,
}

/// What decides where episodes end, and what returns there are.
#[derive(Clone, Copy, Debug, Default)]
struct Ends {
    terminated: bool,
    truncated: bool,
    /// Steps and discount.
    n_step: Option<(usize, f32)>,
}

#[derive(Clone, Debug)]
struct Program {
    config: Config,
    ends: Ends,
    /// Of the columns of f32 and u8; the second decides whether rows are moved in bytes.
    widths: (usize, usize),
    steps: Vec<Step>,
}

fn configs() -> impl Strategy<Value = Config> {
    let capacity = prop_oneof![1..40_usize, Just(300)];
    let choices = (0..3_usize, 0..3_usize, any::<bool>(), any::<bool>());
    let environments = prop::sample::select(vec![1_usize, 1, 2, 7, usize::MAX]);
    let alpha = prop::sample::select(vec![0.0_f32, 0.6, 1.0]);
    (capacity, choices, environments, alpha, prop::sample::select(vec![0.0_f32, 1e-3])).prop_map(
        |(capacity, (draws, weights, ever, uniform), environments, alpha, epsilon)| Config {
            draws: [Draws::Independent, Draws::Stratified, Draws::Distinct][draws],
            weights: [Weights::OverBuffer, Weights::OverBatch, Weights::Unnormalized][weights],
            new_items: if ever { NewItems::LargestEver } else { NewItems::LargestNow },
            all_zero: if uniform { AllZero::Uniform } else { AllZero::Error },
            environments,
            alpha,
            epsilon,
            seed: 5,
            stream: 6,
            ..Config::new(capacity)
        },
    )
}

fn ends() -> impl Strategy<Value = Ends> {
    let n_step = prop::option::of((1..40_usize, prop::sample::select(vec![0.0_f32, 0.9, 1.0])));
    (any::<bool>(), any::<bool>(), n_step).prop_map(|(terminated, truncated, n_step)| Ends {
        terminated,
        truncated: terminated && truncated,
        n_step,
    })
}

fn programs() -> impl Strategy<Value = Program> {
    let insert = (1..50_usize, any::<u64>(), any::<bool>(), any::<bool>())
        .prop_map(|(n, seed, priorities, from_host)| Step::Insert { n, seed, priorities, from_host });
    let step = prop_oneof![
        3 => insert,
        3 => (0..3_usize, 0.0_f32..=1.0).prop_map(|(batch, beta)| Step::Sample { batch, beta }),
        3 => (0..3_usize, any::<u64>(), any::<bool>())
            .prop_map(|(batch, seed, from_host)| Step::Update { batch, seed, from_host }),
        1 => (0..3_usize, 0..DRAWS).prop_map(|(batch, from)| Step::Remove { batch, from }),
        1 => prop::sample::select(vec![0.0_f32, 0.5, 1.5]).prop_map(Step::SetAlpha),
        1 => Just(Step::AllZero),
        1 => Just(Step::Clear),
        1 => Just(Step::Copy),
    ];
    let widths = (1..6_usize, prop::sample::select(vec![1, 4, 16, 4100]));
    (configs(), ends(), widths, prop::collection::vec(step, 1..16)).prop_map(|(config, ends, widths, steps)| Program {
        config,
        ends,
        widths,
        steps,
    })
}

/// A batch on both.
struct Pair {
    device: Batch,
    host: replay::Batch,
    /// Whether the last draw found something.
    drawn: bool,
}

/// The columns.
#[derive(Clone, Copy)]
struct Row {
    observation: Column<f32>,
    half: Column<bf16>,
    action: Column<i32>,
    flags: Column<u8>,
    reward: Column<f32>,
    terminated: Column<u8>,
    truncated: Column<u8>,
    next: Column<f32>,
}

struct Both {
    stream: Stream,
    device: PrioritizedReplay,
    host: replay::PrioritizedReplay,
    row: Row,
    batches: Vec<Pair>,
    stale: u64,
}

/// Rows of n items.
struct Items {
    observation: Vec<f32>,
    half: Vec<bf16>,
    action: Vec<i32>,
    flags: Vec<u8>,
    reward: Vec<f32>,
    terminated: Vec<u8>,
    truncated: Vec<u8>,
    next: Vec<f32>,
    priorities: Vec<f32>,
}

impl Items {
    fn rows(&self, row: Row) -> [replay::Rows<'_>; 8] {
        // In some order.
        [
            row.flags.rows(&self.flags),
            row.observation.rows(&self.observation),
            row.next.rows(&self.next),
            row.action.rows(&self.action),
            row.half.rows(&self.half),
            row.truncated.rows(&self.truncated),
            row.terminated.rows(&self.terminated),
            row.reward.rows(&self.reward),
        ]
    }

    fn upload(&self, stream: &Stream) -> OnDevice {
        OnDevice {
            observation: upload(stream, &self.observation),
            half: upload(stream, &self.half),
            action: upload(stream, &self.action),
            flags: upload(stream, &self.flags),
            reward: upload(stream, &self.reward),
            terminated: upload(stream, &self.terminated),
            truncated: upload(stream, &self.truncated),
            next: upload(stream, &self.next),
            priorities: upload(stream, &self.priorities),
        }
    }
}

/// The same on the device.
struct OnDevice {
    observation: Buffer<f32>,
    half: Buffer<bf16>,
    action: Buffer<i32>,
    flags: Buffer<u8>,
    reward: Buffer<f32>,
    terminated: Buffer<u8>,
    truncated: Buffer<u8>,
    next: Buffer<f32>,
    priorities: Buffer<f32>,
}

impl OnDevice {
    fn rows(&self, row: Row) -> [Rows<'_>; 8] {
        [
            Rows::new(row.reward, self.reward.view()),
            Rows::new(row.next, self.next.view()),
            Rows::new(row.terminated, self.terminated.view()),
            Rows::new(row.truncated, self.truncated.view()),
            Rows::new(row.action, self.action.view()),
            Rows::new(row.observation, self.observation.view()),
            Rows::new(row.half, self.half.view()),
            Rows::new(row.flags, self.flags.view()),
        ]
    }
}

impl Both {
    fn new(stream: Stream, mut config: Config, ends: Ends, widths: (usize, usize)) -> Self {
        let mut columns = Columns::new();
        let action = columns.add("action", 2).unwrap();
        let half = columns.add("half", 4).unwrap();
        let observation = columns.add("observation", 4 * widths.0).unwrap();
        let flags = columns.add("flags", widths.1).unwrap();
        let reward = columns.add("reward", 1).unwrap();
        let [terminated, truncated] = ["terminated", "truncated"].map(|name| columns.add(name, 1).unwrap());
        let next = columns.add_last("next", 3).unwrap();
        let truncations = ends.truncated.then_some(truncated);
        config.episodes = ends.terminated.then_some(Episodes { terminated, truncated: truncations });
        config.n_step = ends.n_step.map(|(steps, discount)| NStep { steps, discount, reward });
        let device = PrioritizedReplay::new(&stream, config.clone(), columns.clone()).unwrap();
        let host = replay::PrioritizedReplay::new(config, columns).unwrap();
        let batches = STEPS.iter().map(|&steps| Pair {
            device: device.sequences(&stream, DRAWS, steps).unwrap(),
            host: host.sequences(DRAWS, steps).unwrap(),
            drawn: false,
        });
        let batches = batches.collect();
        let row = Row { observation, half, action, flags, reward, terminated, truncated, next };
        Self { stream, device, host, row, batches, stale: 0 }
    }

    fn items(&self, n: usize, seed: u64) -> Items {
        let numbers = random::Stream::new(seed, 1);
        let word = |i: usize| numbers.word(i as u64);
        let (wide, narrow) = (self.row.observation.width(), self.row.flags.width());
        Items {
            observation: (0..n * wide).map(|i| numbers.uniform(i as u64)).collect(),
            half: (0..n * 4).map(|i| bf16::from_bits(word(i) as u16 & 0x3fff)).collect(),
            action: (0..n * 2).map(|i| word(i + 7).cast_signed()).collect(),
            flags: (0..n * narrow).map(|i| word(i + 9) as u8).collect(),
            reward: (0..n).map(|i| numbers.uniform(i as u64 + 3) - 0.5).collect(),
            // An episode ends now and then.
            terminated: (0..n).map(|i| u8::from(word(i + 11).is_multiple_of(16)) * 3).collect(),
            truncated: (0..n).map(|i| u8::from(word(i + 12).is_multiple_of(16))).collect(),
            next: (0..n * 3).map(|i| numbers.uniform(i as u64 + 5)).collect(),
            priorities: (0..n as u64).map(|i| (8.0 * numbers.uniform(i + 99) - 1.0).max(0.0)).collect(),
        }
    }

    fn run(&mut self, step: &Step) {
        match *step {
            Step::Insert { n, seed, priorities, from_host } => self.insert(n, seed, priorities, from_host),
            Step::Sample { batch, beta } => self.sample(batch, beta),
            Step::Update { batch, seed, from_host } => self.update(batch, seed, from_host),
            Step::Remove { batch, from } => self.remove(batch, from),
            Step::SetAlpha(alpha) => {
                self.device.set_alpha(&self.stream, alpha).unwrap();
                self.host.set_alpha(alpha).unwrap();
            }
            Step::AllZero => self.insert_zeros(),
            Step::Clear => {
                self.device.clear(&self.stream).unwrap();
                self.host.clear();
            }
            Step::Copy => {
                let copy = self.device.to_host(&self.stream).unwrap();
                self.device = PrioritizedReplay::from_host(&self.stream, &copy).unwrap();
                self.stale = 0;
            }
        }
        self.check();
    }

    fn insert(&mut self, n: usize, seed: u64, with: bool, from_host: bool) {
        let items = self.items(n, seed);
        let (rows, priorities) = (items.rows(self.row), &items.priorities);
        let Self { stream, device, host, row, .. } = self;
        if with {
            host.insert_batch_with_priorities(&rows, priorities).unwrap();
        } else {
            host.insert_batch(&rows).unwrap();
        }
        let on_device = items.upload(stream);
        match (with, from_host) {
            (true, true) => device.insert_batch_from_host_with_priorities(stream, &rows, priorities),
            (false, true) => device.insert_batch_from_host(stream, &rows),
            (true, false) => {
                let rows = on_device.rows(*row);
                device.insert_batch_with_priorities(stream, &rows, on_device.priorities.view())
            }
            (false, false) => device.insert_batch(stream, &on_device.rows(*row)),
        }
        .unwrap();
    }

    fn insert_zeros(&mut self) {
        let n = self.host.capacity();
        let mut items = self.items(n, 4);
        items.priorities.fill(0.0);
        self.host.insert_batch_with_priorities(&items.rows(self.row), &items.priorities).unwrap();
        let on_device = items.upload(&self.stream);
        let (rows, priorities) = (on_device.rows(self.row), on_device.priorities.view());
        self.device.insert_batch_with_priorities(&self.stream, &rows, priorities).unwrap();
    }

    fn sample(&mut self, batch: usize, beta: f32) {
        let Self { stream, device, host, batches, .. } = self;
        let pair = &mut batches[batch];
        device.set_beta(stream, beta).unwrap();
        device.sample_proportional(stream, &mut pair.device).unwrap();
        pair.drawn = match host.sample_proportional(&mut pair.host, beta) {
            Ok(()) => true,
            Err(replay::Error::NoItems | replay::Error::AllZero { .. } | replay::Error::TooFewItems { .. }) => false,
            Err(error) => panic!("{error}"),
        };
        self.check_batch(batch);
    }

    fn check_batch(&self, batch: usize) {
        let (stream, Pair { device, host, drawn }) = (&self.stream, &self.batches[batch]);
        let floats = |view: View<'_, f32>| bits(&view.to_vec(stream).unwrap());
        let indices = device.indices().to_vec(stream).unwrap();
        let handles = device.handles().to_vec(stream).unwrap();
        let lengths = device.lengths().to_vec(stream).unwrap();
        let spans = device.spans().to_vec(stream).unwrap();
        let steps = STEPS[batch] * DRAWS;
        assert_eq!((device.len(), device.steps()), (DRAWS, STEPS[batch]));
        if !drawn {
            assert_eq!((indices, handles), (vec![NOTHING; DRAWS], vec![u64::MAX; DRAWS]));
            assert_eq!((floats(device.weights()), lengths), (vec![0; DRAWS], vec![0; DRAWS]));
            let width = self.row.observation.width();
            assert_eq!(floats(device.rows(self.row.observation).unwrap()), vec![0; steps * width]);
            assert_eq!(
                device.rows(self.row.flags).unwrap().to_vec(stream).unwrap(),
                vec![0; steps * self.row.flags.width()]
            );
            let returns = if self.host.config().n_step.is_some() { steps } else { 0 };
            assert_eq!((floats(device.returns()), floats(device.discounts())), (vec![0; returns], vec![0; returns]));
            assert_eq!(spans, vec![0; returns]);
            return;
        }
        assert_eq!(indices, host.indices());
        assert_eq!(handles, host.handles().iter().map(|handle| handle.number()).collect::<Vec<_>>());
        assert_eq!(floats(device.weights()), bits(host.weights()));
        assert_eq!(lengths, host.lengths());
        assert_eq!(floats(device.returns()), bits(host.returns()));
        assert_eq!(floats(device.discounts()), bits(host.discounts()));
        assert_eq!(spans, host.spans());
        let Row { observation, half, action, flags, reward, terminated, truncated, next } = self.row;
        for column in [observation, reward, next] {
            assert_eq!(floats(device.rows(column).unwrap()), bits(host.rows(column).unwrap()));
        }
        for column in [flags, terminated, truncated] {
            assert_eq!(device.rows(column).unwrap().to_vec(stream).unwrap(), host.rows(column).unwrap());
        }
        assert_eq!(device.rows(action).unwrap().to_vec(stream).unwrap(), host.rows(action).unwrap());
        assert_eq!(device.rows(half).unwrap().to_vec(stream).unwrap(), host.rows(half).unwrap());
    }

    fn update(&mut self, batch: usize, seed: u64, from_host: bool) {
        let Self { stream, device, host, batches, stale, .. } = self;
        let numbers = random::Stream::new(seed, 3);
        // Some are 0.
        let errors: Vec<_> = (0..DRAWS as u64).map(|j| (4.0 * numbers.uniform(j) - 3.0).min(0.0)).collect();
        let Pair { device: on_device, host: on_host, drawn } = &batches[batch];
        if *drawn && from_host {
            device.update_priorities_from_host(stream, on_host.handles(), &errors).unwrap();
        } else {
            let of = upload(stream, &errors);
            device.update_priorities(stream, on_device.handles(), of.view()).unwrap();
        }
        if *drawn {
            *stale += host.update_priorities(on_host.handles(), &errors).unwrap().stale as u64;
        }
    }

    fn remove(&mut self, batch: usize, from: usize) {
        let Self { stream, device, host, batches, stale, .. } = self;
        if !batches[batch].drawn {
            return;
        }
        let handles = batches[batch].host.handles()[from..].to_vec();
        *stale += host.remove(&handles).unwrap().stale as u64;
        let numbers = upload(stream, &handles.iter().map(|handle| handle.number()).collect::<Vec<_>>());
        device.remove(stream, numbers.view()).unwrap();
    }

    fn check(&mut self) {
        let Self { stream, device, host, stale, .. } = self;
        device.check(stream).unwrap();
        assert_eq!(device.len(stream).unwrap(), host.len());
        assert_eq!(device.inserted(stream).unwrap(), host.inserted());
        assert_eq!(device.draws_made(stream).unwrap(), host.draws_made());
        assert_eq!(device.stale(stream).unwrap(), *stale);
        assert_eq!(device.total_priority(stream).unwrap().to_bits(), host.total_priority().to_bits());
        assert_eq!(device.min_priority(stream).unwrap(), host.min_priority());
        assert_eq!(device.max_priority(stream).unwrap(), host.max_priority());
        let raw = (0..host.capacity()).map(|slot| host.handle(slot).map_or(-1.0, |h| host.priority(h).unwrap()));
        assert_eq!(bits(&device.priorities().to_vec(stream).unwrap()), bits(&raw.collect::<Vec<_>>()));
        assert_eq!(device.powers().to_host(stream).unwrap(), *host.powers());
        assert_eq!(device.is_empty(stream).unwrap(), host.is_empty());
        // Of items that are there, were there, and are to come.
        let next = host.inserted();
        for number in [0, next / 2, next.saturating_sub(1), next, next + 1, u64::MAX] {
            let handle = Handle::from_number(number);
            assert_eq!(device.slot(stream, handle).unwrap(), host.slot(handle));
            assert_eq!(device.contains(stream, handle).unwrap(), host.contains(handle));
            assert_eq!(device.priority(stream, handle).unwrap(), host.priority(handle));
            assert_eq!(device.probability(stream, handle).unwrap(), host.probability(handle));
            let (mut row, mut expected) = ([9; 2], [9; 2]);
            let there = device.read(stream, handle, self.row.action, &mut row).unwrap();
            assert_eq!(there, host.read(handle, self.row.action, &mut expected).unwrap());
            assert_eq!(row, expected);
        }
    }
}

fn run_programs(cases: u32) {
    for_any(cases, &programs(), |Program { config, ends, widths, steps }| {
        let mut both = Both::new(stream(), config, ends, widths);
        steps.iter().for_each(|step| both.run(step));
    });
}

#[test]
fn any_program_leaves_the_replay_of_the_cpu() {
    run_programs(40);
}

#[test]
fn every_order_of_threads_leaves_the_same_replay() {
    in_every_order("child_in_some_order");
}

#[test]
#[ignore = "run by the test above"]
fn child_in_some_order() {
    run_programs(8);
}

fn filled(capacity: usize) -> Both {
    let mut both = Both::new(stream(), Config { epsilon: 0.01, ..Config::new(capacity) }, Ends::default(), (1, 4));
    both.insert(capacity, 1, true, false);
    both
}

#[test]
fn a_learners_step_is_replayed_and_draws_anew() {
    let mut both = filled(200);
    let mut errors = room::<f32>(&both.stream, DRAWS);
    let Both { stream, device, batches, .. } = &mut both;
    let step = Graph::capture(stream, |stream| {
        device.sample_proportional(stream, &mut batches[0].device)?;
        device.update_priorities(stream, batches[0].device.handles(), errors.view())
    });
    let step = step.unwrap();
    let mut seen = Vec::new();
    for round in 0..5 {
        let numbers = random::Stream::new(round, 4);
        let given: Vec<_> = (0..DRAWS as u64).map(|j| numbers.uniform(j) - 0.5).collect();
        let beta = 0.2 * round as f32;
        errors.view_mut().write(&both.stream, &given).unwrap();
        both.device.set_beta(&both.stream, beta).unwrap();
        step.launch(&both.stream).unwrap();
        let Pair { host, drawn, .. } = &mut both.batches[0];
        both.host.sample_proportional(host, beta).unwrap();
        *drawn = true;
        seen.push(host.indices().to_vec());
        both.check_batch(0);
        let handles = both.batches[0].host.handles();
        assert_eq!(both.host.update_priorities(handles, &given).unwrap().stale, 0);
        both.check();
        // Between replays, also what isn't part of them.
        both.run(&Step::Insert { n: 30, seed: round, priorities: round % 2 == 0, from_host: false });
    }
    seen.dedup();
    assert_eq!(seen.len(), 5);
}

#[test]
fn insertions_are_replayed_round_the_ring() {
    for new_items in [NewItems::LargestNow, NewItems::LargestEver] {
        let mut both = Both::new(stream(), Config { new_items, ..Config::new(50) }, Ends::default(), (2, 1));
        let items = both.items(16, 3);
        let on_device = items.upload(&both.stream);
        let Both { stream, device, row, .. } = &mut both;
        let rows = on_device.rows(*row);
        let insertion = Graph::capture(stream, |stream| device.insert_batch(stream, &rows)).unwrap();
        for round in 0..7 {
            insertion.launch(&both.stream).unwrap();
            both.host.insert_batch(&items.rows(both.row)).unwrap();
            both.check();
            both.run(&Step::Sample { batch: 0, beta: 0.5 });
            both.run(&Step::Update { batch: round % 2, seed: 3, from_host: false });
            both.run(&Step::Sample { batch: 1, beta: 0.5 });
        }
    }
}

#[test]
fn operations_are_so_many_launches() {
    let mut both = filled(100);
    let on_device = both.items(10, 3).upload(&both.stream);
    let errors = upload(&both.stream, &[1.0_f32; DRAWS]);
    let Both { stream, device, batches, row, .. } = &mut both;
    let (rows, priorities) = (on_device.rows(*row), on_device.priorities.view());
    let batch = &mut batches[0].device;
    let sample = Graph::capture(stream, |stream| device.sample_proportional(stream, batch)).unwrap();
    assert_eq!(sample.operations(), 1);
    let update = Graph::capture(stream, |stream| device.update_priorities(stream, batch.handles(), errors.view()));
    // Priorities, and what follows from them.
    assert_eq!(update.unwrap().operations(), 2);
    let insert = Graph::capture(stream, |stream| device.insert_batch_with_priorities(stream, &rows, priorities));
    // And rows.
    assert_eq!(insert.unwrap().operations(), 3);
    let insert = Graph::capture(stream, |stream| device.insert_batch(stream, &rows)).unwrap();
    assert_eq!(insert.operations(), 3);
    let remove = Graph::capture(stream, |stream| device.remove(stream, batch.handles())).unwrap();
    assert_eq!(remove.operations(), 2);
    // One that looks for faults first.
    let many = upload(stream, &vec![u64::MAX; 8193]);
    let errors = upload(stream, &vec![0.0; 8193]);
    let update = Graph::capture(stream, |stream| device.update_priorities(stream, many.view(), errors.view()));
    assert_eq!(update.unwrap().operations(), 3);
}

#[test]
fn items_without_priorities_are_equally_likely() {
    for draws in [Draws::Independent, Draws::Stratified, Draws::Distinct] {
        let config = Config { draws, all_zero: AllZero::Uniform, ..Config::new(300) };
        let mut both = Both::new(stream(), config, Ends::default(), (1, 1));
        both.insert(40, 1, true, false);
        both.run(&Step::Sample { batch: 0, beta: 0.5 });
        both.run(&Step::AllZero);
        both.run(&Step::Sample { batch: 0, beta: 0.5 });
        // Ranks are no slots from here on.
        for from in [0, 5] {
            both.run(&Step::Remove { batch: 0, from });
            for batch in [0, 1, 2, 0] {
                both.run(&Step::Sample { batch, beta: 0.5 });
                assert!(both.batches[batch].drawn);
            }
        }
        // And again with priorities.
        both.run(&Step::Insert { n: 40, seed: 3, priorities: true, from_host: false });
        both.run(&Step::Sample { batch: 0, beta: 0.5 });
    }
}

#[test]
fn draws_without_replacement_are_two_launches() {
    let config = Config { draws: Draws::Distinct, ..Config::new(100) };
    let mut both = Both::new(stream(), config, Ends::default(), (1, 1));
    both.insert(60, 1, true, false);
    let Both { stream, device, batches, .. } = &mut both;
    let batch = &mut batches[0].device;
    let sample = Graph::capture(stream, |stream| device.sample_proportional(stream, batch)).unwrap();
    assert_eq!(sample.operations(), 2);
}

#[test]
fn memory_is_counted() {
    let both = Both::new(stream(), Config::new(1 << 16), Ends::default(), (1, 1));
    let memory = both.device.memory();
    let bytes = memory.priorities as f64 / (1 << 16) as f64;
    assert!((16.9..17.4).contains(&bytes), "{bytes}");
    // 51 bytes of each item, and what aligns them.
    assert_eq!(memory.rows, 64 << 16);
}

#[test]
fn items_of_many_columns() {
    let (stream, mut columns) = (stream(), Columns::new());
    // Three launches' worth.
    let wide: Vec<_> = (0..19).map(|i| columns.add::<u8>(&format!("{i}"), i % 7 + 1).unwrap()).collect();
    let mut device = PrioritizedReplay::new(&stream, Config::new(50), columns.clone()).unwrap();
    let mut host = replay::PrioritizedReplay::new(Config::new(50), columns).unwrap();
    let bytes = |i: usize| (0..30 * wide[i].width()).map(|k| (k * 7 + i) as u8).collect::<Vec<_>>();
    let rows: Vec<_> = (0..wide.len()).map(bytes).collect();
    let uploaded: Vec<_> = rows.iter().map(|rows| upload(&stream, rows)).collect();
    let on_device: Vec<_> = wide.iter().zip(&uploaded).map(|(&column, rows)| Rows::new(column, rows.view())).collect();
    let on_host: Vec<_> = wide.iter().zip(&rows).map(|(column, rows)| column.rows(rows)).collect();
    let (mut drawn, mut expected) = (device.batch(&stream, DRAWS).unwrap(), host.batch(DRAWS).unwrap());
    for _ in 0..3 {
        device.insert_batch(&stream, &on_device).unwrap();
        host.insert_batch(&on_host).unwrap();
        device.sample_proportional(&stream, &mut drawn).unwrap();
        host.sample_proportional(&mut expected, 1.0).unwrap();
        for &column in &wide {
            assert_eq!(drawn.rows(column).unwrap().to_vec(&stream).unwrap(), expected.rows(column).unwrap());
        }
    }
    assert_eq!(device.to_host(&stream).unwrap().powers(), host.powers());
}

#[test]
fn more_items_than_the_ring_holds() {
    for (with, from_host) in [(false, false), (true, false), (true, true)] {
        let mut both = Both::new(stream(), Config::new(7), Ends::default(), (1, 1));
        both.run(&Step::Insert { n: 3, seed: 1, priorities: true, from_host });
        both.run(&Step::Insert { n: 26, seed: 2, priorities: with, from_host });
        both.run(&Step::Sample { batch: 0, beta: 1.0 });
    }
}

/// What was wrong, as the CPU says it.
fn told(both: &mut Both) -> String {
    both.device.check(&both.stream).unwrap_err().to_string()
}

#[test]
fn a_batch_with_a_fault_changes_nothing_and_is_told() {
    let mut both = filled(30);
    // Long ones are looked at by a launch of their own.
    for m in [7, 8193] {
        // A late one, one of what couldn't be drawn, one whose TD error is none, and then a handle of an item that is yet to come.
        let mut handles: Vec<u64> = (0..m as u64).map(|j| j % 30).collect();
        let mut errors = vec![1.0_f32; m];
        both.insert(1, 5, true, false);
        let next = both.host.inserted();
        (handles[m - 5], handles[m - 4], errors[m - 3], handles[m - 2]) = (0, u64::MAX, f32::NEG_INFINITY, next);
        let of = upload(&both.stream, &errors);
        let at = upload(&both.stream, &handles);
        both.device.update_priorities(&both.stream, at.view(), of.view()).unwrap();
        assert!(
            matches!(both.device.check(&both.stream), Err(Error::UnknownHandle { position, .. }) if position == m - 2)
        );
        both.check();
        both.device.remove(&both.stream, at.view()).unwrap();
        let refused = both.device.check(&both.stream);
        assert!(matches!(refused, Err(Error::UnknownHandle { position, .. }) if position == m - 2), "{refused:?}");
        both.check();
        // TD errors of late handles are looked at too.
        handles[m - 2] = 3;
        handles[m - 4] = 4;
        let at = upload(&both.stream, &handles);
        both.device.update_priorities(&both.stream, at.view(), of.view()).unwrap();
        let handles: Vec<_> = handles.into_iter().map(Handle::from_number).collect();
        let expected = both.host.update_priorities(&handles, &errors).unwrap_err();
        assert_eq!(told(&mut both), expected.to_string());
        both.check();
        errors[m - 3] = 2.0;
        both.device.update_priorities_from_host(&both.stream, &handles, &errors).unwrap();
        both.stale += both.host.update_priorities(&handles, &errors).unwrap().stale as u64;
        both.check();
    }
    // The same by the host.
    let handles = [1, 2].map(Handle::from_number);
    let refused = both.device.update_priorities_from_host(&both.stream, &handles, &[9.0, f32::NAN]);
    assert!(matches!(refused, Err(Error::Replay(replay::Error::InvalidTdError { position: 1, .. }))));
    both.check();
}

#[test]
fn what_the_cpu_says_first_is_told_and_then_the_rest() {
    // The power of the largest float is infinite, and so is its sum with this epsilon.
    let config = Config { alpha: 1.5, epsilon: 1e38, ..Config::new(30) };
    let mut both = Both::new(stream(), config, Ends::default(), (1, 4));
    both.insert(20, 1, true, false);
    let numbers = [1_u64, 2, 3, 4];
    let (handles, at) = (numbers.map(Handle::from_number), upload(&both.stream, &numbers));
    for errors in [[1.0, -f32::MAX, f32::NAN, 2.0], [1.0, 2.0, f32::NAN, f32::MAX], [1.0, 2.0, 3.0, 1e37]] {
        let of = upload(&both.stream, &errors);
        both.device.update_priorities(&both.stream, at.view(), of.view()).unwrap();
        let expected = both.host.update_priorities(&handles, &errors).unwrap_err().to_string();
        assert_eq!(told(&mut both), expected);
        both.check();
    }
    for given in [[f32::MAX, 1.0, -1.0], [1.0, f32::MAX, 1e38], [f32::MAX, f32::INFINITY, f32::NAN]] {
        let items = both.items(3, 3);
        let (on_device, priorities) = (items.upload(&both.stream), upload(&both.stream, &given));
        let rows = on_device.rows(both.row);
        both.device.insert_batch_with_priorities(&both.stream, &rows, priorities.view()).unwrap();
        let of = upload(&both.stream, &[1.0, 1.0, 1.0, f32::NAN]);
        both.device.update_priorities(&both.stream, at.view(), of.view()).unwrap();
        let unknown = upload(&both.stream, &[1_u64, 20]);
        both.device.remove(&both.stream, unknown.view()).unwrap();
        let expected = both.host.insert_batch_with_priorities(&items.rows(both.row), &given).unwrap_err().to_string();
        assert_eq!(told(&mut both), expected);
        assert!(told(&mut both).starts_with("PrioritizedReplay::remove"));
        let expected = both.host.update_priorities(&handles, &[1.0, 1.0, 1.0, f32::NAN]).unwrap_err().to_string();
        assert_eq!(told(&mut both), expected);
        both.check();
    }
}

#[test]
fn handles_that_are_removed_twice_are_late() {
    let mut both = filled(30);
    for numbers in [[3, 5, 3, 29, 3], [5, 6, 7, 6, 8]] {
        let at = upload(&both.stream, &numbers);
        both.device.remove(&both.stream, at.view()).unwrap();
        both.stale += both.host.remove(&numbers.map(Handle::from_number)).unwrap().stale as u64;
        both.check();
    }
    assert_eq!(both.stale, 4);
}

#[test]
fn new_items_with_a_priority_that_cannot_be_change_nothing() {
    let mut both = filled(30);
    both.host.set_alpha(2.0).unwrap();
    both.device.set_alpha(&both.stream, 2.0).unwrap();
    // More than the ring holds: those that would be overwritten at once count too.
    for (n, at, wrong) in [(2, 1, -1.0), (40, 3, f32::NAN), (9000, 8999, f32::INFINITY), (5, 2, 1e30)] {
        let mut items = both.items(n, 3);
        items.priorities[at] = wrong;
        let on_device = items.upload(&both.stream);
        let (rows, priorities) = (on_device.rows(both.row), on_device.priorities.view());
        both.device.insert_batch_with_priorities(&both.stream, &rows, priorities).unwrap();
        let rows = items.rows(both.row);
        let expected = both.host.insert_batch_with_priorities(&rows, &items.priorities).unwrap_err().to_string();
        assert_eq!(told(&mut both), expected);
        both.check();
        both.run(&Step::Sample { batch: 0, beta: 0.5 });
        if wrong != 1e30 {
            let refused = both.device.insert_batch_from_host_with_priorities(&both.stream, &rows, &items.priorities);
            assert_eq!(refused.unwrap_err().to_string(), expected);
        }
    }
}

#[test]
fn many_new_items_at_once() {
    for priorities in [false, true] {
        let mut both = Both::new(stream(), Config::new(10_000), Ends::default(), (1, 1));
        for n in [9000, 9000, 25_000, 1] {
            both.run(&Step::Insert { n, seed: 2, priorities, from_host: false });
            both.run(&Step::Sample { batch: 1, beta: 1.0 });
        }
    }
}

#[test]
fn what_the_host_sees_is_refused() {
    let stream = stream();
    let mut columns = Columns::new();
    let reward = columns.add::<f32>("reward", 1).unwrap();
    let other = columns.add::<i32>("other", 2).unwrap();
    let new = |config: Config| PrioritizedReplay::new(&stream, config, columns.clone());
    let refused = new(Config { alpha: f32::NAN, ..Config::new(5) }).unwrap_err();
    assert!(matches!(refused, Error::Replay(replay::Error::Setting { name: "alpha", .. })), "{refused}");
    let mut device = new(Config::new(5)).unwrap();
    assert!(matches!(device.set_beta(&stream, 1.5), Err(Error::Replay(replay::Error::InvalidBeta { value: 1.5 }))));
    for alpha in [f32::NAN, f32::INFINITY, -0.5] {
        let refused = device.set_alpha(&stream, alpha).unwrap_err();
        assert!(matches!(refused, Error::Replay(replay::Error::Setting { name: "alpha", .. })), "{refused}");
    }
    assert_eq!(device.config().alpha, 0.6);
    let refused = device.sequences(&stream, 3, 0).unwrap_err();
    assert!(matches!(refused, Error::Replay(replay::Error::Setting { name: "steps", .. })), "{refused}");
    for (draws, steps) in [(2, 1 << 30), (0, usize::MAX), (usize::MAX, 2)] {
        let refused = device.sequences(&stream, draws, steps).unwrap_err();
        assert!(matches!(refused, Error::Replay(replay::Error::BatchTooLarge { .. })), "{refused}");
    }
    for draws in [1 << 31, usize::MAX] {
        let refused = device.batch(&stream, draws).unwrap_err();
        assert!(matches!(refused, Error::Replay(replay::Error::BatchTooLarge { .. })), "{refused}");
    }
    let short = device.read(&stream, Handle::from_number(0), other, &mut [0; 3]).unwrap_err();
    assert!(matches!(short, Error::Replay(replay::Error::LengthMismatch { expected: 2, got: 3, .. })), "{short}");
    // Rows as the CPU checks them.
    let (rewards, others) = (upload(&stream, &[1.0_f32; 3]), upload(&stream, &[1_i32; 6]));
    let [reward, short] = [rewards.view(), rewards.view().slice(0..2).unwrap()].map(|view| Rows::new(reward, view));
    let [other, part] = [others.view(), others.view().slice(0..5).unwrap()].map(|view| Rows::new(other, view));
    let missing = device.insert_batch(&stream, &[reward]).unwrap_err();
    assert!(matches!(missing, Error::Replay(replay::Error::ColumnMissing { .. })), "{missing}");
    let twice = device.insert_batch(&stream, &[reward, reward]).unwrap_err();
    assert!(matches!(twice, Error::Replay(replay::Error::ColumnTwice { .. })), "{twice}");
    let fewer = device.insert_batch(&stream, &[short, other]).unwrap_err();
    assert!(matches!(fewer, Error::Replay(replay::Error::RowCount { expected: 2, got: 3, .. })), "{fewer}");
    let parts = device.insert_batch(&stream, &[reward, part]).unwrap_err();
    assert!(matches!(parts, Error::Replay(replay::Error::RowLength { width: 2, elements: 5, .. })), "{parts}");
    assert_eq!((device.len(&stream).unwrap(), device.inserted(&stream).unwrap()), (0, 0));
    device.insert_batch(&stream, &[reward, other]).unwrap();
    assert_eq!((device.len(&stream).unwrap(), device.inserted(&stream).unwrap()), (3, 3));
    let mut foreign = filled(5).device.batch(&stream, 2).unwrap();
    let refused = device.sample_proportional(&stream, &mut foreign).unwrap_err();
    assert!(matches!(refused, Error::Replay(replay::Error::ForeignBatch)), "{refused}");
    let mut distinct = new(Config { draws: Draws::Distinct, ..Config::new(5) }).unwrap();
    let mut other = device.batch(&stream, 2).unwrap();
    let refused = distinct.sample_proportional(&stream, &mut other).unwrap_err();
    assert!(matches!(refused, Error::Replay(replay::Error::ForeignBatch)), "{refused}");
    let handles = upload(&stream, &[0_u64; 3]);
    let refused = device.update_priorities(&stream, handles.view(), rewards.view().slice(0..2).unwrap()).unwrap_err();
    assert!(matches!(refused, Error::Replay(replay::Error::LengthMismatch { expected: 3, got: 2, .. })), "{refused}");
}
