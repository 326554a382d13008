//! Bad input of a run: typed errors that say where, and nothing lost.

use std::fs;

use arith::random::Stream;
use trainer::env::{self, CartPole, Env, RepeatPrevious, Rng, Scripted, Spec, Step, VecEnv};
use trainer::{Config, Error, Learner, PolicyConfig, Trainer, UpdatePlan, schedule::Schedule};

fn config() -> Config {
    Config {
        environments: 40,
        horizon: 16,
        total_steps: 40 * 16 * 8,
        policy: PolicyConfig { encoder: vec![8], layers: 1 },
        ..Config::default()
    }
}

fn message(result: Result<Trainer<CartPole>, Error>) -> String {
    match result {
        Ok(_) => panic!("accepted"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn case_33_sizes_of_zero_and_too_few_segments_are_errors() {
    let wrong: [(Config, &str); 16] = [
        (Config { environments: 0, ..config() }, "environments is 0"),
        (Config { horizon: 0, ..config() }, "horizon is 0"),
        (Config { epochs: 0, ..config() }, "epochs is 0"),
        (Config { minibatches: 0, ..config() }, "minibatches is 0"),
        (Config { minibatches: 41, ..config() }, "minibatches is 41"),
        (Config { total_steps: 0, ..config() }, "total_steps is 0"),
        (Config { segment: 5, ..config() }, "segment is 5"),
        (Config { gamma: f32::NAN, ..config() }, "gamma is NaN"),
        (Config { max_grad_norm: 0.0, ..config() }, "max_grad_norm is 0"),
        (Config { environments: usize::MAX, ..config() }, "environments is 18446744073709551615"),
        (Config { policy: PolicyConfig { encoder: vec![], layers: 0 }, ..config() }, "policy.encoder is []"),
        (Config { clip: Schedule::Constant { value: -0.1 }, ..config() }, "clip is -0.1"),
        // Sizes that no memory holds are refused before any is asked for.
        (Config { epochs: usize::MAX, ..config() }, "epochs is 18446744073709551615"),
        (Config { epochs: 1 << 19, ..config() }, "epochs is 524288"),
        (
            Config { policy: PolicyConfig { encoder: vec![1 << 16; 9], layers: 0 }, ..config() },
            "policy.encoder is [65536",
        ),
        (
            Config { policy: PolicyConfig { encoder: vec![1 << 16], layers: 2 }, ..config() },
            "policy.encoder is [65536]",
        ),
    ];
    for (config, expected) in wrong {
        let got = message(Trainer::new(config, 1, |_| CartPole::new()));
        assert!(got.contains(expected), "{got}");
    }
    assert!(message(Trainer::new(config(), 0, |_| CartPole::new())).contains("threads is 0"));
}

#[test]
fn case_33_a_horizon_of_65_trains_on_step_64() {
    // One environment, one epoch, one minibatch: the update sees 65 rows or it does not.
    let config = Config { environments: 1, horizon: 65, minibatches: 1, epochs: 1, total_steps: 65, ..config() };
    let mut trainer = Trainer::new(config, 1, |_| Countdown::new(65)).unwrap();
    let before = trainer.parameters().to_vec();
    let metrics = trainer.update().unwrap();
    assert_eq!((metrics.steps, metrics.episodes), (65, 1));
    assert_ne!(trainer.parameters(), before, "the only reward is at step 64");
}

/// Gives one observation, and its only reward at the last of `length` steps.
struct Countdown {
    length: u64,
    step: u64,
    /// What to spoil, and at which step.
    fault: Option<(Fault, u64)>,
}

#[derive(Clone, Copy, PartialEq)]
enum Fault {
    Observation,
    Reward,
}

impl Countdown {
    fn new(length: u64) -> Self {
        Self { length, step: 0, fault: None }
    }
}

impl Env for Countdown {
    fn spec(&self) -> Spec {
        Spec { name: "countdown".into(), observation: 2, actions: 2, time_limit: Some(self.length), best_return: None }
    }

    fn reset(&mut self, _: &mut Rng, observation: &mut [f32]) {
        self.step = 0;
        observation.copy_from_slice(&[1.0, 0.0]);
    }

    fn step(&mut self, _: u32, _: &mut Rng, observation: &mut [f32]) -> Step {
        self.step += 1;
        observation.copy_from_slice(&[1.0, self.step as f32 / self.length as f32]);
        let mut reward = f32::from(self.step == self.length);
        if let Some((fault, at)) = self.fault
            && at == self.step
        {
            match fault {
                Fault::Observation => observation[1] = f32::NAN,
                Fault::Reward => reward = f32::NEG_INFINITY,
            }
        }
        Step { reward, terminated: self.step == self.length, truncated: false }
    }

    fn save(&self, words: &mut Vec<u64>) {
        words.push(self.step);
    }

    fn load(&mut self, words: &[u64]) -> Result<(), env::Error> {
        match words {
            &[step] => {
                self.step = step;
                Ok(())
            }
            _ => Err(env::Error::state("countdown", words.len(), 1)),
        }
    }
}

#[test]
fn numbers_of_an_environment_that_are_not_finite_stop_the_update_and_say_where() {
    for (fault, expected) in [
        (Fault::Observation, "environment 35, step 20: element 1 of the observation is NaN"),
        (Fault::Reward, "environment 35, step 20: the reward is -inf"),
    ] {
        for threads in [1, 3] {
            let make = |i| Countdown { fault: (i >= 35).then_some((fault, 21)), ..Countdown::new(100) };
            let mut trainer = Trainer::new(config(), threads, make).unwrap();
            trainer.update().unwrap();
            let before = trainer.parameters().to_vec();
            let error = trainer.update().unwrap_err();
            assert!(matches!(error, Error::Env(_)));
            assert_eq!(error.to_string(), expected);
            assert_eq!(trainer.parameters(), before);
            assert_eq!(trainer.updates(), 1);
            // The update can't be finished, and what is on the disk stays.
            assert!(matches!(trainer.update().unwrap_err(), Error::Failed { update: 1 }));
            let folder = tempfile::tempdir().unwrap();
            assert!(matches!(trainer.save(&folder.path().join("x")).unwrap_err(), Error::Failed { update: 1 }));
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        }
    }
}

#[test]
fn damaged_foreign_and_mismatched_checkpoints_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.safetensors");
    let mut trainer = Trainer::new(config(), 1, |_| CartPole::new()).unwrap();
    trainer.update().unwrap();
    trainer.save(&path).unwrap();
    let whole = fs::read(&path).unwrap();

    assert!(Trainer::resume(&folder.path().join("absent"), 1, |_| CartPole::new()).is_err());
    let other = Trainer::resume(&path, 1, |_| RepeatPrevious::default());
    assert!(matches!(other.err().unwrap(), Error::Mismatch { .. }));
    for at in (0..whole.len()).step_by(97) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x10;
        fs::write(&path, damaged).unwrap();
        assert!(Trainer::resume(&path, 1, |_| CartPole::new()).is_err(), "byte {at}");
    }
    for length in [0, 7, 8, 100, whole.len() - 1] {
        fs::write(&path, &whole[..length]).unwrap();
        assert!(Trainer::resume(&path, 1, |_| CartPole::new()).is_err(), "length {length}");
    }
    fs::write(&path, &whole).unwrap();
    Trainer::resume(&path, 1, |_| CartPole::new()).unwrap();
}

#[test]
fn environments_of_different_tasks_are_an_error() {
    let result = Trainer::new(config(), 1, |i| Scaled { wide: i == 3 });
    assert!(matches!(result.err().unwrap(), Error::Env(env::Error::Differs { environment: 3, .. })));
}

struct Scaled {
    wide: bool,
}

impl Env for Scaled {
    fn spec(&self) -> Spec {
        let observation = if self.wide { 3 } else { 2 };
        Spec { name: "scaled".into(), observation, actions: 2, time_limit: None, best_return: None }
    }

    fn reset(&mut self, _: &mut Rng, observation: &mut [f32]) {
        observation.fill(0.0);
    }

    fn step(&mut self, _: u32, _: &mut Rng, observation: &mut [f32]) -> Step {
        observation.fill(0.0);
        Step { reward: 0.0, terminated: true, truncated: false }
    }

    fn save(&self, _: &mut Vec<u64>) {}

    fn load(&mut self, _: &[u64]) -> Result<(), env::Error> {
        Ok(())
    }
}

#[test]
fn environments_too_large_for_the_configuration_are_an_error() {
    let fine = CartPole::new().spec();
    let message = |spec: &Spec| UpdatePlan::compile(&config(), spec, false).err().unwrap().to_string();
    for actions in [0, 1025, u32::MAX] {
        let got = message(&Spec { actions, ..fine.clone() });
        assert_eq!(got, format!("UpdatePlan::compile: actions is {actions}, expected from 1 to 1024"));
    }
    for observation in [0, 1 << 26, usize::MAX] {
        let got = message(&Spec { observation, ..fine.clone() });
        assert!(
            got.starts_with(&format!("UpdatePlan::compile: elements of an observation is {observation}, ")),
            "{got}"
        );
    }
    assert!(UpdatePlan::compile(&config(), &fine, false).is_ok());
}

#[test]
fn a_plan_refuses_environments_and_learners_of_other_sizes_and_changes_nothing() {
    let stream = |i| Stream::new(1, i as u64);
    let spec = CartPole::new().spec();
    let mut plan = UpdatePlan::compile(&config(), &spec, false).unwrap();
    let fresh = Learner::new(plan.layout(), &config()).unwrap();
    let mut learner = fresh.clone();
    for count in [1, 39, 41] {
        let mut envs = VecEnv::new(count, |_| CartPole::new(), stream).unwrap();
        let before = envs.save();
        let error = plan.run(0, &mut envs, &mut learner).unwrap_err();
        assert_eq!(error.to_string(), format!("UpdatePlan::run: environments is {count}, expected 40"));
        assert_eq!(envs.save(), before);
    }
    let mut narrow = VecEnv::new(40, |_| Scripted::new(vec![Step::default()], 2).unwrap(), stream).unwrap();
    let error = plan.run(0, &mut narrow, &mut learner).unwrap_err();
    assert_eq!(error.to_string(), "UpdatePlan::run: elements of an observation is 2, expected 4");
    let other = UpdatePlan::compile(&config(), &Spec { actions: 3, ..spec.clone() }, false);
    let mut envs = VecEnv::new(40, |_| CartPole::new(), stream).unwrap();
    let error = other.unwrap().run(0, &mut envs, &mut learner).unwrap_err();
    assert_eq!(error.to_string(), "UpdatePlan::run: actions is 2, expected 3");
    assert_eq!(learner, fresh);
    let before = envs.save();
    learner.parameters.pop();
    let error = plan.run(0, &mut envs, &mut learner).unwrap_err().to_string();
    assert!(error.starts_with("UpdatePlan::run: parameters is "), "{error}");
    let larger = Config { policy: PolicyConfig { encoder: vec![9], layers: 1 }, ..config() };
    let larger = UpdatePlan::compile(&larger, &spec, false).unwrap();
    learner = Learner { adam: Learner::new(larger.layout(), &config()).unwrap().adam, ..fresh.clone() };
    let error = plan.run(0, &mut envs, &mut learner).unwrap_err().to_string();
    assert!(error.starts_with("UpdatePlan::run: parameters of the optimizer is "), "{error}");
    assert_eq!((learner.parameters, envs.save()), (fresh.parameters.clone(), before));
    plan.run(0, &mut envs, &mut fresh.clone()).unwrap();
}
