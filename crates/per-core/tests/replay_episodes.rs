//! Sequences and n-step returns, against a list of all steps ever taken: never past an episode's end, the newest item or
//! a removed one. Tiny rings with every pattern of ends and removals, then random ones.

use per_core::PrioritizedReplay;
use per_core::replay::{Batch, Column, Columns, Config, Draws, Episodes, Error, Handle, NStep};
use proptest::prelude::*;

/// A step of an environment.
#[derive(Clone, Copy, Debug)]
struct Step {
    reward: f32,
    terminated: u8,
    truncated: u8,
    removed: bool,
}

#[derive(Clone, Copy, Debug)]
struct Setup {
    capacity: usize,
    environments: usize,
    /// Most steps of a return, and its discount.
    n_step: Option<(usize, f32)>,
    /// Steps of a sequence.
    length: usize,
    /// Whether the replay knows of ends, and of truncations.
    ends: (bool, bool),
    start: u64,
}

/// All steps, by their numbers from `setup.start` on.
struct World<'a> {
    setup: Setup,
    steps: &'a [Step],
}

impl World<'_> {
    fn is_there(&self, i: usize) -> bool {
        i < self.steps.len() && i + self.setup.capacity >= self.steps.len() && !self.steps[i].removed
    }

    fn terminated(&self, i: usize) -> bool {
        self.setup.ends.0 && self.steps[i].terminated != 0
    }

    /// The steps from i on, `most` of them or fewer.
    fn chain(&self, i: usize, most: usize) -> Vec<usize> {
        let Setup { environments, ends, .. } = self.setup;
        let mut chain = vec![i];
        while chain.len() < most {
            let last = chain[chain.len() - 1];
            let next = last.saturating_add(environments);
            let truncated = ends.0 && ends.1 && self.steps[last].truncated != 0;
            if self.terminated(last) || truncated || !self.is_there(next) {
                break;
            }
            chain.push(next);
        }
        chain
    }

    /// R, D, m and the last step of the return from i on.
    fn expected_return(&self, i: usize) -> (f32, f32, u32, usize) {
        let (most, g) = self.setup.n_step.unwrap();
        let chain = self.chain(i, most);
        let (mut sum, mut power) = (self.steps[i].reward, 1.0_f32);
        let (mut exact, mut size) = (f64::from(sum), f64::from(sum.abs()));
        for (k, &j) in chain.iter().enumerate().skip(1) {
            power *= g;
            sum = power.mul_add(self.steps[j].reward, sum);
            let term = f64::from(g).powi(k as i32) * f64::from(self.steps[j].reward);
            (exact, size) = (exact + term, size + term.abs());
        }
        // k - 1 roundings of g^k and one of each of m sums, 2^-24 of what is rounded.
        let bound = (2 * chain.len()) as f64 * 2_f64.powi(-24) * size;
        assert!((f64::from(sum) - exact).abs() <= bound, "{sum} {exact}");
        let last = chain[chain.len() - 1];
        let discount = if self.terminated(last) { 0.0 } else { power * g };
        (sum, discount, chain.len() as u32, last)
    }

    fn check(&self) {
        let Setup { capacity, environments, n_step, length, ends, start } = self.setup;
        let mut columns = Columns::new();
        let next = columns.add_last::<f32>("next", 2).unwrap();
        let terminated = columns.add::<u8>("terminated", 1).unwrap();
        let now = columns.add::<i32>("now", 1).unwrap();
        let truncated = columns.add::<u8>("truncated", 1).unwrap();
        let reward = columns.add::<f32>("reward", 1).unwrap();
        let episodes = Episodes { terminated, truncated: ends.1.then_some(truncated) };
        let config = Config {
            environments,
            alpha: 0.0,
            draws: Draws::Distinct,
            episodes: ends.0.then_some(episodes),
            n_step: n_step.map(|(steps, discount)| NStep { steps, discount, reward }),
            ..Config::new(capacity)
        };
        let mut replay = PrioritizedReplay::starting_at(config, columns, start).unwrap();
        for (i, step) in self.steps.iter().enumerate() {
            let (now_row, next_row) = ([i as i32 + 1], [i as f32 + 0.5, -(i as f32)]);
            let rows = [
                now.rows(&now_row),
                next.rows(&next_row),
                reward.rows(std::slice::from_ref(&step.reward)),
                terminated.rows(std::slice::from_ref(&step.terminated)),
                truncated.rows(std::slice::from_ref(&step.truncated)),
            ];
            replay.insert(&rows).unwrap();
        }
        let removed = (0..self.steps.len()).filter(|&i| self.steps[i].removed);
        let removed: Vec<Handle> = removed.map(|i| Handle::from_number(start + i as u64)).collect();
        replay.remove(&removed).unwrap();
        let there = (0..self.steps.len()).filter(|&i| self.is_there(i)).count();
        assert_eq!(replay.len(), there);
        // Each item once.
        let mut batch = replay.sequences(there, length).unwrap();
        // The second time into what the first has left.
        for _ in 0..2 {
            let drawn = replay.sample_proportional(&mut batch, 0.5);
            if there == 0 {
                assert!(matches!(drawn, Err(Error::NoItems)));
                return;
            }
            drawn.unwrap();
            self.check_batch(&batch, now, next);
        }
    }

    fn check_batch(&self, batch: &Batch, now: Column<i32>, next: Column<f32>) {
        let Setup { capacity, length, start, n_step, .. } = self.setup;
        assert_eq!((batch.steps(), batch.weights()), (length, &vec![1.0; batch.len()][..]));
        let (now, next) = (batch.sequence(now).unwrap(), batch.sequence(next).unwrap());
        let of_returns = if n_step.is_some() { batch.len() * length } else { 0 };
        assert_eq!([batch.returns().len(), batch.discounts().len(), batch.spans().len()], [of_returns; 3]);
        let mut seen = vec![false; self.steps.len()];
        for (b, handle) in batch.handles().iter().enumerate() {
            let i = usize::try_from(handle.number() - start).unwrap();
            assert!(self.is_there(i) && !std::mem::replace(&mut seen[i], true));
            assert_eq!(u64::from(batch.indices()[b]), handle.number() % capacity as u64);
            let chain = self.chain(i, length);
            assert_eq!(batch.lengths()[b] as usize, chain.len(), "{i} {:?} {:?}", self.setup, self.steps);
            for l in 0..length {
                let at = b * length + l;
                let found = n_step.map(|_| (batch.returns()[at], batch.discounts()[at], batch.spans()[at]));
                let Some(&j) = chain.get(l) else {
                    // Past the end.
                    assert_eq!((now[[b, l, 0]], next[[b, l, 0]], next[[b, l, 1]]), (0, 0.0, 0.0));
                    assert!(found.is_none_or(|found| found == (0.0, 0.0, 0)));
                    continue;
                };
                assert_eq!(now[[b, l, 0]], j as i32 + 1);
                let last = n_step.map_or(j, |_| {
                    let (sum, discount, span, last) = self.expected_return(j);
                    assert_eq!(found, Some((sum, discount, span)), "{j} {:?} {:?}", self.setup, self.steps);
                    last
                });
                assert_eq!((next[[b, l, 0]], next[[b, l, 1]]), (last as f32 + 0.5, -(last as f32)));
            }
        }
    }
}

/// Rewards whose sums are rounded.
fn reward(i: usize) -> f32 {
    0.1 * (1 + i) as f32 * if i % 3 == 1 { -1.0 } else { 1.0 }
}

#[test]
fn no_pattern_of_ends_and_removals_on_a_tiny_ring_is_crossed() {
    for capacity in 1..=4_usize {
        // Partly filled, full, and with the cursor everywhere.
        for inserted in 1..=2 * capacity {
            let there = inserted.min(capacity);
            for (flags, removals) in (0..4_u32.pow(there as u32)).flat_map(|f| (0..1_u32 << there).map(move |r| (f, r)))
            {
                let step = |i: usize| {
                    // Those overwritten say the opposite of those in their slots.
                    let back = (inserted - 1 - i) as u32;
                    let bits =
                        if back < there as u32 { flags >> (2 * back) } else { !(flags >> (2 * (back - there as u32))) };
                    let removed = back < there as u32 && removals >> back & 1 == 1;
                    Step { reward: reward(i), terminated: bits as u8 & 1, truncated: bits as u8 & 2, removed }
                };
                let steps: Vec<Step> = (0..inserted).map(step).collect();
                for environments in 1..=3 {
                    for most in [1, 2, capacity + 1] {
                        let n_step = Some((most, 0.9));
                        let (length, ends, start) = (capacity + 1, (true, true), 0);
                        let setup = Setup { capacity, environments, n_step, length, ends, start };
                        World { setup, steps: &steps }.check();
                    }
                }
            }
        }
    }
}

/// Each end once at each place of each ring: with what the replay is told about ends.
#[test]
fn only_ends_that_the_replay_is_told_of_are_ends() {
    for capacity in 1..=5_usize {
        for inserted in 1..=2 * capacity + 1 {
            for end in 0..inserted {
                let step = |i: usize| Step {
                    reward: reward(i),
                    // Any value but 0 is an end.
                    terminated: if i == end { 200 } else { 0 },
                    truncated: if i + 1 == end { 255 } else { 0 },
                    removed: false,
                };
                let steps: Vec<Step> = (0..inserted).map(step).collect();
                for ends in [(true, true), (true, false), (false, false)] {
                    for (n_step, length) in [(None, 1), (None, 3), (Some((3, 1.0)), 1), (Some((3, 0.0)), 4)] {
                        let setup = Setup { capacity, environments: 1, n_step, length, ends, start: 3 };
                        World { setup, steps: &steps }.check();
                    }
                }
            }
        }
    }
}

fn setup() -> impl Strategy<Value = Setup> {
    let n_step = prop::option::of((prop_oneof![1..12_usize, Just(usize::MAX)], 0.0..=1.0_f32));
    let start = prop_oneof![Just(0), Just((1_u64 << 32) - 9), Just((1 << 63) - 2000)];
    let environments = prop_oneof![8 => 1..8_usize, 1 => Just(usize::MAX)];
    (1..70_usize, environments, n_step, 1..12_usize, any::<(bool, bool)>(), start).prop_map(
        |(capacity, environments, n_step, length, ends, start)| Setup {
            capacity,
            environments,
            n_step,
            length,
            ends,
            start,
        },
    )
}

fn step() -> impl Strategy<Value = Step> {
    let flag = || prop_oneof![9 => Just(0_u8), 1 => 1..=255_u8];
    (-10.0..10.0_f32, flag(), flag(), prop::bool::weighted(0.1))
        .prop_map(|(reward, terminated, truncated, removed)| Step { reward, terminated, truncated, removed })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn sequences_and_returns_are_those_of_the_list(setup in setup(), steps in prop::collection::vec(step(), 0..150)) {
        World { setup, steps: &steps }.check();
    }
}
