//! The minGRU scan. The formulas of a step are the source of crate `mingru`.

use crate::device::thread::index_1d;

// Some of its functions belong to the step of a rollout or to the tiled backward.
#[allow(dead_code)]
#[path = "../../crates/mingru/src/cell.rs"]
mod cell;

/// How a sequence is stored.
trait Storage: Copy {
    fn load(self) -> f32;
    fn store(value: f32) -> Self;
}

impl Storage for f32 {
    #[inline(always)]
    fn load(self) -> f32 {
        self
    }
    #[inline(always)]
    fn store(value: f32) -> Self {
        value
    }
}

impl Storage for half::bf16 {
    #[inline(always)]
    fn load(self) -> f32 {
        arith::bf16::to_f32(self)
    }
    #[inline(always)]
    fn store(value: f32) -> Self {
        arith::bf16::from_f32(value)
    }
}

/// B, T, H.
#[derive(Clone, Copy)]
struct Shape {
    batch: u32,
    time: u32,
    hidden: u32,
}

impl Shape {
    /// Row of the batch and unit of this thread, if there is work for it.
    #[inline(always)]
    fn unit(self) -> Option<(usize, usize)> {
        let (i, hidden) = (index_1d(), self.hidden as usize);
        if i >= self.batch as usize * hidden {
            return None;
        }
        // In 32 bits: there are fewer than 2^31 of them, and a 64-bit division is long.
        let row = (i as u32).checked_div(self.hidden)?;
        Some((row as usize, i - row as usize * hidden))
    }
}

/// Where the entries of a step lie.
#[derive(Clone, Copy)]
struct At {
    /// `row * T + t`.
    step: usize,
    hidden: usize,
    unit: usize,
}

impl At {
    /// In (B, T, H).
    #[inline(always)]
    fn narrow(self) -> usize {
        self.step * self.hidden + self.unit
    }

    /// In (B, T, 3H): hidden, gate, projection.
    #[inline(always)]
    fn wide(self, part: usize) -> usize {
        (self.step * 3 + part) * self.hidden + self.unit
    }
}

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

/// # Safety
/// As the kernels.
#[inline(always)]
unsafe fn forward<S: Storage>(p: Forward<S>, shape: Shape, interval: u32) {
    let Some((row, unit)) = shape.unit() else { return };
    let (time, hidden) = (shape.time as usize, shape.hidden as usize);
    // An interval of 0 is against the rules; without the check there would be a panic to compile.
    let interval = interval.max(1);
    let chunks = shape.time.div_ceil(interval) as usize;
    let state = row * hidden + unit;
    // SAFETY: (B, H).
    let mut h = unsafe { *p.h0.add(state) };
    // Steps until the next checkpoint, and where it goes.
    let (mut left, mut checkpoint) = (0, row * chunks * hidden + unit);
    for t in 0..time {
        if left == 0 {
            // SAFETY: (B, ceil(T / K), H), and this thread alone has this unit.
            unsafe { *p.checkpoints.add(checkpoint) = h };
            checkpoint += hidden;
            left = interval;
        }
        left -= 1;
        let at = At { step: row * time + t, hidden, unit };
        // SAFETY: (B, T, 3H), (B, T, H) and (B, T).
        let (v, gate, proj, x, keep) = unsafe {
            (
                (*p.combined.add(at.wide(0))).load(),
                (*p.combined.add(at.wide(1))).load(),
                (*p.combined.add(at.wide(2))).load(),
                (*p.x.add(at.narrow())).load(),
                *p.keep.add(at.step),
            )
        };
        let gates = cell::gates(v, gate);
        h = cell::state(&gates, keep * h);
        // SAFETY: (B, T, H), and this thread alone has this unit.
        unsafe { *p.out.add(at.narrow()) = S::store(cell::output(proj, h, x)) };
    }
    // SAFETY: (B, H), and this thread alone has this unit.
    unsafe { *p.h_last.add(state) = h };
}

/// Pointers of the backward scan, in the order of the kernels' parameters.
#[derive(Clone, Copy)]
struct Backward<S> {
    combined: *const S,
    x: *const S,
    keep: *const f32,
    states: *const f32,
    d_out: *const S,
    d_h_last: *const f32,
    d_combined: *mut S,
    d_x: *mut S,
    d_h0: *mut f32,
}

/// # Safety
/// As the kernels.
#[inline(always)]
unsafe fn backward_reference<S: Storage>(p: Backward<S>, shape: Shape) {
    let Some((row, unit)) = shape.unit() else { return };
    let (time, hidden) = (shape.time as usize, shape.hidden as usize);
    let state = row * hidden + unit;
    // SAFETY: (B, H).
    let mut carry = unsafe { *p.d_h_last.add(state) };
    for t in (0..time).rev() {
        let at = At { step: row * time + t, hidden, unit };
        // SAFETY: (B, T, 3H), (B, T, H) and (B, T).
        let (v, gate, proj, x, d_out, keep, before) = unsafe {
            (
                (*p.combined.add(at.wide(0))).load(),
                (*p.combined.add(at.wide(1))).load(),
                (*p.combined.add(at.wide(2))).load(),
                (*p.x.add(at.narrow())).load(),
                (*p.d_out.add(at.narrow())).load(),
                *p.keep.add(at.step),
                *p.states.add(at.narrow()),
            )
        };
        let gates = cell::gates(v, gate);
        let carried = keep * before;
        let factors = cell::factors(&gates, carried, cell::state(&gates, carried), proj, x, d_out);
        let dh = cell::state_gradient(carry, factors.direct);
        // SAFETY: (B, T, 3H) and (B, T, H), and this thread alone has this unit.
        unsafe {
            *p.d_combined.add(at.wide(0)) = S::store(dh * factors.hidden);
            *p.d_combined.add(at.wide(1)) = S::store(dh * factors.gate);
            *p.d_combined.add(at.wide(2)) = S::store(factors.d_proj);
            *p.d_x.add(at.narrow()) = S::store(factors.d_x);
        }
        carry = cell::gradient_carry(gates.zc * keep, dh);
    }
    // SAFETY: (B, H), and this thread alone has this unit.
    unsafe { *p.d_h0.add(state) = carry };
}

macro_rules! scans {
    ($($kind:ty, $name:literal: $forward:ident, $backward:ident;)*) => {$(
        #[doc = concat!("The forward scan of sequences in ", $name, ", as `mingru::forward`; states are f32.")]
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
        pub unsafe extern "ptx-kernel" fn $forward(
            combined: *const $kind, x: *const $kind, keep: *const f32, h0: *const f32, out: *mut $kind,
            checkpoints: *mut f32, h_last: *mut f32, batch: u32, time: u32, hidden: u32, interval: u32,
        ) {
            let pointers = Forward { combined, x, keep, h0, out, checkpoints, h_last };
            // SAFETY: the caller's.
            unsafe { forward(pointers, Shape { batch, time, hidden }, interval) }
        }

        #[doc = concat!("The backward scan of sequences in ", $name, ", step by step: the bits that a faster one must have.")]
        ///
        /// Inputs: `combined` (B, T, 3H), `x` (B, T, H), `keep` (B, T), `states` (B, T, H) f32: the state that enters each
        /// step (checkpoints with K = 1), `d_out` (B, T, H), `d_h_last` (B, H). Outputs: `d_combined` (B, T, 3H), `d_x`
        /// (B, T, H), `d_h0` (B, H), which may be `d_h_last`.
        ///
        /// One thread a row of the batch and unit, units side by side; it goes through all steps.
        ///
        /// # Safety
        /// As the forward scan.
        #[unsafe(no_mangle)]
        pub unsafe extern "ptx-kernel" fn $backward(
            combined: *const $kind, x: *const $kind, keep: *const f32, states: *const f32, d_out: *const $kind,
            d_h_last: *const f32, d_combined: *mut $kind, d_x: *mut $kind, d_h0: *mut f32, batch: u32, time: u32,
            hidden: u32,
        ) {
            let pointers = Backward { combined, x, keep, states, d_out, d_h_last, d_combined, d_x, d_h0 };
            // SAFETY: the caller's.
            unsafe { backward_reference(pointers, Shape { batch, time, hidden }) }
        }
    )*};
}

scans! {
    f32, "f32": mingru_scan_forward_f32, mingru_scan_backward_reference_f32;
    half::bf16, "bf16": mingru_scan_forward_bf16, mingru_scan_backward_reference_bf16;
}
