//! The policy: encoder MLP -> minGRU stack -> decoder with value head.
//!
//! ```text
//! y_0 = observation;  y_i = tanh(y_{i-1} W_i^T + b_i)      encoder, i = 1..
//! h   = stack(y_last, keep, state)                          minGRU layers (none: h = y_last)
//! out = h W^T + b                                           decoder: logits (A), then the value
//! ```
//! All rows are independent and every product is in contract order, so a row has the same bits in a rollout group of
//! 32 environments, in a training block of 128 rows and alone.

use std::ops::Range;

use arith::simd::{Isa, Kernel};
use linalg::{MatMut, MatRef, PackedB, Par, gemm_packed};
use mingru::MinGruStack;

use crate::activation;
use crate::error::Error;
use crate::params::{Affine, Layout};

/// The parameters of a policy, packed for the products of rollouts, forward and backward passes.
pub(crate) struct Packed {
    encoder: Vec<PackedAffine>,
    pub(crate) hidden: HiddenLayout,
    decoder: PackedAffine,
    pub(crate) stack: MinGruStack,
    pub(crate) mingru: mingru::PackedWeights,
}

struct PackedAffine {
    inputs: usize,
    outputs: usize,
    /// W^T: y = x W^T.
    forward: PackedB,
    /// W: dx = dy W. None where nobody asks for dx.
    backward: Option<PackedB>,
    bias: Vec<f32>,
}

impl PackedAffine {
    fn new(affine: &Affine, backward: bool) -> Self {
        Self {
            inputs: affine.inputs,
            outputs: affine.outputs,
            forward: PackedB::new(affine.inputs, affine.outputs),
            backward: backward.then(|| PackedB::new(affine.outputs, affine.inputs)),
            bias: vec![0.0; affine.outputs],
        }
    }

    fn backward(&self) -> &PackedB {
        self.backward.as_ref().expect("every layer but the encoder's first has backward weights")
    }

    fn pack(&mut self, affine: &Affine, parameters: &[f32]) -> Result<(), Error> {
        let weight = MatRef::new(&parameters[affine.weight.clone()], self.outputs, self.inputs)?;
        self.forward.pack_nt(weight)?;
        if let Some(backward) = &mut self.backward {
            backward.pack_nn(weight)?;
        }
        self.bias.copy_from_slice(&parameters[affine.bias.clone()]);
        Ok(())
    }
}

/// Where the encoder's hidden activations lie. The last layer's are the features, a matrix of their own; the others lie
/// side by side in two matrices, even layers in the first and odd layers in the second, so that a layer reads one matrix
/// and writes the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HiddenLayout {
    /// First column and width of each layer but the last.
    columns: Vec<Range<usize>>,
    /// Columns of the two matrices, at least 1 so that blocks of rows are never empty slices.
    pub(crate) stride: [usize; 2],
}

impl HiddenLayout {
    fn new(encoder: &[PackedAffine]) -> Self {
        let mut end = [0; 2];
        let columns = encoder[..encoder.len() - 1]
            .iter()
            .enumerate()
            .map(|(i, layer)| {
                let start = end[i % 2];
                end[i % 2] += layer.outputs;
                start..end[i % 2]
            })
            .collect();
        Self { columns, stride: end.map(|n| n.max(1)) }
    }

    /// First column and stride of a layer.
    fn place(&self, layer: usize) -> (usize, usize) {
        (self.columns[layer].start, self.stride[layer % 2])
    }

    /// Layer `layer`'s columns of the matrix that holds them.
    pub(crate) fn read<'a>(&self, layer: usize, rows: usize, matrix: &'a [f32]) -> Result<MatRef<'a>, Error> {
        let columns = &self.columns[layer];
        Ok(MatRef::with_stride(&matrix[columns.start..], rows, columns.len(), self.stride[layer % 2])?)
    }

    fn write<'a>(&self, layer: usize, rows: usize, matrix: &'a mut [f32]) -> Result<MatMut<'a>, Error> {
        let columns = &self.columns[layer];
        Ok(MatMut::with_stride(&mut matrix[columns.start..], rows, columns.len(), self.stride[layer % 2])?)
    }
}

impl Packed {
    pub(crate) fn new(layout: &Layout) -> Result<Self, Error> {
        let encoder: Vec<_> =
            layout.encoder.iter().enumerate().map(|(i, affine)| PackedAffine::new(affine, i > 0)).collect();
        let hidden = HiddenLayout::new(&encoder);
        let stack = MinGruStack::new(layout.layers, layout.hidden)?;
        let mingru = stack.packed_weights()?;
        Ok(Self { encoder, hidden, decoder: PackedAffine::new(&layout.decoder, true), stack, mingru })
    }

    /// Takes over new values of the parameters.
    pub(crate) fn pack(&mut self, layout: &Layout, parameters: &[f32]) -> Result<(), Error> {
        for (packed, affine) in self.encoder.iter_mut().zip(&layout.encoder) {
            packed.pack(affine, parameters)?;
        }
        self.decoder.pack(&layout.decoder, parameters)?;
        if layout.layers > 0 {
            self.stack.pack(&parameters[layout.mingru.clone()], &mut self.mingru)?;
        }
        Ok(())
    }

    /// Encoder over `rows` rows: observations (rows, D) -> the hidden matrices and features (rows, H).
    pub(crate) fn encode(
        &self,
        isa: Isa,
        rows: usize,
        observations: &[f32],
        hidden: &mut [&mut [f32]; 2],
        features: &mut [f32],
    ) -> Result<(), Error> {
        for (i, layer) in self.encoder.iter().enumerate() {
            let [even, odd] = hidden;
            let (from, to) = if i % 2 == 0 { (&*odd, even) } else { (&*even, odd) };
            let x = match i {
                0 => MatRef::new(observations, rows, layer.inputs)?,
                _ => self.hidden.read(i - 1, rows, from)?,
            };
            if i + 1 == self.encoder.len() {
                let out = MatMut::new(features, rows, layer.outputs)?;
                gemm_packed(x, &layer.forward, out, Par::Serial)?;
                isa.run(BiasTanh { rows, start: 0, stride: layer.outputs, bias: &layer.bias, y: features });
            } else {
                gemm_packed(x, &layer.forward, self.hidden.write(i, rows, to)?, Par::Serial)?;
                let (start, stride) = self.hidden.place(i);
                isa.run(BiasTanh { rows, start, stride, bias: &layer.bias, y: to });
            }
        }
        Ok(())
    }

    /// Decoder: h (rows, H) -> output (rows, A + 1).
    pub(crate) fn decode(&self, isa: Isa, rows: usize, h: &[f32], output: &mut [f32]) -> Result<(), Error> {
        let layer = &self.decoder;
        let h = MatRef::new(h, rows, layer.inputs)?;
        gemm_packed(h, &layer.forward, MatMut::new(output, rows, layer.outputs)?, Par::Serial)?;
        isa.run(AddBias { bias: &layer.bias, y: output });
        Ok(())
    }

    /// d_output (rows, A + 1) -> d_h (rows, H).
    pub(crate) fn decode_backward(&self, rows: usize, d_output: &[f32], d_h: &mut [f32]) -> Result<(), Error> {
        let layer = &self.decoder;
        let d_output = MatRef::new(d_output, rows, layer.outputs)?;
        gemm_packed(d_output, layer.backward(), MatMut::new(d_h, rows, layer.inputs)?, Par::Serial)?;
        Ok(())
    }

    /// Turns the gradients of the encoder's activations into those of its pre-activations, from the last layer to the
    /// first: d_features (rows, H) in place, the two matrices d_hidden written.
    pub(crate) fn encode_backward(
        &self,
        isa: Isa,
        rows: usize,
        hidden: &[&mut [f32]; 2],
        features: &[f32],
        d_hidden: &mut [&mut [f32]; 2],
        d_features: &mut [f32],
    ) -> Result<(), Error> {
        for (i, layer) in self.encoder.iter().enumerate().rev() {
            let width = layer.outputs;
            if i + 1 == self.encoder.len() {
                isa.run(TanhBackward { rows, start: 0, width, stride: width, y: features, d: d_features });
                continue;
            }
            let next = &self.encoder[i + 1];
            let [even, odd] = d_hidden;
            let (to, from) = if i % 2 == 0 { (even, &*odd) } else { (odd, &*even) };
            let d = if i + 2 == self.encoder.len() {
                MatRef::new(d_features, rows, next.outputs)?
            } else {
                self.hidden.read(i + 1, rows, from)?
            };
            gemm_packed(d, next.backward(), self.hidden.write(i, rows, to)?, Par::Serial)?;
            let (start, stride) = self.hidden.place(i);
            isa.run(TanhBackward { rows, start, width, stride, y: &*hidden[i % 2], d: to });
        }
        Ok(())
    }
}

/// `y[r, start + c] = tanh(y[r, start + c] + bias[c])`.
struct BiasTanh<'a> {
    rows: usize,
    start: usize,
    stride: usize,
    bias: &'a [f32],
    y: &'a mut [f32],
}

impl Kernel for BiasTanh<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for row in self.y.chunks_mut(self.stride).take(self.rows) {
            let row = &mut row[self.start..self.start + self.bias.len()];
            for (y, &b) in row.iter_mut().zip(self.bias) {
                *y = activation::bias_tanh(*y, b);
            }
        }
    }
}

/// `d[r, start + c] *= 1 - y[r, start + c]^2`: the gradient of tanh.
struct TanhBackward<'a> {
    rows: usize,
    start: usize,
    width: usize,
    stride: usize,
    y: &'a [f32],
    d: &'a mut [f32],
}

impl Kernel for TanhBackward<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let columns = self.start..self.start + self.width;
        for (d, y) in self.d.chunks_mut(self.stride).zip(self.y.chunks(self.stride)).take(self.rows) {
            for (d, &y) in d[columns.clone()].iter_mut().zip(&y[columns.clone()]) {
                *d = activation::tanh_backward(*d, y);
            }
        }
    }
}

/// `y[r, c] += bias[c]`.
struct AddBias<'a> {
    bias: &'a [f32],
    y: &'a mut [f32],
}

impl Kernel for AddBias<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for row in self.y.chunks_exact_mut(self.bias.len()) {
            for (y, &b) in row.iter_mut().zip(self.bias) {
                *y = activation::add_bias(*y, b);
            }
        }
    }
}
