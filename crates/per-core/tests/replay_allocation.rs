//! A replay allocates nothing once it has seen a batch of each size. One test only: the counter belongs to the process.

use per_core::PrioritizedReplay;
use per_core::replay::{AllZero, Columns, Config, Draws, Episodes, Handle, NStep, NewItems, Weights};
use test_support::{Counting, allocations_of};

#[global_allocator]
static COUNTING: Counting = Counting;

const CAPACITY: usize = 5000;

#[test]
fn a_replay_allocates_nothing_after_the_first_batch_of_each_size() {
    // The first look at the environment may allocate.
    arith::simd::Isa::detect();
    for (k, draws) in [Draws::Independent, Draws::Stratified, Draws::Distinct].into_iter().enumerate() {
        let mut columns = Columns::new();
        let state = columns.add_last::<f32>("state", 5).unwrap();
        let done = columns.add::<u8>("done", 1).unwrap();
        let reward = columns.add::<f32>("reward", 1).unwrap();
        let config = Config {
            draws,
            weights: [Weights::OverBuffer, Weights::OverBatch, Weights::Unnormalized][k],
            new_items: [NewItems::LargestNow, NewItems::LargestEver][k % 2],
            all_zero: AllZero::Uniform,
            episodes: Some(Episodes { terminated: done, truncated: None }),
            n_step: Some(NStep { steps: 3, discount: 0.9, reward }),
            ..Config::new(CAPACITY)
        };
        let mut replay = PrioritizedReplay::new(config, columns).unwrap();
        let (states, dones, rewards) = ([1.0; 5 * 300], [0; 300], [0.5; 300]);
        let priorities: Vec<f32> = (0..300).map(|i| 0.1 + (i * i % 37) as f32).collect();
        let mut batches = [replay.batch(1).unwrap(), replay.batch(64).unwrap(), replay.sequences(256, 4).unwrap()];
        let mut some_handles = [Handle::from_number(0); 20];

        let mut round = |replay: &mut PrioritizedReplay| {
            for n in [1, 64, 300] {
                let rows = [state.rows(&states[..5 * n]), done.rows(&dones[..n]), reward.rows(&rewards[..n])];
                replay.insert_batch(&rows).unwrap();
                replay.insert_batch_with_priorities(&rows, &priorities[..n]).unwrap();
            }
            let rows = [state.rows(&states[..5]), done.rows(&dones[..1]), reward.rows(&rewards[..1])];
            let first = replay.insert(&rows).unwrap();
            replay.insert_with_priority(&rows, 50.0).unwrap();
            for batch in &mut batches {
                replay.sample_proportional(batch, 0.5).unwrap();
                replay.sample_proportional_at(3, batch, 0.5).unwrap();
                let n = batch.len();
                replay.update_priorities(batch.handles(), &priorities[..n]).unwrap();
                replay.set_priorities(batch.handles(), &priorities[..n]).unwrap();
            }
            for (handle, back) in some_handles.iter_mut().zip((1..).step_by(7)) {
                *handle = Handle::from_number(first.number() - back);
            }
            replay.remove(&some_handles).unwrap();
            let mut row = [0.0; 5];
            assert!(replay.read(first, state, &mut row).unwrap() && replay.priority(first).is_some());
            assert!(replay.total_priority() > 0.0 && replay.min_priority() <= replay.max_priority());
        };
        let first = allocations_of(|| round(&mut replay));
        assert!(first > 0, "the counter works");
        // Until the ring has come round more than once.
        let next = allocations_of(|| (0..20).for_each(|_| round(&mut replay)));
        assert_eq!(next, 0, "{draws:?}");
    }
}
