//! The clipped PPO loss of one row and its gradient, given its log-probabilities. Kernels for GPUs are compiled from this
//! source too.

use arith::fma;

/// Bounds of the log-ratio: a ratio stays within [2e-9, 4.9e8].
const MAX_LOG_RATIO: f32 = 20.0;

/// What all rows have in common, in the order in which kernels read it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct LossSettings {
    /// Clip range of the ratio.
    pub clip: f32,
    /// Clip range of the value's change; infinite where values aren't clipped.
    pub value_clip: f32,
    /// Weight of the value loss.
    pub value_coefficient: f32,
    /// Weight of the entropy bonus.
    pub entropy_coefficient: f32,
    /// 1 / N, N the rows of the whole minibatch.
    pub inverse_n: f32,
}

/// A row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowInputs {
    /// `ln p` of the action; NaN if there is no such action.
    pub(crate) log_prob: f32,
    pub(crate) entropy: f32,
    pub(crate) value: f32,
    pub(crate) old_log_prob: f32,
    pub(crate) old_value: f32,
    pub(crate) advantage: f32,
    /// R, the return.
    pub(crate) target: f32,
    pub(crate) weight: f32,
}

/// Its terms, and what its gradient takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowLoss {
    pub(crate) policy: f32,
    pub(crate) value: f32,
    pub(crate) kl: f32,
    /// 1 where the ratio is outside the clip range.
    pub(crate) clipped: f32,
    pub(crate) ratio: f32,
    /// g.
    pub(crate) gain: f32,
    /// `k * entropy_coefficient`.
    pub(crate) bonus: f32,
    pub(crate) d_value: f32,
    /// Not finite if any number of the row is not.
    pub(crate) all: f32,
}

/// Everything of a row but the gradients of its logits.
#[inline(always)]
pub(crate) fn row_loss(settings: &LossSettings, row: &RowInputs) -> RowLoss {
    let (a, w) = (row.advantage, row.weight);
    let k = w * settings.inverse_n;

    let log_ratio = row.log_prob - row.old_log_prob;
    let log_ratio = if log_ratio > MAX_LOG_RATIO { MAX_LOG_RATIO } else { log_ratio };
    let log_ratio = if log_ratio < -MAX_LOG_RATIO { -MAX_LOG_RATIO } else { log_ratio };
    let ratio = arith::exp(log_ratio);
    let (low, high) = (1.0 - settings.clip, 1.0 + settings.clip);
    let inside = if ratio < low { low } else { ratio };
    let inside = if inside > high { high } else { inside };
    let (surrogate, bound) = (ratio * a, inside * a);
    let policy_flows = surrogate <= bound;
    let policy = -(w * if policy_flows { surrogate } else { bound });
    let kl = k3(ratio, log_ratio);

    let v = row.value;
    let error = v - row.target;
    let square = error * error;
    let moved = v - row.old_value;
    let range = settings.value_clip;
    let v_clipped = if moved > range { row.old_value + range } else { v };
    let v_clipped = if moved < -range { row.old_value - range } else { v_clipped };
    let clipped_error = v_clipped - row.target;
    let clipped_square = clipped_error * clipped_error;
    let value_flows = square >= clipped_square;
    let value = w * (0.5 * if value_flows { square } else { clipped_square });

    // Clamps must hide neither a masked action nor an infinity.
    let losses = (policy + value) + (row.entropy + kl);
    let known = row.old_log_prob.is_finite() & row.old_value.is_finite();
    RowLoss {
        policy,
        value,
        kl,
        clipped: if ratio == inside { 0.0 } else { 1.0 },
        ratio,
        gain: if policy_flows { -(k * surrogate) } else { 0.0 },
        bonus: k * settings.entropy_coefficient,
        d_value: if value_flows { (k * settings.value_coefficient) * error } else { 0.0 },
        all: if known { losses + row.log_prob } else { f32::NAN },
    }
}

/// `fma(g, [a is the action] - p_a, bonus * p_a * (ln p_a + H))`, without the second part where p_a is 0.
#[inline(always)]
pub(crate) fn d_logit(gain: f32, bonus: f32, is_action: bool, prob: f32, log_prob: f32, entropy: f32) -> f32 {
    let spread = bonus * prob * (log_prob + entropy);
    let spread = if prob == 0.0 { 0.0 } else { spread };
    let hit = if is_action { 1.0 } else { 0.0 };
    fma(gain, hit - prob, spread)
}

/// `(r - 1) - ln r` with r = exp(x) (Schulman, "Approximating KL divergence", 2020): by its series for |x| < 1/2, where
/// the subtraction cancels; never negative, 0 for x = 0.
#[inline(always)]
fn k3(ratio: f32, x: f32) -> f32 {
    // x^2 sum_k x^k / (k + 2)!
    let q = fma(x, 1.0 / 362_880.0, 1.0 / 40_320.0);
    let q = fma(q, x, 1.0 / 5_040.0);
    let q = fma(q, x, 1.0 / 720.0);
    let q = fma(q, x, 1.0 / 120.0);
    let q = fma(q, x, 1.0 / 24.0);
    let q = fma(q, x, 1.0 / 6.0);
    let q = fma(q, x, 0.5);
    let near = q * (x * x);
    let far = (ratio - 1.0) - x;
    if x.abs() < 0.5 { near } else { far }
}
