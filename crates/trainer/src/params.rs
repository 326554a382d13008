//! Parameters: one flat buffer, and the table that says what lies where.

use std::ops::Range;

use arith::random::{Stream, normal_pair};

use crate::config::PolicyConfig;
use crate::error::Error;
use crate::streams;

/// One named parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Name as in a checkpoint, e.g. `encoder.0.weight`.
    pub name: String,
    /// Shape; weights are (outputs, inputs).
    pub shape: Vec<usize>,
    /// Where it lies in the flat buffer, in elements.
    pub range: Range<usize>,
}

/// An affine layer `y = x W^T + b` within the flat buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Affine {
    /// Columns of x.
    pub inputs: usize,
    /// Columns of y.
    pub outputs: usize,
    /// W, (outputs, inputs).
    pub weight: Range<usize>,
    /// b, (outputs).
    pub bias: Range<usize>,
}

/// Where every parameter of a policy lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The parameters in the buffer's order.
    pub parameters: Vec<Parameter>,
    /// The encoder's layers.
    pub encoder: Vec<Affine>,
    /// All minGRU weights, (layers, 3 hidden, hidden).
    pub mingru: Range<usize>,
    /// Policy rows, then the value row: (actions + 1, hidden).
    pub decoder: Affine,
    /// Hidden size.
    pub hidden: usize,
    /// Number of minGRU layers.
    pub layers: usize,
    /// Number of actions.
    pub actions: usize,
    /// Elements of the buffer.
    pub len: usize,
}

impl Layout {
    /// The layout of `policy` for observations of `observation` elements and `actions` actions.
    ///
    /// # Errors
    /// [`Error::Argument`] where the parameters don't fit the address space.
    pub fn new(policy: &PolicyConfig, observation: usize, actions: usize) -> Result<Self, Error> {
        let limit = isize::MAX as usize / size_of::<f32>();
        let too_large = |what, got| Error::argument("Layout::new", what, format!("at most {limit} parameters"), got);
        let outputs = actions.checked_add(1).ok_or_else(|| too_large("actions", actions))?;
        let mut parameters = Vec::new();
        let mut len = 0_usize;
        let mut push = |name: String, shape: Vec<usize>| {
            let size = shape.iter().try_fold(1_usize, |n, &d| n.checked_mul(d));
            let end = size.and_then(|n| len.checked_add(n)).filter(|&end| end <= limit);
            let range = len..end.ok_or_else(|| {
                Error::argument(
                    "Layout::new",
                    "policy",
                    format!("at most {limit} parameters"),
                    format!("{name} {shape:?}"),
                )
            })?;
            len = range.end;
            parameters.push(Parameter { name, shape, range: range.clone() });
            Ok::<_, Error>(range)
        };
        let mut inputs = observation;
        let mut encoder = Vec::new();
        for (i, &outputs) in policy.encoder.iter().enumerate() {
            let weight = push(format!("encoder.{i}.weight"), vec![outputs, inputs])?;
            let bias = push(format!("encoder.{i}.bias"), vec![outputs])?;
            encoder.push(Affine { inputs, outputs, weight, bias });
            inputs = outputs;
        }
        let hidden = inputs;
        let mut mingru: Option<Range<usize>> = None;
        for i in 0..policy.layers {
            let rows = hidden.checked_mul(3).ok_or_else(|| too_large("hidden units", hidden))?;
            let r = push(format!("mingru.{i}.weight"), vec![rows, hidden])?;
            mingru = Some(mingru.map_or(r.start, |m| m.start)..r.end);
        }
        let weight = push("decoder.weight".into(), vec![outputs, hidden])?;
        let bias = push("decoder.bias".into(), vec![outputs])?;
        let decoder = Affine { inputs: hidden, outputs, weight, bias };
        let mingru = mingru.unwrap_or(0..0);
        Ok(Self { parameters, encoder, mingru, decoder, hidden, layers: policy.layers, actions, len })
    }

    /// Initial values: orthogonal weights (Saxe et al. 2014) with gain sqrt(2) in the encoder, 1 in the minGRU stack
    /// and for the value, 0.01 for the policy (Engstrom et al. 2020 found the small one to matter); biases are 0.
    ///
    /// # Panics
    /// Where the ranges are not those that [`Layout::new`] gave.
    pub fn initialize(&self, seed: u64) -> Vec<f32> {
        let mut values = vec![0.0; self.len];
        let mut index = 0;
        let mut stream = || {
            index += 1;
            Stream::new(seed, streams::address(streams::Kind::Initialize, index - 1))
        };
        for layer in &self.encoder {
            let w = &mut values[layer.weight.clone()];
            orthogonal(w, layer.outputs, layer.inputs, std::f32::consts::SQRT_2, stream());
        }
        let h = self.hidden;
        for block in values[self.mingru.clone()].chunks_exact_mut((h * h).max(1)) {
            orthogonal(block, h, h, 1.0, stream());
        }
        let (policy, value) = values[self.decoder.weight.clone()].split_at_mut(self.actions * h);
        orthogonal(policy, self.actions, h, 0.01, stream());
        orthogonal(value, 1, h, 1.0, stream());
        values
    }
}

/// Fills `w` (rows, cols) with `gain` times a matrix whose rows (or columns, where they are fewer) are orthonormal:
/// Gram and Schmidt's process, run twice for accuracy, on normal draws.
fn orthogonal(w: &mut [f32], rows: usize, cols: usize, gain: f32, stream: Stream) {
    let (count, length) = (rows.min(cols), rows.max(cols));
    let mut basis = vec![0.0_f32; count * length];
    for (i, pair) in basis.chunks_mut(2).enumerate() {
        let words = stream.block(i as u64);
        let (a, b) = normal_pair(words[0], words[1]);
        pair[0] = a;
        if let Some(second) = pair.get_mut(1) {
            *second = b;
        }
    }
    for i in 0..count {
        let (done, rest) = basis.split_at_mut(i * length);
        let v = &mut rest[..length];
        for _ in 0..2 {
            for u in done.chunks_exact(length) {
                let projection = arith::sum::dot(u, v);
                for (v, &u) in v.iter_mut().zip(u) {
                    *v = arith::fma(-projection, u, *v);
                }
            }
            let norm = arith::sqrt(arith::sum::dot(v, v));
            for v in v.iter_mut() {
                *v /= norm;
            }
        }
    }
    for r in 0..rows {
        for c in 0..cols {
            let unit = if rows <= cols { basis[r * length + c] } else { basis[c * length + r] };
            w[r * cols + c] = gain * unit;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orthogonal_rows_or_columns_are_orthonormal() {
        for (rows, cols) in [(1, 1), (3, 7), (7, 3), (64, 64), (64, 4), (1, 5)] {
            let mut w = vec![0.0; rows * cols];
            orthogonal(&mut w, rows, cols, 2.0, Stream::new(3, 0));
            let at = |r: usize, c: usize| f64::from(w[r * cols + c]);
            let (count, length) = (rows.min(cols), rows.max(cols));
            for i in 0..count {
                for j in 0..count {
                    let dot: f64 =
                        (0..length).map(|k| if rows <= cols { at(i, k) * at(j, k) } else { at(k, i) * at(k, j) }).sum();
                    // Each of the `length` products carries a few roundings of 2^-24 relative to 4.
                    let expected = if i == j { 4.0 } else { 0.0 };
                    assert!((dot - expected).abs() < 4.0 * 8.0 * 2f64.powi(-24) * (length as f64).sqrt());
                }
            }
        }
    }

    #[test]
    fn the_parameters_tile_the_buffer() {
        let layout = Layout::new(&PolicyConfig { encoder: vec![8, 6], layers: 2 }, 5, 3).unwrap();
        let mut end = 0;
        for p in &layout.parameters {
            assert_eq!(p.range.start, end, "{}", p.name);
            assert_eq!(p.range.len(), p.shape.iter().product::<usize>(), "{}", p.name);
            end = p.range.end;
        }
        assert_eq!(end, layout.len);
        assert_eq!(layout.mingru.len(), 2 * 3 * 6 * 6);
        let values = layout.initialize(1);
        assert_eq!(values, layout.initialize(1));
        assert_ne!(values, layout.initialize(2));
    }
}
