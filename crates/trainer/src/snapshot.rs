//! A run as a checkpoint, and back.

use std::fmt::Display;
use std::path::Path;

use crate::checkpoint::Checkpoint;
use crate::config::Config;
use crate::env::{Env, Episode};
use crate::error::Error;
use crate::trainer::{Trainer, WINDOW};

/// Metadata keys.
const CONFIGURATION: &str = "configuration";
const ENVIRONMENT: &str = "environment";

/// Name of the environment that the checkpoint `path` is of ([`crate::env::Spec::name`]).
///
/// # Errors
/// [`Error::Checkpoint`] where the file is damaged or not a checkpoint of a run.
pub fn checkpoint_environment(path: &Path) -> Result<String, Error> {
    Ok(Checkpoint::load(path)?.metadata(ENVIRONMENT)?.to_owned())
}

pub(crate) fn save<E: Env>(run: &Trainer<E>, path: &Path) -> Result<(), Error> {
    let mut file = Checkpoint::new();
    let text = serde_json::to_string(&run.config).map_err(|e| not_json(path, e))?;
    // What is read back must be this very configuration.
    if serde_json::from_str::<Config>(&text).ok().as_ref() != Some(&run.config) {
        return Err(not_json(path, "not the same after a round trip"));
    }
    file.put_metadata(CONFIGURATION, &text)?;
    file.put_metadata(ENVIRONMENT, &run.spec.name)?;
    file.put("updates", &[], &[run.updates])?;
    for p in &run.plan.layout().parameters {
        file.put(&p.name, &p.shape, &run.learner.parameters[p.range.clone()])?;
    }
    let adam = &run.learner.adam;
    file.put("adam.step", &[], &[adam.steps()])?;
    for p in &run.plan.layout().parameters {
        file.put(&format!("adam.first.{}", p.name), &p.shape, &adam.first_moments()[p.range.clone()])?;
        file.put(&format!("adam.second.{}", p.name), &p.shape, &adam.second_moments()[p.range.clone()])?;
    }
    let words = run.envs.save();
    file.put("environments", &[words.len()], &words)?;
    let (layers, n, h) = (run.config.policy.layers, run.config.environments, run.plan.layout().hidden);
    let mut state = vec![0.0; layers * n * h];
    let mut keep = vec![0.0; n];
    run.plan.rollout.carried(&mut state, &mut keep);
    file.put("state", &[layers, n, h], &state)?;
    file.put("keep", &[n], &keep)?;
    let returns: Vec<u64> = run.recent.iter().map(|e| e.total.to_bits()).collect();
    let lengths: Vec<u64> = run.recent.iter().map(|e| e.length).collect();
    file.put("recent.returns_f64", &[returns.len()], &returns)?;
    file.put("recent.lengths", &[lengths.len()], &lengths)?;
    file.save_atomic(path)?;
    Ok(())
}

pub(crate) fn resume<E: Env>(path: &Path, threads: usize, make: impl FnMut(usize) -> E) -> Result<Trainer<E>, Error> {
    let file = Checkpoint::load(path)?;
    let config: Config = serde_json::from_str(file.metadata(CONFIGURATION)?).map_err(|e| not_json(path, e))?;
    let mut run = Trainer::new(config, threads, make)?;
    let mismatch = |what: &str, expected: &dyn Display, got: &dyn Display| Error::Mismatch {
        path: path.display().to_string(),
        what: what.into(),
        expected: expected.to_string(),
        got: got.to_string(),
    };
    let environment = file.metadata(ENVIRONMENT)?;
    if environment != run.spec.name {
        return Err(mismatch("environment", &run.spec.name, &environment));
    }
    let finite = |name: &str, values: &[f32]| match values.iter().position(|v| !v.is_finite()) {
        Some(i) => Err(mismatch(&format!("{name}, element {i}"), &"a finite number", &values[i])),
        None => Ok(()),
    };
    run.updates = file.scalar("updates")?;
    // The number of the next update, and of the steps so far, must be numbers that a run can have.
    if run.updates.checked_mul(run.config.steps_per_update()).is_none_or(|steps| steps > 1 << 53) {
        return Err(mismatch("number of updates", &"at most 2^53 steps", &run.updates));
    }
    let layout = run.plan.layout().clone();
    let (mut first, mut second) = (vec![0.0; layout.len], vec![0.0; layout.len]);
    for p in &layout.parameters {
        for (name, to) in [
            (p.name.clone(), &mut run.learner.parameters),
            (format!("adam.first.{}", p.name), &mut first),
            (format!("adam.second.{}", p.name), &mut second),
        ] {
            let values = file.tensor::<f32>(&name, &p.shape)?;
            finite(&name, &values)?;
            to[p.range.clone()].copy_from_slice(&values);
        }
    }
    run.learner.adam.restore(&first, &second, file.scalar("adam.step")?)?;
    run.envs.load(&file.vector::<u64>("environments")?)?;
    let (layers, n) = (run.config.policy.layers, run.config.environments);
    let state = file.tensor::<f32>("state", &[layers, n, layout.hidden])?;
    let keep = file.tensor::<f32>("keep", &[n])?;
    finite("state", &state)?;
    if let Some(i) = keep.iter().position(|&k| k != 0.0 && k != 1.0) {
        return Err(mismatch(&format!("keep, element {i}"), &"0 or 1", &keep[i]));
    }
    run.plan.rollout.carry(&state, &keep);
    let returns = file.vector::<u64>("recent.returns_f64")?;
    let lengths = file.vector::<u64>("recent.lengths")?;
    if returns.len() != lengths.len() || returns.len() > WINDOW {
        return Err(mismatch("number of recent episodes", &format!("at most {WINDOW}"), &returns.len()));
    }
    if let Some(i) = returns.iter().position(|&r| !f64::from_bits(r).is_finite()) {
        return Err(mismatch(&format!("recent return {i}"), &"a finite number", &f64::from_bits(returns[i])));
    }
    let episodes = returns.iter().zip(&lengths);
    run.recent.extend(episodes.map(|(&total, &length)| Episode { total: f64::from_bits(total), length }));
    Ok(run)
}

fn not_json(path: &Path, reason: impl Display) -> Error {
    Error::Mismatch {
        path: path.display().to_string(),
        what: "configuration".into(),
        expected: "one that this version reads".into(),
        got: reason.to_string(),
    }
}
