//! A prioritized replay on a GPU: what a learner does at each step is recorded once as a graph and replayed, and all of it is
//! compared with the CPU's replay bit for bit.
//!
//! The learner is one that predicts 0 everywhere, so that the TD error of an item is its three-step return.
//!
//! Run: `cargo run --release -p per-core --features cuda --example cuda_replay`. Without a CUDA driver it says so; the emulated
//! one, which `cargo xtask test` leaves in `target/cuda-emu`, serves with `LD_LIBRARY_PATH=target/cuda-emu`.

use arith::random;
use gpu::{Buffer, Device, Graph};
use per_core::cuda::replay::{Error, PrioritizedReplay, Rows};
use per_core::replay::{self, BetaSchedule, Columns, Config, Episodes, NStep};
use std::process::ExitCode;

const CAPACITY: usize = 10_000;
const ENVIRONMENTS: usize = 16;
const BATCH: usize = 256;
const STEPS: u64 = 200;
const OBSERVATION: usize = 8;

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// A step of all environments.
struct Step {
    observations: Vec<f32>,
    rewards: Vec<f32>,
    terminated: Vec<u8>,
}

impl Step {
    fn new(number: u64) -> Self {
        let draws = random::Stream::new(7, number);
        let mut observations = vec![0.0; ENVIRONMENTS * OBSERVATION];
        draws.fill_normal(0, &mut observations);
        let rewards = observations.iter().step_by(OBSERVATION).copied().collect();
        let terminated = (0..ENVIRONMENTS as u64).map(|i| u8::from(draws.bounded(1000 + i, 20) == 0)).collect();
        Self { observations, rewards, terminated }
    }
}

/// Whether all results were the CPU's.
fn run() -> Result<bool, Error> {
    let device = Device::new(0)?;
    let stream = device.stream()?;
    println!("device: {}", device.name()?);

    let mut columns = Columns::new();
    let observation = columns.add::<f32>("observation", OBSERVATION)?;
    let reward = columns.add::<f32>("reward", 1)?;
    let terminated = columns.add::<u8>("terminated", 1)?;
    let config = Config {
        environments: ENVIRONMENTS,
        episodes: Some(Episodes { terminated, truncated: None }),
        n_step: Some(NStep { steps: 3, discount: 0.99, reward }),
        ..Config::new(CAPACITY)
    };
    let mut on_device = PrioritizedReplay::new(&stream, config.clone(), columns.clone())?;
    let mut on_host = replay::PrioritizedReplay::new(config, columns)?;
    let (mut batch, mut expected) = (on_device.batch(&stream, BATCH)?, on_host.batch(BATCH)?);
    let beta = BetaSchedule::new(0.4, 1.0, STEPS * BATCH as u64)?;

    // Where environments on the device would leave their step.
    let mut observations = Buffer::<f32>::zeroed(&stream, ENVIRONMENTS * OBSERVATION)?;
    let mut rewards = Buffer::<f32>::zeroed(&stream, ENVIRONMENTS)?;
    let mut ends = Buffer::<u8>::zeroed(&stream, ENVIRONMENTS)?;
    let step = Graph::capture(&stream, |stream| -> Result<(), Error> {
        on_device.insert_batch(
            stream,
            &[
                Rows::new(observation, observations.view()),
                Rows::new(reward, rewards.view()),
                Rows::new(terminated, ends.view()),
            ],
        )?;
        on_device.sample_proportional(stream, &mut batch)?;
        on_device.update_priorities(stream, batch.handles(), batch.returns())
    })?;
    println!("recorded {} operations", step.operations());

    let mut same = true;
    for number in 0..STEPS {
        let Step { observations: seen, rewards: earned, terminated: ended } = Step::new(number);
        observations.view_mut().write(&stream, &seen)?;
        rewards.view_mut().write(&stream, &earned)?;
        ends.view_mut().write(&stream, &ended)?;
        let beta = beta.at(number * BATCH as u64);
        on_device.set_beta(&stream, beta)?;
        step.launch(&stream)?;

        on_host.insert_batch(&[observation.rows(&seen), reward.rows(&earned), terminated.rows(&ended)])?;
        on_host.sample_proportional(&mut expected, beta)?;
        on_host.update_priorities(expected.handles(), expected.returns())?;
        same &= batch.indices().to_vec(&stream)? == expected.indices()
            && bits(&batch.weights().to_vec(&stream)?) == bits(expected.weights())
            && bits(&batch.returns().to_vec(&stream)?) == bits(expected.returns())
            && bits(&batch.rows(observation)?.to_vec(&stream)?) == bits(expected.rows(observation)?);
    }
    on_device.check(&stream)?;
    let (got, wanted) = (on_device.total_priority(&stream)?, on_host.total_priority());
    same &= got.to_bits() == wanted.to_bits();
    println!("{STEPS} steps, {} items, total priority {got}", on_device.len(&stream)?);
    println!("{}", if same { "all with the CPU's bits" } else { "other bits than the CPU's" });
    Ok(same)
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}
