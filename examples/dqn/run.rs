//! A whole run: training, with evaluations on the way.

use std::time::{Duration, Instant};

use anyhow::Result;
use linalg::Par;
use serde::Serialize;
use sha2::{Digest, Sha256};
use trainer::env::Env;

use crate::agent::{Agent, evaluate};
use crate::network::Network;
use crate::options::Options;

/// What an evaluation on the way told: a line of the metrics.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Point {
    pub(crate) seed: u64,
    pub(crate) alpha: f32,
    /// Environment steps so far.
    pub(crate) steps: u64,
    /// Updates so far.
    pub(crate) updates: u64,
    /// Mean return of greedy episodes, each evaluation's own.
    pub(crate) evaluation: f64,
    /// Mean return of the training episodes that ended since the last evaluation; null if none did.
    pub(crate) training: Option<f64>,
    /// Of the last update.
    pub(crate) loss: f32,
    /// Of the last update, before clipping.
    pub(crate) grad_norm: f32,
    pub(crate) epsilon: f32,
    pub(crate) beta: f32,
}

/// What a run leaves.
pub(crate) struct Run {
    pub(crate) options: Options,
    pub(crate) points: Vec<Point>,
    /// Steps and time of the first evaluation that reached the score.
    pub(crate) solved: Option<(u64, Duration)>,
    /// Mean return of greedy episodes that no evaluation had seen before.
    pub(crate) score: f64,
    pub(crate) time: Duration,
    /// SHA-256 of the weights (f32, little-endian).
    pub(crate) digest: String,
}

/// Trains for `options.total_steps`, or until an evaluation reaches the score where `all_steps` is false. `hear` gets each
/// evaluation.
pub(crate) fn train<E: Env>(
    options: &Options,
    all_steps: bool,
    par: Par,
    make: fn(usize) -> E,
    mut hear: impl FnMut(&Point),
) -> Result<Run> {
    let begin = Instant::now();
    let mut agent = Agent::new(options.clone(), par, make)?;
    let mut points = Vec::new();
    let mut solved = None;
    let mut episodes = 0;
    let mut play = |network: &Network| {
        let first = episodes;
        episodes += options.evaluation_episodes as u64;
        evaluate(network, options.seed, first, options.evaluation_episodes, make)
    };
    while agent.steps() < options.total_steps && (all_steps || solved.is_none()) {
        let before = agent.steps() / options.evaluate_every;
        agent.step()?;
        if agent.steps() / options.evaluate_every == before {
            continue;
        }
        let point = Point {
            seed: options.seed,
            alpha: options.alpha,
            steps: agent.steps(),
            updates: agent.learner.updates(),
            evaluation: play(&agent.learner.online)?,
            training: agent.take_mean_return(),
            loss: agent.figures().loss,
            grad_norm: agent.figures().grad_norm,
            epsilon: agent.epsilon(),
            beta: agent.beta(),
        };
        hear(&point);
        if solved.is_none() && point.evaluation >= options.score {
            solved = Some((agent.steps(), begin.elapsed()));
        }
        points.push(point);
    }
    let score = play(&agent.learner.online)?;
    let time = begin.elapsed();
    Ok(Run { options: options.clone(), points, solved, score, time, digest: digest(&agent.learner.online) })
}

fn digest(network: &Network) -> String {
    let bytes: Vec<u8> = network.parameters().iter().flat_map(|p| p.to_le_bytes()).collect();
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
