//! Sums.
use crate::{Error, MatRef, Par};

fn sum(n: usize, f: impl Fn(usize) -> f32) -> f32 {
    let mut chunks = Vec::new();
    for p in (0..n).step_by(1024) {
        let mut lanes = [0.0f32; 32];
        for t in p..n.min(p + 1024) {
            lanes[(t - p) % 32] += f(t);
        }
        let mut w = 16;
        while w > 0 {
            for i in 0..w {
                lanes[i] = lanes[2 * i] + lanes[2 * i + 1];
            }
            w /= 2;
        }
        chunks.push(lanes[0]);
    }
    while chunks.len() > 1 {
        chunks = chunks.chunks(2).map(|c| if c.len() == 2 { c[0] + c[1] } else { c[0] }).collect();
    }
    chunks.first().copied().unwrap_or(0.0)
}

/// `out[j] = sum_i a[i, j]` in the contract's order.
pub fn sum_rows(a: MatRef<'_>, out: &mut [f32], _par: Par) -> Result<(), Error> {
    if out.len() != a.cols() {
        return Err(Error::Length { operation: "sum_rows", operand: "out", expected: a.cols(), got: out.len() });
    }
    for (j, o) in out.iter_mut().enumerate() {
        *o = sum(a.rows(), |i| a.get(i, j).unwrap_or(0.0));
    }
    Ok(())
}

/// `out[i] = sum_j a[i, j]` in the contract's order.
pub fn sum_cols(a: MatRef<'_>, out: &mut [f32], _par: Par) -> Result<(), Error> {
    if out.len() != a.rows() {
        return Err(Error::Length { operation: "sum_cols", operand: "out", expected: a.rows(), got: out.len() });
    }
    for (i, o) in out.iter_mut().enumerate() {
        *o = sum(a.cols(), |j| a.get(i, j).unwrap_or(0.0));
    }
    Ok(())
}
