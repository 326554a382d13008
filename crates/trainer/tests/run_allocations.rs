//! A compiled update allocates nothing.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

use trainer::env::{CartPole, VecEnv};
use trainer::{Config, Learner, PolicyConfig, PriorityConfig, UpdatePlan};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call is handed on to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps alloc's contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps dealloc's contract; ptr came from `alloc` above.
        unsafe { System.dealloc(ptr, layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps realloc's contract; ptr came from `alloc` above.
        unsafe { System.realloc(ptr, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations of ten updates after three to warm up.
fn count(config: &Config, parallel: bool) -> u64 {
    let mut envs =
        VecEnv::new(config.environments, |_| CartPole::new(), |i| arith::random::Stream::new(config.seed, i as u64))
            .unwrap();
    let mut plan = UpdatePlan::compile(config, envs.spec(), parallel).unwrap();
    let mut learner = Learner::new(plan.layout(), config).unwrap();
    for update in 0..3 {
        plan.run(update, &mut envs, &mut learner).unwrap();
    }
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    for update in 3..13 {
        plan.run(update, &mut envs, &mut learner).unwrap();
    }
    ALLOCATIONS.load(Ordering::Relaxed) - before
}

// One test, because the counter is the process's.
#[test]
fn updates_allocate_nothing() {
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    drop(std::hint::black_box(vec![1_u8; 100]));
    assert!(ALLOCATIONS.load(Ordering::Relaxed) > before, "the counter counts");
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
