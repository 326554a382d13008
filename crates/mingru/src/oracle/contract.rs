//! The contract in f32: which operations round, and in which order.
//!
//! | value | operations |
//! |---|---|
//! | `p_t` | `keep_t * h_{t-1}` |
//! | `b_t` | `sigmoid(a) * g`, with `g = v + 0.5` or `sigmoid(v)` |
//! | `h_t` | `fma(sigmoid(-a), p_t, b_t)` |
//! | `out_t` | `fma(sigmoid(r), h_t, sigmoid(-r) * x_t)` |
//! | `dh_t` | `c_t + sigmoid(r) * d_out_t`, with `c = d_h_last` at the last step |
//! | `c_{t-1}` | `(sigmoid(-a_t) * keep_t) * dh_t`; after the first step it is `d_h0` |
//! | `d_hidden_t` | `dh_t * (sigmoid(a) * g')`, with `g' = 1` or `sigmoid(v) * sigmoid(-v)` |
//! | `d_gate_t` | `dh_t * ((g - p_t) * (sigmoid(a) * sigmoid(-a)))` |
//! | `d_proj_t` | `(d_out_t * (h_t - x_t)) * (sigmoid(r) * sigmoid(-r))` |
//! | `d_x_t` | `d_out_t * sigmoid(-r)` |
//!
//! Each product, sum, difference, fma and sigmoid is rounded to f32 once. Storage in bf16 rounds `out`, `d_combined`
//! and `d_x` once more, when they are written.

use super::{Case, Results};
use arith::{fma, sigmoid};

/// Forward and backward.
pub fn run(case: &Case<f32>) -> Results<f32> {
    let (batch, time, hidden) = case.shape;
    let n = batch * time * hidden;
    let mut r = Results {
        h: vec![0.0; n],
        out: vec![0.0; n],
        h_last: vec![0.0; batch * hidden],
        d_combined: vec![0.0; 3 * n],
        d_x: vec![0.0; n],
        d_h0: vec![0.0; batch * hidden],
    };
    for b in 0..batch {
        for j in 0..hidden {
            let at = |t: usize| (b * time + t) * hidden + j;
            let wide = |part: usize, t: usize| ((b * time + t) * 3 + part) * hidden + j;
            let keep = |t: usize| case.keep[b * time + t];
            let unit = b * hidden + j;

            let mut p = vec![0.0_f32; time];
            let mut g = vec![0.0_f32; time];
            let mut h = case.h0[unit];
            for t in 0..time {
                let (v, a, proj) = (case.combined[wide(0, t)], case.combined[wide(1, t)], case.combined[wide(2, t)]);
                g[t] = if v >= 0.0 { v + 0.5 } else { sigmoid(v) };
                p[t] = keep(t) * h;
                h = fma(sigmoid(-a), p[t], sigmoid(a) * g[t]);
                r.h[at(t)] = h;
                r.out[at(t)] = fma(sigmoid(proj), h, sigmoid(-proj) * case.x[at(t)]);
            }
            r.h_last[unit] = h;

            let mut carry = case.d_h_last[unit];
            for t in (0..time).rev() {
                let (v, a, proj) = (case.combined[wide(0, t)], case.combined[wide(1, t)], case.combined[wide(2, t)]);
                let (d_out, s, sc) = (case.d_out[at(t)], sigmoid(proj), sigmoid(-proj));
                let dh = carry + s * d_out;
                let slope = if v >= 0.0 { 1.0 } else { sigmoid(v) * sigmoid(-v) };
                r.d_combined[wide(0, t)] = dh * (sigmoid(a) * slope);
                r.d_combined[wide(1, t)] = dh * ((g[t] - p[t]) * (sigmoid(a) * sigmoid(-a)));
                r.d_combined[wide(2, t)] = (d_out * (r.h[at(t)] - case.x[at(t)])) * (s * sc);
                r.d_x[at(t)] = d_out * sc;
                carry = (sigmoid(-a) * keep(t)) * dh;
            }
            r.d_h0[unit] = carry;
        }
    }
    r
}
