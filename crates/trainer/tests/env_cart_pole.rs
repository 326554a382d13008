//! CartPole against its equations in f64, its limits and its known figures.

use std::num::NonZeroU64;

use arith::random::Stream;
use arith::simd::Isa;
use trainer::env::{CartPole, Env, Episode, Rng, Slot, Step, Transition, VecEnv, step_group};

/// The published equations, in f64, written with the intermediate quantities of the paper's notation.
mod oracle {
    pub(super) fn step(state: [f64; 4], action: u32) -> [f64; 4] {
        let (gravity, cart, pole, half) = (9.8, 1.0, 0.1, 0.5);
        let force = if action == 0 { -10.0 } else { 10.0 };
        let total = cart + pole;
        let [position, velocity, angle, angular_velocity] = state;
        let temp = (force + pole * half * angular_velocity.powi(2) * angle.sin()) / total;
        let angular_acceleration =
            (gravity * angle.sin() - angle.cos() * temp) / (half * (4.0 / 3.0 - pole * angle.cos().powi(2) / total));
        let acceleration = temp - pole * half * angular_acceleration * angle.cos() / total;
        [
            position + 0.02 * velocity,
            velocity + 0.02 * acceleration,
            angle + 0.02 * angular_velocity,
            angular_velocity + 0.02 * angular_acceleration,
        ]
    }

    pub(super) fn fallen(state: [f64; 4]) -> bool {
        let degrees = state[2].to_degrees();
        !(-2.4..=2.4).contains(&state[0]) || !(-12.0..=12.0).contains(&degrees)
    }
}

const U: f64 = 1.0 / 16_777_216.0; // half an ulp at 1

/// Pushes to where the pole falls, a little earlier if the cart is far out.
fn balance(o: &[f32]) -> u32 {
    u32::from(0.1 * o[0] + 0.3 * o[1] + 3.0 * o[2] + o[3] > 0.0)
}

fn rng(stream: u64) -> Rng {
    Rng::new(Stream::new(7, stream))
}

fn words(state: [f32; 4], steps: u64) -> Vec<u64> {
    state.iter().map(|x| u64::from(x.to_bits())).chain([steps]).collect()
}

/// With |force| = 10, |angle| <= 0.21 and speeds below 4: `a` is below 9.2 and carries 3 roundings (of 1/M, of the
/// product, of the sum); `g s - c a` is below 11.3 with an error below 6 U 11.3; the divisor is at least 0.62 and carries 3,
/// so theta'' is below 18.3 and off by less than 68 U / 0.62 + 4 U 18.3 < 190 U. Times 0.02, with the roundings of 0.02
/// and of a velocity below 4 (2 U): less than 4 U + 0.4 U + 2 U, and x'' has smaller terms. Positions: rounding of 0.02
/// times a speed below 4 and of a sum below 4: less than 3 U.
const TOLERANCE: [f64; 4] = [3.0 * U, 7.0 * U, 3.0 * U, 7.0 * U];

#[test]
fn every_step_is_that_of_the_equations() {
    let mut observation = [0.0; 4];
    let mut steps = 0;
    for episode in 0..200 {
        let (mut env, mut rng) = (CartPole::new(), rng(episode));
        env.reset(&mut rng, &mut observation);
        loop {
            let before = env.state().map(f64::from);
            if before.iter().any(|x| x.abs() >= 4.0) {
                break;
            }
            // A third of the episodes push at random, a third one way, a third keep the balance.
            let action = [rng.below(2), 1, balance(&observation)][episode as usize % 3];
            let step = env.step(action, &mut rng, &mut observation);
            let right = oracle::step(before, action);
            for i in 0..4 {
                let error = (f64::from(observation[i]) - right[i]).abs();
                assert!(error <= TOLERANCE[i], "episode {episode}, element {i}: {} and {}", observation[i], right[i]);
            }
            assert_eq!(env.state(), observation);
            assert_eq!(step.reward, 1.0);
            assert_eq!(step.terminated, oracle::fallen(observation.map(f64::from)));
            steps += 1;
            if step.done() {
                break;
            }
        }
    }
    assert!(steps > 10_000, "{steps} steps compared");
}

/// In the norm of (4 theta, theta'), one step of the equations stretches a difference by at most 1 + 0.02 (4 + 0.5): the
/// pole's own rate is sqrt(9.8 / 0.62) < 4, and 0.5 covers the terms in theta' and the force. Each step adds less than
/// sqrt((4 * 3 U)^2 + (7 U)^2) < 14 U.
#[test]
fn a_trajectory_stays_by_that_of_the_equations() {
    let (mut env, mut rng) = (CartPole::new(), rng(3));
    let mut observation = [0.0; 4];
    env.reset(&mut rng, &mut observation);
    let (mut right, mut bound) = (env.state().map(f64::from), 0.0);
    for _ in 0..60 {
        let action = balance(&observation);
        env.step(action, &mut rng, &mut observation);
        right = oracle::step(right, action);
        bound = bound * 1.09 + 14.0 * U;
        let [_, _, theta, theta_dot] = std::array::from_fn(|i| f64::from(observation[i]) - right[i]);
        assert!((4.0 * theta).hypot(theta_dot) < bound);
    }
}

#[test]
fn an_episode_starts_within_a_twentieth() {
    let mut observation = [0.0; 4];
    let mut sums = [0.0; 4];
    let mut rng = rng(0);
    let n = 10_000;
    for _ in 0..n {
        CartPole::new().reset(&mut rng, &mut observation);
        for (sum, &x) in sums.iter_mut().zip(&observation) {
            assert!((-0.05..0.05).contains(&x));
            *sum += f64::from(x);
        }
    }
    assert_eq!(rng.position(), n);
    // Uniform: deviation 0.1 / sqrt(12); five of the mean's.
    let five = 5.0 * 0.1 / 12_f64.sqrt() / (n as f64).sqrt();
    assert!(sums.iter().all(|s| (s / n as f64).abs() < five), "{sums:?}");
}

#[test]
fn limits_are_exclusive() {
    let (mut env, mut observation) = (CartPole::new(), [0.0; 4]);
    let mut terminated = |state: [f32; 4]| {
        env.load(&words(state, 0)).unwrap();
        env.step(0, &mut rng(0), &mut observation).terminated
    };
    // The f32s on either side of a limit, which is itself none.
    let around = |near: f32, beyond: fn(f64) -> bool| {
        let below = if beyond(f64::from(near)) { near.next_down() } else { near };
        assert!(!beyond(f64::from(below)) && beyond(f64::from(below.next_up())));
        (below, below.next_up())
    };
    let (near, far) = around(2.4, |x| x > 2.4);
    let (below, above) = around(0.209_439_5, |theta| theta.to_degrees() > 12.0);
    // Velocities are 0, so the positions stay in this step.
    for sign in [1.0, -1.0] {
        assert!(!terminated([sign * near, 0.0, 0.0, 0.0]));
        assert!(terminated([sign * far, 0.0, 0.0, 0.0]));
        assert!(!terminated([0.0, 0.0, sign * below, 0.0]));
        assert!(terminated([0.0, 0.0, sign * above, 0.0]));
    }
}

#[test]
fn a_balanced_pole_is_cut_off_at_500_steps() {
    let mut last = [0.0; 4];
    for stream in 0..100 {
        let mut slot = Slot::new(0, CartPole::new(), rng(stream)).unwrap();
        for step in 1..=500 {
            let Transition { step: s, finished } = slot.step(balance(slot.observation()), &mut last).unwrap();
            assert_eq!(s, Step { reward: 1.0, terminated: false, truncated: step == 500 });
            assert_eq!(finished, (step == 500).then_some(Episode { total: 500.0, length: 500 }));
        }
    }
}

#[test]
fn a_pole_that_falls_at_the_time_limit_has_both_flags_and_no_bootstrap() {
    let mut env = CartPole::with_time_limit(NonZeroU64::new(10).unwrap());
    let mut observation = [0.0; 4];
    env.load(&words([2.5, 0.0, 0.0, 0.0], 9)).unwrap();
    let step = env.step(0, &mut rng(0), &mut observation);
    assert_eq!(step, Step { reward: 1.0, terminated: true, truncated: true });
    assert!(step.done() && !step.bootstraps());
    env.load(&words([0.0; 4], 9)).unwrap();
    let step = env.step(0, &mut rng(0), &mut observation);
    assert_eq!(step, Step { reward: 1.0, terminated: false, truncated: true });
    assert!(step.done() && step.bootstraps());
}

#[test]
fn random_pushes_last_as_long_as_in_the_equations() {
    let episodes = 20_000;
    let (mut sum, mut squares) = (0.0, 0.0);
    let mut slot = Slot::new(0, CartPole::new(), rng(1)).unwrap();
    let (mut push, mut last, mut n) = (rng(2), [0.0; 4], 0);
    while n < episodes {
        if let Some(e) = slot.step(push.below(2), &mut last).unwrap().finished {
            assert_eq!(e.total, e.length as f64);
            sum += e.total;
            squares += e.total * e.total;
            n += 1;
        }
    }
    let mean = sum / f64::from(episodes);
    let deviation = (squares / f64::from(episodes) - mean * mean).sqrt();

    // The oracle's, with a generator of its own (xorshift64*).
    let mut word = 88_172_645_463_325_252_u64;
    let mut next = || {
        word ^= word >> 12;
        word ^= word << 25;
        word ^= word >> 27;
        word.wrapping_mul(2_685_821_657_736_338_717) >> 11
    };
    let mut steps = 0_u64;
    for _ in 0..episodes {
        let mut state = [0.0; 4].map(|_: f64| next() as f64 / (1_u64 << 53) as f64 * 0.1 - 0.05);
        loop {
            state = oracle::step(state, ((next() >> 40) & 1) as u32);
            steps += 1;
            if oracle::fallen(state) {
                break;
            }
        }
    }
    let right = steps as f64 / f64::from(episodes);
    // Five deviations of the difference of two means.
    let five = 5.0 * deviation * (2.0 / f64::from(episodes)).sqrt();
    assert!((mean - right).abs() < five, "{mean} and {right}, of {five}");
    // The figure that everyone sees for this task.
    assert!((21.5..23.0).contains(&mean), "{mean}");
}

#[test]
fn every_instruction_set_gives_the_same_bits() {
    let run = |isa: Isa| {
        let mut envs = VecEnv::new(5, |_| CartPole::new(), |i| Stream::new(11, i as u64)).unwrap();
        let (mut transitions, mut last) = ([Transition::default(); 5], [0.0; 20]);
        for step in 0..400_u32 {
            let actions: [u32; 5] = std::array::from_fn(|i| (step + i as u32) / 3 % 2);
            step_group(isa, envs.slots_mut(), &actions, &mut transitions, &mut last).unwrap();
        }
        envs.save()
    };
    let right = run(Isa::Scalar);
    for isa in [Isa::Avx2, Isa::Avx512].into_iter().filter(|isa| isa.is_available()) {
        assert_eq!(run(isa), right, "{isa:?}");
    }
}

#[test]
fn states_that_cannot_be_are_refused() {
    let mut env = CartPole::new();
    env.reset(&mut rng(0), &mut [0.0; 4]);
    let before = env.clone();
    let good = words([0.1, 0.2, 0.03, 0.4], 17);
    let mut long = good.clone();
    long.push(0);
    for bad in [
        &[][..],
        &good[..4],
        &long,
        &words([f32::NAN, 0.0, 0.0, 0.0], 0),
        &words([0.0, 0.0, 0.0, f32::INFINITY], 0),
        &words([0.0; 4], 501),
        &[1 << 32, 0, 0, 0, 0],
    ] {
        let error = env.load(bad).unwrap_err();
        assert!(matches!(error, trainer::env::Error::State { .. }), "{error}");
        assert_eq!(env, before);
    }
    env.load(&good).unwrap();
    let mut saved = Vec::new();
    env.save(&mut saved);
    assert_eq!(saved, good);
    assert_eq!(env.state(), [0.1, 0.2, 0.03, 0.4]);
}

/// The bits of a balanced episode. Whoever changes them (the draws, a function of `arith`, the order of a formula) changes
/// every run that users have: a breaking change.
#[test]
fn a_trajectory_has_these_bits() {
    let mut slot = Slot::new(0, CartPole::new(), rng(0)).unwrap();
    let mut last = [0.0; 4];
    let right = [
        (0, [0x3d3a_33f7, 0x3ccc_ecb7, 0xbd1e_0870, 0xbd29_b6ed]),
        (1, [0x3d3c_4092, 0xbe2d_9a04, 0xbd21_6d60, 0x3e74_8fed]),
        (10, [0x3d00_a4db, 0x3cf3_fb58, 0xbce2_9536, 0xbe16_2643]),
        (100, [0xbe46_73ed, 0x3d06_832b, 0x3b0c_b946, 0xbe5b_269d]),
        (499, [0xbf05_92c5, 0x3e5c_e09b, 0xbb29_60de, 0xbe71_e1bc]),
    ];
    for (step, bits) in right {
        while slot.steps() < step {
            slot.step(balance(slot.observation()), &mut last).unwrap();
        }
        assert_eq!(slot.env().state().map(f32::to_bits), bits, "after step {step}");
    }
    assert!(slot.step(balance(slot.observation()), &mut last).unwrap().step.truncated);
    assert_eq!(last.map(f32::to_bits), [0xbf04_780c, 0x3ca8_e218, 0xbbef_7e58, 0x3d63_f551]);
}
