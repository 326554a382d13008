//! The clipped PPO loss and its gradient, row by row.

use arith::simd::{Isa, Kernel};

use super::categorical::{FEW, Logits, MAX_ACTIONS, SOME, first_bad, padded, same_length};
use super::error::Error;
use super::formula::{LossSettings, RowInputs, d_logit, row_loss};
use super::terms::TermRows;
use super::tile::{LANES, Lane, Tile, lanes_only, store};

const OPERATION: &str = "ppo_rows";

/// Settings of the loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ppo {
    /// Clip range of the ratio, positive.
    pub clip: f32,
    /// Clip range of the value's change, positive; `None`: values are not clipped.
    pub value_clip: Option<f32>,
    /// Weight of the value loss, not negative.
    pub value_coefficient: f32,
    /// Weight of the entropy bonus.
    pub entropy_coefficient: f32,
}

impl Default for Ppo {
    fn default() -> Self {
        Self { clip: 0.2, value_clip: Some(0.2), value_coefficient: 0.5, entropy_coefficient: 0.01 }
    }
}

/// Rows of a minibatch; each slice but the logits has one element per row.
#[derive(Clone, Copy, Debug)]
pub struct PpoRows<'a> {
    /// Logits whose rows have at least one more element: the value v, right after the last logit.
    pub output: Logits<'a>,
    /// The actions that were taken.
    pub actions: &'a [u32],
    /// Their log-probabilities in the rollout.
    pub old_log_probs: &'a [f32],
    /// Values in the rollout.
    pub old_values: &'a [f32],
    /// A: advantages (normalised or not).
    pub advantages: &'a [f32],
    /// R: returns.
    pub returns: &'a [f32],
    /// w: importance weights; 1 where rows are drawn uniformly.
    pub weights: &'a [f32],
}

/// The loss of PPO (Schulman et al. 2017, arXiv:1707.06347, equations 7 and 9) with value clipping, for a block of rows
/// of a minibatch of N: gradients with respect to logits and value, and each row's terms.
///
/// ```text
/// L   = 1/N sum_i w_i (policy_i + value_coefficient * value_i - entropy_coefficient * H_i)
/// r   = exp(clamp(ln p(action) - old_log_prob, -20, 20))
/// policy = -min(r A, clip(r, 1 - clip, 1 + clip) A)
/// value  = 1/2 max((v - R)^2, (v_c - R)^2)       v_c = v if |v - v_old| <= value_clip, else v_old +- value_clip
/// ```
/// Gradients, with `k = w * (1 / N)` and the softmax of [`Logits::log_probs`]:
/// ```text
/// g          = -(k * (A * r)) if r A <= clip(r) A, else 0
/// d_logit_a  = fma(g, [a is the action] - p_a, (k * entropy_coefficient) * p_a * (ln p_a + H))
/// d_v        = (k * value_coefficient) * (v - R) if (v - R)^2 >= (v_c - R)^2, else 0
/// ```
/// The clamp of the log-ratio keeps everything finite; the gradient is that of the loss without it, with the clamped
/// ratio. Where value clipping takes the clipped square (v is outside and moved away from R), the gradient is 0.
///
/// Rows are independent: blocks can be computed in any order, on any thread, with the same bits.
///
/// * `total`: N, the rows of the whole minibatch.
/// * `d_output`: (rows, actions + 1), written whole.
/// * `terms`: the block's terms, for [`super::Terms::reduce`].
///
/// # Errors
/// Lengths and settings, before anything is written. A row with an action that does not exist or with a number that is
/// not finite, by row: `d_output` and `terms` are then unspecified.
pub fn ppo_rows(
    isa: Isa,
    ppo: &Ppo,
    total: usize,
    rows: &PpoRows<'_>,
    d_output: &mut [f32],
    terms: TermRows<'_>,
) -> Result<(), Error> {
    check(ppo, total, rows, d_output, &terms)?;
    let actions = rows.output.actions();
    let bad = if actions <= FEW {
        isa.run(Block::<FEW> { ppo, total, rows, d_output, terms })
    } else if actions <= SOME {
        isa.run(Block::<SOME> { ppo, total, rows, d_output, terms })
    } else {
        isa.run(Block::<MAX_ACTIONS> { ppo, total, rows, d_output, terms })
    };
    match bad {
        None => Ok(()),
        Some(row) => Err(culprit(rows, row)),
    }
}

fn check(ppo: &Ppo, total: usize, rows: &PpoRows<'_>, d_output: &[f32], terms: &TermRows<'_>) -> Result<(), Error> {
    let setting = |name, value: f32, fine: bool, expected| {
        if fine { Ok(()) } else { Err(Error::Setting { operation: OPERATION, name, value, expected }) }
    };
    let positive = |name, x: f32| setting(name, x, x > 0.0 && x < f32::INFINITY, "positive and finite");
    positive("clip", ppo.clip)?;
    if let Some(value_clip) = ppo.value_clip {
        positive("value_clip", value_clip)?;
    }
    let c = ppo.value_coefficient;
    setting("value_coefficient", c, (0.0..f32::INFINITY).contains(&c), "not negative, finite")?;
    let c = ppo.entropy_coefficient;
    setting("entropy_coefficient", c, c.is_finite(), "finite")?;

    let (n, actions, stride) = (rows.output.rows(), rows.output.actions(), rows.output.stride());
    if actions == stride {
        // The value has no place.
        return Err(Error::Actions { operation: OPERATION, actions, stride, most: stride - 1 });
    }
    let length = |operand, expected, got| same_length(OPERATION, operand, expected, got);
    length("actions", n, rows.actions.len())?;
    length("old_log_probs", n, rows.old_log_probs.len())?;
    length("old_values", n, rows.old_values.len())?;
    length("advantages", n, rows.advantages.len())?;
    length("returns", n, rows.returns.len())?;
    length("weights", n, rows.weights.len())?;
    length("d_output", n * (actions + 1), d_output.len())?;
    length("terms", n, terms.len())?;
    if total < n {
        return Err(Error::Length { operation: OPERATION, operand: "the minibatch", expected: n, got: total });
    }
    Ok(())
}

/// What is to blame for a term of `row` that is not finite.
#[cold]
fn culprit(rows: &PpoRows<'_>, row: usize) -> Error {
    let numbers = [
        ("the value", rows.output.whole_row(row)[rows.output.actions()]),
        ("the old log-probability", rows.old_log_probs[row]),
        ("the old value", rows.old_values[row]),
        ("the advantage", rows.advantages[row]),
        ("the return", rows.returns[row]),
        ("the weight", rows.weights[row]),
    ];
    match numbers.into_iter().find(|(_, value)| !value.is_finite()) {
        Some((operand, value)) => Error::NotFinite { operation: OPERATION, operand, row, value },
        None => rows.output.culprit(OPERATION, row, Some(rows.actions[row])),
    }
}

struct Block<'a, const CAP: usize> {
    ppo: &'a Ppo,
    total: usize,
    rows: &'a PpoRows<'a>,
    d_output: &'a mut [f32],
    terms: TermRows<'a>,
}

impl<const CAP: usize> Kernel for Block<'_, CAP> {
    /// A row with a term that is not finite.
    type Output = Option<usize>;

    #[inline(always)]
    fn run(self) -> Option<usize> {
        let Self { ppo, total, rows, d_output, terms } = self;
        let count = rows.output.actions();
        let settings = LossSettings {
            clip: ppo.clip,
            value_clip: ppo.value_clip.unwrap_or(f32::INFINITY),
            value_coefficient: ppo.value_coefficient,
            entropy_coefficient: ppo.entropy_coefficient,
            inverse_n: 1.0 / total as f32,
        };
        let mut tile = Tile::<CAP>::new();
        let mut bad = None;
        for first in (0..rows.output.rows()).step_by(LANES) {
            tile.load(&rows.output, first);
            let at = first..first + tile.rows;
            let chosen = padded(&rows.actions[at.clone()]);
            let old_log_probs = padded(&rows.old_log_probs[at.clone()]);
            let old_values = padded(&rows.old_values[at.clone()]);
            let advantages = padded(&rows.advantages[at.clone()]);
            let returns = padded(&rows.returns[at.clone()]);
            let weights = padded(&rows.weights[at.clone()]);
            let mut values = [0.0; LANES];
            for (lane, value) in values.iter_mut().enumerate() {
                *value = rows.output.whole_row(first + lane.min(tile.rows - 1))[count];
            }
            let log_probs = tile.log_prob_of(count, &chosen);
            let entropies = tile.entropy(count);

            let mut policy = [0.0; LANES];
            let mut value_loss = [0.0; LANES];
            let mut kl = [0.0; LANES];
            let mut clipped = [0.0; LANES];
            let mut ratios = [0.0; LANES];
            let mut gain: Lane = [0.0; LANES];
            let mut bonus: Lane = [0.0; LANES];
            let mut d_value: Lane = [0.0; LANES];
            let mut all: Lane = [0.0; LANES];
            for lane in 0..LANES {
                let row = RowInputs {
                    log_prob: log_probs[lane],
                    entropy: entropies[lane],
                    value: values[lane],
                    old_log_prob: old_log_probs[lane],
                    old_value: old_values[lane],
                    advantage: advantages[lane],
                    target: returns[lane],
                    weight: weights[lane],
                };
                let loss = row_loss(&settings, &row);
                policy[lane] = loss.policy;
                value_loss[lane] = loss.value;
                kl[lane] = loss.kl;
                clipped[lane] = loss.clipped;
                ratios[lane] = loss.ratio;
                gain[lane] = loss.gain;
                bonus[lane] = loss.bonus;
                d_value[lane] = loss.d_value;
                all[lane] = loss.all;
            }

            bad = bad.or(first_bad(&all).map(|lane| first + lane));

            let mut gradient = d_output[at.start * (count + 1)..at.end * (count + 1)].chunks_exact_mut(count + 1);
            for a in 0..count {
                lanes_only();
                let mut d: Lane = [0.0; LANES];
                for lane in 0..LANES {
                    let (p, log_prob) = (tile.prob(a, lane), tile.log_prob(a, lane));
                    let is_action = chosen[lane] == a as u32;
                    d[lane] = d_logit(gain[lane], bonus[lane], is_action, p, log_prob, entropies[lane]);
                }
                tile.shifted[a] = d;
            }
            for lane in 0..tile.rows {
                if let Some(row) = gradient.next() {
                    for (out, d) in row.iter_mut().zip(&tile.shifted[..count]) {
                        *out = d[lane];
                    }
                    row[count] = d_value[lane];
                }
            }
            store(&mut terms.policy[at.clone()], &policy);
            store(&mut terms.value[at.clone()], &value_loss);
            store(&mut terms.entropy[at.clone()], &entropies);
            store(&mut terms.kl[at.clone()], &kl);
            store(&mut terms.clipped[at.clone()], &clipped);
            store(&mut terms.ratio[at], &ratios);
        }
        bad
    }
}
