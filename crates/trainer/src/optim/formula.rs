//! A step of Adam for one parameter. Kernels for GPUs are compiled from this source too.

use arith::fma;

/// What all parameters of a step have in common, in the order in which kernels read it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct AdamStep {
    /// The gradient is multiplied by `scale`, and then by `coefficient`: [`Clip`](super::Clip)'s.
    pub scale: f32,
    /// The second factor of the gradient.
    pub coefficient: f32,
    /// Decay of the first moment.
    pub beta1: f32,
    /// Decay of the second moment.
    pub beta2: f32,
    /// Added to the root.
    pub epsilon: f32,
    /// eta / c_1.
    pub rate: f32,
    /// 1 / sqrt(c_2).
    pub root: f32,
    /// 1 - eta * weight_decay.
    pub keep: f32,
}

impl AdamStep {
    /// Moments and parameter after a step with gradient `g`, from those before it.
    #[inline(always)]
    pub(crate) fn apply(&self, g: f32, (m, v, w): (f32, f32, f32)) -> (f32, f32, f32) {
        let Self { scale, coefficient, beta1, beta2, epsilon, rate, root, keep } = *self;
        let g = g * scale * coefficient;
        let m = fma(beta1, m, (1.0 - beta1) * g);
        let v = fma(beta2, v, (1.0 - beta2) * (g * g));
        (m, v, fma(-rate, m / fma(arith::sqrt(v), root, epsilon), w * keep))
    }
}
