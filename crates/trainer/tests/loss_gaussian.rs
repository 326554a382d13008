//! Gaussian helpers against f64.

use trainer::loss::gaussian::{clamp_log_std, entropy, log_prob, squashed_log_prob, tanh_log_det};

#[test]
fn case_29_the_squashing_stays_finite() {
    assert!((tanh_log_det(10.0) + 18.6137).abs() < 5e-5, "{}", tanh_log_det(10.0));
    for i in -4000..=4000_i32 {
        let u = i as f32 / 100.0;
        // ln(4) - 2|u| - 2 ln(1 + e^-2|u|), and ln(1 - tanh^2) where that cancels.
        let a = f64::from(u).abs();
        let expected =
            if a < 0.5 { (-a.tanh().powi(2)).ln_1p() } else { 4f64.ln() - 2.0 * a - 2.0 * (-2.0 * a).exp().ln_1p() };
        let got = f64::from(tanh_log_det(u));
        assert!(
            (got - expected).abs() <= 4.0 * 2f64.powi(-23) * expected.abs().max(1e-30) + 1e-6 * f64::from(a >= 0.5),
            "{u}: {got} {expected}"
        );
    }
    for u in [1e30, -1e30, f32::MAX / 4.0] {
        assert!(tanh_log_det(u).is_finite());
    }
    assert!(tanh_log_det(f32::NAN).is_nan());
    assert_eq!(tanh_log_det(0.0), 0.0);
}

#[test]
fn case_29_a_tiny_deviation_stays_finite() {
    for log_std in [-110.0, -1e30, f32::NEG_INFINITY, 200.0, f32::INFINITY] {
        for (x, mean) in [(0.0, 0.0), (1.0, -1.0), (1e9, 0.0)] {
            assert!(log_prob(x, mean, log_std).is_finite(), "{x} {mean} {log_std}");
            assert!(squashed_log_prob(x, mean, log_std).is_finite());
        }
        assert!(entropy(log_std).is_finite());
    }
    assert_eq!((clamp_log_std(-110.0), clamp_log_std(0.5), clamp_log_std(3.0)), (-20.0, 0.5, 2.0));
    assert!(clamp_log_std(f32::NAN).is_nan() && log_prob(0.0, 0.0, f32::NAN).is_nan());
}

#[test]
fn densities_are_right() {
    let tau = std::f64::consts::TAU;
    for log_std in [-3.0_f32, -1.0, 0.0, 1.5] {
        let s = f64::from(log_std).exp();
        for i in -40..=40_i32 {
            let (x, mean) = (i as f32 / 8.0, 0.25_f32);
            let z = (f64::from(x) - f64::from(mean)) / s;
            let expected = -0.5 * z * z - s.ln() - 0.5 * tau.ln();
            let got = f64::from(log_prob(x, mean, log_std));
            assert!((got - expected).abs() < 8.0 * 2f64.powi(-24) * (1.0 + z * z + 4.0), "{x} {log_std}");
        }
        let expected = 0.5 * (tau * std::f64::consts::E * s * s).ln();
        assert!((f64::from(entropy(log_std)) - expected).abs() < 1e-6);
    }
    // The squashed density integrates to 1 over (-1, 1), by the midpoint rule.
    let n = 200_000;
    let mass: f64 = (0..n)
        .map(|i| {
            let y = (2.0 * (f64::from(i) + 0.5) / f64::from(n)) - 1.0;
            f64::from(squashed_log_prob(y.atanh() as f32, 0.3, -0.5)).exp() * 2.0 / f64::from(n)
        })
        .sum();
    assert!((mass - 1.0).abs() < 1e-4, "{mass}");
}
