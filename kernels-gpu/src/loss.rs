//! The trainer's loss. The formulas are the source of crate `trainer`.

#[path = "../../crates/trainer/src/loss/formula.rs"]
mod formula;

use crate::categorical::{for_each_of_lane, largest, softmax, sum};
use crate::device::atomic::fetch_min_u32;
use crate::device::thread::index_1d;
use crate::device::warp::{LANES, lane_id};
pub use formula::LossSettings;
use formula::{RowInputs, d_logit, row_loss};

/// The clipped loss of PPO and its gradient, row by row: `trainer::loss::ppo_rows` without masks.
///
/// Inputs: `settings` (1), in memory so that a captured graph can change them: 5 floats in the order of [`LossSettings`];
/// `output` (rows, A + 1), logits and value; `actions`, `old_log_probs`, `old_values`, `advantages`, `returns`, `weights`
/// (rows). Outputs: `d_output` (rows, A + 1); `terms` (6, rows): policy loss, value loss, entropy,
/// KL, clipped, ratio, whose means are a minibatch's statistics; `failed` (1) becomes the smallest number of a row that has a
/// number which isn't finite, or no such action, if that is smaller than what is there.
///
/// One warp a row. 1 <= A <= 1,024.
///
/// # Safety
/// The crate's conventions.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn ppo_rows_f32(
    settings: *const LossSettings,
    output: *const f32,
    actions: *const u32,
    old_log_probs: *const f32,
    old_values: *const f32,
    advantages: *const f32,
    returns: *const f32,
    weights: *const f32,
    d_output: *mut f32,
    terms: *mut f32,
    failed: *mut u32,
    rows: u32,
    count: u32,
) {
    let row = index_1d() / LANES as usize;
    if row >= rows as usize {
        return;
    }
    // SAFETY: the caller's, and the warp alone has this row.
    unsafe {
        let (settings, action) = (*settings, *actions.add(row));
        let at = row * (count as usize + 1);
        let logit = |a: u32| *output.add(at + a as usize);
        let value = logit(count);
        let largest = largest(count, logit);
        let total = sum(count, |a| arith::exp(logit(a) - largest));
        let (log_sum, inverse) = (arith::ln(total), 1.0 / total);
        let log_prob = |a: u32| softmax::log_prob(logit(a) - largest, log_sum);
        let prob = |a: u32| softmax::prob(arith::exp(logit(a) - largest), inverse);
        let entropy = sum(count, |a| softmax::entropy_term(prob(a), log_prob(a)));
        let inputs = RowInputs {
            log_prob: if action < count { log_prob(action) } else { f32::NAN },
            entropy,
            value,
            old_log_prob: *old_log_probs.add(row),
            old_value: *old_values.add(row),
            advantage: *advantages.add(row),
            target: *returns.add(row),
            weight: *weights.add(row),
        };
        let loss = row_loss(&settings, &inputs);
        for_each_of_lane(count, |a| {
            *d_output.add(at + a as usize) = d_logit(loss.gain, loss.bonus, a == action, prob(a), log_prob(a), entropy);
        });
        if lane_id() == 0 {
            *d_output.add(at + count as usize) = loss.d_value;
            let values = [loss.policy, loss.value, entropy, loss.kl, loss.clipped, loss.ratio];
            unrolled!([0 1 2 3 4 5] |i| *terms.add(i * rows as usize + row) = values[i]);
            if !loss.all.is_finite() {
                fetch_min_u32(failed, row as u32);
            }
        }
    }
}
