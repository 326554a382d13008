//! Attacks on plans and learners: parts that do not belong together are typed errors, and nothing changes.

use arith::random::Stream;
use trainer::env::{CartPole, RepeatPrevious, VecEnv};
use trainer::{Config, Error, Layout, Learner, PolicyConfig, UpdatePlan, schedule::Schedule};

fn config(environments: usize) -> Config {
    Config {
        environments,
        horizon: 8,
        policy: PolicyConfig { encoder: vec![6], layers: 1 },
        minibatches: 2,
        epochs: 1,
        ..Config::default()
    }
}

fn carts(count: usize) -> VecEnv<CartPole> {
    VecEnv::new(count, |_| CartPole::new(), |i| Stream::new(3, i as u64)).unwrap()
}

fn repeats(k: u64, symbols: u32) -> VecEnv<RepeatPrevious> {
    let make = |_| RepeatPrevious::new(k, symbols, 16).unwrap();
    VecEnv::new(40, make, |i| Stream::new(3, i as u64)).unwrap()
}

#[track_caller]
fn refused<T>(result: Result<T, Error>, expected: &str) {
    let error = result.err().expect("accepted");
    assert!(matches!(error, Error::Argument { .. } | Error::Config { .. }), "{error:?}");
    assert_eq!(error.to_string(), expected);
}

#[test]
fn another_number_of_environments_is_refused() {
    let config = config(40);
    for parallel in [false, true] {
        let mut plan = UpdatePlan::compile(&config, carts(1).spec(), parallel).unwrap();
        let mut learner = Learner::new(plan.layout(), &config).unwrap();
        // Whole groups of environments too few or too many would otherwise pass unseen.
        for count in [1, 32, 39, 41, 64, 72] {
            let mut envs = carts(count);
            let (before, old) = (envs.save(), learner.clone());
            let expected = format!("UpdatePlan::run: environments is {count}, expected 40");
            refused(plan.run(0, &mut envs, &mut learner), &expected);
            assert_eq!((envs.save(), &learner), (before, &old));
        }
        // Outside of any pool, on rayon's global one.
        plan.run(0, &mut carts(40), &mut learner).unwrap();
    }
}

#[test]
fn environments_of_another_task_are_refused() {
    let config = config(40);
    let mut plan = UpdatePlan::compile(&config, repeats(2, 3).spec(), false).unwrap();
    let mut learner = Learner::new(plan.layout(), &config).unwrap();
    let mut run = |mut envs: VecEnv<RepeatPrevious>| plan.run(0, &mut envs, &mut learner);
    let text = |name: &str| format!("UpdatePlan::run: the task is {name}, expected repeat-previous-k2-s3-l16");
    refused(run(repeats(2, 2)), "UpdatePlan::run: elements of an observation is 2, expected 3");
    refused(run(repeats(2, 4)), "UpdatePlan::run: elements of an observation is 4, expected 3");
    refused(run(repeats(3, 3)), &text("repeat-previous-k3-s3-l16"));
    // One slot exchanged for another task's.
    let (mut envs, mut other) = (repeats(2, 3), repeats(2, 5));
    std::mem::swap(&mut envs.slots_mut()[7], &mut other.slots_mut()[7]);
    refused(run(envs), "UpdatePlan::run: elements of a slot's observation is 5, expected 3");
    run(repeats(2, 3)).unwrap();
    let mut plan = UpdatePlan::compile(&config, repeats(2, 3).spec(), false).unwrap();
    refused(plan.run(0, &mut carts(40), &mut learner), "UpdatePlan::run: elements of an observation is 4, expected 3");
}

#[test]
fn a_learner_of_another_layout_is_refused() {
    let config = config(4);
    let mut plan = UpdatePlan::compile(&config, carts(1).spec(), false).unwrap();
    let len = plan.layout().len;
    let good = Learner::new(plan.layout(), &config).unwrap();
    let other = Config { policy: PolicyConfig { encoder: vec![7], layers: 0 }, ..config.clone() };
    let wide = Layout::new(&other.policy, 4, 2).unwrap();
    for length in [0, 1, len - 1, len + 1] {
        let mut learner = good.clone();
        learner.parameters.resize(length, 0.5);
        let expected = format!("UpdatePlan::run: parameters is {length}, expected {len}");
        refused(plan.run(0, &mut carts(4), &mut learner), &expected);
    }
    let mut learner = Learner { adam: Learner::new(&wide, &other).unwrap().adam, ..good.clone() };
    let expected = format!("UpdatePlan::run: parameters of the optimizer is {}, expected {len}", wide.len);
    refused(plan.run(0, &mut carts(4), &mut learner), &expected);
    // A parameter that is not a number is found, and its environment named.
    let mut learner = good;
    learner.parameters[0] = f32::NAN;
    let error = plan.run(0, &mut carts(4), &mut learner).unwrap_err();
    assert!(matches!(error, Error::PolicyOutput { environment: 0, step: 0 }), "{error}");
}

#[test]
fn updates_without_addresses_and_schedules_out_of_range_are_refused() {
    let rate = Schedule::Linear { from: 0.5, to: -0.5, over: 10 };
    let config = Config { learning_rate: rate, total_steps: 4 * 8 * 5, ..config(4) };
    let mut plan = UpdatePlan::compile(&config, carts(1).spec(), false).unwrap();
    let mut learner = Learner::new(plan.layout(), &config).unwrap();
    let mut envs = carts(4);
    let before = envs.save();
    for update in [u64::MAX, 1 << 61, (1 << 50) + 1] {
        let expected = format!("UpdatePlan::run: update is {update}, expected at most 2^53 steps of an environment");
        refused(plan.run(update, &mut envs, &mut learner), &expected);
    }
    let expected = "configuration: learning_rate is -0.1, expected in [0, 1] at every update";
    refused(plan.run(6, &mut envs, &mut learner), expected);
    assert_eq!(envs.save(), before);
    plan.run(4, &mut envs, &mut learner).unwrap();
}

#[test]
fn specifications_without_sense_are_refused() {
    let spec = carts(1).spec().clone();
    let compile = |observation, actions| {
        let spec = trainer::env::Spec { observation, actions, ..spec.clone() };
        UpdatePlan::compile(&config(4), &spec, false)
    };
    let text = |what: &str| format!("UpdatePlan::compile: {what}");
    // 2^34 elements of 32 rows.
    refused(compile(0, 2), &text("elements of an observation is 0, expected from 1 to 536870912"));
    let expected = format!("elements of an observation is {}, expected from 1 to 536870912", usize::MAX);
    refused(compile(usize::MAX, 2), &text(&expected));
    refused(compile(4, 0), &text("actions is 0, expected from 1 to 1024"));
    refused(compile(4, 1025), &text("actions is 1025, expected from 1 to 1024"));
    refused(compile(4, u32::MAX), &text("actions is 4294967295, expected from 1 to 1024"));
    compile(4, 1024).unwrap();
}

#[test]
fn layouts_too_large_to_address_are_refused() {
    let layout = |encoder: &[usize], layers, observation, actions| {
        Layout::new(&PolicyConfig { encoder: encoder.to_vec(), layers }, observation, actions)
    };
    for result in [
        layout(&[usize::MAX, 2], 0, 4, 2),
        layout(&[1 << 31, 1 << 31], 0, 4, 2),
        layout(&[usize::MAX / 2], 1, 0, 2),
        layout(&[8], 1, usize::MAX, 2),
        layout(&[8], 1, 4, usize::MAX),
        layout(&[8], 1, 4, usize::MAX / 8),
    ] {
        let error = result.expect_err("accepted");
        assert!(matches!(error, Error::Argument { operation: "Layout::new", .. }), "{error}");
    }
    assert_eq!(layout(&[], 0, 3, 1).unwrap().len, 2 * 3 + 2);
}

#[test]
fn an_optimizer_that_no_memory_holds_is_an_error() {
    use trainer::optim::{Adam, Error};
    for len in [usize::MAX, 1 << 50] {
        assert_eq!(Adam::new(len, Default::default()).unwrap_err(), Error::Memory { len });
    }
}
