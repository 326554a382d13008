//! The backward recurrence over time, vectorized over environments.

use arith::simd::{Isa, Kernel};

use super::check;
use super::error::Error;
use super::formula;

/// How much later rewards count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Discount {
    /// Discount of the value, in [0, 1].
    pub gamma: f32,
    /// Decay of the sum of temporal differences, in [0, 1].
    pub lambda: f32,
}

/// T steps of B environments. All (T, B) inputs are by time: element (t, b) lies at `t * batch + b`.
#[derive(Clone, Copy, Debug)]
pub struct Trajectories<'a> {
    /// T.
    pub steps: usize,
    /// B.
    pub batch: usize,
    /// (T, B): reward of the transition from step t.
    pub rewards: &'a [f32],
    /// (T, B): value of the observation at step t.
    pub values: &'a [f32],
    /// (T, B): the transition ended in a terminal state, which is worth 0.
    pub terminated: &'a [bool],
    /// (T, B): the episode was cut off after the transition. Where `terminated` is set too, that wins.
    pub truncated: &'a [bool],
    /// (T, B): value of the episode's final observation; read only where an episode was cut off.
    pub bootstrap: &'a [f32],
    /// (B): value of the observation after the last step; read only where the episode goes on.
    pub last_values: &'a [f32],
}

/// Importance ratios of data that another policy gathered.
#[derive(Clone, Copy, Debug)]
pub struct OffPolicy<'a> {
    /// (T, B): probability of the action under the present policy over that under the one that took it, not negative;
    /// infinity is clipped like any other.
    pub ratios: &'a [f32],
    /// Upper bound of the ratio that weighs a temporal difference, positive.
    pub rho_bar: f32,
    /// Upper bound of the ratio that weighs what follows, positive.
    pub c_bar: f32,
}

/// Generalized advantage estimation (Schulman et al. 2016, arXiv:1506.02438, equation 16) and returns.
///
/// ```text
/// n_t     = 0            if terminated_t
///           bootstrap_t  if truncated_t
///           v_{t+1}      otherwise (last_values for t = T - 1)
/// delta_t = fma(gamma, n_t, r_t) - v_t
/// A_t     = fma(gamma * lambda, carry_t, delta_t)      carry_t = 0 if either flag is set or t = T - 1, else A_{t+1}
/// return_t = A_t + v_t
/// ```
/// in f32 with these operations and no others, t descending: the bits depend on nothing else. One pass, no scratch.
///
/// * `advantages`, `returns`: (T, B), by time; what they held is not read.
///
/// ```
/// use arith::simd::Isa;
/// use trainer::advantage::{Discount, Trajectories, gae};
///
/// let input = Trajectories {
///     steps: 3,
///     batch: 1,
///     rewards: &[0.0, 0.0, 1.0],
///     values: &[0.0; 3],
///     terminated: &[false, false, true],
///     truncated: &[false; 3],
///     bootstrap: &[0.0; 3],
///     last_values: &[7.0],
/// };
/// let (mut advantages, mut returns) = ([0.0; 3], [0.0; 3]);
/// gae(Isa::detect(), &Discount { gamma: 1.0, lambda: 1.0 }, &input, &mut advantages, &mut returns)?;
/// assert_eq!(advantages, [1.0; 3]);
/// # Ok::<(), trainer::advantage::Error>(())
/// ```
///
/// # Errors
/// Lengths that don't fit the shape and parameters out of range, before anything is written; a number that is not
/// finite among those that are read, or an overflow, with its step and environment: the outputs are then unspecified.
pub fn gae(
    isa: Isa,
    discount: &Discount,
    input: &Trajectories<'_>,
    advantages: &mut [f32],
    returns: &mut [f32],
) -> Result<(), Error> {
    check::arguments(discount, None, input, advantages, returns)?;
    let unused = OffPolicy { ratios: &[], rho_bar: 1.0, c_bar: 1.0 };
    let finite =
        isa.run(Estimate::<false> { discount, input, off_policy: &unused, advantages, returns: &mut *returns });
    if finite { Ok(()) } else { Err(check::culprit(None, input, returns)) }
}

/// [`gae`] with V-trace's clipped importance ratios (Espeholt et al. 2018, arXiv:1802.01561, equation 1, with lambda).
///
/// ```text
/// delta_t = min(ratio_t, rho_bar) * (fma(gamma, n_t, r_t) - v_t)
/// A_t     = fma(gamma * lambda * min(ratio_t, c_bar), carry_t, delta_t)
/// ```
/// With all ratios 1 and both bounds at least 1 it is `gae`, bit for bit. `return_t = A_t + v_t` is the paper's v_t.
///
/// # Errors
/// As [`gae`]; a ratio that is NaN or negative, with its step and environment.
pub fn vtrace(
    isa: Isa,
    discount: &Discount,
    off_policy: &OffPolicy<'_>,
    input: &Trajectories<'_>,
    advantages: &mut [f32],
    returns: &mut [f32],
) -> Result<(), Error> {
    check::arguments(discount, Some(off_policy), input, advantages, returns)?;
    let finite = isa.run(Estimate::<true> { discount, input, off_policy, advantages, returns: &mut *returns });
    if finite { Ok(()) } else { Err(check::culprit(Some(off_policy), input, returns)) }
}

/// Columns that pass through all steps together: the rows of t + 1 that step t reads again stay in the first cache.
const TILE: usize = 1024;

struct Estimate<'a, const OFF_POLICY: bool> {
    discount: &'a Discount,
    input: &'a Trajectories<'a>,
    off_policy: &'a OffPolicy<'a>,
    advantages: &'a mut [f32],
    returns: &'a mut [f32],
}

impl<const OFF_POLICY: bool> Kernel for Estimate<'_, OFF_POLICY> {
    /// Whether every return is finite, and every ratio not negative.
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let Self { discount, input, off_policy, advantages, returns } = self;
        let (steps, batch) = (input.steps, input.batch);
        let mut largest = [0; LANES];
        for start in (0..batch).step_by(TILE) {
            let end = batch.min(start + TILE);
            for t in (0..steps).rev() {
                let at = t * batch + start..t * batch + end;
                let (before, after) = advantages.split_at_mut((t + 1) * batch);
                let last = t + 1 == steps;
                let row = Row {
                    gamma: discount.gamma,
                    decay: discount.gamma * discount.lambda,
                    rewards: &input.rewards[at.clone()],
                    values: &input.values[at.clone()],
                    next: if last {
                        &input.last_values[start..end]
                    } else {
                        &input.values[at.start + batch..at.end + batch]
                    },
                    terminated: &input.terminated[at.clone()],
                    truncated: &input.truncated[at.clone()],
                    bootstrap: &input.bootstrap[at.clone()],
                    carry: if last { &[0.0; TILE][..end - start] } else { &after[start..end] },
                    ratios: if OFF_POLICY { &off_policy.ratios[at.clone()] } else { &[] },
                    rho_bar: off_policy.rho_bar,
                    c_bar: off_policy.c_bar,
                };
                row.run::<OFF_POLICY>(&mut before[at.clone()], &mut returns[at], &mut largest);
            }
        }
        largest.iter().all(|&bits| bits < EXPONENT)
    }
}

struct Row<'a> {
    gamma: f32,
    decay: f32,
    rewards: &'a [f32],
    values: &'a [f32],
    next: &'a [f32],
    terminated: &'a [bool],
    truncated: &'a [bool],
    bootstrap: &'a [f32],
    carry: &'a [f32],
    ratios: &'a [f32],
    rho_bar: f32,
    c_bar: f32,
}

/// Columns that are worked on together: one AVX-512 register, two AVX2 ones.
const LANES: usize = 16;

/// Bits that a finite number doesn't have all of.
const EXPONENT: u32 = 0x7f80_0000;

impl Row<'_> {
    /// Writes one row and raises `largest` to the bits of each |return|.
    #[inline(always)]
    fn run<const OFF_POLICY: bool>(&self, advantages: &mut [f32], returns: &mut [f32], largest: &mut [u32; LANES]) {
        let n = advantages.len();
        let whole = n / LANES * LANES;
        for at in (0..whole).step_by(LANES) {
            let (a, r) = self.columns::<OFF_POLICY, LANES>(at, largest);
            advantages[at..at + LANES].copy_from_slice(&a);
            returns[at..at + LANES].copy_from_slice(&r);
        }
        for at in whole..n {
            let ([a], [r]) = self.columns::<OFF_POLICY, 1>(at, largest);
            (advantages[at], returns[at]) = (a, r);
        }
    }

    /// Advantages and returns of columns `at..at + N`.
    #[inline(always)]
    fn columns<const OFF_POLICY: bool, const N: usize>(
        &self,
        at: usize,
        largest: &mut [u32; LANES],
    ) -> ([f32; N], [f32; N]) {
        let rewards: [f32; N] = take(self.rewards, at);
        let values: [f32; N] = take(self.values, at);
        let mut next: [f32; N] = take(self.next, at);
        let mut carry: [f32; N] = take(self.carry, at);
        let terminated: [bool; N] = take(self.terminated, at);
        let truncated: [bool; N] = take(self.truncated, at);
        let mut any_cut = false;
        for &cut in &truncated {
            any_cut |= cut;
        }
        // Rare, and only then is `bootstrap` worth its bandwidth.
        if any_cut {
            let bootstrap: [f32; N] = take(self.bootstrap, at);
            for i in 0..N {
                next[i] = select(truncated[i], bootstrap[i], next[i]);
                carry[i] = select(truncated[i], 0.0, carry[i]);
            }
        }
        let ratios: [f32; N] = if OFF_POLICY { take(self.ratios, at) } else { [1.0; N] };
        let (mut advantages, mut returns) = ([0.0; N], [0.0; N]);
        for i in 0..N {
            let v = values[i];
            let next = select(terminated[i], 0.0, next[i]);
            let carry = select(terminated[i], 0.0, carry[i]);
            let mut delta = formula::difference(self.gamma, next, rewards[i], v);
            let mut decay = self.decay;
            if OFF_POLICY {
                delta *= formula::clipped_ratio(ratios[i], self.rho_bar);
                decay *= formula::clipped_ratio(ratios[i], self.c_bar);
            }
            advantages[i] = formula::advantage(decay, carry, delta);
            returns[i] = formula::estimated_return(advantages[i], v);
            let bits = returns[i].to_bits() & 0x7fff_ffff;
            largest[i] = if bits > largest[i] { bits } else { largest[i] };
        }
        (advantages, returns)
    }
}

/// Elements `at..at + N`, which there must be.
#[inline(always)]
fn take<T: Copy + Default, const N: usize>(x: &[T], at: usize) -> [T; N] {
    match x[at..at + N].first_chunk() {
        Some(chunk) => *chunk,
        None => [T::default(); N],
    }
}

/// `if flag { a } else { b }` on bits: LLVM makes branches of the plain form here.
#[inline(always)]
fn select(flag: bool, a: f32, b: f32) -> f32 {
    let mask = 0_u32.wrapping_sub(u32::from(flag));
    f32::from_bits((a.to_bits() & mask) | (b.to_bits() & !mask))
}
