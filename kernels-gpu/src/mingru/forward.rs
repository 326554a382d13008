//! The forward scan: one thread a row of the batch and unit.

use super::storage::Storage;
use super::{At, Inputs, Shape};
use crate::cell::{self, Gates, Highway};

/// Steps that are read together, so that they wait together.
const GROUP: u32 = 8;

/// Pointers of the forward scan, in the order of the kernels' parameters.
#[derive(Clone, Copy)]
struct Forward<S> {
    combined: *const S,
    x: *const S,
    keep: *const f32,
    h0: *const f32,
    out: *mut S,
    checkpoints: *mut f32,
    h_last: *mut f32,
}

/// What a step needs besides the state.
#[derive(Clone, Copy)]
struct Step {
    gates: Gates,
    highway: Highway,
    x: f32,
    keep: f32,
}

impl Step {
    #[inline(always)]
    fn of<S: Storage>(inputs: Inputs<S, f32>) -> Self {
        Self { gates: inputs.gates(), highway: inputs.highway(), x: inputs.x.load(), keep: inputs.beside }
    }
}

impl<S: Storage> Forward<S> {
    /// # Safety
    /// As the kernels.
    #[inline(always)]
    unsafe fn load(self, at: At) -> Inputs<S, f32> {
        // SAFETY: (B, T, 3H), (B, T, H) and (B, T).
        unsafe { Inputs::load(self.combined, self.x, at, *self.keep.add(at.step)) }
    }
}

/// # Safety
/// As the kernels.
#[inline(always)]
unsafe fn forward<S: Storage>(p: Forward<S>, shape: Shape, interval: u32) {
    let Some((row, unit)) = shape.unit() else { return };
    let hidden = shape.hidden as usize;
    // An interval of 0 is against the rules; without the check there would be a panic to compile.
    let interval = interval.max(1);
    let chunks = shape.time.div_ceil(interval) as usize;
    let state = row * hidden + unit;
    // SAFETY: (B, H).
    let mut h = unsafe { *p.h0.add(state) };
    // Steps until the next checkpoint, and where it goes.
    let (mut left, mut checkpoint) = (0, row * chunks * hidden + unit);
    let at = |t: u32| At { step: row * shape.time as usize + t as usize, hidden, unit };
    let mut advance = |at: At, step: Step| {
        if left == 0 {
            // SAFETY: (B, ceil(T / K), H), and this thread alone has this unit.
            unsafe { *p.checkpoints.add(checkpoint) = h };
            checkpoint += hidden;
            left = interval;
        }
        left -= 1;
        h = cell::state(&step.gates, step.keep * h);
        // SAFETY: (B, T, H), and this thread alone has this unit.
        unsafe { *p.out.add(at.narrow()) = S::store(cell::mix(&step.highway, h, step.x)) };
    };
    let mut t = 0;
    while shape.time - t >= GROUP {
        // SAFETY: the caller's.
        let inputs = unrolled!([0 1 2 3 4 5 6 7] |i| unsafe { p.load(at(t + i)) });
        let steps = unrolled!([0 1 2 3 4 5 6 7] |i| Step::of(inputs[i]));
        unrolled!([0 1 2 3 4 5 6 7] |i| advance(at(t + i), steps[i as usize]));
        t += GROUP;
    }
    while t < shape.time {
        // SAFETY: the caller's.
        advance(at(t), Step::of(unsafe { p.load(at(t)) }));
        t += 1;
    }
    // SAFETY: (B, H), and this thread alone has this unit.
    unsafe { *p.h_last.add(state) = h };
}

macro_rules! kernels {
    ($($kind:ty, $text:literal: $name:ident;)*) => {$(
        #[doc = concat!("The forward scan of sequences in ", $text, ", as `mingru::forward`; states are f32.")]
        ///
        /// Inputs: `combined` (B, T, 3H), `x` (B, T, H), `keep` (B, T), `h0` (B, H). Outputs: `out` (B, T, H), `checkpoints`
        /// (B, ceil(T / K), H) with the state that enters each chunk of `interval` = K >= 1 steps, `h_last` (B, H), which may
        /// be `h0`. 3 B T H is below 2^63.
        ///
        /// One thread a row of the batch and unit, units side by side; it goes through all steps.
        ///
        /// # Safety
        /// The crate's conventions; sequences may have 2^31 elements and more, B H may not.
        #[unsafe(no_mangle)]
        pub unsafe extern "ptx-kernel" fn $name(
            combined: *const $kind, x: *const $kind, keep: *const f32, h0: *const f32, out: *mut $kind,
            checkpoints: *mut f32, h_last: *mut f32, batch: u32, time: u32, hidden: u32, interval: u32,
        ) {
            let pointers = Forward { combined, x, keep, h0, out, checkpoints, h_last };
            // SAFETY: the caller's.
            unsafe { forward(pointers, Shape { batch, time, hidden }, interval) }
        }
    )*};
}

kernels! {
    f32, "f32": mingru_scan_forward_f32;
    half::bf16, "bf16": mingru_scan_forward_bf16;
}
