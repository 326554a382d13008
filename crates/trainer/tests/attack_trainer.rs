//! Attacks on whole runs: environments that panic or are another task's, too many threads or episodes, and checkpoints
//! with a valid checksum whose contents make no sense.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use trainer::checkpoint::{Checkpoint, Dtype};
use trainer::env::{self, CartPole, Env, RepeatPrevious, Rng, Spec, Step};
use trainer::{Config, Error, Metrics, PolicyConfig, Trainer};

fn config() -> Config {
    Config {
        environments: 3,
        horizon: 8,
        total_steps: 96,
        policy: PolicyConfig { encoder: vec![6], layers: 1 },
        minibatches: 3,
        epochs: 1,
        ..Config::default()
    }
}

/// CartPole that panics at a step.
struct Fragile(CartPole, u64);

impl Env for Fragile {
    fn spec(&self) -> Spec {
        self.0.spec()
    }

    fn reset(&mut self, rng: &mut Rng, observation: &mut [f32]) {
        self.0.reset(rng, observation);
    }

    fn step(&mut self, action: u32, rng: &mut Rng, observation: &mut [f32]) -> Step {
        self.1 -= 1;
        assert!(self.1 > 0, "worn out");
        self.0.step(action, rng, observation)
    }

    fn save(&self, words: &mut Vec<u64>) {
        self.0.save(words);
    }

    fn load(&mut self, words: &[u64]) -> Result<(), env::Error> {
        self.0.load(words)
    }
}

#[test]
fn after_an_environments_panic_the_half_done_update_is_not_saved() {
    for threads in [1, 2] {
        let make = |i| Fragile(CartPole::new(), if i == 1 { 13 } else { u64::MAX });
        let mut trainer = Trainer::new(config(), threads, make).unwrap();
        trainer.update().unwrap();
        catch_unwind(AssertUnwindSafe(|| trainer.update())).unwrap_err();
        assert!(matches!(trainer.update().unwrap_err(), Error::Failed { update: 1 }));
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(trainer.save(&folder.path().join("x")).unwrap_err(), Error::Failed { update: 1 }));
    }
}

#[test]
fn evaluation_in_environments_of_other_sizes_is_refused() {
    let make = |symbols| move |_| RepeatPrevious::new(2, symbols, 16).unwrap();
    let trainer = Trainer::new(config(), 1, make(3)).unwrap();
    for symbols in [2, 4] {
        let error = trainer.evaluate(2, make(symbols)).unwrap_err();
        assert!(matches!(error, Error::Argument { operation: "Trainer::evaluate", .. }));
        let expected = format!("Trainer::evaluate: the observation's size is {symbols}, expected 3");
        assert_eq!(error.to_string(), expected);
    }
    assert_eq!(trainer.evaluate(2, make(3)).unwrap().episodes.len(), 2);
    for episodes in [0, usize::MAX, 1 << 56] {
        let error = trainer.evaluate(episodes, make(3)).unwrap_err();
        assert!(matches!(error, Error::Env(env::Error::Parameter { parameter: "count", .. })), "{error}");
    }
}

#[test]
fn numbers_of_threads_without_sense_are_refused() {
    for threads in [0, 4097, usize::MAX] {
        let error = Trainer::new(config(), threads, |_| CartPole::new()).err().expect("accepted");
        assert_eq!(error.to_string(), format!("Trainer::new: threads is {threads}, expected from 1 to 4096"));
    }
}

/// A copy of `path`'s checkpoint in which `change` replaces a tensor's elements, as f32 or u64.
fn forge(path: &Path, name: &str, change: impl Fn(&mut Vec<f32>, &mut Vec<u64>)) -> tempfile::NamedTempFile {
    let old = Checkpoint::load(path).unwrap();
    let mut new = Checkpoint::new();
    for key in ["configuration", "environment"] {
        new.put_metadata(key, old.metadata(key).unwrap()).unwrap();
    }
    let names: Vec<String> = old.names().map(str::to_owned).collect();
    for n in &names {
        let (dtype, shape) = old.info(n).unwrap();
        let (mut floats, mut words) = (Vec::new(), Vec::new());
        match dtype {
            Dtype::F32 => floats = old.tensor::<f32>(n, shape).unwrap(),
            _ => words = old.tensor::<u64>(n, shape).unwrap(),
        }
        let mut shape = shape.to_vec();
        if n == name {
            let length = floats.len() + words.len();
            change(&mut floats, &mut words);
            if floats.len() + words.len() != length {
                shape = vec![floats.len() + words.len()];
            }
        }
        match dtype {
            Dtype::F32 => new.put(n, &shape, &floats).unwrap(),
            _ => new.put(n, &shape, &words).unwrap(),
        }
    }
    let file = tempfile::NamedTempFile::new().unwrap();
    new.save_atomic(file.path()).unwrap();
    file
}

#[test]
fn forged_checkpoints_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.safetensors");
    let mut trainer = Trainer::new(config(), 1, |_| CartPole::new()).unwrap();
    // Until an episode has ended.
    while trainer.update().unwrap().episodes == 0 {}
    trainer.save(&path).unwrap();
    let resume = |file: &tempfile::NamedTempFile| Trainer::resume(file.path(), 1, |_| CartPole::new());
    resume(&forge(&path, "", |_, _| ())).unwrap();

    let nan = |f: &mut Vec<f32>, _: &mut Vec<u64>| f[1] = f32::NAN;
    let negative = |f: &mut Vec<f32>, _: &mut Vec<u64>| f[1] = -1.0;
    let half = |f: &mut Vec<f32>, _: &mut Vec<u64>| f[1] = 0.5;
    let shorter = |f: &mut Vec<f32>, w: &mut Vec<u64>| {
        f.pop();
        w.pop();
    };
    let longer = |f: &mut Vec<f32>, w: &mut Vec<u64>| {
        if f.is_empty() {
            w.push(0);
        } else {
            f.push(0.0);
        }
    };
    let last = |_: &mut Vec<f32>, w: &mut Vec<u64>| w[0] = u64::MAX;
    let infinite = |_: &mut Vec<f32>, w: &mut Vec<u64>| w[0] = f64::INFINITY.to_bits();
    let files = [
        ("encoder.0.weight", forge(&path, "encoder.0.weight", nan)),
        ("decoder.bias", forge(&path, "decoder.bias", shorter)),
        ("decoder.bias", forge(&path, "decoder.bias", longer)),
        ("adam.first.decoder.bias", forge(&path, "adam.first.decoder.bias", nan)),
        ("second moments", forge(&path, "adam.second.decoder.bias", negative)),
        ("state", forge(&path, "state", nan)),
        ("state", forge(&path, "state", shorter)),
        ("keep", forge(&path, "keep", half)),
        ("keep", forge(&path, "keep", nan)),
        ("number of updates", forge(&path, "updates", last)),
        ("updates", forge(&path, "updates", longer)),
        ("recent", forge(&path, "recent.returns_f64", shorter)),
        ("recent", forge(&path, "recent.lengths", longer)),
        ("recent return 0", forge(&path, "recent.returns_f64", infinite)),
        ("number of environments", forge(&path, "environments", last)),
        ("saved state", forge(&path, "environments", shorter)),
        ("saved state", forge(&path, "environments", longer)),
        ("saved state", forge(&path, "environments", |_, w| w[1] = u64::MAX)),
        ("saved state", forge(&path, "environments", |_, w| w[1] = 0)),
        // The first slot's return, and its observation.
        ("saved state", forge(&path, "environments", |_, w| w[5] = f64::NAN.to_bits())),
        ("saved state", forge(&path, "environments", |_, w| w[6] = u64::from(f32::NAN.to_bits()))),
        ("saved state", forge(&path, "environments", |_, w| w[7] = u64::MAX)),
    ];
    for (what, file) in &files {
        let error = resume(file).err().unwrap_or_else(|| panic!("{what}: accepted")).to_string();
        assert!(error.contains(what), "{what}: {error}");
    }
    // Counters at their ends go on without an overflow.
    let mut run = resume(&forge(&path, "adam.step", last)).unwrap();
    run.update().unwrap();
}

#[test]
fn forged_configurations_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.safetensors");
    Trainer::new(config(), 1, |_| CartPole::new()).unwrap().save(&path).unwrap();
    let old = Checkpoint::load(&path).unwrap();
    let text = old.metadata("configuration").unwrap();
    let replaced = |from: &str, to: &str| {
        assert!(text.contains(from), "{text}");
        text.replace(from, to)
    };
    for (text, expected) in [
        (String::new(), "configuration"),
        ("[".repeat(100_000), "configuration"),
        (replaced("\"environments\":3", "\"environments\":4"), "state"),
        (replaced("\"environments\":3", "\"environments\":1000000000000"), "environments"),
        (replaced("\"layers\":1", "\"layers\":2"), "mingru.1.weight"),
        (replaced("\"layers\":1", "\"layers\":0"), "state"),
        (replaced("\"encoder\":[6]", "\"encoder\":[7]"), "encoder.0.weight"),
        (replaced("\"encoder\":[6]", &format!("\"encoder\":[{}]", ["65536"; 20].join(","))), "policy.encoder"),
        (replaced("\"seed\":1", "\"seed\":-1"), "configuration"),
        (replaced("\"seed\":1", "\"sed\":1"), "configuration"),
    ] {
        let mut new = Checkpoint::new();
        new.put_metadata("configuration", &text).unwrap();
        new.put_metadata("environment", old.metadata("environment").unwrap()).unwrap();
        for name in old.names() {
            let (dtype, shape) = old.info(name).unwrap();
            match dtype {
                Dtype::F32 => new.put(name, shape, &old.tensor::<f32>(name, shape).unwrap()).unwrap(),
                _ => new.put(name, shape, &old.tensor::<u64>(name, shape).unwrap()).unwrap(),
            }
        }
        let file = folder.path().join("forged");
        new.save_atomic(&file).unwrap();
        let error = Trainer::resume(&file, 1, |_| CartPole::new()).err().expect("accepted").to_string();
        assert!(error.contains(expected), "{expected}: {error}");
    }
}

#[test]
fn metrics_that_are_not_finite_can_be_written_and_read() {
    let metrics = Metrics {
        mean_return: f64::NAN,
        grad_norm: f32::INFINITY,
        explained_variance: f32::NAN,
        policy_loss: f32::NEG_INFINITY,
        value_loss: 0.1,
        ..Metrics::default()
    };
    let text = serde_json::to_string(&metrics).unwrap();
    let read: Metrics = serde_json::from_str(&text).unwrap();
    assert!(read.grad_norm.is_nan() && read.explained_variance.is_nan() && read.policy_loss.is_nan());
    assert_eq!((read.value_loss, read.update), (0.1, 0));
}
