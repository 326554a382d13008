//! Lockstep's side of the comparison with peers: JSON lines in the form that `benches/peers` uses.
//!
//! ```text
//! cargo run --release -p lockstep-benches --bin measure -- ppo solve
//! cargo run --release -p lockstep-benches --bin measure -- ppo:mlp64x2_4epochs
//! ```

use std::time::Instant;

use lockstep_benches::ppo::{self, Policy, Variant};
use serde_json::json;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let tasks: Vec<String> = std::env::args().skip(1).collect();
    for task in &tasks {
        let (task, shape) = task.split_once(':').unwrap_or((task, ""));
        match task {
            "ppo" => ppo_speed(shape)?,
            "solve" => ppo_solve()?,
            other => return Err(format!("no task is named {other:?}; there are ppo and solve").into()),
        }
    }
    Ok(())
}

/// Median and minimum of `samples`, in seconds.
fn summary(samples: &mut [f64]) -> (f64, f64) {
    samples.sort_by(f64::total_cmp);
    (samples[samples.len() / 2], samples[0])
}

/// Environment steps per second of whole updates, after five to warm up.
fn ppo_speed(shape: &str) -> Result<(), Box<dyn std::error::Error>> {
    for variant in Variant::ALL.into_iter().filter(|v| v.name().contains(shape)) {
        for threads in [1, 2] {
            let mut trainer = ppo::trainer(variant, threads)?;
            for _ in 0..5 {
                trainer.update()?;
            }
            let mut samples = Vec::new();
            for _ in 0..60 {
                let begin = Instant::now();
                trainer.update()?;
                samples.push(begin.elapsed().as_secs_f64());
            }
            let (median, min) = summary(&mut samples);
            let steps = trainer.config().steps_per_update() as f64;
            println!(
                "{}",
                json!({
                    "peer": "lockstep", "task": "ppo_speed", "shape": variant.name(), "threads": threads,
                    "median_s": median, "min_s": min, "unit": "steps/s", "value": steps / median,
                })
            );
        }
    }
    Ok(())
}

/// Wall time and steps until 100 greedy episodes have a mean return of 475, for three seeds.
fn ppo_solve() -> Result<(), Box<dyn std::error::Error>> {
    for policy in Policy::ALL {
        for threads in [1, 2] {
            for seed in [1, 2, 3] {
                let solved = ppo::solve(policy, seed, threads)?;
                println!(
                    "{}",
                    json!({
                        "peer": format!("lockstep {}", policy.name()), "task": "ppo_solve",
                        "shape": format!("seed{seed}"), "threads": threads, "unit": "s", "value": solved.seconds,
                        "steps": solved.steps, "mean_return": solved.mean_return,
                    })
                );
            }
        }
    }
    Ok(())
}
