//! A tour of `per_core::replay`: what a prioritized replay buffer remembers, draws, weighs and forgets.
//!
//! `cargo run --release --example prioritized_replay`
//!
//! Four environments put their steps into a ring of 64 items. The program prints what each call does; everything that it
//! prints is the same on every machine. `dqn` beside it is a whole agent on this buffer.

use anyhow::{Context, Result, ensure};
use per_core::replay::{
    BetaSchedule, Column, Columns, Config, Episodes, Error, Handle, NStep, PrioritizedReplay, Weights,
};

const CAPACITY: usize = 64;
const ENVIRONMENTS: usize = 4;

/// What an item consists of.
#[derive(Clone, Copy)]
struct Fields {
    observation: Column<f32>,
    action: Column<i32>,
    reward: Column<f32>,
    next_observation: Column<f32>,
    terminated: Column<u8>,
    truncated: Column<u8>,
}

fn main() -> Result<()> {
    let (mut replay, fields) = columns_and_settings()?;
    let first = insert_one(&mut replay, fields)?;
    insert_steps(&mut replay, fields, 1..16)?;
    draw(&mut replay, fields)?;
    late_update(&mut replay, fields, first)?;
    n_step_returns(&mut replay, fields)?;
    sequences(&mut replay, fields)?;
    remove(&mut replay)?;
    change_alpha(&mut replay)?;
    importance_weights()?;
    save_and_load(&mut replay)
}

fn columns_and_settings() -> Result<(PrioritizedReplay, Fields)> {
    println!("-- Columns: rows of any width, of f32, bf16, u8 or i32");
    let mut columns = Columns::new();
    let fields = Fields {
        observation: columns.add("observation", 2)?,
        action: columns.add("action", 1)?,
        reward: columns.add("reward", 1)?,
        // Of the last item of an n-step return, where the others are of its first.
        next_observation: columns.add_last("next_observation", 2)?,
        terminated: columns.add("terminated", 1)?,
        truncated: columns.add("truncated", 1)?,
    };
    for (name, dtype, width, at) in columns.iter() {
        println!("{name}: {width} x {dtype}, of an n-step return's {at:?}");
    }
    let config = Config {
        alpha: 0.6,
        seed: 2016,
        environments: ENVIRONMENTS,
        episodes: Some(Episodes { terminated: fields.terminated, truncated: Some(fields.truncated) }),
        n_step: Some(NStep { steps: 3, discount: 0.5, reward: fields.reward }),
        ..Config::new(CAPACITY)
    };
    let replay = PrioritizedReplay::new(config, columns)?;
    println!("a ring of {} items of {} bytes\n", replay.capacity(), replay.columns().item_bytes());
    Ok((replay, fields))
}

/// The first step of the first environment, then those of the three others.
fn insert_one(replay: &mut PrioritizedReplay, fields: Fields) -> Result<Handle> {
    println!("-- Insert: one item, with the priority that a new one has; with one of its own; as a batch");
    let mut handles = Vec::new();
    for environment in 0..2 {
        let (observation, action, next) = ([0.0, environment as f32], [environment], [1.0, environment as f32]);
        let rows = [
            fields.observation.rows(&observation),
            fields.action.rows(&action),
            fields.reward.rows(&[1.0]),
            fields.next_observation.rows(&next),
            fields.terminated.rows(&[0]),
            fields.truncated.rows(&[0]),
        ];
        handles.push(if environment == 0 { replay.insert(&rows)? } else { replay.insert_with_priority(&rows, 2.0)? });
    }
    for handle in &handles {
        println!("item {} has priority {:?}", handle.number(), replay.priority(*handle).context("it is there")?);
    }
    // What can't be is refused with its place, and nothing has changed.
    match replay.insert(&[fields.action.rows(&[3, 4])]) {
        Err(error @ Error::RowCount { .. }) => println!("refused: {error}"),
        other => anyhow::bail!("{other:?}"),
    }
    let rows = Step::new(0, 2);
    let more = replay.insert_batch(&rows.rows(fields))?;
    println!("and {} more as a batch: the largest priority there, {:?}\n", more.len(), replay.max_priority());
    handles.first().copied().context("two were inserted")
}

/// One step of the environments `first..`: environment e's observation at step t is (t, e).
struct Step {
    observations: Vec<f32>,
    actions: Vec<i32>,
    rewards: Vec<f32>,
    next_observations: Vec<f32>,
    terminated: Vec<u8>,
    truncated: Vec<u8>,
}

impl Step {
    /// Environment 1 terminates at step 13; environment 2 is cut off there.
    fn new(t: u16, first: u16) -> Self {
        let each = || first..ENVIRONMENTS as u16;
        Self {
            observations: each().flat_map(|e| [f32::from(t), f32::from(e)]).collect(),
            actions: each().map(i32::from).collect(),
            rewards: each().map(|_| 1.0).collect(),
            next_observations: each().flat_map(|e| [f32::from(t + 1), f32::from(e)]).collect(),
            terminated: each().map(|e| (t == 13 && e == 1).into()).collect(),
            truncated: each().map(|e| (t == 13 && e == 2).into()).collect(),
        }
    }

    fn rows(&self, fields: Fields) -> [per_core::replay::Rows<'_>; 6] {
        [
            fields.observation.rows(&self.observations),
            fields.action.rows(&self.actions),
            fields.reward.rows(&self.rewards),
            fields.next_observation.rows(&self.next_observations),
            fields.terminated.rows(&self.terminated),
            fields.truncated.rows(&self.truncated),
        ]
    }
}

fn insert_steps(replay: &mut PrioritizedReplay, fields: Fields, steps: std::ops::Range<u16>) -> Result<()> {
    println!("-- Steps of {ENVIRONMENTS} environments at a time: item i is followed by item i + {ENVIRONMENTS}");
    for t in steps {
        let handles = replay.insert_batch(&Step::new(t, 0).rows(fields))?;
        // The priorities that a learner might have sent; the last step's stay as new ones have them.
        if t < 15 {
            let handles: Vec<Handle> = handles.collect();
            let td_errors: Vec<f32> = (1..=4).map(|e| f32::from(t) * 0.05 * e as f32).collect();
            replay.update_priorities(&handles, &td_errors)?;
        }
    }
    println!("{} items; sum of priority^alpha {:.4}", replay.len(), replay.total_priority());
    println!("the largest priority is {:?}\n", replay.max_priority());
    Ok(())
}

fn draw(replay: &mut PrioritizedReplay, fields: Fields) -> Result<()> {
    println!("-- Draw in proportion to priority^alpha, learn, and send the TD errors back");
    let beta = BetaSchedule::new(0.4, 1.0, 100)?;
    // Made once; draws allocate nothing.
    let mut batch = replay.batch(8)?;
    for step in [0, 50, 100] {
        replay.sample_proportional(&mut batch, beta.at(step))?;
        println!("beta {:.1}: items {:?}", beta.at(step), numbers(batch.handles()));
        println!("  weights {:.3?}", batch.weights());
        println!("  actions {:?}", batch.rows(fields.action)?);
        let td_errors = vec![0.25; batch.len()];
        let outcome = replay.update_priorities(batch.handles(), &td_errors)?;
        println!("  priorities updated: {}, stale: {}", outcome.applied, outcome.stale);
    }
    println!("draws made: {}\n", replay.draws_made());
    Ok(())
}

fn late_update(replay: &mut PrioritizedReplay, fields: Fields, first: Handle) -> Result<()> {
    println!("-- A handle names its item for ever: a late update of one that is gone does nothing");
    let slot = replay.slot(first);
    replay.insert_batch(&Step::new(16, 0).rows(fields))?;
    let newer = slot.and_then(|slot| replay.handle(slot)).context("the slot is taken")?;
    println!("slot {slot:?} had item {}, now item {}", first.number(), newer.number());
    let before = replay.priority(newer);
    let outcome = replay.update_priorities(&[first, newer], &[9.0, 0.5])?;
    println!("update of both: applied {}, stale {}", outcome.applied, outcome.stale);
    println!("priority of item {}: {before:?}, then {:?}\n", newer.number(), replay.priority(newer));
    Ok(())
}

fn n_step_returns(replay: &mut PrioritizedReplay, fields: Fields) -> Result<()> {
    println!("-- 3-step returns, computed when they are drawn: R, and D that the value of `next` counts");
    // Step 12 of all environments alone: one step before an episode ends for two of them.
    let of_step_12: Vec<Handle> = (0..4).map(|e| Handle::from_number(12 * 4 + e)).collect();
    let batch = draw_only(replay, &of_step_12, 4)?;
    for (j, next) in batch.matrix(fields.next_observation)?.rows().into_iter().enumerate() {
        println!(
            "item {}: {} rewards, R = {}, D = {}, next = {next}",
            batch.handles()[j].number(),
            batch.spans()[j],
            batch.returns()[j],
            batch.discounts()[j]
        );
    }
    println!();
    Ok(())
}

/// A batch of `handles` and no others, from a copy of the replay in which only they have a priority.
fn draw_only(replay: &PrioritizedReplay, handles: &[Handle], draws: usize) -> Result<per_core::replay::Batch> {
    let mut copy = replay.clone();
    let all: Vec<Handle> = (0..copy.capacity()).filter_map(|slot| copy.handle(slot)).collect();
    copy.set_priorities(&all, &vec![0.0; all.len()])?;
    copy.set_priorities(handles, &vec![1.0; handles.len()])?;
    let mut batch = copy.batch(draws)?;
    copy.sample_proportional(&mut batch, 1.0)?;
    Ok(batch)
}

fn sequences(replay: &mut PrioritizedReplay, fields: Fields) -> Result<()> {
    println!("-- Sequences: an item and those after it in its environment, up to the end of its episode");
    let mut batch = replay.sequences(3, 4)?;
    replay.sample_proportional(&mut batch, 1.0)?;
    let observations = batch.sequence(fields.observation)?;
    for (b, sequence) in observations.outer_iter().enumerate() {
        let steps: Vec<f32> = sequence.column(0).iter().take(batch.lengths()[b] as usize).copied().collect();
        println!("item {}: steps {steps:?} of environment {}", batch.handles()[b].number(), sequence[[0, 1]]);
    }
    println!();
    Ok(())
}

fn remove(replay: &mut PrioritizedReplay) -> Result<()> {
    println!("-- Remove: never drawn again");
    let gone = Handle::from_number(replay.inserted() - 1);
    let before = replay.len();
    let outcome = replay.remove(&[gone, gone])?;
    println!("removed {} (the second time it was stale: {})", outcome.applied, outcome.stale);
    println!("{before} items, then {}; contains it: {}\n", replay.len(), replay.contains(gone));
    Ok(())
}

fn change_alpha(replay: &mut PrioritizedReplay) -> Result<()> {
    println!("-- Alpha can change: the priorities are kept, their powers made anew");
    let item = Handle::from_number(20);
    for alpha in [0.0, 1.0, 0.6] {
        replay.set_alpha(alpha)?;
        println!("alpha {alpha}: item 20 has probability {:.5}", replay.probability(item).context("it is there")?);
    }
    println!();
    Ok(())
}

fn importance_weights() -> Result<()> {
    println!("-- Importance weights divided by the largest of the buffer, of the batch, or not at all");
    for weights in [Weights::OverBuffer, Weights::OverBatch, Weights::Unnormalized] {
        let mut columns = Columns::new();
        let value = columns.add::<f32>("value", 1)?;
        let mut replay = PrioritizedReplay::new(Config { alpha: 1.0, weights, ..Config::new(4) }, columns)?;
        let priorities = [0.25, 1.0, 2.0, 4.0];
        replay.insert_batch_with_priorities(&[value.rows(&priorities)], &priorities)?;
        let mut batch = replay.batch(4)?;
        replay.sample_proportional(&mut batch, 1.0)?;
        println!("{weights:?}: priorities {:?}, weights {:.4?}", batch.rows(value)?, batch.weights());
    }
    println!();
    Ok(())
}

fn save_and_load(replay: &mut PrioritizedReplay) -> Result<()> {
    println!("-- Save and load: the next draws are the same, bit for bit");
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("replay.safetensors");
    replay.save(&path)?;
    let mut loaded = PrioritizedReplay::load(&path)?;
    // Columns are found by name and type.
    let observation: Column<f32> = loaded.columns().find("observation")?;
    let (mut here, mut there) = (replay.batch(8)?, loaded.batch(8)?);
    for _ in 0..100 {
        replay.sample_proportional(&mut here, 0.7)?;
        loaded.sample_proportional(&mut there, 0.7)?;
        let bits = |weights: &[f32]| weights.iter().map(|w| w.to_bits()).collect::<Vec<_>>();
        ensure!(here.handles() == there.handles(), "other items were drawn");
        ensure!(bits(here.weights()) == bits(there.weights()), "other weights");
        ensure!(here.rows(observation)? == there.rows(observation)?, "other rows");
    }
    println!("items {:?}", numbers(here.handles()));
    println!("items {:?}", numbers(there.handles()));
    println!("100 batches were equal");
    Ok(())
}

fn numbers(handles: &[Handle]) -> Vec<u64> {
    handles.iter().map(|handle| handle.number()).collect()
}
