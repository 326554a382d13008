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
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

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
    /// Seed of the run.
    #[arg(long)]
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
    #[arg(long, conflicts_with_all = ["resume", "config", "seed", "steps", "out"])]
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

/// Episodes that the score is averaged over.
const EPISODES: usize = 100;

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
            eprintln!("error: {error:#}");
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
    fs::write(out.join("config.toml"), toml::to_string(trainer.config())?).context("cannot write config.toml")?;

    // On resume the metrics of the updates before the checkpoint stay.
    let metrics_path = out.join("metrics.jsonl");
    let mut history = earlier(&metrics_path, trainer.updates())?;
    let mut metrics_file = BufWriter::new(File::create(&metrics_path).context("cannot write metrics.jsonl")?);
    for metrics in &history {
        write_line(&mut metrics_file, metrics)?;
    }

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
    while !trainer.is_finished() && (args.all_steps || solved.is_none()) {
        let metrics = match trainer.update() {
            Ok(metrics) => metrics,
            Err(error) => {
                // Nothing is lost: the last checkpoint and all metrics stay on the disk.
                metrics_file.flush()?;
                bar.abandon();
                return Err(error).with_context(|| format!("training stopped at step {}", trainer.steps()));
            }
        };
        write_line(&mut metrics_file, &metrics)?;
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
        // Greedy play runs ahead of the sampled returns, so ask for the score from 80 % of it on.
        if solved.is_none() && metrics.mean_return >= 0.8 * env.score() && metrics.mean_return > best_evaluated {
            best_evaluated = metrics.mean_return;
            let mean = trainer.evaluate(EPISODES, make)?.mean_return();
            evaluations.push((trainer.steps(), mean));
            if mean >= env.score() {
                solved = Some((trainer.steps(), begin.elapsed(), mean));
            }
        }
        history.push(metrics);
        if trainer.updates() % 64 == 0 {
            trainer.save(&checkpoint)?;
        }
    }
    metrics_file.flush()?;
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

/// The metrics of the updates before `updates`, where the folder holds any.
fn earlier(path: &Path, updates: u64) -> Result<Vec<Metrics>> {
    let mut history = Vec::new();
    if updates == 0 || !path.exists() {
        return Ok(history);
    }
    let file = OpenOptions::new().read(true).open(path).with_context(|| format!("cannot read {}", path.display()))?;
    for (number, line) in BufReader::new(file).lines().enumerate() {
        let metrics: Metrics = serde_json::from_str(&line?)
            .with_context(|| format!("{}: line {} is not a metrics object", path.display(), number + 1))?;
        if metrics.update < updates {
            history.push(metrics);
        }
    }
    Ok(history)
}

fn write_line(file: &mut impl Write, metrics: &Metrics) -> Result<()> {
    serde_json::to_writer(&mut *file, metrics)?;
    writeln!(file)?;
    Ok(())
}
