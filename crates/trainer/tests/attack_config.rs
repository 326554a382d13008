//! Attacks on configurations: extremes run, and what can't run is a typed error before anything is allocated.

use trainer::env::CartPole;
use trainer::{Config, Error, PolicyConfig, PriorityConfig, Trainer, schedule::Schedule};

fn config() -> Config {
    Config {
        environments: 3,
        horizon: 8,
        total_steps: 48,
        policy: PolicyConfig { encoder: vec![6], layers: 1 },
        minibatches: 3,
        epochs: 1,
        ..Config::default()
    }
}

fn start(config: Config) -> Result<Trainer<CartPole>, Error> {
    Trainer::new(config, 1, |_| CartPole::new())
}

fn constant(value: f32) -> Schedule {
    Schedule::Constant { value }
}

#[test]
fn sizes_that_no_memory_holds_are_errors_and_not_aborts() {
    let policy = |width, depth, layers| PolicyConfig { encoder: vec![width; depth], layers };
    for config in [
        Config { policy: policy(1 << 16, 1, 64), environments: 1, horizon: 1, minibatches: 1, ..config() },
        Config { policy: policy(1 << 16, 1000, 0), environments: 1, horizon: 1, minibatches: 1, ..config() },
        // States of every segment.
        Config { policy: policy(4096, 1, 64), environments: 1 << 10, horizon: 1 << 10, segment: 1, ..config() },
    ] {
        let error = start(config).err().expect("accepted");
        assert!(matches!(error, Error::Memory { .. } | Error::Config { field: "policy.encoder", .. }), "{error}");
    }
    for (config, field) in [
        (Config { epochs: usize::MAX, ..config() }, "epochs"),
        (Config { epochs: 1 << 20, ..config() }, "epochs"),
        (Config { total_steps: u64::MAX, ..config() }, "total_steps"),
        (Config { environments: 1 << 40, ..config() }, "environments"),
        (Config { horizon: usize::MAX, ..config() }, "environments"),
        (Config { segment: usize::MAX, ..config() }, "segment"),
        (Config { minibatches: usize::MAX, ..config() }, "minibatches"),
        (Config { policy: policy(usize::MAX, 1, 1), ..config() }, "policy.encoder"),
        (Config { policy: policy(6, 1, usize::MAX), ..config() }, "policy.layers"),
    ] {
        // Sizes of a configuration that nobody has checked don't overflow.
        let _ = (config.segments(), config.steps_per_update(), config.updates());
        match start(config).err().expect("accepted") {
            Error::Config { field: named, .. } => assert_eq!(named, field),
            error => panic!("{error}"),
        }
    }
}

#[test]
fn numbers_out_of_range_are_errors_that_name_the_field() {
    let bad = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -1.0, 1e30];
    for value in bad {
        let priority = |alpha, beta| PriorityConfig { alpha, beta: constant(beta) };
        for (config, field) in [
            (Config { gamma: value, ..config() }, "gamma"),
            (Config { lambda: value, ..config() }, "lambda"),
            (Config { adam_beta1: value, ..config() }, "adam_beta1"),
            (Config { adam_beta2: value, ..config() }, "adam_beta2"),
            (Config { adam_epsilon: value, ..config() }, "adam_epsilon"),
            (Config { weight_decay: value, ..config() }, "weight_decay"),
            (Config { learning_rate: constant(value), ..config() }, "learning_rate"),
            (Config { entropy_coefficient: constant(value * 1e4), ..config() }, "entropy_coefficient"),
            (Config { priority: priority(value, 0.5), ..config() }, "priority.alpha"),
            (Config { priority: priority(0.5, value), ..config() }, "priority.beta"),
        ] {
            match start(config).err().expect("accepted") {
                Error::Config { field: named, .. } => assert_eq!(named, field),
                error => panic!("{error}"),
            }
        }
    }
    // A schedule that leaves its range within the run, and one that does only after it.
    let rate = |over| Config { learning_rate: Schedule::Linear { from: 0.1, to: -0.1, over }, ..config() };
    assert!(start(rate(1)).is_err());
    let mut trainer = start(rate(4)).unwrap();
    for _ in 0..3 {
        trainer.update().unwrap();
    }
    let (parameters, words) = (trainer.parameters().to_vec(), trainer.updates());
    let error = trainer.update().unwrap_err();
    assert!(matches!(error, Error::Config { field: "learning_rate", .. }), "{error}");
    // Nothing was changed, so the run can still be saved.
    assert_eq!((trainer.parameters(), trainer.updates()), (&*parameters, words));
    let folder = tempfile::tempdir().unwrap();
    trainer.save(&folder.path().join("x")).unwrap();
}

#[test]
fn extremes_in_range_run() {
    let policy = |encoder: &[usize], layers| PolicyConfig { encoder: encoder.to_vec(), layers };
    let wide = Config { policy: policy(&[1024], 0), ..config() };
    for (name, config) in [
        ("one of everything", Config { environments: 1, horizon: 1, minibatches: 1, total_steps: 2, ..config() }),
        ("a row a minibatch", Config { segment: 1, minibatches: 24, ..config() }),
        ("narrow", Config { policy: policy(&[1, 1, 1, 1], 1), ..config() }),
        ("wide", wide),
        ("deep", Config { policy: policy(&[3], 64), ..config() }),
        ("alpha 16", Config { priority: PriorityConfig { alpha: 16.0, beta: constant(1.0) }, segment: 2, ..config() }),
        ("nothing learnt", Config { learning_rate: constant(0.0), ..config() }),
        (
            "large bounds",
            Config {
                clip: constant(1e30),
                value_clip: 1e30,
                max_grad_norm: 1e18,
                entropy_coefficient: constant(-1e3),
                ..config()
            },
        ),
        (
            "small bounds",
            Config {
                clip: constant(f32::MIN_POSITIVE),
                value_clip: f32::MIN_POSITIVE,
                max_grad_norm: f32::MIN_POSITIVE,
                adam_epsilon: f32::MIN_POSITIVE,
                ..config()
            },
        ),
        ("no discount", Config { gamma: 0.0, lambda: 0.0, ..config() }),
        ("no decay", Config { gamma: 1.0, lambda: 1.0, adam_beta1: 0.0, adam_beta2: 0.0, ..config() }),
        ("full decay", Config { weight_decay: 1.0, learning_rate: constant(1.0), ..config() }),
    ] {
        let mut trainer = start(config).unwrap();
        while !trainer.is_finished() {
            let metrics = trainer.update().unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!((metrics.first_ratio, metrics.first_kl), ([1.0; 2], 0.0), "{name}");
        }
        assert!(trainer.parameters().iter().all(|p| p.is_finite()), "{name}");
    }
}

#[test]
fn losses_beyond_the_range_are_errors_and_not_infinite_weights() {
    for config in [
        Config { value_coefficient: f32::MAX, max_grad_norm: f32::MAX, ..config() },
        Config { max_grad_norm: f32::MAX, value_coefficient: 1e30, ..config() },
    ] {
        let mut trainer = start(config).unwrap();
        let error = (0..4).find_map(|_| trainer.update().err()).expect("finite gradients");
        assert!(matches!(error, Error::Optim(_) | Error::Loss(_)), "{error}");
        assert!(trainer.parameters().iter().all(|p| p.is_finite()));
    }
}

#[test]
fn texts_that_are_no_configuration_are_errors() {
    for text in [
        r#"{"gama": 0.9}"#,
        r#"{"policy": {"width": 3}}"#,
        r#"{"environments": -1}"#,
        r#"{"environments": 1.5}"#,
        r#"{"environments": "64"}"#,
        r#"{"learning_rate": "fast"}"#,
        r#"{"learning_rate": {"from": 1.0, "to": 0.0}}"#,
        r#"{"learning_rate": {"from": 1.0, "to": 0.0, "over": -4}}"#,
        r#"{"learning_rate": {"from": 1.0, "to": 0.0, "over": 4, "until": 5}}"#,
        r#"{"gamma": null}"#,
        r#"{"policy": {"encoder": 64}}"#,
    ] {
        assert!(serde_json::from_str::<Config>(text).is_err(), "{text}");
    }
    let huge: Config = serde_json::from_str(r#"{"gamma": 1e30, "clip": 1e300}"#).unwrap_or_default();
    assert!(huge == Config::default() || huge.validate().is_err());
}
