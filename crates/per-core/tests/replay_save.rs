//! Replays as files: a load goes on as if nothing had happened.

use half::bf16;
use per_core::PrioritizedReplay;
use per_core::replay::{AllZero, Batch, Column, Columns, Config, Draws, Episodes, Handle, NStep, NewItems, Weights};
use std::fs;
use std::path::PathBuf;

/// A file of one test.
fn file(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("replay_save");
    fs::create_dir_all(&folder).unwrap();
    folder.join(name)
}

#[derive(Clone, Copy)]
struct Steps {
    state: Column<f32>,
    reward: Column<f32>,
    done: Column<u8>,
    cut: Column<u8>,
    action: Column<i32>,
    value: Column<bf16>,
}

fn made(change: impl FnOnce(&mut Config)) -> (PrioritizedReplay, Steps) {
    let mut columns = Columns::new();
    // A row of more bytes than are written at a time, and a name that JSON must escape.
    let state = columns.add_last::<f32>("state \"\\\n\u{1}\u{e9}\u{1f600}", 70_000).unwrap();
    let done = columns.add::<u8>("done", 1).unwrap();
    let reward = columns.add::<f32>("reward", 1).unwrap();
    let action = columns.add::<i32>("action", 3).unwrap();
    let cut = columns.add::<u8>("cut", 1).unwrap();
    let value = columns.add::<bf16>("value", 1).unwrap();
    let mut config = Config {
        seed: 5,
        stream: 6,
        environments: 2,
        episodes: Some(Episodes { terminated: done, truncated: Some(cut) }),
        n_step: Some(NStep { steps: 3, discount: 0.97, reward }),
        ..Config::new(9)
    };
    change(&mut config);
    (PrioritizedReplay::new(config, columns).unwrap(), Steps { state, reward, done, cut, action, value })
}

impl Steps {
    /// The next n items, each a function of its number.
    fn insert(self, replay: &mut PrioritizedReplay, n: usize) -> Vec<Handle> {
        let first = u16::try_from(replay.inserted()).unwrap();
        let one = |i: u16| {
            let state: Vec<f32> = (0..70_000_u32).map(|j| (u32::from(i) * 70_000 + j) as f32).collect();
            let (done, cut) = ([u8::from(i % 5 == 4)], [u8::from(i % 7 == 6)]);
            let (reward, action) = ([f32::from(i) + 0.1], [-i32::from(i), i32::MAX, i32::MIN]);
            let value = [bf16::from_f32(i.into())];
            let rows = [self.state.rows(&state), self.done.rows(&done), self.cut.rows(&cut), self.reward.rows(&reward)];
            let rows = [&rows[..], &[self.action.rows(&action), self.value.rows(&value)]].concat();
            // Some with a priority, some without.
            match i % 3 {
                0 => replay.insert(&rows).unwrap(),
                _ => replay.insert_with_priority(&rows, 0.1 + f32::from(i * i % 11)).unwrap(),
            }
        };
        (first..).take(n).map(one).collect()
    }
}

/// All of a batch, as bits.
fn bits(batch: &Batch, of: Steps) -> (Vec<u64>, Vec<u32>, Vec<u32>) {
    let numbers = batch.handles().iter().map(|h| h.number()).chain(batch.indices().iter().map(|&i| u64::from(i)));
    let floats = [batch.weights(), batch.returns(), batch.discounts(), batch.rows(of.reward).unwrap()];
    let mut words: Vec<u32> = floats.iter().flat_map(|f| f.iter().map(|f| f.to_bits())).collect();
    words.extend(batch.rows(of.state).unwrap().iter().step_by(997).map(|f| f.to_bits()));
    let mut more: Vec<u32> = batch.rows(of.action).unwrap().iter().map(|&a| a.cast_unsigned()).collect();
    more.extend(batch.rows(of.done).unwrap().iter().chain(batch.rows(of.cut).unwrap()).map(|&d| u32::from(d)));
    more.extend(batch.rows(of.value).unwrap().iter().map(|v| u32::from(v.to_bits())));
    more.extend(batch.spans().iter().chain(batch.lengths()));
    (numbers.collect(), words, more)
}

#[test]
fn a_load_goes_on_with_the_same_draws() {
    let path = file("goes-on");
    for (k, draws) in [Draws::Independent, Draws::Stratified, Draws::Distinct].into_iter().enumerate() {
        // Empty, partly filled, full, the cursor inside.
        for inserted in [0, 5, 9, 23] {
            let (mut kept, steps) = made(|config| {
                config.draws = draws;
                config.weights = [Weights::OverBuffer, Weights::OverBatch, Weights::Unnormalized][k];
                config.new_items = [NewItems::LargestNow, NewItems::LargestEver][k % 2];
                config.all_zero = [AllZero::Error, AllZero::Uniform][k % 2];
                config.alpha = [0.6, 0.3, 1.0][k];
            });
            let handles = steps.insert(&mut kept, inserted);
            kept.set_alpha(0.55).unwrap();
            if inserted > 0 {
                kept.remove(&[handles[inserted - 1], handles[inserted - 3]]).unwrap();
                let mut batch = kept.batch(3).unwrap();
                kept.sample_proportional(&mut batch, 0.4).unwrap();
            }
            kept.save(&path).unwrap();
            let loaded = PrioritizedReplay::load(&path).unwrap();
            assert_eq!((loaded.config(), loaded.columns()), (kept.config(), kept.columns()));
            assert_eq!((loaded.inserted(), loaded.draws_made()), (inserted as u64, kept.draws_made()));
            assert!(*loaded.powers() == *kept.powers());
            // Saved again it is the same file.
            let again = file("again");
            loaded.save(&again).unwrap();
            assert!(fs::read(&path).unwrap() == fs::read(&again).unwrap());

            let mut pair = [kept, loaded].map(|mut replay| {
                // Five items at least.
                steps.insert(&mut replay, 5);
                let batch = replay.sequences(4, 2).unwrap();
                (replay, batch)
            });
            for round in 0..250_u16 {
                let [a, b] = pair.each_mut().map(|(replay, batch)| {
                    replay.sample_proportional(batch, 0.7).unwrap();
                    let bits = bits(batch, steps);
                    if round % 10 == 9 {
                        let errors: Vec<f32> = (1..5).map(|i| f32::from(round * i % 13) - 5.5).collect();
                        replay.update_priorities(batch.handles(), &errors).unwrap();
                    }
                    bits
                });
                assert_eq!(a, b);
            }
            assert!(*pair[0].0.powers() == *pair[1].0.powers());
        }
    }
}

#[test]
fn the_largest_priority_ever_is_kept() {
    let (mut kept, steps) = made(|config| config.new_items = NewItems::LargestEver);
    let handles = steps.insert(&mut kept, 3);
    kept.set_priorities(&handles[..1], &[77.0]).unwrap();
    kept.clear();
    let path = file("ever");
    kept.save(&path).unwrap();
    let mut loaded = PrioritizedReplay::load(&path).unwrap();
    assert_eq!((loaded.len(), loaded.inserted(), loaded.columns()), (0, 3, kept.columns()));
    let new = steps.insert(&mut loaded, 1)[0];
    assert_eq!((new.number(), loaded.priority(new)), (3, Some(77.0)));
}
