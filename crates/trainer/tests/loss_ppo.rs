//! The PPO loss against f64 and finite differences, and its cases.

use arith::random::Stream;
use arith::simd::Isa;
use trainer::loss::{Error, Logits, Ppo, PpoRows, Statistics, Terms, ppo_rows};

const ISAS: [Isa; 3] = [Isa::Scalar, Isa::Avx2, Isa::Avx512];

/// A minibatch that owns its rows.
#[derive(Clone)]
struct Minibatch {
    width: usize,
    output: Vec<f32>,
    actions: Vec<u32>,
    old_log_probs: Vec<f32>,
    old_values: Vec<f32>,
    advantages: Vec<f32>,
    returns: Vec<f32>,
    weights: Vec<f32>,
}

impl Minibatch {
    fn random(rows: usize, actions: usize, seed: u64) -> Self {
        let draw = |column: u64, scale: f32| -> Vec<f32> {
            (0..rows as u64)
                .map(|i| scale * (2.0 * arith::random::uniform(Stream::new(seed, column).block(i)[0]) - 1.0))
                .collect()
        };
        let width = actions + 1;
        let output = (0..(rows * width) as u64)
            .map(|i| 4.0 * arith::random::uniform(Stream::new(seed, 99).block(i)[0]) - 2.0)
            .collect();
        let actions: Vec<u32> = (0..rows as u64).map(|i| Stream::new(seed, 7).block(i)[0] % actions as u32).collect();
        let mut batch = Self {
            width,
            output,
            actions,
            old_log_probs: draw(1, 0.5),
            old_values: draw(2, 2.0),
            advantages: draw(3, 2.0),
            returns: draw(4, 2.0),
            weights: draw(5, 0.5).iter().map(|w| w + 0.75).collect(),
        };
        // Old log-probabilities within 0.5 of the present ones: about half of the ratios are clipped.
        for (row, old) in batch.old_log_probs.iter_mut().enumerate() {
            let z: Vec<f64> = batch.output[row * width..][..width - 1].iter().map(|&z| f64::from(z)).collect();
            *old += log_softmax(&z)[batch.actions[row] as usize] as f32;
        }
        batch
    }

    fn len(&self) -> usize {
        self.actions.len()
    }

    fn rows(&self, at: std::ops::Range<usize>) -> PpoRows<'_> {
        let w = self.width;
        PpoRows {
            output: Logits::new(&self.output[at.start * w..at.end * w], w, w - 1).unwrap(),
            actions: &self.actions[at.clone()],
            old_log_probs: &self.old_log_probs[at.clone()],
            old_values: &self.old_values[at.clone()],
            advantages: &self.advantages[at.clone()],
            returns: &self.returns[at.clone()],
            weights: &self.weights[at],
        }
    }

    fn run(&self, isa: Isa, ppo: &Ppo) -> Result<(Vec<f32>, Statistics), Error> {
        let n = self.len();
        let mut gradient = vec![f32::NAN; self.output.len()];
        let mut terms = Terms::new(n);
        ppo_rows(isa, ppo, n, &self.rows(0..n), &mut gradient, terms.rows(n))?;
        Ok((gradient, terms.reduce(n)))
    }

    /// The row's terms in f64 from the definition: loss, policy, value, entropy, ratio.
    fn exact(&self, ppo: &Ppo, row: usize, output: &[f64]) -> [f64; 5] {
        let f = f64::from;
        let (z, v) = (&output[..self.width - 1], output[self.width - 1]);
        let log_probs = log_softmax(z);
        let entropy = -log_probs.iter().map(|l| l.exp() * l).sum::<f64>();
        let ratio = (log_probs[self.actions[row] as usize] - f(self.old_log_probs[row])).exp();
        let (a, clip) = (f(self.advantages[row]), f(ppo.clip));
        let policy = -(ratio * a).min(ratio.clamp(1.0 - clip, 1.0 + clip) * a);
        let (r, old) = (f(self.returns[row]), f(self.old_values[row]));
        let clipped = ppo.value_clip.map_or(v, |c| old + (v - old).clamp(-f(c), f(c)));
        let value = 0.5 * (v - r).powi(2).max((clipped - r).powi(2));
        let w = f(self.weights[row]);
        let loss = w * (policy + f(ppo.value_coefficient) * value - f(ppo.entropy_coefficient) * entropy);
        [loss, w * policy, w * value, entropy, ratio]
    }

    fn row64(&self, row: usize) -> Vec<f64> {
        self.output[row * self.width..][..self.width].iter().map(|&x| f64::from(x)).collect()
    }
}

fn log_softmax(z: &[f64]) -> Vec<f64> {
    let top = z.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = z.iter().map(|z| (z - top).exp()).sum();
    z.iter().map(|z| z - top - sum.ln()).collect()
}

fn bits(x: &[f32]) -> Vec<u32> {
    x.iter().map(|x| x.to_bits()).collect()
}

fn settings() -> [Ppo; 3] {
    [
        Ppo::default(),
        Ppo { value_clip: None, entropy_coefficient: 0.3, ..Ppo::default() },
        Ppo { clip: 0.1, value_clip: Some(0.5), value_coefficient: 1.5, entropy_coefficient: -0.1 },
    ]
}

#[test]
fn gradients_are_those_of_the_definition() {
    for ppo in settings() {
        for actions in [1, 2, 5, 9, 70] {
            let n = 60;
            let batch = Minibatch::random(n, actions, actions as u64);
            let (gradient, _) = batch.run(Isa::detect(), &ppo).unwrap();
            for row in 0..n {
                let output = batch.row64(row);
                for column in 0..batch.width {
                    let mut moved = output.clone();
                    let mut loss = |x: f64| {
                        moved[column] = x;
                        batch.exact(&ppo, row, &moved)[0]
                    };
                    let h = 1e-5;
                    let numeric = (loss(output[column] + h) - loss(output[column] - h)) / (2.0 * h * n as f64);
                    let got = f64::from(gradient[row * batch.width + column]);
                    // Differences: h^2 of a third derivative below 100; f32: a dozen roundings of numbers below 10 / n.
                    // A kink of a clip within h has a gradient between those of its sides.
                    let tolerance = (1e-8 + 12.0 * 10.0 * 2f64.powi(-24)) / n as f64;
                    assert!((got - numeric).abs() < tolerance, "{ppo:?} {actions} {row} {column}: {got} {numeric}");
                }
            }
        }
    }
}

#[test]
fn statistics_are_means_of_the_definition() {
    for ppo in settings() {
        let n = 1500;
        let batch = Minibatch::random(n, 4, 3);
        let (_, got) = batch.run(Isa::detect(), &ppo).unwrap();
        let rows: Vec<_> = (0..n).map(|row| batch.exact(&ppo, row, &batch.row64(row))).collect();
        let mean = |f: &dyn Fn(&[f64; 5]) -> f64| rows.iter().map(f).sum::<f64>() / n as f64;
        let clip = f64::from(ppo.clip);
        // Terms below 10 with a dozen roundings each, and their sum's ten levels.
        let tolerance = 10.0 * 24.0 * 2f64.powi(-24);
        for (name, got, expected) in [
            ("policy", got.policy_loss, mean(&|r| r[1])),
            ("value", got.value_loss, mean(&|r| r[2])),
            ("entropy", got.entropy, mean(&|r| r[3])),
            ("kl", got.approx_kl, mean(&|r| r[4] - 1.0 - r[4].ln())),
            ("clipped", got.clip_fraction, mean(&|r| f64::from(u8::from((r[4] - 1.0).abs() > clip)))),
            ("smallest", got.min_ratio, rows.iter().map(|r| r[4]).fold(f64::INFINITY, f64::min)),
            ("largest", got.max_ratio, rows.iter().map(|r| r[4]).fold(0.0, f64::max)),
        ] {
            assert!((f64::from(got) - expected).abs() < tolerance, "{name}: {got} {expected}");
        }
        assert!(got.clip_fraction > 0.2 && got.clip_fraction < 0.9);
    }
}

#[test]
fn blocks_and_instruction_sets_give_the_same_bits() {
    for actions in [2, 9, 65] {
        let n = 301;
        let batch = Minibatch::random(n, actions, 5);
        let ppo = Ppo::default();
        let whole = batch.run(Isa::detect(), &ppo).unwrap();
        for isa in ISAS {
            let got = batch.run(isa, &ppo).unwrap();
            assert_eq!(bits(&got.0), bits(&whole.0), "{isa:?}");
            assert_eq!(got.1, whole.1, "{isa:?}");
        }
        for size in [1, 15, 16, 17, 128, 300] {
            let mut gradient = vec![f32::NAN; batch.output.len()];
            let mut terms = Terms::new(n + 5);
            let mut blocks = Vec::new();
            let (mut rest, mut rest_of_gradient, mut start) = (terms.rows(n), &mut gradient[..], 0);
            while start < n {
                let end = n.min(start + size);
                let (block, others) = rest.split_at(end - start);
                let (d, other_d) = rest_of_gradient.split_at_mut((end - start) * batch.width);
                blocks.push((start..end, block, d));
                (rest, rest_of_gradient, start) = (others, other_d, end);
            }
            assert!(rest.is_empty());
            // In any order, on any thread.
            let half = blocks.len().div_ceil(2);
            std::thread::scope(|scope| {
                let (batch, ppo) = (&batch, &ppo);
                let (a, b) = blocks.split_at_mut(half);
                for part in [b, a] {
                    scope.spawn(move || {
                        for (at, block, d) in part.iter_mut().rev() {
                            let rows = batch.rows(at.clone());
                            ppo_rows(Isa::detect(), ppo, n, &rows, d, block.reborrow()).unwrap();
                        }
                    });
                }
            });
            assert_eq!(bits(&gradient), bits(&whole.0), "{size}");
            assert_eq!(terms.reduce(n), whole.1, "{size}");
        }
    }
}

#[test]
fn case_27_value_clipping() {
    let mut batch = Minibatch::random(1, 2, 1);
    batch.output[2] = 2.0;
    (batch.old_values, batch.returns, batch.weights) = (vec![0.0], vec![2.0], vec![1.0]);
    for isa in ISAS {
        let ppo = Ppo { clip: 0.2, value_clip: Some(0.2), value_coefficient: 1.0, entropy_coefficient: 0.0 };
        let (gradient, statistics) = batch.run(isa, &ppo).unwrap();
        assert!((statistics.value_loss - 1.62).abs() < 1e-6);
        assert_eq!(gradient[2], 0.0);
        // Without clipping the value is right already.
        let (gradient, statistics) = batch.run(isa, &Ppo { value_clip: None, ..ppo }).unwrap();
        assert_eq!((statistics.value_loss, gradient[2]), (0.0, 0.0));
    }
}

#[test]
fn case_28_the_k3_estimate() {
    let mut batch = Minibatch::random(1, 2, 1);
    // p(0) = 0.9, before 0.5.
    (batch.output[0], batch.output[1]) = (9.0_f32.ln(), 0.0);
    (batch.actions, batch.old_log_probs) = (vec![0], vec![0.5_f32.ln()]);
    for isa in ISAS {
        let (_, statistics) = batch.run(isa, &Ppo::default()).unwrap();
        assert!((statistics.approx_kl - 0.2122).abs() < 5e-5, "{statistics:?}");
    }
    // Small ratios don't cancel: x^2 / 2 to within its own relative error.
    for x in [1e-2, 1e-3, 3e-4] {
        let log_probs = log_softmax(&[f64::from(batch.output[0]), 0.0]);
        batch.old_log_probs = vec![(log_probs[0] - x) as f32];
        let (_, statistics) = batch.run(Isa::detect(), &Ppo::default()).unwrap();
        let expected = x.exp() - 1.0 - x;
        // The log-ratio has an absolute error of 2^-23 or so.
        assert!((f64::from(statistics.approx_kl) - expected).abs() < 2.0 * x * 2f64.powi(-22), "{statistics:?}");
        assert!(statistics.approx_kl > 0.0);
    }
}

#[test]
fn case_31_the_first_minibatch_has_ratios_of_exactly_one() {
    for actions in [2, 6, 18, 100] {
        let n = 999;
        let mut batch = Minibatch::random(n, actions, 31);
        let words: Vec<u32> = (0..n as u64).map(|i| Stream::new(31, 50).block(i)[3]).collect();
        // The rollout: groups of 32 rows, in another order than the minibatch.
        let width = batch.width;
        for start in (0..n).step_by(32) {
            let at = start..n.min(start + 32);
            let rollout: Vec<f32> = batch.output[at.start * width..at.end * width].to_vec();
            let logits = Logits::new(&rollout, width, actions).unwrap();
            let (taken, log_probs) = (&mut batch.actions[at.clone()], &mut batch.old_log_probs[at.clone()]);
            logits.sample(Isa::detect(), &words[at], taken, log_probs).unwrap();
        }
        for isa in ISAS {
            let (_, statistics) = batch.run(isa, &Ppo::default()).unwrap();
            assert_eq!((statistics.min_ratio, statistics.max_ratio), (1.0, 1.0));
            assert_eq!((statistics.approx_kl, statistics.clip_fraction), (0.0, 0.0));
        }
    }
}

#[test]
fn ratios_out_of_all_bounds_stay_finite() {
    let mut batch = Minibatch::random(4, 3, 2);
    batch.old_log_probs = vec![-1e4, 1e4, -1e30, 1e30];
    batch.advantages = vec![-1.0, 1.0, -2.0, 2.0];
    let (gradient, statistics) = batch.run(Isa::detect(), &Ppo::default()).unwrap();
    assert!(gradient.iter().all(|g| g.is_finite()));
    let e20 = 20f64.exp();
    assert!((f64::from(statistics.max_ratio) / e20 - 1.0).abs() < 1e-6);
    assert!((f64::from(statistics.min_ratio) * e20 - 1.0).abs() < 1e-6);
    assert_eq!(statistics.clip_fraction, 1.0);
    assert!(statistics.approx_kl.is_finite() && statistics.policy_loss.is_finite());
}

#[test]
fn masked_actions_have_no_gradient() {
    let batch = Minibatch::random(40, 4, 8);
    let legal: Vec<bool> = (0..160).map(|i| i % 4 == batch.actions[i / 4] as usize || i % 3 == 0).collect();
    let mut rows = batch.rows(0..40);
    rows.output = rows.output.with_legal(&legal).unwrap();
    let (mut gradient, mut terms) = (vec![f32::NAN; 200], Terms::new(40));
    ppo_rows(Isa::detect(), &Ppo::default(), 40, &rows, &mut gradient, terms.rows(40)).unwrap();
    for row in 0..40 {
        let d = &gradient[row * 5..row * 5 + 4];
        for a in 0..4 {
            assert!(d[a].is_finite() && (legal[row * 4 + a] || d[a] == 0.0), "{row} {a}: {}", d[a]);
        }
        // A softmax doesn't change when all logits move together.
        assert!(d.iter().map(|&d| f64::from(d)).sum::<f64>().abs() < 1e-7);
    }
}

#[test]
fn bad_rows_are_named() {
    let n = 50;
    let batch = Minibatch::random(n, 3, 4);
    for isa in ISAS {
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            for row in [0, 17, 49] {
                let fail = |change: &dyn Fn(&mut Minibatch), operand: &str| {
                    let mut spoilt = batch.clone();
                    change(&mut spoilt);
                    let error = spoilt.run(isa, &Ppo::default()).unwrap_err().to_string();
                    assert_eq!(error, format!("ppo_rows: {operand} of row {row} is {bad}"));
                };
                fail(&|b| b.output[row * 4 + 3] = bad, "the value");
                fail(&|b| b.advantages[row] = bad, "the advantage");
                fail(&|b| b.returns[row] = bad, "the return");
                fail(&|b| b.weights[row] = bad, "the weight");
                fail(&|b| b.old_values[row] = bad, "the old value");
                fail(&|b| b.old_log_probs[row] = bad, "the old log-probability");
                if bad != f32::NEG_INFINITY {
                    fail(&|b| b.output[row * 4 + 1] = bad, "a logit");
                }
            }
        }
        let mut spoilt = batch.clone();
        spoilt.actions[20] = 3;
        let error = spoilt.run(isa, &Ppo::default()).unwrap_err();
        assert_eq!(error.to_string(), "ppo_rows: action 3 of row 20 is not one of the 3 legal ones");
    }
}

#[test]
fn lengths_and_settings_are_checked_before_anything_is_written() {
    let n = 6;
    let batch = Minibatch::random(n, 2, 4);
    let fine = Ppo::default();
    for ppo in [
        Ppo { clip: 0.0, ..fine },
        Ppo { clip: f32::NAN, ..fine },
        Ppo { value_clip: Some(0.0), ..fine },
        Ppo { value_clip: Some(f32::INFINITY), ..fine },
        Ppo { value_coefficient: -1.0, ..fine },
        Ppo { entropy_coefficient: f32::NAN, ..fine },
    ] {
        assert!(matches!(batch.run(Isa::detect(), &ppo), Err(Error::Setting { .. })), "{ppo:?}");
    }
    let rows = batch.rows(0..n);
    let wrong = [
        PpoRows { actions: &batch.actions[1..], ..rows },
        PpoRows { old_log_probs: &batch.old_log_probs[1..], ..rows },
        PpoRows { old_values: &batch.old_values[1..], ..rows },
        PpoRows { advantages: &batch.advantages[1..], ..rows },
        PpoRows { returns: &batch.returns[1..], ..rows },
        PpoRows { weights: &batch.weights[1..], ..rows },
    ];
    let mut gradient = vec![7.0; 3 * n];
    let mut terms = Terms::new(n);
    for rows in wrong {
        let error = ppo_rows(Isa::detect(), &fine, n, &rows, &mut gradient, terms.rows(n)).unwrap_err();
        assert!(matches!(error, Error::Length { .. }));
    }
    assert!(ppo_rows(Isa::detect(), &fine, n, &rows, &mut gradient[1..], terms.rows(n)).is_err());
    assert!(ppo_rows(Isa::detect(), &fine, n, &rows, &mut gradient, terms.rows(n - 1)).is_err());
    assert!(ppo_rows(Isa::detect(), &fine, n - 1, &rows, &mut gradient, terms.rows(n)).is_err());
    let no_value = PpoRows { output: Logits::new(&batch.output, 3, 3).unwrap(), ..rows };
    let error = ppo_rows(Isa::detect(), &fine, n, &no_value, &mut gradient, terms.rows(n)).unwrap_err();
    assert!(matches!(error, Error::Actions { most: 2, .. }));
    assert_eq!(gradient, vec![7.0; 3 * n]);
    assert_eq!(terms.reduce(0), Statistics::default());
}
