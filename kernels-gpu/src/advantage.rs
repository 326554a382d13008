//! Advantages and returns of a rollout, as of `trainer::advantage`. The formulas are the source of crate `trainer`.
//!
//! One thread an environment, environments side by side; it goes through all steps, from the last to the first. It reads
//! steps in groups, so that it doesn't wait for the loads of each.

#[path = "../../crates/trainer/src/advantage/formula.rs"]
mod formula;

use crate::device::atomic::fetch_min_u32;
use crate::device::thread::index_1d;

/// Steps that are read together.
const GROUP: u32 = 8;

/// Arrays, in the order of the kernels' parameters.
#[derive(Clone, Copy)]
struct Trajectories {
    rewards: *const f32,
    values: *const f32,
    terminated: *const u8,
    truncated: *const u8,
    bootstrap: *const f32,
    /// Null for data of the present policy.
    ratios: *const f32,
    advantages: *mut f32,
    returns: *mut f32,
}

/// Numbers, in the order of the kernels' parameters.
#[derive(Clone, Copy)]
struct Discount {
    gamma: f32,
    lambda: f32,
    rho_bar: f32,
    c_bar: f32,
}

/// What a step has from memory.
#[derive(Clone, Copy)]
struct Step {
    reward: f32,
    value: f32,
    terminated: bool,
    truncated: bool,
    ratio: f32,
}

/// What goes from a step to the one before it.
#[derive(Clone, Copy)]
struct Carry {
    advantage: f32,
    /// Value of the observation after the step.
    next: f32,
    /// Whether all returns were finite.
    finite: bool,
}

impl Trajectories {
    /// # Safety
    /// As the kernels.
    #[inline(always)]
    unsafe fn load<const OFF_POLICY: bool>(self, at: usize) -> Step {
        // SAFETY: (T, B).
        unsafe {
            Step {
                reward: *self.rewards.add(at),
                value: *self.values.add(at),
                terminated: *self.terminated.add(at) != 0,
                truncated: *self.truncated.add(at) != 0,
                ratio: if OFF_POLICY { *self.ratios.add(at) } else { 1.0 },
            }
        }
    }

    /// What stands for the value after a step: read where the episode was cut off. The steps of a group come first: this has
    /// to wait for their flags, and they would wait for it.
    ///
    /// # Safety
    /// As the kernels.
    #[inline(always)]
    unsafe fn bootstrap(self, step: Step, at: usize) -> f32 {
        // SAFETY: (T, B).
        if step.truncated { unsafe { *self.bootstrap.add(at) } } else { 0.0 }
    }

    /// # Safety
    /// As the kernels; this thread alone has the environment.
    #[inline(always)]
    unsafe fn store(self, at: usize, advantage: f32, estimated_return: f32) {
        // SAFETY: (T, B).
        unsafe {
            *self.advantages.add(at) = advantage;
            *self.returns.add(at) = estimated_return;
        }
    }
}

/// Advantage and return of a step, and what the step before needs.
#[inline(always)]
fn estimate<const OFF_POLICY: bool>(discount: Discount, step: Step, bootstrap: f32, after: Carry) -> (f32, f32, Carry) {
    let (mut next, mut carry) = if step.truncated { (bootstrap, 0.0) } else { (after.next, after.advantage) };
    if step.terminated {
        (next, carry) = (0.0, 0.0);
    }
    let mut difference = formula::difference(discount.gamma, next, step.reward, step.value);
    let mut decay = discount.gamma * discount.lambda;
    if OFF_POLICY {
        difference *= formula::clipped_ratio(step.ratio, discount.rho_bar);
        decay *= formula::clipped_ratio(step.ratio, discount.c_bar);
    }
    let advantage = formula::advantage(decay, carry, difference);
    let estimated_return = formula::estimated_return(advantage, step.value);
    let finite = after.finite && estimated_return.is_finite();
    (advantage, estimated_return, Carry { advantage, next: step.value, finite })
}

/// # Safety
/// As the kernels.
#[inline(always)]
unsafe fn run<const OFF_POLICY: bool>(
    arrays: Trajectories,
    discount: Discount,
    last_values: *const f32,
    failed: *mut u32,
    (steps, batch): (u32, u32),
) {
    let (b, batch) = (index_1d(), batch as usize);
    if b >= batch {
        return;
    }
    // SAFETY: (B).
    let mut carry = Carry { advantage: 0.0, next: unsafe { *last_values.add(b) }, finite: true };
    let mut left = steps;
    while left >= GROUP {
        left -= GROUP;
        let at = |i: u32| (left + i) as usize * batch + b;
        // SAFETY: the caller's.
        let group = unrolled!([0 1 2 3 4 5 6 7] |i| unsafe { arrays.load::<OFF_POLICY>(at(i)) });
        // One branch needs all flags, so that these are read together too.
        let mut any = false;
        unrolled!([0 1 2 3 4 5 6 7] |i| any |= group[i].truncated);
        let mut bootstraps = [0.0; GROUP as usize];
        if any {
            // SAFETY: the caller's.
            bootstraps = unrolled!([0 1 2 3 4 5 6 7] |i| unsafe { arrays.bootstrap(group[i as usize], at(i)) });
        }
        unrolled!([7 6 5 4 3 2 1 0] |i| {
            let (step, bootstrap) = (group[i as usize], bootstraps[i as usize]);
            let (advantage, estimated_return, before) = estimate::<OFF_POLICY>(discount, step, bootstrap, carry);
            // SAFETY: the caller's; this thread alone has the environment.
            unsafe { arrays.store(at(i), advantage, estimated_return) };
            carry = before;
        });
    }
    while left > 0 {
        left -= 1;
        let at = left as usize * batch + b;
        // SAFETY: the caller's.
        let step = unsafe { arrays.load::<OFF_POLICY>(at) };
        // SAFETY: as above.
        let bootstrap = unsafe { arrays.bootstrap(step, at) };
        let (advantage, estimated_return, before) = estimate::<OFF_POLICY>(discount, step, bootstrap, carry);
        // SAFETY: the caller's; this thread alone has the environment.
        unsafe { arrays.store(at, advantage, estimated_return) };
        carry = before;
    }
    if !carry.finite {
        // SAFETY: (1).
        unsafe { fetch_min_u32(failed, b as u32) };
    }
}

/// Advantages and returns: `trainer::advantage::gae`.
///
/// Inputs, by time: `rewards`, `values`, `terminated`, `truncated` (bytes, 0 or 1), `bootstrap` (T, B); `last_values` (B).
/// Outputs: `advantages`, `returns` (T, B); `failed` (1) becomes the smallest number of an environment with a return that
/// isn't finite, if that is smaller than what is there. One thread an environment.
///
/// # Safety
/// The crate's conventions; (T, B) may have 2^31 elements and more.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn gae_f32(
    rewards: *const f32,
    values: *const f32,
    terminated: *const u8,
    truncated: *const u8,
    bootstrap: *const f32,
    last_values: *const f32,
    advantages: *mut f32,
    returns: *mut f32,
    failed: *mut u32,
    steps: u32,
    batch: u32,
    gamma: f32,
    lambda: f32,
) {
    let ratios = core::ptr::null();
    let arrays = Trajectories { rewards, values, terminated, truncated, bootstrap, ratios, advantages, returns };
    let discount = Discount { gamma, lambda, rho_bar: 1.0, c_bar: 1.0 };
    // SAFETY: the caller's.
    unsafe { run::<false>(arrays, discount, last_values, failed, (steps, batch)) }
}

/// The same with V-trace's clipped importance ratios: `trainer::advantage::vtrace`. `ratios` is (T, B).
///
/// # Safety
/// As [`gae_f32`].
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn vtrace_f32(
    rewards: *const f32,
    values: *const f32,
    terminated: *const u8,
    truncated: *const u8,
    bootstrap: *const f32,
    ratios: *const f32,
    last_values: *const f32,
    advantages: *mut f32,
    returns: *mut f32,
    failed: *mut u32,
    steps: u32,
    batch: u32,
    gamma: f32,
    lambda: f32,
    rho_bar: f32,
    c_bar: f32,
) {
    let arrays = Trajectories { rewards, values, terminated, truncated, bootstrap, ratios, advantages, returns };
    // SAFETY: the caller's.
    unsafe { run::<true>(arrays, Discount { gamma, lambda, rho_bar, c_bar }, last_values, failed, (steps, batch)) }
}
