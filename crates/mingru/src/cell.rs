//! The formulas of one step and one unit, each operation rounded to f32 once, in the order written here. This is the
//! contract: the scan, the step and the serial oracle give these bits.

use arith::{fma, sigmoid_pair};

/// What one step keeps of its inputs for both passes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gates {
    /// `z = sigmoid(gate)`.
    pub(crate) z: f32,
    /// `sigmoid(-gate)`, which is `1 - z` without cancellation.
    pub(crate) zc: f32,
    /// `g(hidden)`.
    pub(crate) g: f32,
    /// `g'(hidden)`.
    pub(crate) slope: f32,
}

/// The gates of one step.
#[inline(always)]
pub(crate) fn gates(hidden: f32, gate: f32) -> Gates {
    let (z, zc) = sigmoid_pair(gate);
    // Only sigmoids of negative numbers are used: with the sign known, the selection inside the pair folds away.
    let (s, sc) = sigmoid_pair(f32::from_bits(hidden.to_bits() | 0x8000_0000));
    let linear = hidden >= 0.0;
    Gates { z, zc, g: if linear { hidden + 0.5 } else { s }, slope: if linear { 1.0 } else { s * sc } }
}

/// `z * g`: what a step adds to the state.
#[inline(always)]
pub(crate) fn inflow(gates: &Gates) -> f32 {
    gates.z * gates.g
}

/// `h_t = fma(z', keep_t * h_{t-1}, z * g)`, given `carried = keep_t * h_{t-1}` and the [`inflow`].
#[inline(always)]
pub(crate) fn next_state(zc: f32, carried: f32, inflow: f32) -> f32 {
    fma(zc, carried, inflow)
}

/// [`next_state`] from the gates.
#[inline(always)]
pub(crate) fn state(gates: &Gates, carried: f32) -> f32 {
    next_state(gates.zc, carried, inflow(gates))
}

/// `out = fma(s, h, s' * x)`.
#[inline(always)]
pub(crate) fn output(proj: f32, h: f32, x: f32) -> f32 {
    mix(&highway(proj), h, x)
}

/// [`output`] from the highway.
#[inline(always)]
pub(crate) fn mix(highway: &Highway, h: f32, x: f32) -> f32 {
    fma(highway.s, h, highway.sc * x)
}

/// How much of the output is the state, and how much the input.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Highway {
    /// `s = sigmoid(proj)`.
    pub(crate) s: f32,
    /// `sigmoid(-proj)`.
    pub(crate) sc: f32,
}

/// The highway of one step.
#[inline(always)]
pub(crate) fn highway(proj: f32) -> Highway {
    let (s, sc) = sigmoid_pair(proj);
    Highway { s, sc }
}

/// The gradients of a step that do not need the carry, and the factors of those that do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Factors {
    /// `s * d_out`: what the output adds to the state's gradient.
    pub(crate) direct: f32,
    /// `d_gate / dh = (g - keep_t h_{t-1}) * (z * z')`.
    pub(crate) gate: f32,
    /// `d_hidden / dh = z * g'`.
    pub(crate) hidden: f32,
    /// `(d_out * (h - x)) * (s * s')`.
    pub(crate) d_proj: f32,
    /// `d_out * s'`.
    pub(crate) d_x: f32,
}

/// `s * d_out`: [`Factors::direct`] alone, for which no state is needed.
#[inline(always)]
pub(crate) fn direct(highway: &Highway, d_out: f32) -> f32 {
    highway.s * d_out
}

/// Everything of the backward step but the carry.
#[inline(always)]
pub(crate) fn factors(gates: &Gates, carried: f32, h: f32, highway: &Highway, x: f32, d_out: f32) -> Factors {
    let Highway { s, sc } = *highway;
    Factors {
        direct: direct(highway, d_out),
        gate: (gates.g - carried) * (gates.z * gates.zc),
        hidden: gates.z * gates.slope,
        d_proj: (d_out * (h - x)) * (s * sc),
        d_x: d_out * sc,
    }
}

/// `dh_t = c_t + s_t * d_out_t`, with `c_{T-1} = d_h_last`.
#[inline(always)]
pub(crate) fn state_gradient(carry: f32, direct: f32) -> f32 {
    carry + direct
}

/// `c_{t-1} = (z'_t * keep_t) * dh_t`, given `decay = z'_t * keep_t`; `d_h0` is the last one.
#[inline(always)]
pub(crate) fn gradient_carry(decay: f32, dh: f32) -> f32 {
    decay * dh
}
