//! Normalised advantages and explained variance.

use arith::simd::Isa;
use trainer::loss::{explained_variance, normalize};

const ISAS: [Isa; 3] = [Isa::Scalar, Isa::Avx2, Isa::Avx512];

fn random(n: usize, scale: f32, shift: f32) -> Vec<f32> {
    let stream = arith::random::Stream::new(n as u64, 3);
    (0..n as u64).map(|i| shift + scale * (arith::random::uniform(stream.block(i)[1]) - 0.3)).collect()
}

#[test]
fn case_25_one_or_equal_advantages_become_zero() {
    for isa in ISAS {
        normalize(isa, &mut []);
        for x in [0.0, -0.0, 0.1, -3.7, 1e-40, 1e30, f32::MAX, f32::MIN] {
            for n in [1, 2, 3, 17, 1024, 3000] {
                let mut values = vec![x; n];
                normalize(isa, &mut values);
                assert!(values.iter().all(|&v| v == 0.0), "{n} times {x:e}");
            }
        }
    }
}

#[test]
fn mean_and_deviation_are_right() {
    for (scale, shift) in [(1.0, 0.0), (0.01, 5.0), (1e-3, -1e3), (1e6, 0.0), (1e30, 3e30), (3e38, 0.0)] {
        for n in [2, 5, 100, 2048, 5000] {
            let original = random(n, scale, shift);
            let mut values = original.clone();
            normalize(Isa::detect(), &mut values);
            let x: Vec<f64> = original.iter().map(|&x| f64::from(x)).collect();
            let mean = x.iter().sum::<f64>() / n as f64;
            let deviation = (x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n as f64).sqrt();
            for (x, &got) in x.iter().zip(&values) {
                let expected = (x - mean) / (deviation + 1e-8);
                // Differences are exact or rounded relative to the range, 4 deviations or so; the deviation itself has
                // the error of its sum. 1e-8 beside the deviation is kept but where values are scaled.
                assert!((f64::from(got) - expected).abs() < 64.0 * 2f64.powi(-24), "{scale:e} {shift:e} {n}");
            }
            for isa in ISAS {
                let mut again = original.clone();
                normalize(isa, &mut again);
                assert_eq!(again, values, "{isa:?}");
            }
        }
    }
}

#[test]
fn a_number_that_is_not_finite_stays_visible() {
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        for at in [0, 7, 99] {
            let mut values = random(100, 1.0, 0.0);
            values[at] = bad;
            normalize(Isa::detect(), &mut values);
            assert!(values.iter().all(|v| v.is_nan()), "{bad} at {at}");
        }
    }
}

#[test]
fn explained_variance_is_a_ratio_of_variances() {
    for n in [2, 33, 1024, 4000] {
        let returns = random(n, 2.0, 1.0);
        let values: Vec<f32> = returns.iter().zip(random(n, 0.7, 0.0).iter().rev()).map(|(r, e)| r + e).collect();
        let variance = |x: &dyn Fn(usize) -> f64| {
            let mean = (0..n).map(x).sum::<f64>() / n as f64;
            (0..n).map(|i| (x(i) - mean).powi(2)).sum::<f64>()
        };
        let all = variance(&|i| f64::from(returns[i]));
        let rest = variance(&|i| f64::from(returns[i]) - f64::from(values[i]));
        for isa in ISAS {
            let got = f64::from(explained_variance(isa, &returns, &values));
            assert!((got - (1.0 - rest / all)).abs() < 1e-5, "{n}: {got}");
        }
    }
    assert_eq!(explained_variance(Isa::detect(), &[2.0; 9], &[1.0; 9]), 0.0);
    assert_eq!(explained_variance(Isa::detect(), &[], &[]), 0.0);
    assert_eq!(explained_variance(Isa::detect(), &[1.0, 2.0], &[1.0]), 0.0);
}
