//! The schedule of beta: what it refuses, and that it never passes its end nor falls.

use per_core::replay::{BetaSchedule, Error};

#[test]
fn ends_outside_of_0_to_1_are_refused() {
    for wrong in [f32::NAN, -1e-45, 1.0_f32.next_up(), f32::INFINITY, f32::NEG_INFINITY] {
        for (start, end) in [(wrong, 1.0), (0.0, wrong)] {
            let Err(Error::InvalidBeta { value }) = BetaSchedule::new(start, end, 5) else { panic!("{wrong}") };
            assert_eq!(value.to_bits(), wrong.to_bits());
        }
    }
    let error = BetaSchedule::new(0.5, 0.5_f32.next_down(), 5).unwrap_err();
    assert!(matches!(error, Error::Setting { name: "end", .. }), "{error:?}");
}

#[test]
fn beta_grows_from_start_to_end_and_never_past_it() {
    let ends = [0.0, 1e-45, 0.1, 0.3, 0.4, 0.5, 0.7, 0.9, 1.0_f32.next_down(), 1.0];
    for (i, &start) in ends.iter().enumerate() {
        for &end in &ends[i..] {
            for steps in [1, 2, 3, 7, 1000, 12_345] {
                let schedule = BetaSchedule::new(start, end, steps).unwrap();
                assert_eq!((schedule.at(0), schedule.at(steps), schedule.at(u64::MAX)), (start, end, end));
                let mut last = start;
                for step in 0..steps + 3 {
                    let beta = schedule.at(step);
                    assert!((last..=end).contains(&beta), "{start} {end} {steps}: {step} {beta}");
                    let exact = f64::from(start)
                        + (f64::from(end) - f64::from(start)) * (step.min(steps) as f64 / steps as f64);
                    // Roundings of end - start, of the share and of the result, 2^-25 each since all are at most 1.
                    assert!((f64::from(beta) - exact).abs() <= 3.0 * 2_f64.powi(-25), "{start} {end} {steps} {step}");
                    last = beta;
                }
            }
            // Steps that an f64 doesn't hold.
            for steps in [(1 << 53) + 1, u64::MAX - 1, u64::MAX] {
                let schedule = BetaSchedule::new(start, end, steps).unwrap();
                let mut last = start;
                let dense = (0..2000).map(|i| steps / 2000 * i).chain((0..2000).rev().map(|i| steps - i));
                for step in dense.chain([u64::MAX]) {
                    let beta = schedule.at(step);
                    assert!((last..=end).contains(&beta), "{start} {end} {steps}: {step} {beta}");
                    last = beta;
                }
            }
            // Without any steps it has ended.
            assert_eq!(BetaSchedule::new(start, end, 0).unwrap().at(0), end);
        }
    }
}
