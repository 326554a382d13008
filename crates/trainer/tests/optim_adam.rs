//! Clipping and Adam against f64, and what they refuse.

use std::ops::Range;

use arith::simd::Isa;
use trainer::optim::{Adam, AdamConfig, Error, clip_gradient, global_norm, step, step_on};

const ISAS: [Isa; 3] = [Isa::Scalar, Isa::Avx2, Isa::Avx512];

type Names = Vec<(String, Range<usize>)>;

fn names() -> Names {
    vec![("a".into(), 0..3), ("b.weight".into(), 3..10)]
}

fn random(n: usize, seed: u64) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..n)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f32 / (1 << 23) as f32 - 1.0
        })
        .collect()
}

#[test]
fn case_30_clipping() {
    let mut gradient = [3.0, 4.0];
    assert_eq!(clip_gradient(Isa::detect(), 1.0, &names(), &mut gradient).unwrap(), 5.0);
    assert_eq!(gradient, [0.6, 0.8]);
    // Below the bound and at it nothing changes.
    for max_norm in [5.0, 6.0, f32::MAX] {
        let mut gradient = [3.0, 4.0];
        assert_eq!(clip_gradient(Isa::detect(), max_norm, &names(), &mut gradient).unwrap(), 5.0);
        assert_eq!(gradient, [3.0, 4.0]);
    }
}

#[test]
fn case_30_a_wrong_bound_is_an_error() {
    for max_norm in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        let mut gradient = [3.0, 4.0];
        let error = clip_gradient(Isa::detect(), max_norm, &names(), &mut gradient).unwrap_err();
        assert!(matches!(error, Error::Setting { name: "max_norm", .. }), "{error}");
        assert_eq!(gradient, [3.0, 4.0]);
    }
}

#[test]
fn case_30_a_gradient_that_is_not_finite_is_named_and_nothing_changes() {
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        for (at, parameter, element) in [(0, "a", 0), (3, "b.weight", 0), (9, "b.weight", 6), (10, "gradient", 10)] {
            let mut adam = Adam::new(11, AdamConfig::default()).unwrap();
            let mut parameters = random(11, 1);
            step(&mut adam, 0.1, 1.0, &names(), &random(11, 2), &mut parameters).unwrap();
            let (adam_before, parameters_before) = (adam.clone(), parameters.clone());
            let mut gradient = random(11, 3);
            gradient[at] = bad;
            for isa in ISAS {
                let error = step_on(isa, &mut adam, 0.1, 1.0, &names(), &gradient, &mut parameters).unwrap_err();
                assert!(
                    matches!(&error, Error::NotFinite { parameter: p, element: e, .. } if p == parameter && *e == element),
                    "{error}"
                );
                assert!(error.to_string().contains(&format!("{parameter}, element {element} is {bad}")), "{error}");
            }
            assert_eq!(adam, adam_before);
            assert_eq!(parameters, parameters_before);
        }
    }
}

/// Chunks of 1024, 32 lanes that are chains of fused multiply-adds, adjacent pairs above: spelled out as recursion.
fn square_sum(x: &[f32]) -> f32 {
    fn pairs(x: &[f32]) -> f32 {
        match x.len() {
            0 => 0.0,
            1 => x[0],
            n => {
                let half = n.next_power_of_two() / 2;
                pairs(&x[..half]) + pairs(&x[half..])
            }
        }
    }
    let chunk = |c: &[f32]| {
        let lane = |j: usize| c.iter().skip(j).step_by(32).fold(0.0_f32, |sum, x| x.mul_add(*x, sum));
        pairs(&(0..32).map(lane).collect::<Vec<_>>())
    };
    pairs(&x.chunks(1024).map(chunk).collect::<Vec<_>>())
}

#[test]
fn the_norm_is_summed_in_the_contract_order() {
    for n in [0, 1, 31, 32, 33, 1023, 1024, 1025, 5 * 1024 + 7, 7 * 1024] {
        let gradient = random(n, n as u64);
        let expected = square_sum(&gradient).sqrt();
        for isa in ISAS {
            let clip = global_norm(isa, 1e-3, &[], &gradient).unwrap();
            assert_eq!(clip.norm.to_bits(), expected.to_bits(), "{n}");
            assert_eq!(clip.scale, 1.0);
        }
    }
}

#[test]
fn squares_that_overflow_or_vanish_are_scaled() {
    for (a, b) in [(3e30, 4e30), (3e-30, 4e-30), (2.4e38, 1.8e38), (3e-40, 4e-40)] {
        let exact = f64::from(a).hypot(f64::from(b));
        let mut gradient = vec![0.0; 3000];
        (gradient[5], gradient[2999]) = (a, b);
        for isa in ISAS {
            let max_norm = (exact / 7.0) as f32;
            let mut clipped = gradient.clone();
            let norm = clip_gradient(isa, max_norm, &[], &mut clipped).unwrap();
            // Four roundings at most; subnormal inputs are exact, but the results have a spacing of 2^-149.
            let tolerance = exact * 4.0 * 2f64.powi(-24) + 2f64.powi(-149);
            assert!((f64::from(norm) - exact).abs() <= tolerance, "{norm:e} {exact:e}");
            for (i, x) in [(5, a), (2999, b)] {
                assert!((f64::from(clipped[i]) - f64::from(x) / 7.0).abs() <= tolerance, "{} {x:e}", clipped[i]);
            }
        }
    }
    // A norm past f32's range is infinite, and still clips.
    let mut gradient = vec![3e38; 4];
    assert_eq!(clip_gradient(Isa::detect(), 2.0, &[], &mut gradient).unwrap(), f32::INFINITY);
    assert!(gradient.iter().all(|g| (g - 1.0).abs() < 4.0 * f32::EPSILON), "{gradient:?}");
    assert_eq!(clip_gradient(Isa::detect(), 1.0, &[], &mut [0.0; 9]).unwrap(), 0.0);
}

#[test]
fn a_step_whose_squares_would_overflow_is_refused() {
    let mut adam = Adam::new(2, AdamConfig::default()).unwrap();
    let mut parameters = [1.0, 2.0];
    let error = step(&mut adam, 0.1, f32::MAX, &names(), &[1e25, 0.0], &mut parameters).unwrap_err();
    assert!(matches!(error, Error::TooLarge { .. }));
    assert_eq!((parameters, adam.steps()), ([1.0, 2.0], 0));
    // Clipped, it is fine.
    step(&mut adam, 0.1, 1.0, &names(), &[1e25, 0.0], &mut parameters).unwrap();
    assert!((parameters[0] - 0.9).abs() < 1e-4);
}

/// Algorithm 1 of the paper, in f64, on one parameter; decay as in algorithm 2 of Loshchilov and Hutter.
struct Reference {
    m: f64,
    v: f64,
    t: i32,
    w: f64,
}

impl Reference {
    fn step(&mut self, rate: f64, config: &AdamConfig, g: f64) {
        let (b1, b2) = (f64::from(config.beta1), f64::from(config.beta2));
        self.t += 1;
        self.m = b1 * self.m + (1.0 - b1) * g;
        self.v = b2 * self.v + (1.0 - b2) * g * g;
        let m_hat = self.m / (1.0 - b1.powi(self.t));
        let v_hat = self.v / (1.0 - b2.powi(self.t));
        let decay = rate * f64::from(config.weight_decay) * self.w;
        self.w -= rate * m_hat / (v_hat.sqrt() + f64::from(config.epsilon)) + decay;
    }
}

#[test]
fn adam_is_the_papers() {
    // 37: a whole AVX-512 register twice, and a rest.
    const N: usize = 37;
    for config in [
        AdamConfig::default(),
        AdamConfig { beta1: 0.5, beta2: 0.9, epsilon: 1e-3, weight_decay: 0.0 },
        AdamConfig { weight_decay: 0.1, ..AdamConfig::default() },
    ] {
        let mut adam = Adam::new(N, config).unwrap();
        let mut parameters = random(N, 4);
        let mut reference: Vec<_> =
            parameters.iter().map(|&w| Reference { m: 0.0, v: 0.0, t: 0, w: f64::from(w) }).collect();
        for t in 0..300_u64 {
            let gradient = random(N, 100 + t);
            let rate = 0.01 / (1.0 + t as f32);
            step(&mut adam, rate, 1.5, &[], &gradient, &mut parameters).unwrap();
            let norm = gradient.iter().map(|&g| f64::from(g).powi(2)).sum::<f64>().sqrt();
            let factor = if norm > 1.5 { 1.5 / norm } else { 1.0 };
            for (r, &g) in reference.iter_mut().zip(&gradient) {
                r.step(f64::from(rate), &config, f64::from(g) * factor);
            }
            assert_eq!(adam.steps(), t + 1);
            for i in 0..N {
                let r = &reference[i];
                // Bias corrections 1 - beta^t of f32s have an error of 2^-24 over (1 - beta2) t, 6e-5 at t = 1, halved
                // by the root; steps are below 5 rates. Each parameter's own rounding is 2^-24 a step.
                let tolerance = 0.01 * 5.0 * 6e-5 + f64::from(t as u32 + 1) * 2f64.powi(-24);
                let got = f64::from(parameters[i]);
                assert!((got - r.w).abs() < tolerance, "step {t}, {i}: {got} {}", r.w);
                assert!((f64::from(adam.first_moments()[i]) - r.m).abs() < 1e-6);
                assert!((f64::from(adam.second_moments()[i]) - r.v).abs() < 1e-6);
            }
        }
    }
}

#[test]
fn the_bits_are_the_documented_operations_on_every_instruction_set() {
    for n in [0, 1, 15, 16, 17, 64, 1000] {
        let config = AdamConfig { weight_decay: 0.01, ..AdamConfig::default() };
        let mut adams: Vec<_> = ISAS.iter().map(|_| (Adam::new(n, config).unwrap(), random(n, 9))).collect();
        let (mut m, mut v, mut w) = (vec![0.0_f32; n], vec![0.0_f32; n], random(n, 9));
        for t in 1..6_u16 {
            let gradient = random(n, 50 + u64::from(t));
            let rate = 0.003_f32;
            let norm = square_sum(&gradient).sqrt();
            let factor = if norm > 2.0 { 2.0 / norm } else { 1.0 };
            let step_size = rate / (1.0 - arith::powf(config.beta1, f32::from(t)));
            let root = 1.0 / (1.0 - arith::powf(config.beta2, f32::from(t))).sqrt();
            for i in 0..n {
                let g = gradient[i] * factor;
                m[i] = config.beta1.mul_add(m[i], (1.0 - config.beta1) * g);
                v[i] = config.beta2.mul_add(v[i], (1.0 - config.beta2) * (g * g));
                let change = m[i] / v[i].sqrt().mul_add(root, config.epsilon);
                w[i] = (-step_size).mul_add(change, w[i] * (1.0 - rate * config.weight_decay));
            }
            for (isa, (adam, parameters)) in ISAS.into_iter().zip(&mut adams) {
                assert_eq!(step_on(isa, adam, rate, 2.0, &[], &gradient, parameters).unwrap(), norm);
                assert_eq!((adam.first_moments(), adam.second_moments()), (&m[..], &v[..]), "{isa:?} {n}");
                assert_eq!(*parameters, w, "{isa:?} {n}");
            }
        }
    }
}

#[test]
fn case_35_restored_moments_go_on_bit_for_bit() {
    let mut adam = Adam::new(10, AdamConfig::default()).unwrap();
    let mut parameters = random(10, 1);
    let mut resumed = (Adam::new(10, AdamConfig::default()).unwrap(), parameters.clone());
    for t in 0..9 {
        if t == 4 {
            resumed.0.restore(adam.first_moments(), adam.second_moments(), adam.steps()).unwrap();
            resumed.1.clone_from(&parameters);
        }
        let gradient = random(10, 10 + t);
        step(&mut adam, 1e-2, 1.0, &names(), &gradient, &mut parameters).unwrap();
        if t >= 4 {
            step(&mut resumed.0, 1e-2, 1.0, &names(), &gradient, &mut resumed.1).unwrap();
            assert_eq!((&resumed.0, &resumed.1), (&adam, &parameters));
        }
    }
}

#[test]
fn wrong_states_settings_and_lengths_are_errors_and_change_nothing() {
    let fine = AdamConfig::default();
    for config in [
        AdamConfig { beta1: 1.0, ..fine },
        AdamConfig { beta1: -0.1, ..fine },
        AdamConfig { beta2: f32::NAN, ..fine },
        AdamConfig { epsilon: 0.0, ..fine },
        AdamConfig { epsilon: f32::INFINITY, ..fine },
        AdamConfig { weight_decay: -1.0, ..fine },
        AdamConfig { weight_decay: f32::NAN, ..fine },
    ] {
        assert!(matches!(Adam::new(3, config), Err(Error::Setting { .. })), "{config:?}");
    }
    let mut adam = Adam::new(3, fine).unwrap();
    let mut w = [1.0, 2.0, 3.0];
    step(&mut adam, 0.1, 1.0, &[], &[1.0; 3], &mut w).unwrap();
    let before = (adam.clone(), w);
    for rate in [-0.1, f32::NAN, f32::INFINITY] {
        let error = step(&mut adam, rate, 1.0, &[], &[1.0; 3], &mut w).unwrap_err();
        assert!(matches!(error, Error::Setting { name: "rate", .. }));
    }
    assert!(matches!(step(&mut adam, 0.1, 1.0, &[], &[1.0; 2], &mut w), Err(Error::Length { .. })));
    assert!(matches!(step(&mut adam, 0.1, 1.0, &[], &[1.0; 3], &mut w[..2]), Err(Error::Length { .. })));
    assert!(matches!(adam.restore(&[0.0; 2], &[0.0; 3], 1), Err(Error::Length { .. })));
    assert!(matches!(adam.restore(&[0.0; 3], &[0.0; 4], 1), Err(Error::Length { .. })));
    let error = adam.restore(&[0.0, f32::NAN, 0.0], &[0.0; 3], 1).unwrap_err();
    assert!(matches!(error, Error::Moment { operand: "first moments", element: 1, .. }));
    let error = adam.restore(&[0.0; 3], &[0.0, 0.0, -1.0], 1).unwrap_err();
    assert!(matches!(error, Error::Moment { operand: "second moments", element: 2, .. }));
    assert_eq!((adam, w), before);
}
