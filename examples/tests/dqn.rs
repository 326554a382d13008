//! The example `dqn`: its gradient, its bits, and what it remembers of an episode's end.

#![allow(dead_code)] // Of the program's modules.

#[path = "../dqn/agent.rs"]
mod agent;
#[path = "../dqn/learner.rs"]
mod learner;
#[path = "../dqn/network.rs"]
mod network;
#[path = "../dqn/options.rs"]
mod options;
#[path = "../dqn/run.rs"]
mod run;
#[path = "../dqn/streams.rs"]
mod streams;

use std::num::NonZeroU64;

use agent::Agent;
use arith::random::Stream;
use learner::{Learner, Sample};
use linalg::Par;
use options::Options;
use trainer::env::CartPole;
use trainer::schedule::Schedule;

/// The network of the example in f64 and in loops: values of all actions for one observation.
fn q64(sizes: &[usize], parameters: &[f64], x: &[f64]) -> Vec<f64> {
    let (mut y, mut rest) = (x.to_vec(), parameters);
    for (i, pair) in sizes.windows(2).enumerate() {
        let (weight, tail) = rest.split_at(pair[0] * pair[1]);
        let (bias, tail) = tail.split_at(pair[1]);
        let relu = |v: f64| if i + 2 < sizes.len() { v.max(0.0) } else { v };
        y = (0..pair[1])
            .map(|o| relu(bias[o] + (0..pair[0]).map(|j| weight[o * pair[0] + j] * y[j]).sum::<f64>()))
            .collect();
        rest = tail;
    }
    assert!(rest.is_empty());
    y
}

const SIZES: [usize; 4] = [4, 9, 7, 3];
const BATCH: usize = 37;
const HUBER: f64 = 1.5;

/// Numbers to learn from: every field has others.
struct Data {
    observations: Vec<f32>,
    actions: Vec<i32>,
    returns: Vec<f32>,
    discounts: Vec<f32>,
    next_observations: Vec<f32>,
    weights: Vec<f32>,
}

impl Data {
    fn new(seed: u64) -> Self {
        let normal = |stream: u64, len: usize, scale: f32| {
            let mut values = vec![0.0; len];
            Stream::new(seed, stream).fill_normal(0, &mut values);
            values.iter().map(|v| v * scale).collect::<Vec<f32>>()
        };
        let actions = Stream::new(seed, 100);
        Self {
            observations: normal(101, BATCH * 4, 1.0),
            actions: (0..BATCH as u64).map(|j| actions.bounded(j, 3) as i32).collect(),
            returns: normal(102, BATCH, 2.0),
            discounts: (0..BATCH).map(|j| if j % 5 == 0 { 0.0 } else { 0.97 }).collect(),
            next_observations: normal(103, BATCH * 4, 1.0),
            weights: normal(104, BATCH, 0.3).iter().map(|w| w.abs()).collect(),
        }
    }

    fn sample(&self) -> Sample<'_> {
        Sample {
            observations: &self.observations,
            actions: &self.actions,
            returns: &self.returns,
            discounts: &self.discounts,
            next_observations: &self.next_observations,
            weights: &self.weights,
        }
    }
}

fn wide(values: &[f32]) -> Vec<f64> {
    values.iter().map(|&v| f64::from(v)).collect()
}

/// The index of the largest.
fn best(values: &[f64]) -> usize {
    (0..values.len()).max_by(|&a, &b| values[a].total_cmp(&values[b])).unwrap()
}

/// TD errors in f64, the values of s' by `online` and `target`, those of s by `now`.
fn td64(data: &Data, double: bool, now: &[f64], online: &[f64], target: &[f64]) -> Vec<f64> {
    let row = |values: &[f32], j: usize| wide(&values[4 * j..][..4]);
    (0..BATCH)
        .map(|j| {
            let next = row(&data.next_observations, j);
            let value = q64(&SIZES, target, &next);
            let choice = best(&if double { q64(&SIZES, online, &next) } else { value.clone() });
            let q = q64(&SIZES, now, &row(&data.observations, j))[data.actions[j] as usize];
            f64::from(data.returns[j]) + f64::from(data.discounts[j]) * value[choice] - q
        })
        .collect()
}

fn loss64(data: &Data, td: &[f64]) -> f64 {
    let huber = |d: f64| if d.abs() <= HUBER { d * d / 2.0 } else { HUBER * (d.abs() - HUBER / 2.0) };
    td.iter().zip(&data.weights).map(|(&d, &w)| f64::from(w) * huber(d)).sum::<f64>() / BATCH as f64
}

#[test]
fn td_errors_loss_and_gradient_are_those_of_f64_and_of_finite_differences() {
    for double in [false, true] {
        let options = Options {
            hidden: SIZES[1..3].to_vec(),
            batch: BATCH,
            double,
            huber: HUBER as f32,
            target_interval: 4,
            target_rate: 0.3,
            ..Options::default()
        };
        let mut learner = Learner::new(&options, 4, 3, Par::Serial).unwrap();
        let initial = wide(learner.online.parameters());
        let mut target = initial.clone();
        // The networks part: the target follows after updates 4 and 8.
        for update in 0..10 {
            learner.update(&Data::new(20 + update).sample(), 0.02).unwrap();
            if update % 4 == 3 {
                let online = wide(learner.online.parameters());
                target.iter_mut().zip(online).for_each(|(t, o)| *t += f64::from(0.3_f32) * (o - *t));
            }
        }
        let data = Data::new(50);
        let loss = learner.differentiate(&data.sample()).unwrap();
        let online = wide(learner.online.parameters());
        let td = td64(&data, double, &online, &online, &target);

        // Roundings of 2^-24 each: products of at most 10 steps in three layers, on sums of terms below 40 in all.
        let rounding = 2_f64.powi(-24);
        for (j, (&got, &expected)) in learner.td_errors().iter().zip(&td).enumerate() {
            assert!((f64::from(got) - expected).abs() < 40.0 * 40.0 * rounding, "{double} {j}: {got} {expected}");
        }
        let expected = loss64(&data, &td);
        assert!((f64::from(loss) - expected).abs() < 40.0 * 40.0 * rounding, "{double}: {loss} {expected}");
        // Both branches of the loss, and both kinds of target.
        assert!(td.iter().any(|d| d.abs() < 1.4) && td.iter().any(|&d| d > 1.6) && td.iter().any(|&d| d < -1.6));

        // Central differences with the targets held fixed. The loss has kinks (relu, Huber), so only its first derivative
        // counts: a step of 2^-20 leaves 2^-53 / 2^-20 of rounding, and crosses a kink only where one is that close.
        let step = 2_f64.powi(-20);
        let gradient = learner.gradient();
        let names = learner.online.names();
        let mut checked = 0;
        for (name, range) in &names {
            let largest = gradient[range.clone()].iter().fold(0.0_f32, |most, g| most.max(g.abs()));
            assert!(largest > 0.0, "{name}");
            for i in range.clone() {
                let at = |offset: f64| {
                    let mut moved = online.clone();
                    moved[i] += offset;
                    loss64(&data, &td64(&data, double, &moved, &online, &target))
                };
                let expected = (at(step) - at(-step)) / (2.0 * step);
                let got = f64::from(gradient[i]);
                // Sums over the batch and three layers: below 64 roundings of terms that may cancel to a tenth.
                let tolerance = 640.0 * rounding * f64::from(largest) + 2_f64.powi(-30);
                assert!((got - expected).abs() < tolerance, "{double} {name} {i}: {got} {expected}");
                checked += 1;
            }
        }
        assert_eq!(checked, learner.online.parameters().len());
    }
}

#[test]
fn wrong_actions_and_lengths_are_refused() {
    let options = Options { hidden: vec![9], batch: BATCH, ..Options::default() };
    let mut learner = Learner::new(&options, 4, 3, Par::Serial).unwrap();
    let before = learner.online.parameters().to_vec();
    for wrong in [-1, 3] {
        let mut data = Data::new(1);
        data.actions[5] = wrong;
        let error = learner.update(&data.sample(), 0.1).unwrap_err().to_string();
        assert_eq!(error, format!("action {wrong} of transition 5"));
    }
    let data = Data::new(1);
    let short = Sample { weights: &data.weights[1..], ..data.sample() };
    assert!(learner.update(&short, 0.1).unwrap_err().to_string().contains("37 transitions"));
    let mut nan = Data::new(1);
    nan.returns[3] = f32::NAN;
    assert!(learner.update(&nan.sample(), 0.1).is_err());
    assert_eq!(learner.online.parameters(), before);
}

/// A short run.
fn small() -> Options {
    Options {
        total_steps: 4_000,
        hidden: vec![32, 24],
        capacity: 1_500,
        batch: 48,
        warmup: 400,
        n_step: 3,
        target_interval: 7,
        target_rate: 0.1,
        evaluate_every: 2_000,
        evaluation_episodes: 10,
        ..Options::default()
    }
}

/// Digest of the weights after a run.
fn digest(options: &Options, par: Par) -> String {
    run::train(options, true, par, |_| CartPole::new(), |_| ()).unwrap().digest
}

#[test]
fn the_same_seed_gives_the_same_bits_on_any_number_of_threads() {
    let first = digest(&small(), Par::Serial);
    assert_eq!(digest(&small(), Par::Serial), first);
    assert_ne!(digest(&Options { seed: 2, ..small() }, Par::Serial), first);
    assert_ne!(digest(&Options { alpha: 0.0, ..small() }, Par::Serial), first);

    // Wide enough for products to be cut.
    let large = Options { total_steps: 600, hidden: vec![256, 256], batch: 512, ..small() };
    let serial = digest(&large, Par::Serial);
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert_eq!(pool.install(|| digest(&large, Par::Rayon)), serial, "{threads} threads");
    }
}

/// The child of the test below.
#[test]
#[ignore = "run by the_bits_do_not_depend_on_the_instruction_set, in a process of its own"]
fn child() {
    test_support::isa::print(arith::simd::Isa::detect(), &digest(&small(), Par::Serial));
}

#[test]
fn the_bits_do_not_depend_on_the_instruction_set() {
    let expected = digest(&small(), Par::Serial);
    test_support::isa::assert_same_bits(&expected, arith::simd::Isa::detect());
}

#[test]
fn a_transition_leads_to_its_own_episodes_observation_and_only_termination_ends_the_return() {
    let (environments, steps, limit) = (3, 3, NonZeroU64::new(12).unwrap());
    let options = Options {
        environments,
        n_step: steps,
        hidden: vec![8],
        batch: 256,
        capacity: 4_096,
        warmup: 4_096,
        epsilon: Schedule::Constant { value: 1.0 },
        ..Options::default()
    };
    let discount = options.discount;
    let mut agent = Agent::new(options, Par::Serial, |_| CartPole::with_time_limit(limit)).unwrap();
    for _ in 0..400 {
        agent.step().unwrap();
    }
    let (replay, fields) = (&mut agent.replay, agent.fields);
    assert_eq!(replay.len(), 1_200);
    let items: Vec<_> = (0..1_200)
        .map(|number| {
            let handle = per_core::replay::Handle::from_number(number);
            let (mut from, mut to, mut terminated, mut truncated) = ([0.0; 4], [0.0; 4], [0], [0]);
            assert!(replay.read(handle, fields.observation, &mut from).unwrap());
            assert!(replay.read(handle, fields.next_observation, &mut to).unwrap());
            assert!(replay.read(handle, fields.terminated, &mut terminated).unwrap());
            assert!(replay.read(handle, fields.truncated, &mut truncated).unwrap());
            (from, to, terminated[0] != 0, truncated[0] != 0)
        })
        .collect();
    let (mut fell, mut cut) = (0, 0);
    for (item, next) in items.iter().zip(&items[environments..]) {
        let &(_, to, terminated, truncated) = item;
        // x, x', theta, theta' at a start are within 0.05 of zero; a pole that fell is at more than 12 degrees or 2.4 m.
        assert_eq!(to == next.0, !(terminated || truncated));
        assert_eq!(to[0].abs() >= 2.4 || to[2].abs() > 0.2094, terminated);
        fell += usize::from(terminated);
        cut += usize::from(truncated && !terminated);
    }
    assert!(fell > 10 && cut > 10, "{fell} fell, {cut} were cut off");

    // What a batch bootstraps on: follow each drawn transition by hand.
    let mut batch = replay.batch(256).unwrap();
    replay.sample_proportional(&mut batch, 1.0).unwrap();
    let mut kinds = [0; 3];
    for (j, handle) in batch.handles().iter().enumerate() {
        let mut at = handle.number() as usize;
        let mut span = 1;
        while span < steps && !(items[at].2 || items[at].3) && at + environments < items.len() {
            at += environments;
            span += 1;
        }
        let (_, to, terminated, truncated) = items[at];
        // Rewards are 1.
        let powers: Vec<f32> = (0..=span).map(|k| (0..k).fold(1.0, |power, _| power * discount)).collect();
        let expected: f32 = powers[1..span].iter().fold(1.0, |sum, power| sum + power);
        assert_eq!(batch.returns()[j], expected, "{j}");
        assert_eq!(batch.discounts()[j], if terminated { 0.0 } else { powers[span] }, "{j}");
        assert_eq!(batch.rows(fields.next_observation).unwrap()[4 * j..][..4], to, "{j}");
        kinds[if terminated { 0 } else { 1 + usize::from(truncated) }] += 1;
    }
    assert!(kinds.iter().all(|&count| count > 5), "{kinds:?}");
}

#[test]
fn it_solves_cartpole() {
    let run = run::train(&Options::default(), false, Par::Serial, |_| CartPole::new(), |_| ()).unwrap();
    assert!(run.solved.is_some(), "{:?}", run.points.last());
}

#[test]
fn options_that_can_not_be_are_refused_by_name() {
    assert_eq!(Options::parse("").unwrap(), Options::default());
    assert_eq!(Options::parse("n_step = 5\nepsilon = 0.1").unwrap().epsilon, Schedule::Constant { value: 0.1 });
    let cases = [
        ("environments = 0", "environments is 0"),
        ("batch = 0", "batch is 0"),
        ("hidden = [0]", "hidden has a layer of 0 units"),
        ("warmup = 60000", "warmup is 60000"),
        ("total_steps = 0", "total_steps is 0"),
        ("target_interval = 0", "target_interval is 0"),
        ("huber = 0.0", "huber is 0"),
        ("huber = inf", "huber is inf"),
        ("target_rate = 0.0", "target_rate is 0"),
        ("target_rate = nan", "target_rate is NaN"),
        ("epsilon = 1.5", "epsilon is 1.5"),
        ("alpha = -1.0", "alpha"),
        ("beta = 2.0", "beta 2"),
        ("n_step = 0", "n_step"),
        ("discount = 1.5", "discount"),
        ("capacity = 0\nwarmup = 0", "capacity is 0"),
    ];
    for (text, expected) in cases {
        let options = Options::parse(text).unwrap();
        let error = Agent::new(options, Par::Serial, |_| CartPole::new()).err().map(|e| format!("{e:#}"));
        assert!(error.as_ref().is_some_and(|e| e.contains(expected)), "{text}: {error:?}");
    }
    for text in ["hiden = [3]", "batch = -1", "alpha = \"much\""] {
        assert!(Options::parse(text).is_err(), "{text}");
    }
}
