//! Adam and AdamW over one flat buffer of parameters.

use std::ops::Range;

use arith::simd::{Isa, Kernel};

use super::clip::global_norm;
use super::error::Error;
use super::formula::AdamStep;

/// Settings of [`Adam`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamConfig {
    /// Decay of the first moment, in [0, 1).
    pub beta1: f32,
    /// Decay of the second moment, in [0, 1).
    pub beta2: f32,
    /// Added to the square root, not under it; positive.
    pub epsilon: f32,
    /// Decoupled weight decay (Loshchilov and Hutter 2019), in [0, 1]; 0 is Adam.
    pub weight_decay: f32,
}

impl Default for AdamConfig {
    fn default() -> Self {
        Self { beta1: 0.9, beta2: 0.999, epsilon: 1e-5, weight_decay: 0.0 }
    }
}

/// Adam (Kingma and Ba 2015, arXiv:1412.6980, algorithm 1) with decoupled weight decay.
///
/// Step t (from 1) with learning rate eta and gradient g, each element by itself:
///
/// ```text
/// c_1 = 1 - beta1^t      c_2 = 1 - beta2^t      (powf)
/// m <- fma(beta1, m, (1 - beta1) * g)
/// v <- fma(beta2, v, (1 - beta2) * (g * g))
/// w <- fma(-(eta / c_1), m / fma(sqrt(v), 1 / sqrt(c_2), epsilon), w * (1 - eta * weight_decay))
/// ```
/// that is `w (1 - eta weight_decay) - eta m_hat / (sqrt(v_hat) + epsilon)`, with epsilon outside the root.
#[derive(Clone, Debug, PartialEq)]
pub struct Adam {
    config: AdamConfig,
    first: Vec<f32>,
    second: Vec<f32>,
    steps: u64,
}

impl Adam {
    /// The state before the first step, for `len` parameters.
    ///
    /// # Errors
    /// [`Error::Setting`] names the setting that is out of range; [`Error::Memory`].
    pub fn new(len: usize, config: AdamConfig) -> Result<Self, Error> {
        let check = |name, value: f32, fine: bool, expected| {
            if fine { Ok(()) } else { Err(Error::Setting { name, value, expected }) }
        };
        let AdamConfig { beta1, beta2, epsilon, weight_decay } = config;
        check("beta1", beta1, (0.0..1.0).contains(&beta1), "in [0, 1)")?;
        check("beta2", beta2, (0.0..1.0).contains(&beta2), "in [0, 1)")?;
        check("epsilon", epsilon, epsilon > 0.0 && epsilon < f32::INFINITY, "positive and finite")?;
        check("weight_decay", weight_decay, (0.0..=1.0).contains(&weight_decay), "in [0, 1]")?;
        // Asked for first: an allocation that fails ends the process.
        Vec::<f32>::new().try_reserve_exact(len).map_err(|_| Error::Memory { len })?;
        Ok(Self { config, first: vec![0.0; len], second: vec![0.0; len], steps: 0 })
    }

    /// The settings.
    pub fn config(&self) -> &AdamConfig {
        &self.config
    }

    /// Steps taken.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// m, one element per parameter.
    pub fn first_moments(&self) -> &[f32] {
        &self.first
    }

    /// v, one element per parameter.
    pub fn second_moments(&self) -> &[f32] {
        &self.second
    }

    /// Takes over a saved state: with it and the same gradients, steps go on bit for bit.
    ///
    /// # Errors
    /// Lengths that differ from the state's, a moment that is not finite, a negative second moment; nothing is changed
    /// then.
    pub fn restore(&mut self, first: &[f32], second: &[f32], steps: u64) -> Result<(), Error> {
        same_length("first moments", self.first.len(), first.len())?;
        same_length("second moments", self.second.len(), second.len())?;
        if let Some(element) = first.iter().position(|m| !m.is_finite()) {
            return Err(Error::Moment { operand: "first moments", element, value: first[element] });
        }
        if let Some(element) = second.iter().position(|&v| !(0.0..f32::INFINITY).contains(&v)) {
            return Err(Error::Moment { operand: "second moments", element, value: second[element] });
        }
        self.first.copy_from_slice(first);
        self.second.copy_from_slice(second);
        self.steps = steps;
        Ok(())
    }
}

/// Clips the gradient by its global norm and takes one step of Adam; returns the norm before clipping.
///
/// * `rate`: learning rate, not negative;
/// * `names`: name and range of each parameter, for messages;
/// * `gradient`, `parameters`: one element per parameter. The gradient itself is left as it is.
///
/// # Errors
/// See [`Error`]; neither parameters nor optimizer have changed then.
pub fn step(
    adam: &mut Adam,
    rate: f32,
    max_norm: f32,
    names: &[(String, Range<usize>)],
    gradient: &[f32],
    parameters: &mut [f32],
) -> Result<f32, Error> {
    step_on(Isa::detect(), adam, rate, max_norm, names, gradient, parameters)
}

/// The largest norm whose square, and so the square of every element, is finite: 2^63.
const LARGEST: f32 = f32::from_bits((127 + 63) << 23);

/// [`step`] on a given instruction set; the bits are the same on each.
///
/// # Errors
/// As [`step`].
pub fn step_on(
    isa: Isa,
    adam: &mut Adam,
    rate: f32,
    max_norm: f32,
    names: &[(String, Range<usize>)],
    gradient: &[f32],
    parameters: &mut [f32],
) -> Result<f32, Error> {
    let len = adam.first.len();
    same_length("gradient", len, gradient.len())?;
    same_length("parameters", len, parameters.len())?;
    if !(0.0..f32::INFINITY).contains(&rate) {
        return Err(Error::Setting { name: "rate", value: rate, expected: "not negative, finite" });
    }
    let clip = global_norm(isa, max_norm, names, gradient)?;
    let norm = clip.clipped_norm(max_norm);
    if norm > LARGEST {
        return Err(Error::TooLarge { norm, largest: LARGEST });
    }
    adam.steps = adam.steps.saturating_add(1);
    let AdamConfig { beta1, beta2, epsilon, weight_decay } = adam.config;
    let t = adam.steps as f32;
    let step = AdamStep {
        scale: clip.scale,
        coefficient: clip.coefficient,
        beta1,
        beta2,
        epsilon,
        rate: rate / (1.0 - arith::powf(beta1, t)),
        root: 1.0 / arith::sqrt(1.0 - arith::powf(beta2, t)),
        keep: 1.0 - rate * weight_decay,
    };
    isa.run(Step { step, first: &mut adam.first, second: &mut adam.second, gradient, parameters });
    Ok(clip.norm)
}

struct Step<'a> {
    step: AdamStep,
    first: &'a mut [f32],
    second: &'a mut [f32],
    gradient: &'a [f32],
    parameters: &'a mut [f32],
}

impl Kernel for Step<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let moments = self.first.iter_mut().zip(self.second);
        for (((m, v), &g), w) in moments.zip(self.gradient).zip(self.parameters) {
            (*m, *v, *w) = self.step.apply(g, (*m, *v, *w));
        }
    }
}

fn same_length(operand: &'static str, expected: usize, got: usize) -> Result<(), Error> {
    if got == expected { Ok(()) } else { Err(Error::Length { operand, expected, got }) }
}
