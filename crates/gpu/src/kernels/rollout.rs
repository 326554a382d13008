//! Steps of a rollout: the trainer's policy, and draws from it. The arrays are in the text of `kernels-gpu/src/rollout.rs`.

use super::*;

/// Environments of a block, its threads, and bytes of shared memory for each column of the activations.
const ROWS: u128 = 8;
const WIDTH: u32 = 256;
const COLUMN: u128 = 64;
/// Most actions, and most inputs of a layer.
const MOST: u128 = 1024;

/// A block for each group of environments.
const fn groups(environments: u128, width: u128) -> Work {
    Work::blocks(environments.div_ceil(ROWS)).shared(COLUMN * width)
}

kernels! {
    module "rollout";

    /// A step of all environments: `rollout_step_f32`.
    ///
    /// `width` is a multiple of 4 and at least `inputs`, each of `widths` and `count + 1`, where `count` is the number of
    /// actions. `failed` becomes the smallest number of an environment whose output isn't finite.
    trusted Step() ["rollout_step_f32"] {
        observations: read [f32; environments * inputs],
        keep: read [f32; environments],
        state: update [f32; layers * environments * hidden],
        packed: read [f32; parameters],
        widths: read [u32; encoder],
        first_step: read [u64; 1],
        all_observations: update [f32; environments * horizon * inputs],
        all_actions: update [u32; environments * horizon],
        all_log_probs: update [f32; environments * horizon],
        all_values: update [f32; environments * horizon],
        all_keep: update [f32; environments * horizon],
        actions: write [u32; environments],
        failed: update [u32; 1],
        environments: size, inputs: size, hidden: size, encoder: size, layers: size, parameters: size, count: size,
        width: size, horizon: size, step: size, seed: u64,
    }
    where [inputs => 1..=MOST, hidden => 1..=MOST, count => 1..=MOST, step + 1 => 1..=horizon]
    work groups(environments, width), block Block::Exactly(WIDTH);

    /// Values alone: `rollout_values_f32`. States aren't changed.
    trusted Values() ["rollout_values_f32"] {
        observations: read [f32; environments * inputs],
        keep: read [f32; environments],
        state: read [f32; layers * environments * hidden],
        packed: read [f32; parameters],
        widths: read [u32; encoder],
        values: write [f32; environments],
        failed: update [u32; 1],
        environments: size, inputs: size, hidden: size, encoder: size, layers: size, parameters: size, count: size,
        width: size,
    }
    where [inputs => 1..=MOST, hidden => 1..=MOST, count => 1..=MOST]
    work groups(environments, width), block Block::Exactly(WIDTH);
}
