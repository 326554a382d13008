//! A rollout against a plain f64 model of it.

use super::*;
use crate::config::PolicyConfig;
use crate::env::{Scripted, Step, VecEnv};
use crate::oracle::Policy;
use arith::random::normal_pair;

const ENVIRONMENTS: usize = 35;
const STEPS: usize = 13;

/// Episodes of 3, 4 and 2 steps that end in each of the ways there are; environment i begins at line i.
fn script(i: usize) -> Scripted {
    let end = |terminated, truncated| Step { reward: 2.0, terminated, truncated };
    let go = |reward| Step { reward, ..Step::default() };
    let mut lines = vec![
        go(0.5),
        go(-1.0),
        end(false, true),
        go(0.25),
        go(1.5),
        go(1.0),
        end(true, false),
        go(3.0),
        end(true, true),
    ];
    let turn = i % lines.len();
    lines.rotate_left(turn);
    Scripted::new(lines, 3).unwrap()
}

/// A rollout's parts, over environments that play [`script`].
struct Fixture {
    config: Config,
    layout: Layout,
    parameters: Vec<f32>,
    packed: Packed,
    envs: VecEnv<Scripted>,
    rollout: Rollout,
}

impl Fixture {
    fn new(layers: usize) -> Self {
        let config = Config {
            environments: ENVIRONMENTS,
            horizon: STEPS,
            policy: PolicyConfig { encoder: vec![5, 4], layers },
            gamma: 0.9,
            lambda: 0.8,
            ..Config::default()
        };
        let layout = Layout::new(&config.policy, 2, 3).unwrap();
        let mut parameters = vec![0.0_f32; layout.len];
        for (i, w) in parameters.iter_mut().enumerate() {
            let words = Stream::new(4, 0).block(i as u64);
            *w = 0.4 * normal_pair(words[0], words[1]).0;
        }
        let mut packed = Packed::new(&layout).unwrap();
        packed.pack(&layout, &parameters).unwrap();
        let envs = VecEnv::new(ENVIRONMENTS, script, |i| Stream::new(1, i as u64)).unwrap();
        let rollout = Rollout::new(&config, &layout, &packed, 2).unwrap();
        Self { config, layout, parameters, packed, envs, rollout }
    }

    fn run(&mut self, round: u64) {
        let Self { config, packed, envs, rollout, .. } = self;
        let context = Context { isa: Isa::detect(), config, packed, first_step: round * STEPS as u64 };
        rollout.run(&context, envs, Par::Serial).unwrap();
    }
}

/// Case 32: the actor's input after an end is the reset's observation; the value after a truncation is that of the final
/// observation from the state before the reset; each of an episode's steps is one row and no row is made up. Case 23:
/// segments bootstrap past their end.
#[test]
fn case_32_rows_and_advantages_are_those_of_the_episodes() {
    for layers in [0, 2] {
        let mut fixture = Fixture::new(layers);
        let wide: Vec<f64> = fixture.parameters.iter().map(|&w| f64::from(w)).collect();
        let mut actors: Vec<Actor> = (0..ENVIRONMENTS).map(|i| Actor::new(i, &fixture.layout)).collect();
        for round in 0..3 {
            fixture.run(round);
            let policy = Policy { layout: &fixture.layout, parameters: &wide };
            for (i, actor) in actors.iter_mut().enumerate() {
                actor.check(&policy, &fixture.rollout.segment(i));
            }
        }
    }
}

/// 35 environments are two groups; what a run reports must not show it.
#[test]
fn finished_episodes_come_in_order_of_time() {
    let mut fixture = Fixture::new(0);
    let mut alone = VecEnv::new(ENVIRONMENTS, script, |i| Stream::new(1, i as u64)).unwrap();
    let mut transitions = vec![Transition::default(); ENVIRONMENTS];
    for round in 0..2 {
        fixture.run(round);
        let mut expected = Vec::new();
        for _ in 0..STEPS {
            alone.step(&[0; ENVIRONMENTS], &mut transitions, &mut [0.0; 2 * ENVIRONMENTS]).unwrap();
            expected.extend(transitions.iter().filter_map(|t| t.finished));
        }
        assert_eq!(fixture.rollout.finished().collect::<Vec<_>>(), expected);
        assert!(expected.len() > 100);
    }
}

#[test]
fn explained_variance_is_that_of_all_rows() {
    /// `1 - var(return - value) / var(return)` in f64.
    fn exact(rows: &[(f64, f64)]) -> f64 {
        let spread = |x: &dyn Fn(&(f64, f64)) -> f64| {
            let mean = rows.iter().map(x).sum::<f64>() / rows.len() as f64;
            rows.iter().map(|row| (x(row) - mean).powi(2)).sum::<f64>()
        };
        1.0 - spread(&|(r, v)| r - v) / spread(&|(r, _)| *r)
    }
    let mut fixture = Fixture::new(2);
    fixture.run(0);
    // Between the groups too there is variance, of which the values explain some.
    let Group { row_returns, row_values, .. } = &mut fixture.rollout.groups[1];
    row_returns.iter_mut().for_each(|r| *r += 3.0);
    row_values.iter_mut().for_each(|v| *v += 2.0);
    let by_environment: Vec<Vec<(f64, f64)>> = (0..ENVIRONMENTS)
        .map(|i| {
            let segment = fixture.rollout.segment(i);
            segment.returns.iter().zip(segment.values).map(|(&r, &v)| (f64::from(r), f64::from(v))).collect()
        })
        .collect();
    let all = exact(&by_environment.concat());
    let got = f64::from(fixture.rollout.explained_variance(Isa::detect()));
    // A difference has two roundings and its square one, a sum of 455 of them 20 more; the quotient has two sums, and the
    // subtractions of the first element and the mean may cost a factor of 4: below 200 of 2^-24, relative to the quotient.
    let tolerance = 200.0 * 2f64.powi(-24) * (2.0 - all);
    assert!((got - all).abs() < tolerance, "{got} for {all}");
    // Not a mean over the groups of 32 and 3 environments.
    let groups: f64 = by_environment.chunks(GROUP).map(|g| g.len() as f64 * exact(&g.concat())).sum();
    assert!((groups / ENVIRONMENTS as f64 - all).abs() > 1e-2, "{all}");
}

/// The f64 model of one environment.
struct Actor {
    lines: Scripted,
    rng: crate::env::Rng,
    observation: [f32; 2],
    fresh: bool,
    states: Vec<Vec<f64>>,
}

impl Actor {
    fn new(i: usize, layout: &Layout) -> Self {
        let mut lines = script(i);
        let mut rng = crate::env::Rng::new(Stream::new(1, i as u64));
        let mut observation = [0.0; 2];
        lines.reset(&mut rng, &mut observation);
        Self { lines, rng, observation, fresh: true, states: vec![vec![0.0; layout.hidden]; layout.layers] }
    }

    fn check(&mut self, policy: &Policy<'_>, segment: &Segment<'_>) {
        let (mut rewards, mut values, mut next, mut cut) = (vec![], vec![], vec![], vec![]);
        for t in 0..STEPS {
            assert_eq!(segment.observations[2 * t..2 * t + 2], self.observation);
            assert_eq!(segment.keep[t], f32::from(!self.fresh));
            let out = policy.step(&self.observation, f64::from(!self.fresh), &mut self.states);
            let normalizer = out[..3].iter().map(|z| z.exp()).sum::<f64>().ln();
            close(segment.log_probs[t], out[segment.actions[t] as usize] - normalizer);
            close(segment.values[t], out[3]);
            values.push(out[3]);
            let step = self.lines.step(segment.actions[t], &mut self.rng, &mut self.observation);
            rewards.push(f64::from(step.reward));
            self.fresh = step.done();
            cut.push(step.done());
            next.push(match step {
                Step { terminated: true, .. } => Some(0.0),
                Step { truncated: true, .. } => Some(policy.step(&self.observation, 1.0, &mut self.states.clone())[3]),
                _ => None,
            });
            if step.done() {
                self.lines.reset(&mut self.rng, &mut self.observation);
            }
        }
        let after = policy.step(&self.observation, f64::from(!self.fresh), &mut self.states.clone())[3];
        let mut carry = 0.0;
        for t in (0..STEPS).rev() {
            let following = values.get(t + 1).copied().unwrap_or(after);
            let delta = rewards[t] + 0.9 * next[t].unwrap_or(following) - values[t];
            carry = delta + if cut[t] { 0.0 } else { 0.9 * 0.8 * carry };
            close(segment.advantages[t], carry);
            close(segment.returns[t], carry + values[t]);
        }
    }
}

/// Values are below 16 and come of fewer than 100 roundings of 2^-24, relative.
#[track_caller]
fn close(got: f32, expected: f64) {
    assert!((f64::from(got) - expected).abs() < 16.0 * 100.0 * 2f64.powi(-24), "{got} for {expected}");
}
