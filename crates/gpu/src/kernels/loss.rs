//! Losses.

use super::*;

/// Most actions: `trainer::loss::categorical::MAX_ACTIONS`.
const ACTIONS: u128 = 1024;

kernels! {
    module "loss";

    /// The clipped loss of PPO and its gradient, row by row: `ppo_rows_f32`. `settings` is a `trainer::loss::LossSettings`,
    /// `count` the number of actions.
    ///
    /// `terms` are policy loss, value loss, entropy, KL, clipped and ratio of each row. `failed` becomes the smallest number
    /// of a row that has a number which isn't finite, or no such action.
    safe PpoRows() ["ppo_rows_f32"] {
        settings: read [f32; 5],
        output: read [f32; rows * (count + 1)],
        actions: read [u32; rows],
        old_log_probs: read [f32; rows],
        old_values: read [f32; rows],
        advantages: read [f32; rows],
        returns: read [f32; rows],
        weights: read [f32; rows],
        d_output: write [f32; rows * (count + 1)],
        terms: write [f32; 6 * rows],
        failed: update [u32; 1],
        rows: size, count: size,
    }
    where [count => 1..=ACTIONS, rows * 32 => 0..=MAX_SIZE] work Work::threads(rows * 32), block ANY;
}
