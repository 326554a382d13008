//! A compiled update allocates nothing.

use test_support::{Counting, allocations};
use trainer::env::{CartPole, VecEnv};
use trainer::{Config, Learner, PolicyConfig, PriorityConfig, UpdatePlan};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations of ten updates after three to warm up.
fn count(config: &Config, parallel: bool) -> usize {
    let mut envs =
        VecEnv::new(config.environments, |_| CartPole::new(), |i| arith::random::Stream::new(config.seed, i as u64))
            .unwrap();
    let mut plan = UpdatePlan::compile(config, envs.spec(), parallel).unwrap();
    let mut learner = Learner::new(plan.layout(), config).unwrap();
    for update in 0..3 {
        plan.run(update, &mut envs, &mut learner).unwrap();
    }
    let before = allocations();
    for update in 3..13 {
        plan.run(update, &mut envs, &mut learner).unwrap();
    }
    allocations() - before
}

// One test, because the counter is the process's.
#[test]
fn updates_allocate_nothing() {
    let before = allocations();
    drop(std::hint::black_box(vec![1_u8; 100]));
    assert!(allocations() > before, "the counter counts");
    for layers in [0, 2] {
        for alpha in [0.0, 0.6] {
            let config = Config {
                environments: 70,
                horizon: 32,
                policy: PolicyConfig { encoder: vec![32, 32], layers },
                priority: PriorityConfig { alpha, ..PriorityConfig::default() },
                ..Config::default()
            };
            assert_eq!(count(&config, false), 0, "layers {layers}, alpha {alpha}, serial");
            let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
            assert_eq!(pool.install(|| count(&config, true)), 0, "layers {layers}, alpha {alpha}, 3 threads");
        }
    }
}
