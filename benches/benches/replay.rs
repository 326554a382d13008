//! Prioritized replay, 2^20 items, batches of 1,024: draws with weights and rows, updates, insertions.
//!
//! `cargo bench --bench replay` runs criterion; `cargo bench --bench replay -- --peers` prints medians as the lines that
//! `benches/peers` prints. One thread. Priorities are uniform in (0, 1]; items, TD errors and rows are other ones each time.

use arith::random::{Stream, uniform_positive};
use lockstep_benches::turns::{self, Case, Work};
use per_core::replay::{Batch, Column, Columns, Config, Draws, Handle, NStep, PrioritizedReplay, Rows};
use std::hint::black_box;

const CAPACITY: usize = 1 << 20;
const BATCH: usize = 1024;
/// Batches that take turns: more items together than a core's caches hold.
const BATCHES: usize = 256;
const BETA: f32 = 0.4;

fn uniform(seed: u64, n: usize) -> Vec<f32> {
    let stream = Stream::new(seed, 0);
    (0..n as u64).map(|i| uniform_positive(stream.word(i))).collect()
}

/// Observation (4), action, reward; with `next` also the next observation (4) and whether the episode terminated.
#[derive(Clone, Copy)]
struct Transition {
    observation: Column<f32>,
    action: Column<i32>,
    reward: Column<f32>,
    next: Option<(Column<f32>, Column<u8>)>,
}

impl Transition {
    fn columns(next: bool) -> (Columns, Self) {
        let mut columns = Columns::new();
        let transition = (|| {
            Ok::<_, per_core::replay::Error>(Self {
                observation: columns.add("observation", 4)?,
                action: columns.add("action", 1)?,
                reward: columns.add("reward", 1)?,
                next: if next {
                    Some((columns.add_last("next_observation", 4)?, columns.add("terminated", 1)?))
                } else {
                    None
                },
            })
        })();
        (columns, transition.expect("columns"))
    }

    fn rows<'a>(&self, floats: &'a [f32], integers: &'a [i32], flags: &'a [u8]) -> Vec<Rows<'a>> {
        let n = integers.len();
        let mut rows = vec![
            self.observation.rows(&floats[..4 * n]),
            self.action.rows(integers),
            self.reward.rows(&floats[4 * n..5 * n]),
        ];
        if let Some((observation, terminated)) = self.next {
            rows.extend([observation.rows(&floats[n..5 * n]), terminated.rows(flags)]);
        }
        rows
    }
}

/// A full replay.
fn full(next: bool, change: impl FnOnce(&mut Config, Transition)) -> (PrioritizedReplay, Transition) {
    let (columns, transition) = Transition::columns(next);
    let mut config = Config::new(CAPACITY);
    change(&mut config, transition);
    let mut replay = PrioritizedReplay::new(config, columns).expect("settings");
    for start in (0..CAPACITY).step_by(BATCH) {
        let floats = uniform(7 + start as u64, 5 * BATCH);
        let integers: Vec<i32> = (0..BATCH as i32).collect();
        let rows = transition.rows(&floats, &integers, &[0; BATCH]);
        let priorities = uniform(start as u64, BATCH);
        replay.insert_batch_with_priorities(&rows, &priorities).expect("rows");
    }
    (replay, transition)
}

/// Batches of items and of values in turn.
#[derive(Default)]
struct Turns(usize);

impl Turns {
    fn next(&mut self) -> (usize, usize) {
        self.0 += 1;
        (self.0 % BATCHES, self.0 % (BATCHES + 1))
    }
}

fn sample(replay: PrioritizedReplay, steps: usize) -> Work {
    let mut replay = replay;
    let mut batch: Batch = replay.sequences(BATCH / steps, steps).expect("a batch");
    Box::new(move || replay.sample_proportional(black_box(&mut batch), BETA).expect("items"))
}

fn cases() -> Vec<Case> {
    let (replay, transition) = full(false, |_, _| ());
    let (with_next, _) = full(true, |_, _| ());
    let (n_step, _) = full(true, |config, transition| {
        config.n_step = Some(NStep { steps: 3, discount: 0.99, reward: transition.reward });
    });
    let draws = |draws| full(false, |config, _| config.draws = draws).0;
    let (mut updated, mut inserted, mut single) = (replay.clone(), replay.clone(), replay.clone());
    // One batch of values more than of items: an item doesn't get the same value again.
    let values = uniform(4, BATCH * (BATCHES + 1));
    let td_errors = values.clone();
    let drawn: Vec<Handle> = {
        let mut replay = replay.clone();
        let mut batch = replay.batch(BATCH * BATCHES).expect("a batch");
        replay.sample_proportional(&mut batch, BETA).expect("items");
        // In the order of draws, not of slots.
        let stream = Stream::new(9, 0);
        let mut handles = batch.handles().to_vec();
        (1..handles.len()).for_each(|i| handles.swap(i, stream.bounded(i as u64, i as u64 + 1) as usize));
        handles
    };
    let batch = |turn: usize| turn * BATCH..(turn + 1) * BATCH;
    let mut turns = Turns::default();
    let update = move || {
        let (turn, value) = turns.next();
        updated.update_priorities(black_box(&drawn[batch(turn)]), &td_errors[batch(value)]).expect("a batch");
    };
    let (floats, integers) = (uniform(5, 5 * BATCH * BATCHES), vec![1; BATCH]);
    let (few, one, priorities) = (floats.clone(), vec![1], values.clone());
    let mut turns = Turns::default();
    let insert = move || {
        let (turn, value) = turns.next();
        let rows = transition.rows(&floats[5 * turn * BATCH..], &integers, &[]);
        inserted.insert_batch_with_priorities(black_box(&rows), &priorities[batch(value)]).expect("rows");
    };
    let mut turns = Turns::default();
    let insert_one = move || {
        let (turn, value) = turns.next();
        let row = &few[5 * turn..5 * turn + 5];
        let rows =
            [transition.observation.rows(&row[..4]), transition.action.rows(&one), transition.reward.rows(&row[4..])];
        single.insert_with_priority(black_box(&rows), values[value]).expect("a row");
    };
    let memory = (replay.memory(), CAPACITY as f64);
    for (task, bytes) in
        [("replay_memory", memory.0.priorities), ("replay_memory_all", memory.0.priorities + memory.0.rows)]
    {
        if turns::is_for_peers() {
            let value = bytes as f64 / memory.1;
            println!(
                "{{\"peer\": \"lockstep\", \"task\": \"{task}\", \"shape\": \"{CAPACITY}\", \"threads\": 1, \"unit\": \"B/item\", \
                 \"value\": {value:.2}}}"
            );
        }
    }
    let case = |task, shape: &str, elements, work| Case { task, shape: shape.into(), elements, work };
    vec![
        case("replay_sample", "1024of1048576 obs4/act/rew", BATCH, sample(replay, 1)),
        case("replay_sample", "1024of1048576 obs4/act/rew/next4/done", BATCH, sample(with_next.clone(), 1)),
        case("replay_sample_independent", "1024of1048576 obs4/act/rew", BATCH, sample(draws(Draws::Independent), 1)),
        case("replay_sample_distinct", "1024of1048576 obs4/act/rew", BATCH, sample(draws(Draws::Distinct), 1)),
        case("replay_sample_3_steps", "1024of1048576 obs4/act/rew/next4/done", BATCH, sample(n_step, 1)),
        case("replay_sample_sequences", "64x16of1048576 obs4/act/rew/next4/done", BATCH, sample(with_next, 16)),
        case("replay_update", "1024of1048576", BATCH, Box::new(update)),
        case("replay_insert", "1024of1048576", BATCH, Box::new(insert)),
        case("replay_insert", "1of1048576", 1, Box::new(insert_one)),
    ]
}

fn main() {
    turns::run(cases());
}
