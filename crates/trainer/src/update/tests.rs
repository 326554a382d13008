//! The gradient of a whole minibatch against central differences of a plain f64 model.

use super::*;
use crate::config::PolicyConfig;
use crate::env::{CartPole, VecEnv};
use crate::oracle::Policy;
use arith::random::{Stream, normal_pair, uniform};

/// The loss in f64, straight from the formulas.
struct Oracle<'a> {
    layout: &'a Layout,
    batch: &'a Batch,
    ppo: Ppo,
    segments: usize,
    steps: usize,
}

impl Oracle<'_> {
    fn loss(&self, w: &[f64]) -> f64 {
        let (b, h) = (self.batch, self.layout.hidden);
        let policy = Policy { layout: self.layout, parameters: w };
        let total = (self.segments * self.steps) as f64;
        let mut loss = 0.0;
        for segment in 0..self.segments {
            let mut states: Vec<Vec<f64>> = (0..self.layout.layers)
                .map(|l| {
                    let at = (l * self.segments + segment) * h;
                    b.states[at..at + h].iter().map(|&s| f64::from(s)).collect()
                })
                .collect();
            for step in 0..self.steps {
                let row = segment * self.steps + step;
                let d = b.observation;
                let observation = &b.observations[row * d..(row + 1) * d];
                let out = policy.step(observation, f64::from(b.keep[row]), &mut states);
                loss += self.row(row, &out) / total;
            }
        }
        loss
    }

    fn row(&self, row: usize, out: &[f64]) -> f64 {
        let (b, ppo) = (self.batch, &self.ppo);
        let f = |x: &[f32]| f64::from(x[row]);
        let (logits, v) = (&out[..out.len() - 1], out[out.len() - 1]);
        let normalizer = logits.iter().map(|z| z.exp()).sum::<f64>().ln();
        let log_p: Vec<f64> = logits.iter().map(|z| z - normalizer).collect();
        let entropy = -log_p.iter().map(|l| l.exp() * l).sum::<f64>();
        let ratio = (log_p[b.actions[row] as usize] - f(&b.old_log_probs)).exp();
        let clip = f64::from(ppo.clip);
        let a = f(&b.advantages);
        let policy = -(ratio * a).min(ratio.clamp(1.0 - clip, 1.0 + clip) * a);
        let (old, target) = (f(&b.old_values), f(&b.returns));
        let square = (v - target).powi(2);
        let value = match ppo.value_clip {
            Some(range) => square.max((old + (v - old).clamp(-f64::from(range), f64::from(range)) - target).powi(2)),
            None => square,
        };
        let coefficients = (f64::from(ppo.value_coefficient), f64::from(ppo.entropy_coefficient));
        f(&b.weights) * (policy + coefficients.0 * 0.5 * value - coefficients.1 * entropy)
    }
}

#[test]
fn the_gradient_is_that_of_the_loss() {
    for (encoder, layers) in [(vec![5], 0), (vec![6, 5], 0), (vec![4, 5, 6], 0), (vec![5], 1), (vec![3, 4, 5, 6], 2)] {
        for value_clip in [0.0, 0.3] {
            check(&encoder, layers, value_clip);
        }
    }
}

fn check(encoder: &[usize], layers: usize, value_clip: f32) {
    let config = Config {
        environments: 6,
        horizon: 12,
        segment: 6,
        minibatches: 1,
        policy: PolicyConfig { encoder: encoder.to_vec(), layers },
        value_clip,
        ..Config::default()
    };
    let mut envs = VecEnv::new(6, |_| CartPole::new(), |i| Stream::new(3, i as u64)).unwrap();
    let mut plan = UpdatePlan::compile(&config, envs.spec(), false).unwrap();
    let mut learner = Learner::new(plan.layout(), &config).unwrap();
    let draws = Stream::new(99, 0);
    let noise = |i: usize| {
        let words = draws.block(i as u64);
        normal_pair(words[0], words[1]).0
    };
    for (i, w) in learner.parameters.iter_mut().enumerate() {
        *w = 0.5 * noise(i);
    }
    // Three updates, so that segments begin with states, and in the middle of episodes.
    for update in 0..3 {
        plan.run(update, &mut envs, &mut learner).unwrap();
    }
    plan.packed.pack(&plan.layout, &learner.parameters).unwrap();
    let segments: Vec<u32> = (0..11).collect();
    let importance: Vec<f32> = (0..12).map(|i| 0.25 + uniform(draws.block(i + 5_000)[0])).collect();
    plan.batch.gather(&plan.rollout, &segments, &importance);
    let rows = plan.batch.rows;
    assert_eq!(rows, 66);
    // As if the parameters had moved since the rollout: ratios and values on both sides of their clip ranges.
    for r in 0..rows {
        plan.batch.old_log_probs[r] += 0.4 * noise(10_000 + r);
        plan.batch.old_values[r] += 0.4 * noise(20_000 + r);
        plan.batch.advantages[r] = noise(30_000 + r);
    }
    let ppo = Ppo { value_clip: (value_clip > 0.0).then_some(value_clip), ..Ppo::default() };
    plan.differentiate(&ppo, &learner).unwrap();
    plan.reduce().unwrap();
    let statistics = plan.batch.terms.reduce(rows);
    assert!(statistics.clip_fraction > 0.1 && statistics.clip_fraction < 0.9, "both sides are there");

    let oracle = Oracle { layout: &plan.layout, batch: &plan.batch, ppo, segments: 11, steps: 6 };
    let mut w: Vec<f64> = learner.parameters.iter().map(|&w| f64::from(w)).collect();
    for p in &plan.layout.parameters {
        let gradient = &plan.gradient[p.range.clone()];
        let differences: Vec<f64> = p
            .range
            .clone()
            .map(|i| {
                let (kept, step) = (w[i], 1e-6);
                w[i] = kept + step;
                let above = oracle.loss(&w);
                w[i] = kept - step;
                let below = oracle.loss(&w);
                w[i] = kept;
                (above - below) / (2.0 * step)
            })
            .collect();
        let largest = differences.iter().fold(1e-3, |a: f64, b| a.max(b.abs()));
        for (i, (&got, &expected)) in gradient.iter().zip(&differences).enumerate() {
            // Some 100 roundings of 2^-24 on the way through 6 steps, on terms up to ten times the largest sum: 6e-5.
            let error = (f64::from(got) - expected).abs() / largest;
            assert!(error < 6e-5, "{}[{i}], {encoder:?}, {layers}: {got} for {expected}, error {error:e}", p.name);
        }
    }
}

/// Case 30 through the plan: the parameter is named by its name in checkpoints, and nothing has moved.
#[test]
fn case_30_a_gradient_that_is_not_finite_names_its_parameter_and_moves_nothing() {
    let config = Config { environments: 4, horizon: 8, minibatches: 1, ..Config::default() };
    let mut envs = VecEnv::new(4, |_| CartPole::new(), |i| Stream::new(3, i as u64)).unwrap();
    let mut plan = UpdatePlan::compile(&config, envs.spec(), false).unwrap();
    let mut learner = Learner::new(plan.layout(), &config).unwrap();
    plan.run(0, &mut envs, &mut learner).unwrap();
    let before = learner.clone();
    let at = plan.layout.mingru.start + 5;
    for value in [f32::NAN, f32::INFINITY] {
        plan.gradient[at] = value;
        let error = plan.step(1e-3, &mut learner).unwrap_err().to_string();
        assert_eq!(error, format!("optimizer: the gradient of mingru.0.weight, element 5 is {value}"));
        assert_eq!(learner, before);
    }
}
