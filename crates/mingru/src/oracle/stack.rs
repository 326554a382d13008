//! A stack of layers, serially, over either scan.
use super::{Case, Results};

/// Operands of a stack.
#[derive(Clone, Debug)]
pub struct StackCase<T> {
    /// L.
    pub layers: usize,
    /// L matrices (3H, H).
    pub weights: Vec<T>,
    /// B, T, H; `x` (B, T, H), `keep` (B, T), `d_out` (B, T, H); the states and their gradients are (L, B, H), and
    /// `combined` is empty.
    pub inputs: Case<T>,
}

/// Results of a stack.
#[derive(Clone, Debug, PartialEq)]
pub struct StackResults<T> {
    /// (B, T, H).
    pub out: Vec<T>,
    /// (L, B, H).
    pub h_last: Vec<T>,
    /// L matrices (3H, H).
    pub d_weights: Vec<T>,
    /// (B, T, H).
    pub d_x: Vec<T>,
    /// (L, B, H).
    pub d_h0: Vec<T>,
}

/// Forward and backward. `scan` is the oracle of a layer, `dot(k, a, b)` sums `a(i) * b(i)` over `i < k`, and `add` adds.
pub fn run<T: Copy>(
    case: &StackCase<T>,
    zero: T,
    scan: impl Fn(&Case<T>) -> Results<T>,
    dot: impl Fn(usize, &dyn Fn(usize) -> T, &dyn Fn(usize) -> T) -> T,
    add: impl Fn(T, T) -> T,
) -> StackResults<T> {
    let (batch, time, hidden) = case.inputs.shape;
    let rows = batch * time;
    let state = |v: &[T], layer: usize| v[layer * batch * hidden..(layer + 1) * batch * hidden].to_vec();
    let weight = |layer: usize, i: usize, j: usize| case.weights[(layer * 3 * hidden + i) * hidden + j];

    let mut layers = Vec::new();
    let mut x = case.inputs.x.clone();
    for layer in 0..case.layers {
        let combined = (0..rows * 3 * hidden)
            .map(|i| {
                let (row, unit) = (i / (3 * hidden), i % (3 * hidden));
                dot(hidden, &|k| x[row * hidden + k], &|k| weight(layer, unit, k))
            })
            .collect();
        let scan_case = Case {
            shape: case.inputs.shape,
            combined,
            x,
            keep: case.inputs.keep.clone(),
            h0: state(&case.inputs.h0, layer),
            d_out: vec![zero; rows * hidden],
            d_h_last: state(&case.inputs.d_h_last, layer),
        };
        let results = scan(&scan_case);
        x = results.out.clone();
        layers.push((scan_case, results.h_last));
    }

    let out = x;
    let h_last = layers.iter().flat_map(|(_, h)| h.clone()).collect();
    let mut d = case.inputs.d_out.clone();
    let (mut d_weights, mut d_h0) = (Vec::new(), Vec::new());
    for (layer, (mut scan_case, _)) in layers.into_iter().enumerate().rev() {
        scan_case.d_out = d;
        let r = scan(&scan_case);
        let wide = |row: usize, unit: usize| r.d_combined[row * 3 * hidden + unit];
        let d_weight = (0..3 * hidden * hidden)
            .map(|i| dot(rows, &|row| wide(row, i / hidden), &|row| scan_case.x[row * hidden + i % hidden]));
        d_weights.push(d_weight.collect::<Vec<_>>());
        d_h0.push(r.d_h0.clone());
        d = (0..rows * hidden)
            .map(|i| {
                let product = dot(3 * hidden, &|k| wide(i / hidden, k), &|k| weight(layer, k, i % hidden));
                add(r.d_x[i], product)
            })
            .collect();
    }
    let forwards = |v: Vec<Vec<T>>| v.into_iter().rev().flatten().collect();
    StackResults { out, h_last, d_weights: forwards(d_weights), d_x: d, d_h0: forwards(d_h0) }
}
