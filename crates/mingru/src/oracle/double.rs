//! The textbook in f64: chain rule by hand, one unit at a time.
use super::{Case, Results};

/// `1 / (1 + e^-x)`.
pub fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// `x + 0.5` for `x >= 0`, else `sigmoid(x)`.
pub fn g(x: f64) -> f64 {
    if x >= 0.0 { x + 0.5 } else { sigmoid(x) }
}

/// Forward and backward.
pub fn run(case: &Case<f64>) -> Results<f64> {
    let (batch, time, hidden) = case.shape;
    let n = batch * time * hidden;
    let mut r = Results {
        h: vec![0.0; n],
        out: vec![0.0; n],
        h_last: case.h0.clone(),
        d_combined: vec![0.0; 3 * n],
        d_x: vec![0.0; n],
        d_h0: case.d_h_last.clone(),
    };
    for b in 0..batch {
        for t in 0..time {
            for j in 0..hidden {
                let i = (b * time + t) * hidden + j;
                let c = &case.combined[3 * (i - j)..];
                let (z, s) = (sigmoid(c[hidden + j]), sigmoid(c[2 * hidden + j]));
                let h = &mut r.h_last[b * hidden + j];
                *h = sigmoid(-c[hidden + j]) * case.keep[b * time + t] * *h + z * g(c[j]);
                r.h[i] = *h;
                r.out[i] = s * *h + (1.0 - s) * case.x[i];
            }
        }
        for t in (0..time).rev() {
            for j in 0..hidden {
                let i = (b * time + t) * hidden + j;
                let first = 3 * (i - j);
                let c = &case.combined[first..];
                let (z, s) = (sigmoid(c[hidden + j]), sigmoid(c[2 * hidden + j]));
                let (zc, sc) = (sigmoid(-c[hidden + j]), sigmoid(-c[2 * hidden + j]));
                let keep = case.keep[b * time + t];
                let before = if t == 0 { case.h0[b * hidden + j] } else { r.h[i - hidden] };
                let slope = if c[j] >= 0.0 { 1.0 } else { sigmoid(c[j]) * sigmoid(-c[j]) };
                let dh = &mut r.d_h0[b * hidden + j];
                *dh += case.d_out[i] * s;
                r.d_combined[first + j] = *dh * z * slope;
                r.d_combined[first + hidden + j] = *dh * (g(c[j]) - keep * before) * z * zc;
                r.d_combined[first + 2 * hidden + j] = case.d_out[i] * (r.h[i] - case.x[i]) * s * sc;
                r.d_x[i] = case.d_out[i] * sc;
                *dh *= zc * keep;
            }
        }
    }
    r
}
