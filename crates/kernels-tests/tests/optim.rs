//! Steps of the optimizer on the device against crate trainer.

use arith::random::Stream;
use kernels_tests::{Arg, Bench, assert_bits};
use trainer::optim::{Adam, AdamConfig, step};

fn normals(stream: u64, n: usize, factor: f32) -> Vec<f32> {
    let mut values = vec![0.0; n];
    Stream::new(21, stream).fill_normal(0, &mut values);
    values.into_iter().map(|value| factor * value).collect()
}

#[test]
fn steps_of_adam_have_the_bits_of_the_cpu() {
    let bench = Bench::new("optim");
    let config = AdamConfig { beta1: 0.9, beta2: 0.97, epsilon: 1e-5, weight_decay: 0.01 };
    let rate = 3e-3;
    for n in [1, 31, 700] {
        let mut adam = Adam::new(n, config).unwrap();
        let mut expected = normals(0, n, 1.0);
        let parameters = bench.buffer(&expected);
        let (first, second) = (bench.buffer(&vec![0.0_f32; n]), bench.buffer(&vec![0.0_f32; n]));
        for t in 1..=4_u16 {
            // The gradients of some steps are clipped.
            let gradient = normals(t.into(), n, if t % 2 == 0 { 1e-3 } else { 10.0 });
            let max_norm = 0.5;
            let norm = step(&mut adam, rate, max_norm, &[], &gradient, &mut expected).unwrap();
            let coefficient = if norm > max_norm { max_norm / norm } else { 1.0 };
            let AdamConfig { beta1, beta2, epsilon, weight_decay } = config;
            let t = f32::from(t);
            let numbers = [
                1.0,
                coefficient,
                beta1,
                beta2,
                epsilon,
                rate / (1.0 - arith::powf(beta1, t)),
                1.0 / arith::sqrt(1.0 - arith::powf(beta2, t)),
                1.0 - rate * weight_decay,
            ];
            let (numbers, gradient) = (bench.buffer(&numbers), bench.buffer(&gradient));
            let mut args: Vec<Arg> = vec![(&numbers).into(), (&gradient).into(), (&first).into(), (&second).into()];
            args.extend([Arg::from(&parameters), Arg::U32(n as u32)]);
            bench.run("adam_step_f32", n, 128, &args);
            assert_bits(&format!("parameters of {n} after {t}"), &bench.read(&parameters), &expected);
            assert_bits("first moments", &bench.read(&first), adam.first_moments());
            assert_bits("second moments", &bench.read(&second), adam.second_moments());
        }
    }
}
