//! The weights are a function of the configuration: not of threads, and not of stops on the way.

use trainer::env::{CartPole, RepeatPrevious};
use trainer::{Config, Metrics, PolicyConfig, PriorityConfig, Trainer, schedule::Schedule};

fn small(layers: usize, alpha: f32) -> Config {
    Config {
        seed: 7,
        // Two groups, the second one short; segments that are not a multiple of a block of rows.
        environments: 37,
        horizon: 20,
        segment: 10,
        total_steps: 37 * 20 * 20,
        policy: PolicyConfig { encoder: vec![24, 17], layers },
        epochs: 2,
        minibatches: 3,
        learning_rate: Schedule::Linear { from: 3e-3, to: 1e-4, over: 20 },
        priority: PriorityConfig { alpha, ..PriorityConfig::default() },
        ..Config::default()
    }
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|v| v.to_bits()).collect()
}

/// Parameters, metrics and the checkpoint of a whole run.
fn finish(config: &Config, threads: usize) -> (Vec<u32>, Vec<Metrics>, Vec<u8>) {
    let mut trainer = Trainer::new(config.clone(), threads, |_| CartPole::new()).unwrap();
    let mut metrics = Vec::new();
    while !trainer.is_finished() {
        metrics.push(trainer.update().unwrap());
    }
    assert_eq!(metrics.len(), 20);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.safetensors");
    trainer.save(&path).unwrap();
    (bits(trainer.parameters()), metrics, std::fs::read(path).unwrap())
}

#[test]
fn weights_after_20_updates_do_not_depend_on_threads() {
    for (layers, alpha) in [(0, 0.0), (1, 0.0), (2, 0.7)] {
        let config = small(layers, alpha);
        let (expected, expected_metrics, expected_file) = finish(&config, 1);
        for threads in [2, 3, 8] {
            let (got, metrics, file) = finish(&config, threads);
            assert_eq!(got, expected, "layers {layers}, alpha {alpha}, {threads} threads");
            assert_eq!(metrics.last(), expected_metrics.last());
            assert!(file == expected_file, "layers {layers}, alpha {alpha}, {threads} threads");
        }
    }
}

#[test]
fn runs_repeat_from_their_seed() {
    let config = small(1, 0.0);
    assert_eq!(finish(&config, 1).0, finish(&config, 1).0);
    let other = Config { seed: 8, ..config.clone() };
    assert_ne!(finish(&config, 1).0, finish(&other, 1).0);
}

#[test]
fn case_31_ratios_of_the_first_minibatch_are_exactly_1() {
    for layers in [0, 1, 2] {
        let mut trainer = Trainer::new(small(layers, 0.0), 2, |_| RepeatPrevious::default()).unwrap();
        for _ in 0..5 {
            let metrics = trainer.update().unwrap();
            assert_eq!(metrics.first_ratio, [1.0, 1.0]);
            assert_eq!(metrics.first_kl, 0.0);
        }
    }
}

#[test]
fn case_35_stopped_and_resumed_equals_uninterrupted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.safetensors");
    for (layers, alpha) in [(0, 0.0), (2, 0.5)] {
        let config = small(layers, alpha);
        let (expected, expected_metrics, expected_file) = finish(&config, 2);
        // Stop twice, and change the number of threads on the way.
        let mut trainer = Trainer::new(config, 1, |_| CartPole::new()).unwrap();
        let mut metrics = Vec::new();
        for stop in [6, 13, 20] {
            while trainer.updates() < stop {
                metrics.push(trainer.update().unwrap());
            }
            trainer.save(&path).unwrap();
            trainer = Trainer::resume(&path, stop as usize % 3 + 1, |_| CartPole::new()).unwrap();
        }
        assert!(trainer.is_finished());
        assert_eq!(bits(trainer.parameters()), expected);
        for (a, b) in metrics.iter().zip(&expected_metrics) {
            assert_eq!(serde_json::to_string(a).unwrap(), serde_json::to_string(b).unwrap());
        }
        // The last file is that of the run that never stopped, and the same once read and written again.
        let other = folder.path().join("other.safetensors");
        trainer.save(&other).unwrap();
        assert!(std::fs::read(&path).unwrap() == expected_file);
        assert!(std::fs::read(&other).unwrap() == expected_file);
    }
}

#[test]
fn evaluation_changes_nothing_and_repeats() {
    let mut trainer = Trainer::new(small(1, 0.0), 2, |_| CartPole::new()).unwrap();
    trainer.update().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (folder.path().join("a"), folder.path().join("b"));
    trainer.save(&a).unwrap();
    let first = trainer.evaluate(40, |_| CartPole::new()).unwrap();
    assert_eq!(first, trainer.evaluate(40, |_| CartPole::new()).unwrap());
    assert_eq!(first.episodes.len(), 40);
    trainer.save(&b).unwrap();
    assert_eq!(std::fs::read(a).unwrap(), std::fs::read(b).unwrap());
}
