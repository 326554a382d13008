//! The backward scan step by step: the bits that a faster one must have.

use super::storage::Storage;
use super::{At, Inputs, Shape};
use crate::cell;

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
        let (inputs, keep, before) = unsafe {
            let inputs = Inputs::load(p.combined, p.x, at, *p.d_out.add(at.narrow()));
            (inputs, *p.keep.add(at.step), *p.states.add(at.narrow()))
        };
        let (gates, x, d_out) = (inputs.gates(), inputs.x.load(), inputs.beside.load());
        let carried = keep * before;
        let factors = cell::factors(&gates, carried, cell::state(&gates, carried), &inputs.highway(), x, d_out);
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

macro_rules! kernels {
    ($($kind:ty, $text:literal: $name:ident;)*) => {$(
        #[doc = concat!("The backward scan of sequences in ", $text, ", step by step: the bits that a faster one must have.")]
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
        pub unsafe extern "ptx-kernel" fn $name(
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

kernels! {
    f32, "f32": mingru_scan_backward_reference_f32;
    half::bf16, "bf16": mingru_scan_backward_reference_bf16;
}
