//! A task that needs memory: a minGRU layer solves it, a memoryless policy can't.

use trainer::env::{Env, RepeatPrevious};
use trainer::{Config, PolicyConfig, Trainer, schedule::Schedule};

/// Mean return of greedy play after `steps` steps of training, and the best that is possible.
fn train(layers: usize, steps: u64) -> (f64, f64) {
    let config = Config {
        seed: 3,
        environments: 64,
        horizon: 32,
        total_steps: steps,
        policy: PolicyConfig { encoder: vec![32], layers },
        learning_rate: Schedule::Constant { value: 4e-3 },
        ..Config::default()
    };
    let make = |_| RepeatPrevious::default();
    let mut trainer = Trainer::new(config, 2, make).unwrap();
    while !trainer.is_finished() {
        trainer.update().unwrap();
    }
    let best = make(0).spec().best_return.unwrap();
    (trainer.evaluate(100, make).unwrap().mean_return(), best)
}

#[test]
fn a_mingru_layer_solves_repeat_previous_and_no_layer_cannot() {
    let (with, best) = train(1, 400_000);
    assert!(with > 0.95 * best, "{with} of {best}");
    let (without, _) = train(0, 400_000);
    // Chance is half of the answers: no policy without memory does better than that in expectation.
    assert!(without < 0.65 * best, "{without} of {best}");
}
