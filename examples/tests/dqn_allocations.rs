//! That the example `dqn` allocates nothing in its loop.

#![allow(dead_code)]

#[path = "../dqn/agent.rs"]
mod agent;
#[path = "../dqn/learner.rs"]
mod learner;
#[path = "../dqn/network.rs"]
mod network;
#[path = "../dqn/options.rs"]
mod options;
#[path = "../dqn/streams.rs"]
mod streams;

use agent::Agent;
use linalg::Par;
use options::Options;
use test_support::{Counting, allocations_of};
use trainer::env::CartPole;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn a_step_allocates_nothing_once_the_first_update_is_made() {
    // The ring goes round, episodes end, the target follows.
    let options = Options { capacity: 700, warmup: 256, n_step: 3, target_interval: 5, ..Options::default() };
    let mut agent = Agent::new(options, Par::Serial, |_| CartPole::new()).unwrap();
    assert!(
        allocations_of(|| while agent.learner.updates() == 0 {
            agent.step().unwrap()
        }) > 0,
        "nothing is counted"
    );
    let mut episodes = None;
    let count = allocations_of(|| {
        for _ in 0..500 {
            agent.step().unwrap();
        }
        episodes = agent.take_mean_return();
    });
    assert!(agent.learner.updates() > 500 && episodes.is_some());
    assert_eq!(count, 0);
}
