//! Trains a minGRU policy with PPO on the CPU.
//!
//! ```text
//! cargo run --release --example mini_trainer                          # CartPole, to its solved score
//! cargo run --release --example mini_trainer -- --env repeat-previous --threads 2 --out runs/memory
//! cargo run --release --example mini_trainer -- --resume runs/cartpole/checkpoint.safetensors --steps 1000000
//! cargo run --release --example mini_trainer -- --eval runs/cartpole/checkpoint.safetensors
//! ```
//!
//! The folder `--out` gets `config.toml`, `metrics.jsonl` (one JSON object an update), `learning_curve.png` and
//! `checkpoint.safetensors`. The checkpoint's bits depend on the configuration alone: not on `--threads`, and not on
//! whether the run was stopped and resumed on the way.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::{Parser, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use trainer::env::{CartPole, Env, RepeatPrevious};
use trainer::{Config, Metrics, Trainer};

mod mini_trainer_plot;

/// Trains a minGRU policy with PPO on the CPU.
#[derive(Parser)]
struct Args {
    /// The environment.
    #[arg(long, value_enum)]
    env: Option<Environment>,
    /// Environment steps to train for at most; training ends earlier once the score is reached.
    #[arg(long)]
    steps: Option<u64>,
    /// Seed of the run, below 2^63 (TOML's largest integer).
    #[arg(long, value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    seed: Option<u64>,
    /// Threads; they change the speed and nothing else. Default: one for each core.
    #[arg(long)]
    threads: Option<usize>,
    /// Folder for metrics, picture and checkpoint.
    #[arg(long)]
    out: Option<PathBuf>,
    /// Goes on with this checkpoint's run, with its configuration.
    #[arg(long, conflicts_with_all = ["config", "seed"])]
    resume: Option<PathBuf>,
    /// Takes the configuration from this TOML file; fields that it lacks keep their defaults.
    #[arg(long)]
    config: Option<PathBuf>,
    /// Plays 100 episodes with this checkpoint's policy and trains nothing.
    #[arg(long, conflicts_with_all = ["resume", "config", "seed", "steps", "out", "all_steps"])]
    eval: Option<PathBuf>,
    /// Trains for all steps, even once the score is reached.
    #[arg(long)]
    all_steps: bool,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Environment {
    /// Balance a pole on a cart (Gymnasium's CartPole-v1): solved at a mean return of 475.
    Cartpole,
    /// Answer the symbol that was shown some steps ago: needs memory.
    RepeatPrevious,
}

/// One JSON object an update.
const METRICS: &str = "metrics.jsonl";

/// Episodes that the score is averaged over.
const EPISODES: usize = 100;

/// A checkpoint is written after so many updates, or after so long.
const SAVE_EVERY: (u64, Duration) = (64, Duration::from_secs(10));

impl Environment {
    fn name(self) -> &'static str {
        match self {
            Self::Cartpole => "cartpole",
            Self::RepeatPrevious => "repeat-previous",
        }
    }

    fn of(spec_name: &str) -> Result<Self> {
        for env in [Self::Cartpole, Self::RepeatPrevious] {
            let name = match env {
                Self::Cartpole => CartPole::new().spec().name,
                Self::RepeatPrevious => repeat_previous(0).spec().name,
            };
            if name == spec_name {
                return Ok(env);
            }
        }
        bail!("the checkpoint is of an environment named {spec_name:?}, which this program does not know")
    }

    /// A configuration that solves the environment, and the mean return at which it counts as solved.
    fn defaults(self) -> Config {
        let text = match self {
            Self::Cartpole => include_str!("configs/cartpole.toml"),
            Self::RepeatPrevious => include_str!("configs/repeat_previous.toml"),
        };
        toml::from_str(text).expect("the shipped configurations are valid; a test reads them")
    }

    fn score(self) -> f64 {
        match self {
            Self::Cartpole => 475.0,
            Self::RepeatPrevious => 0.95 * repeat_previous(0).spec().best_return.unwrap_or(1.0),
        }
    }
}

/// Two symbols, to be remembered for four steps, in episodes of 32 steps.
fn repeat_previous(_: usize) -> RepeatPrevious {
    RepeatPrevious::new(4, 2, 32).expect("these parameters are valid")
}

fn main() -> ExitCode {
    match start(Args::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(2),
        Err(error) => {
            // Some errors' texts hold their cause's.
            let mut text = String::new();
            for cause in error.chain().map(ToString::to_string) {
                if !text.ends_with(&cause) {
                    text += if text.is_empty() { "" } else { ": " };
                    text += &cause;
                }
            }
            eprintln!("error: {text}");
            ExitCode::FAILURE
        }
    }
}

fn start(args: Args) -> Result<bool> {
    let file = args.resume.as_deref().or(args.eval.as_deref());
    let env = match (args.env, file) {
        (asked, Some(path)) => {
            let found = Environment::of(&trainer::checkpoint_environment(path)?)?;
            if asked.is_some_and(|asked| asked != found) {
                bail!(
                    "{} is a run of {}, not of {}",
                    path.display(),
                    found.name(),
                    asked.map_or("", Environment::name)
                );
            }
            found
        }
        (Some(asked), None) => asked,
        (None, None) => Environment::Cartpole,
    };
    match env {
        Environment::Cartpole => run(&args, env, |_| CartPole::new()),
        Environment::RepeatPrevious => run(&args, env, repeat_previous),
    }
}

/// Trains or evaluates; true if the score was reached.
fn run<E: Env>(args: &Args, env: Environment, make: fn(usize) -> E) -> Result<bool> {
    let threads = match args.threads {
        Some(threads) => threads,
        None => std::thread::available_parallelism().map_or(1, |n| n.get()),
    };
    if let Some(path) = &args.eval {
        let trainer = Trainer::resume(path, threads, make)?;
        let evaluation = trainer.evaluate(EPISODES, make)?;
        let mean = evaluation.mean_return();
        println!("{}: mean return {mean:.2} over {EPISODES} episodes (score: {})", env.name(), env.score());
        return Ok(mean >= env.score());
    }
    let mut trainer = match &args.resume {
        Some(path) => {
            let mut trainer = Trainer::resume(path, threads, make)?;
            if let Some(steps) = args.steps {
                trainer.set_total_steps(steps)?;
            }
            trainer
        }
        None => {
            let mut config = match &args.config {
                Some(path) => {
                    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
                    toml::from_str(&text).with_context(|| format!("{} is not a configuration", path.display()))?
                }
                None => env.defaults(),
            };
            config.total_steps = args.steps.unwrap_or(config.total_steps);
            config.seed = args.seed.unwrap_or(config.seed);
            Trainer::new(config, threads, make)?
        }
    };
    let out = match (&args.out, &args.resume) {
        (Some(out), _) => out.clone(),
        (None, Some(path)) => path.parent().unwrap_or(Path::new("")).to_owned(),
        (None, None) => Path::new("runs").join(env.name()),
    };
    fs::create_dir_all(&out).with_context(|| format!("cannot make the folder {}", out.display()))?;
    let checkpoint = out.join("checkpoint.safetensors");
    let text = toml::to_string(trainer.config()).context("the configuration can't be written as TOML")?;
    fs::write(out.join("config.toml"), text).context("cannot write config.toml")?;

    // On resume the metrics of the updates before the checkpoint stay.
    let mut history = match &args.resume {
        Some(path) => earlier(&path.with_file_name(METRICS), trainer.updates())?,
        None => Vec::new(),
    };
    let mut metrics_file = start_metrics(&out, &history)?;
    // From here on the folder is this run's, whenever it is stopped.
    trainer.save(&checkpoint)?;
    let mut saved = Instant::now();

    let total = trainer.config().updates() * trainer.config().steps_per_update();
    let bar = ProgressBar::new(total).with_position(trainer.steps());
    bar.set_style(ProgressStyle::with_template("{bar:30} {pos}/{len} steps  {msg}")?);
    println!(
        "{}: {} environments x {} steps, {} parameters, {threads} threads -> {}",
        env.name(),
        trainer.config().environments,
        trainer.config().horizon,
        trainer.parameters().len(),
        out.display()
    );
    let (begin, first_step) = (Instant::now(), trainer.steps());
    let mut solved = None;
    let mut evaluations = Vec::new();
    let mut best_evaluated = f64::NEG_INFINITY;
    // Greedy play runs ahead of the sampled returns, so ask for the score from 80 % of it on.
    let promising = |mean_return: f64, best: f64| mean_return >= 0.8 * env.score() && mean_return > best;
    for metrics in &history {
        // What a run that never stopped would have evaluated, so that both end at the same update.
        if promising(metrics.mean_return, best_evaluated) {
            best_evaluated = metrics.mean_return;
        }
    }
    while !trainer.is_finished() && (args.all_steps || solved.is_none()) {
        let metrics = match trainer.update() {
            Ok(metrics) => metrics,
            Err(error) => {
                // The last checkpoint and all metrics stay on the disk.
                bar.abandon();
                return Err(error).with_context(|| format!("training stopped at step {}", trainer.steps()));
            }
        };
        metrics_file.write_all(line(&metrics)?.as_bytes()).context("cannot write metrics.jsonl")?;
        let rate = (trainer.steps() - first_step) as f64 / begin.elapsed().as_secs_f64();
        bar.set_position(trainer.steps());
        bar.set_message(format!(
            "{:.0}k steps/s  return {:.1}  policy {:+.4}  value {:.3}  entropy {:.3}  KL {:.4}  clipped {:.1}%",
            rate / 1e3,
            metrics.mean_return,
            metrics.policy_loss,
            metrics.value_loss,
            metrics.entropy,
            metrics.approx_kl,
            metrics.clip_fraction * 100.0
        ));
        if solved.is_none() && promising(metrics.mean_return, best_evaluated) {
            best_evaluated = metrics.mean_return;
            let mean = trainer.evaluate(EPISODES, make)?.mean_return();
            evaluations.push((trainer.steps(), mean));
            if mean >= env.score() {
                solved = Some((trainer.steps(), begin.elapsed(), mean));
            }
        }
        history.push(metrics);
        if trainer.updates() % SAVE_EVERY.0 == 0 || saved.elapsed() >= SAVE_EVERY.1 {
            trainer.save(&checkpoint)?;
            saved = Instant::now();
        }
    }
    bar.finish();
    trainer.save(&checkpoint)?;
    if let Some((steps, time, mean)) = solved {
        println!("solved after {steps} steps, {:.2} s: mean return {mean:.2}", time.as_secs_f64());
    }
    let mean = trainer.evaluate(EPISODES, make)?.mean_return();
    evaluations.push((trainer.steps(), mean));
    let picture = out.join("learning_curve.png");
    mini_trainer_plot::learning_curve(&picture, env.name(), env.score(), &history, &evaluations)?;
    println!("mean return {mean:.2} over {EPISODES} evaluation episodes (score: {})", env.score());
    println!("wrote config.toml, metrics.jsonl, learning_curve.png and checkpoint.safetensors to {}", out.display());
    Ok(mean >= env.score())
}

/// The metrics of the updates before `updates`, where there are any.
fn earlier(path: &Path, updates: u64) -> Result<Vec<Metrics>> {
    let mut history = Vec::new();
    if updates == 0 || !path.exists() {
        return Ok(history);
    }
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        // A run that was stopped while it wrote leaves half a line at the end.
        let Some(line) = line.strip_suffix('\n') else { break };
        let metrics: Metrics = serde_json::from_str(line)
            .with_context(|| format!("{}: line {} is not a metrics object", path.display(), number + 1))?;
        if metrics.update < updates {
            history.push(metrics);
        }
    }
    Ok(history)
}

/// Starts `metrics.jsonl` with `history`. The old file stays whole until the new one is.
fn start_metrics(out: &Path, history: &[Metrics]) -> Result<File> {
    let (path, new) = (out.join(METRICS), out.join(".metrics.jsonl.tmp"));
    let text = history.iter().map(line).collect::<Result<String>>()?;
    fs::write(&new, text).with_context(|| format!("cannot write {}", new.display()))?;
    fs::rename(&new, &path).with_context(|| format!("cannot write {}", path.display()))?;
    OpenOptions::new().append(true).open(&path).with_context(|| format!("cannot write {}", path.display()))
}

fn line(metrics: &Metrics) -> Result<String> {
    Ok(serde_json::to_string(metrics)? + "\n")
}
