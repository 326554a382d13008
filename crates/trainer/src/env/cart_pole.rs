//! CartPole: balance a pole on a cart that is pushed left or right.

use std::num::NonZeroU64;

use super::slot::float;
use super::{Env, Error, Rng, Spec, Step};

const GRAVITY: f32 = 9.8; // m/s^2
const MASS_POLE: f32 = 0.1; // kg
const MASS_TOTAL: f32 = 1.1; // kg: a cart of 1.0 and the pole
const HALF_LENGTH: f32 = 0.5; // m
const FORCE: f32 = 10.0; // N
const TAU: f32 = 0.02; // s between two steps
// The largest f32s that are not above the limits.
const X_LIMIT: f32 = 2.399_999_9; // m: 2.4
const THETA_LIMIT: f32 = 0.209_439_5; // radians: 12 degrees
const RESET: f32 = 0.05;

/// The constants of the dynamics as the step uses them, folded once.
const PER_MASS: f32 = 1.0 / MASS_TOTAL;
const POLE_PER_MASS: f32 = MASS_POLE * HALF_LENGTH / MASS_TOTAL;
const INERTIA: f32 = HALF_LENGTH * 4.0 / 3.0;

/// CartPole with the dynamics, limits and rewards of Gymnasium's `CartPole-v1`: Barto, Sutton and Anderson, "Neuronlike
/// adaptive elements that can solve difficult learning control problems" (1983), appendix, without friction.
///
/// With force F = +-10, masses m = 0.1 and M = 1.1 in total, half-length l = 0.5, s and c the sine and cosine of the
/// pole's angle theta (0 is upright):
///
/// ```text
/// a       = (F + m l theta'^2 s) / M
/// theta'' = (g s - c a) / (l (4/3 - m c^2 / M))
/// x''     = a - m l theta'' c / M
/// ```
///
/// and one explicit Euler step of 0.02 s, positions with the velocities before the step. Observation: x (m), x' (m/s),
/// theta (rad), theta' (rad/s). Actions: 0 pushes left, 1 right. Reward: 1 for every step, the last one too.
/// Terminated: |x| > 2.4 or |theta| > 12 degrees. Truncated: after 500 steps. Start: each of the four uniform in
/// [-0.05, 0.05), from one block of draws.
///
/// All of it in f32 (Gymnasium computes in f64 and rounds the observation), so single trajectories leave Gymnasium's after
/// some hundred steps; the task is the same.
#[derive(Clone, Debug, PartialEq)]
pub struct CartPole {
    state: [f32; 4],
    steps: u64,
    limit: u64,
}

impl CartPole {
    /// With the time limit of version 1, 500 steps.
    pub const fn new() -> Self {
        Self { state: [0.0; 4], steps: 0, limit: 500 }
    }

    /// With another time limit, in steps (version 0 had 200).
    pub const fn with_time_limit(limit: NonZeroU64) -> Self {
        Self { limit: limit.get(), ..Self::new() }
    }

    /// x, x', theta, theta'.
    pub const fn state(&self) -> [f32; 4] {
        self.state
    }
}

impl Default for CartPole {
    fn default() -> Self {
        Self::new()
    }
}

impl Env for CartPole {
    fn spec(&self) -> Spec {
        Spec {
            name: format!("cart-pole-l{}", self.limit),
            observation: 4,
            actions: 2,
            time_limit: Some(self.limit),
            best_return: Some(self.limit as f64),
        }
    }

    #[inline(always)]
    fn reset(&mut self, rng: &mut Rng, observation: &mut [f32]) {
        self.state = rng.uniform4(-RESET, RESET);
        self.steps = 0;
        observation.copy_from_slice(&self.state);
    }

    #[inline(always)]
    fn step(&mut self, action: u32, _rng: &mut Rng, observation: &mut [f32]) -> Step {
        let force = if action == 1 { FORCE } else { -FORCE };
        self.state = euler(self.state, force);
        self.steps = self.steps.saturating_add(1);
        observation.copy_from_slice(&self.state);
        let [x, _, theta, _] = self.state;
        Step {
            reward: 1.0,
            terminated: x.abs() > X_LIMIT || theta.abs() > THETA_LIMIT,
            truncated: self.steps >= self.limit,
        }
    }

    fn save(&self, words: &mut Vec<u64>) {
        words.extend(self.state.iter().map(|x| u64::from(x.to_bits())));
        words.push(self.steps);
    }

    fn load(&mut self, words: &[u64]) -> Result<(), Error> {
        let &[x, x_dot, theta, theta_dot, steps] = words else {
            return Err(Error::state("length of CartPole", words.len(), "5 words"));
        };
        let state = [float(x)?, float(x_dot)?, float(theta)?, float(theta_dot)?];
        if steps > self.limit {
            return Err(Error::state("steps of CartPole", steps, format!("at most {}", self.limit)));
        }
        (self.state, self.steps) = (state, steps);
        Ok(())
    }
}

/// The state after one step under `force`.
#[inline(always)]
fn euler([x, x_dot, theta, theta_dot]: [f32; 4], force: f32) -> [f32; 4] {
    let (sin, cos) = (arith::sin(theta), arith::cos(theta));
    let swing = theta_dot * theta_dot * sin;
    let a = arith::fma(POLE_PER_MASS, swing, force * PER_MASS);
    let turn = arith::fma(GRAVITY, sin, -(cos * a));
    let theta_acc = turn / arith::fma(-POLE_PER_MASS * cos, cos, INERTIA);
    let x_acc = arith::fma(-POLE_PER_MASS * cos, theta_acc, a);
    [
        arith::fma(TAU, x_dot, x),
        arith::fma(TAU, x_acc, x_dot),
        arith::fma(TAU, theta_dot, theta),
        arith::fma(TAU, theta_acc, theta_dot),
    ]
}
