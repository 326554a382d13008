//! The policy in f64: loops over scalars, straight from the formulas, for tests.

use crate::params::{Affine, Layout};

/// A policy with its parameters.
pub(crate) struct Policy<'a> {
    pub(crate) layout: &'a Layout,
    pub(crate) parameters: &'a [f64],
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

impl Policy<'_> {
    fn affine(&self, affine: &Affine, x: &[f64]) -> Vec<f64> {
        let (weight, bias) = (&self.parameters[affine.weight.clone()], &self.parameters[affine.bias.clone()]);
        (0..affine.outputs)
            .map(|o| bias[o] + (0..affine.inputs).map(|i| weight[o * affine.inputs + i] * x[i]).sum::<f64>())
            .collect()
    }

    /// One step of one environment: logits and the value; `states` (L, H) in place.
    pub(crate) fn step(&self, observation: &[f32], keep: f64, states: &mut [Vec<f64>]) -> Vec<f64> {
        let h = self.layout.hidden;
        let mut x: Vec<f64> = observation.iter().map(|&o| f64::from(o)).collect();
        for layer in &self.layout.encoder {
            x = self.affine(layer, &x).into_iter().map(f64::tanh).collect();
        }
        for (l, state) in states.iter_mut().enumerate() {
            let weight = &self.parameters[self.layout.mingru.clone()][l * 3 * h * h..(l + 1) * 3 * h * h];
            let row = |o: usize| (0..h).map(|i| weight[o * h + i] * x[i]).sum::<f64>();
            let combined: Vec<f64> = (0..3 * h).map(row).collect();
            let mut out = vec![0.0; h];
            for u in 0..h {
                let (v, z, s) = (combined[u], sigmoid(combined[h + u]), sigmoid(combined[2 * h + u]));
                let g = if v >= 0.0 { v + 0.5 } else { sigmoid(v) };
                state[u] = (1.0 - z) * keep * state[u] + z * g;
                out[u] = s * state[u] + (1.0 - s) * x[u];
            }
            x = out;
        }
        self.affine(&self.layout.decoder, &x)
    }
}
