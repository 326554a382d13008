//! A step of a rollout: the trainer's policy for all environments, and a draw from it, in one launch. The formulas are the
//! source of crates `trainer` and `mingru`.
//!
//! A block takes 8 environments through all layers; what goes from layer to layer stays in shared memory. Each thread has an
//! output of a layer, or the three gates of a minGRU unit, for all 8 environments: a weight is read once for them, and
//! neighbouring threads read neighbouring weights. At last each warp draws the action of one environment.
//!
//! Weights are read as `packed`: the flat buffer of the parameters in the order of `trainer::Layout`, in which each matrix
//! (outputs, inputs) is transposed where it lies (`transpose_f32` of module `gemm`), biases as they are.
//!
//! No layer may have more than 1,024 inputs: a chain is one chunk.

mod draw;
mod layers;

#[path = "../../crates/trainer/src/activation.rs"]
#[allow(dead_code)]
mod activation;
#[path = "../../crates/trainer/src/streams.rs"]
#[allow(dead_code)]
mod streams;

use crate::device::atomic::fetch_min_u32;
use crate::device::shared::SharedArray;
use crate::device::thread::{block_idx_x, thread_idx_x};
use crate::device::warp::{LANES, lane_id};
use crate::dynamic_shared_array;
use arith::random::Stream;
use layers::{Policy, Sizes};

/// Environments of a block, and its warps.
const ROWS: u32 = 8;
/// Threads of a block.
const THREADS: u32 = ROWS * LANES;

dynamic_shared_array!(
    /// (2, ROWS, width): a layer's inputs and outputs.
    activations, "rollout_activations": f32
);

/// The activations of a layer: (ROWS, width).
#[derive(Clone, Copy)]
struct Rows {
    data: SharedArray<f32>,
    width: u32,
}

impl Rows {
    /// The first or the second buffer.
    #[inline(always)]
    fn new(buffer: u32, width: u32) -> Self {
        Self { data: activations().from(buffer * ROWS * width), width }
    }

    #[inline(always)]
    fn row(self, row: u32) -> SharedArray<f32> {
        self.data.from(row * self.width)
    }
}

/// The environments of a block.
#[derive(Clone, Copy)]
struct Group {
    first: u32,
    /// All of the launch.
    environments: u32,
}

impl Group {
    /// Number of the row's environment, if there is one.
    #[inline(always)]
    fn environment(self, row: u32) -> Option<u32> {
        let environment = self.first + row;
        (environment < self.environments).then_some(environment)
    }
}

/// What each environment's warp does with the policy's output: whether it is finite (and if not, `failed` tells), and what
/// the last element is, the value.
///
/// # Safety
/// All lanes come here. `failed` is valid.
#[inline(always)]
unsafe fn check(output: SharedArray<f32>, outputs: u32, environment: u32, failed: *mut u32) -> (bool, f32) {
    // SAFETY: the output isn't written any more.
    let (finite, value) = unsafe { (draw::all_finite(output, outputs), output.read(outputs - 1)) };
    if !finite && lane_id() == 0 {
        // SAFETY: the caller's.
        unsafe { fetch_min_u32(failed, environment) };
    }
    (finite, value)
}

/// Where a step's results go, in the order of the kernel's parameters.
#[derive(Clone, Copy)]
struct Trajectories {
    observations: *mut f32,
    actions: *mut u32,
    log_probs: *mut f32,
    values: *mut f32,
    keep: *mut f32,
    /// T, and the present step.
    horizon: u32,
    step: u32,
}

impl Trajectories {
    /// In (N, T).
    #[inline(always)]
    fn at(self, environment: u32) -> usize {
        environment as usize * self.horizon as usize + self.step as usize
    }
}

/// A step of a rollout: `Rollout::run` of crate `trainer` without the environments.
///
/// Inputs: `observations` (N, D); `keep` (N), 0 where an episode begins, else 1; `state` (L, N, H), which is changed; `packed`
/// (parameters), as the module's text says; `widths` (encoder): outputs of the encoder's layers, of which the last is H;
/// `first_step` (1): environment steps that each environment had taken before the rollout.
/// Outputs: step t of `all_observations` (N, T, D), `all_actions`, `all_log_probs`, `all_values` and `all_keep` (N, T);
/// `actions` (N), the same actions. `failed` (1) becomes the smallest number of an environment for which the policy's
/// output isn't finite, if that is smaller than what is there; such an environment's action is 0, with a NaN for its
/// log-probability.
///
/// `ceil(N / 8)` blocks of exactly 256 threads, which need `64 * width` bytes of dynamic shared memory; `width` is a multiple
/// of 4 and at least D, each width of the encoder, H and A + 1. Where it is 4 more than a multiple of 32, rows lie in
/// different banks. The kernel ends with an error if the layers don't come to `parameters` elements. 1 <= A <= 1,024; layers have 1 to 1,024 inputs.
///
/// # Safety
/// The crate's conventions; (N, T, D) may have 2^31 elements and more.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn rollout_step_f32(
    observations: *const f32,
    keep: *const f32,
    state: *mut f32,
    packed: *const f32,
    widths: *const u32,
    first_step: *const u64,
    all_observations: *mut f32,
    all_actions: *mut u32,
    all_log_probs: *mut f32,
    all_values: *mut f32,
    all_keep: *mut f32,
    actions: *mut u32,
    failed: *mut u32,
    environments: u32,
    inputs: u32,
    hidden: u32,
    encoder: u32,
    layers: u32,
    parameters: u32,
    count: u32,
    width: u32,
    horizon: u32,
    step: u32,
    seed: u64,
) {
    let group = Group { first: block_idx_x() * ROWS, environments };
    if group.first >= environments {
        return;
    }
    let to = Trajectories {
        observations: all_observations,
        actions: all_actions,
        log_probs: all_log_probs,
        values: all_values,
        keep: all_keep,
        horizon,
        step,
    };
    let sizes = Sizes { inputs, hidden, encoder, layers, parameters, outputs: count + 1 };
    let policy = Policy { observations, keep, packed, widths, sizes };
    // SAFETY: the caller's: each row of the trajectories is this block's.
    let output = unsafe {
        policy.run(
            group,
            width,
            |environment, i, x| {
                *to.observations.add(to.at(environment) * inputs as usize + i as usize) = x;
            },
            |at| *state.add(at),
            |at, h| *state.add(at) = h,
        )
    };
    let Some(environment) = group.environment(thread_idx_x() / LANES) else { return };
    let row = output.row(thread_idx_x() / LANES);
    // SAFETY: the caller's.
    let (finite, value) = unsafe { check(row, count + 1, environment, failed) };
    let (mut action, mut log_prob) = (0, f32::NAN);
    if finite {
        let stream = Stream::new(seed, streams::address(streams::Kind::Action, u64::from(environment)));
        // SAFETY: (1); the whole warp has this row, and the other buffer isn't used any more.
        (action, log_prob) = unsafe {
            let [word, ..] = stream.block((*first_step).wrapping_add(u64::from(step)));
            draw::draw(row, Rows::new(1 - policy.last_buffer(), width).row(thread_idx_x() / LANES), count, word)
        };
    }
    if lane_id() == 0 {
        let at = to.at(environment);
        // SAFETY: the caller's: this environment is this warp's.
        unsafe {
            *to.actions.add(at) = action;
            *to.log_probs.add(at) = log_prob;
            *to.values.add(at) = value;
            *to.keep.add(at) = *keep.add(environment as usize);
            *actions.add(environment as usize) = action;
        }
    }
}

/// The policy's values alone, which a rollout needs past its last step and where episodes are cut off: states aren't changed,
/// and nothing is drawn.
///
/// Inputs as of [`rollout_step_f32`]; `values` (N) is overwritten, `failed` as there. Grid and memory as there.
///
/// # Safety
/// As [`rollout_step_f32`].
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn rollout_values_f32(
    observations: *const f32,
    keep: *const f32,
    state: *const f32,
    packed: *const f32,
    widths: *const u32,
    values: *mut f32,
    failed: *mut u32,
    environments: u32,
    inputs: u32,
    hidden: u32,
    encoder: u32,
    layers: u32,
    parameters: u32,
    count: u32,
    width: u32,
) {
    let group = Group { first: block_idx_x() * ROWS, environments };
    if group.first >= environments {
        return;
    }
    let sizes = Sizes { inputs, hidden, encoder, layers, parameters, outputs: count + 1 };
    let policy = Policy { observations, keep, packed, widths, sizes };
    // SAFETY: the caller's.
    let output = unsafe { policy.run(group, width, |_, _, _| {}, |at| *state.add(at), |_, _| {}) };
    let Some(environment) = group.environment(thread_idx_x() / LANES) else { return };
    // SAFETY: the caller's: this environment is this warp's.
    unsafe {
        let (_, value) = check(output.row(thread_idx_x() / LANES), count + 1, environment, failed);
        if lane_id() == 0 {
            *values.add(environment as usize) = value;
        }
    }
}
