//! Advantages against their definition: a sum over the future in f64, and the documented f32 operations one by one.

use arith::simd::Isa;
use trainer::advantage::{Discount, Error, OffPolicy, Trajectories, gae, vtrace};

const ISAS: [Isa; 3] = [Isa::Scalar, Isa::Avx2, Isa::Avx512];

/// Owned inputs.
#[derive(Clone)]
struct Data {
    steps: usize,
    batch: usize,
    rewards: Vec<f32>,
    values: Vec<f32>,
    terminated: Vec<bool>,
    truncated: Vec<bool>,
    bootstrap: Vec<f32>,
    last_values: Vec<f32>,
    ratios: Vec<f32>,
}

impl Data {
    fn random(steps: usize, batch: usize, seed: u64) -> Self {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut word = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as u32
        };
        let mut uniform = move || word() as f32 / (1_u32 << 31) as f32;
        let n = steps * batch;
        Self {
            steps,
            batch,
            rewards: (0..n).map(|_| 2.0 * uniform() - 1.0).collect(),
            values: (0..n).map(|_| 2.0 * uniform() - 1.0).collect(),
            terminated: (0..n).map(|_| uniform() < 0.08).collect(),
            truncated: (0..n).map(|_| uniform() < 0.08).collect(),
            bootstrap: (0..n).map(|_| 2.0 * uniform() - 1.0).collect(),
            last_values: (0..batch).map(|_| 2.0 * uniform() - 1.0).collect(),
            ratios: (0..n).map(|_| 2.0 * uniform()).collect(),
        }
    }

    fn view(&self) -> Trajectories<'_> {
        Trajectories {
            steps: self.steps,
            batch: self.batch,
            rewards: &self.rewards,
            values: &self.values,
            terminated: &self.terminated,
            truncated: &self.truncated,
            bootstrap: &self.bootstrap,
            last_values: &self.last_values,
        }
    }

    fn gae(&self, isa: Isa, discount: &Discount) -> Result<(Vec<f32>, Vec<f32>), Error> {
        let n = self.rewards.len();
        let (mut advantages, mut returns) = (vec![f32::NAN; n], vec![f32::NAN; n]);
        gae(isa, discount, &self.view(), &mut advantages, &mut returns)?;
        Ok((advantages, returns))
    }

    fn vtrace(&self, isa: Isa, discount: &Discount, bars: [f32; 2]) -> Result<(Vec<f32>, Vec<f32>), Error> {
        let n = self.rewards.len();
        let (mut advantages, mut returns) = (vec![f32::NAN; n], vec![f32::NAN; n]);
        let off_policy = OffPolicy { ratios: &self.ratios, rho_bar: bars[0], c_bar: bars[1] };
        vtrace(isa, discount, &off_policy, &self.view(), &mut advantages, &mut returns)?;
        Ok((advantages, returns))
    }

    fn at(&self, t: usize, b: usize) -> usize {
        t * self.batch + b
    }

    /// `sum_k prod_{j < k} (gamma lambda c_{t+j}) rho_{t+k} delta_{t+k}` up to the episode's end, in f64.
    fn definition(&self, t: usize, b: usize, discount: &Discount, bars: Option<[f32; 2]>) -> f64 {
        let (gamma, lambda) = (f64::from(discount.gamma), f64::from(discount.lambda));
        let (mut sum, mut factor) = (0.0, 1.0);
        for s in t..self.steps {
            let i = self.at(s, b);
            let next = match (self.terminated[i], self.truncated[i]) {
                (true, _) => 0.0,
                (false, true) => self.bootstrap[i],
                _ if s + 1 == self.steps => self.last_values[b],
                _ => self.values[self.at(s + 1, b)],
            };
            let (mut rho, mut c) = (1.0, 1.0);
            if let Some([rho_bar, c_bar]) = bars {
                rho = f64::from(self.ratios[i].min(rho_bar));
                c = f64::from(self.ratios[i].min(c_bar));
            }
            let delta = f64::from(self.rewards[i]) + gamma * f64::from(next) - f64::from(self.values[i]);
            sum += factor * rho * delta;
            factor *= gamma * lambda * c;
            if self.terminated[i] || self.truncated[i] {
                break;
            }
        }
        sum
    }

    /// The documented operations, one environment at a time.
    fn bits(&self, discount: &Discount) -> Vec<u32> {
        let mut out = vec![0; self.rewards.len()];
        for b in 0..self.batch {
            let (mut carry, mut next) = (0.0_f32, self.last_values[b]);
            for t in (0..self.steps).rev() {
                let i = self.at(t, b);
                if self.truncated[i] {
                    (carry, next) = (0.0, self.bootstrap[i]);
                }
                if self.terminated[i] {
                    (carry, next) = (0.0, 0.0);
                }
                let delta = discount.gamma.mul_add(next, self.rewards[i]) - self.values[i];
                carry = (discount.gamma * discount.lambda).mul_add(carry, delta);
                next = self.values[i];
                out[i] = carry.to_bits();
            }
        }
        out
    }
}

fn bits(x: &[f32]) -> Vec<u32> {
    x.iter().map(|x| x.to_bits()).collect()
}

fn one(rewards: &[f32], values: &[f32]) -> Data {
    let n = rewards.len();
    Data {
        steps: n,
        batch: 1,
        rewards: rewards.into(),
        values: values.into(),
        terminated: vec![false; n],
        truncated: vec![false; n],
        bootstrap: vec![0.0; n],
        last_values: vec![0.0],
        ratios: vec![1.0; n],
    }
}

/// The expected values are given to as many digits as have no rounding; f32 adds a few of 2^-24.
fn assert_near(got: &[f32], expected: &[f32]) {
    assert_eq!(got.len(), expected.len());
    for (g, e) in got.iter().zip(expected) {
        assert!((g - e).abs() <= 8.0 * f32::EPSILON * e.abs().max(1.0), "{got:?}, expected {expected:?}");
    }
}

#[test]
fn case_21_termination_cuts_the_sum() {
    let mut data = one(&[1.0; 4], &[0.5; 4]);
    data.terminated[1] = true;
    data.last_values = vec![0.5];
    for isa in ISAS {
        let (advantages, returns) = data.gae(isa, &Discount { gamma: 0.9, lambda: 0.8 }).unwrap();
        assert_near(&advantages, &[1.31, 0.5, 1.634, 0.95]);
        assert_near(&returns, &[1.81, 1.0, 2.134, 1.45]);
    }
}

#[test]
fn case_22_truncation_bootstraps_from_the_final_observation() {
    let mut data = one(&[1.0; 4], &[0.5; 4]);
    data.truncated[1] = true;
    data.bootstrap[1] = 2.0;
    data.last_values = vec![0.5];
    for isa in ISAS {
        let (advantages, _) = data.gae(isa, &Discount { gamma: 0.9, lambda: 0.8 }).unwrap();
        assert_near(&advantages, &[2.606, 2.3, 1.634, 0.95]);
    }
}

#[test]
fn case_23_the_last_step_counts() {
    let mut data = one(&[0.0, 0.0, 1.0], &[0.0; 3]);
    data.terminated[2] = true;
    data.last_values = vec![5.0];
    let discount = Discount { gamma: 1.0, lambda: 1.0 };
    assert_eq!(data.gae(Isa::detect(), &discount).unwrap().0, [1.0; 3]);
    let (advantages, _) = one(&[1.0, 1.0], &[0.0; 2]).gae(Isa::detect(), &discount).unwrap();
    assert_eq!(advantages[1], 1.0);
}

#[test]
fn case_24_a_truncation_does_not_bootstrap_from_its_own_value() {
    let mut data = one(&[10.0], &[12.0]);
    data.truncated[0] = true;
    data.bootstrap[0] = 2.222;
    let (advantages, _) = data.gae(Isa::detect(), &Discount { gamma: 0.9, lambda: 0.95 }).unwrap();
    // 0.9 * 2.222 = 1.9998: what is left is 2e-4, within a few roundings of numbers around 12.
    assert!((advantages[0] + 2e-4).abs() < 8.0 * 12.0 * f32::EPSILON, "{advantages:?}");
}

#[test]
fn terminated_wins_over_truncated() {
    let mut data = one(&[1.0, 2.0], &[0.25, 0.5]);
    data.terminated[0] = true;
    let discount = Discount { gamma: 0.5, lambda: 0.5 };
    let expected = data.gae(Isa::detect(), &discount).unwrap();
    data.truncated[0] = true;
    // Not read.
    data.bootstrap[0] = f32::NAN;
    assert_eq!(data.gae(Isa::detect(), &discount).unwrap(), expected);
}

#[test]
fn the_bits_are_the_documented_operations_on_every_instruction_set() {
    let discount = Discount { gamma: 0.97, lambda: 0.9 };
    // Edges of SIMD widths (16, 32) and of the column tile (1024).
    for batch in [0, 1, 2, 7, 15, 16, 17, 31, 33, 64, 1023, 1024, 1025, 2050] {
        for steps in [0, 1, 2, 3, 17] {
            let data = Data::random(steps, batch, (batch * 31 + steps) as u64);
            let expected = data.bits(&discount);
            for isa in ISAS {
                let (advantages, returns) = data.gae(isa, &discount).unwrap();
                assert_eq!(bits(&advantages), expected, "{isa:?} {steps} {batch}");
                for ((r, a), v) in returns.iter().zip(&advantages).zip(&data.values) {
                    assert_eq!(r.to_bits(), (a + v).to_bits());
                }
            }
        }
    }
}

/// |delta| <= 3 and a factor of at most 0.97 per step, so the sum is below 100 and each of its terms carries a rounding
/// of 2^-24 relative to that; roundings of later steps decay by the same factor, 33 in all.
const TOLERANCE: f64 = 4.0 * 33.0 * 100.0 / 16_777_216.0;

#[test]
fn advantages_are_the_sum_over_the_future() {
    let discount = Discount { gamma: 0.99, lambda: 0.97 };
    for (steps, batch) in [(1, 1), (64, 3), (200, 5)] {
        let data = Data::random(steps, batch, steps as u64);
        let (advantages, returns) = data.gae(Isa::detect(), &discount).unwrap();
        for t in 0..steps {
            for b in 0..batch {
                let i = data.at(t, b);
                let expected = data.definition(t, b, &discount, None);
                assert!((f64::from(advantages[i]) - expected).abs() < TOLERANCE, "{t} {b}");
                assert!((f64::from(returns[i]) - expected - f64::from(data.values[i])).abs() < TOLERANCE);
            }
        }
    }
}

#[test]
fn vtrace_is_the_sum_with_clipped_ratios() {
    let discount = Discount { gamma: 0.99, lambda: 0.97 };
    let data = Data::random(100, 19, 7);
    for bars in [[1.0, 1.0], [0.5, 0.8], [1.7, 1.0]] {
        let (advantages, _) = data.vtrace(Isa::detect(), &discount, bars).unwrap();
        for t in 0..data.steps {
            for b in 0..data.batch {
                let expected = data.definition(t, b, &discount, Some(bars));
                let got = f64::from(advantages[data.at(t, b)]);
                assert!((got - expected).abs() < TOLERANCE, "{t} {b}: {got} {expected}");
            }
        }
        for isa in ISAS {
            assert_eq!(bits(&data.vtrace(isa, &discount, bars).unwrap().0), bits(&advantages));
        }
    }
}

#[test]
fn vtrace_with_ratios_of_one_is_gae_bit_for_bit() {
    let discount = Discount { gamma: 0.99, lambda: 0.95 };
    let mut data = Data::random(33, 65, 3);
    data.ratios.fill(1.0);
    let expected = data.gae(Isa::detect(), &discount).unwrap();
    for bars in [[1.0, 1.0], [2.0, 1.5]] {
        let got = data.vtrace(Isa::detect(), &discount, bars).unwrap();
        assert_eq!(bits(&got.0), bits(&expected.0));
        assert_eq!(bits(&got.1), bits(&expected.1));
    }
    // An infinite ratio is clipped, too.
    data.ratios.fill(f32::INFINITY);
    assert_eq!(data.vtrace(Isa::detect(), &discount, [1.0, 1.0]).unwrap(), expected);
}

#[test]
fn numbers_that_are_not_finite_are_named() {
    let discount = Discount { gamma: 0.99, lambda: 0.95 };
    let mut data = Data::random(20, 33, 5);
    for i in [data.at(13, 31), data.at(19, 2), data.at(19, 3)] {
        data.terminated[i] = false;
        data.truncated[i] = i == data.at(13, 31);
    }
    let expect = |data: &Data, operand: &str, step: usize, environment: usize| {
        for isa in ISAS {
            let error = data.gae(isa, &discount).unwrap_err();
            let text = error.to_string();
            assert!(text.contains(&format!("{operand} of step {step}, environment {environment} is ")), "{text}");
            assert_eq!(data.vtrace(isa, &discount, [1.0, 1.0]).unwrap_err().to_string(), text);
        }
    };
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        for (step, environment) in [(0, 0), (19, 32), (7, 16), (13, 31)] {
            let i = data.at(step, environment);
            let mut spoilt = data.clone();
            spoilt.rewards[i] = bad;
            expect(&spoilt, "reward", step, environment);
            let mut spoilt = data.clone();
            spoilt.values[i] = bad;
            expect(&spoilt, "value", step, environment);
        }
        let mut spoilt = data.clone();
        spoilt.bootstrap[data.at(13, 31)] = bad;
        expect(&spoilt, "bootstrap value", 13, 31);
        let mut spoilt = data.clone();
        spoilt.last_values[2] = bad;
        expect(&spoilt, "value", 20, 2);
    }
    let mut spoilt = data.clone();
    spoilt.ratios[data.at(4, 20)] = -0.5;
    let error = spoilt.vtrace(Isa::detect(), &discount, [1.0, 1.0]).unwrap_err();
    assert_eq!(error.to_string(), "advantages: importance ratio of step 4, environment 20 is -0.5");
    spoilt.ratios[data.at(4, 20)] = f32::NAN;
    assert!(matches!(
        spoilt.vtrace(Isa::detect(), &discount, [1.0, 1.0]).unwrap_err(),
        Error::NotFinite { operand: "importance ratio", step: 4, environment: 20, .. }
    ));

    // What isn't read may be anything.
    let mut unread = data.clone();
    unread.truncated.fill(false);
    unread.bootstrap.fill(f32::NAN);
    unread.terminated[19 * 33..].fill(true);
    unread.last_values.fill(f32::NAN);
    unread.gae(Isa::detect(), &discount).unwrap();
}

#[test]
fn an_overflow_is_an_error() {
    let mut data = one(&[0.0, 3e38, 3e38], &[0.0; 3]);
    let error = data.gae(Isa::detect(), &Discount { gamma: 1.0, lambda: 1.0 }).unwrap_err();
    assert_eq!(error, Error::Overflow { step: 1, environment: 0 });
    data.rewards[2] = 0.0;
    data.gae(Isa::detect(), &Discount { gamma: 1.0, lambda: 1.0 }).unwrap();
}

#[test]
fn shapes_and_parameters_are_checked_before_anything_is_written() {
    let data = Data::random(3, 4, 1);
    let fine = Discount { gamma: 0.9, lambda: 0.9 };
    for (gamma, lambda) in [(-0.1, 0.5), (1.1, 0.5), (f32::NAN, 0.5), (0.5, -1.0), (0.5, 1.5), (0.5, f32::NAN)] {
        assert!(matches!(data.gae(Isa::detect(), &Discount { gamma, lambda }), Err(Error::Parameter { .. })));
    }
    for bars in [[0.0, 1.0], [1.0, -1.0], [f32::NAN, 1.0], [1.0, f32::INFINITY]] {
        assert!(matches!(data.vtrace(Isa::detect(), &fine, bars), Err(Error::Parameter { .. })));
    }
    let (mut a, mut r) = (vec![7.0; 12], vec![7.0; 12]);
    let wrong = [
        Trajectories { steps: 4, ..data.view() },
        Trajectories { batch: 3, ..data.view() },
        Trajectories { rewards: &data.rewards[1..], ..data.view() },
        Trajectories { values: &data.values[1..], ..data.view() },
        Trajectories { terminated: &data.terminated[1..], ..data.view() },
        Trajectories { truncated: &data.truncated[1..], ..data.view() },
        Trajectories { bootstrap: &data.bootstrap[1..], ..data.view() },
        Trajectories { last_values: &data.last_values[1..], ..data.view() },
    ];
    for input in wrong {
        assert!(matches!(gae(Isa::detect(), &fine, &input, &mut a, &mut r), Err(Error::Length { .. })));
    }
    let input = Trajectories { steps: usize::MAX, ..data.view() };
    let error = gae(Isa::detect(), &fine, &input, &mut a, &mut r).unwrap_err();
    assert!(matches!(error, Error::TooLarge { .. }));
    assert!(gae(Isa::detect(), &fine, &data.view(), &mut a[..11], &mut r).is_err());
    assert!(gae(Isa::detect(), &fine, &data.view(), &mut a, &mut r[..11]).is_err());
    assert_eq!((a, r), (vec![7.0; 12], vec![7.0; 12]));
}
