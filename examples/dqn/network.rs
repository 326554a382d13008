//! The Q network: from an observation to the value of each action.
//!
//! ```text
//! y_0 = x;  y_i = relu(y_{i-1} W_i^T + b_i)  for the hidden layers;  q = y_last W^T + b
//! ```
//! Each product is a chain in the contract's order, so a row of q has the same bits in a batch of any size, on any
//! number of threads and with any instruction set.

use std::ops::Range;

use anyhow::{Result, ensure};
use arith::random::Stream;
use arith::simd::{Isa, Kernel};
use linalg::{MatMut, MatRef, PackedB, Par, Scratch, gemm_packed, gemm_tn, sum_rows};

/// Parameters in one flat buffer, and the same packed for products.
#[derive(Clone)]
pub(crate) struct Network {
    layers: Vec<Layer>,
    parameters: Vec<f32>,
    par: Par,
}

#[derive(Clone)]
struct Layer {
    inputs: usize,
    outputs: usize,
    /// W, (outputs, inputs), within the flat buffer.
    weight: Range<usize>,
    /// b, (outputs).
    bias: Range<usize>,
    /// W^T: y = x W^T.
    forward: PackedB,
    /// W: dx = dy W. None for the first layer: nobody asks for the observation's gradient.
    backward: Option<PackedB>,
}

/// What a forward pass leaves for the backward pass, for as many rows as it was made for.
pub(crate) struct Activations {
    rows: usize,
    /// y_1 .. and q, each (rows, outputs).
    outputs: Vec<Vec<f32>>,
    /// Their gradients; those of q are the caller's to write.
    gradients: Vec<Vec<f32>>,
    scratch: Scratch,
}

impl Network {
    /// A network with layers of these sizes, the observation first, the actions last. Weights are normal with variance
    /// 2 / inputs (He et al. 2015), of the last layer 1 / inputs; biases are 0.
    pub(crate) fn new(sizes: &[usize], stream: Stream, par: Par) -> Result<Self> {
        ensure!(sizes.len() >= 2 && sizes.iter().all(|&n| n > 0), "a network of layers {sizes:?} can't be");
        let mut parameters = Vec::new();
        let mut layers = Vec::new();
        for (i, pair) in sizes.windows(2).enumerate() {
            let &[inputs, outputs] = pair else { continue };
            let start = parameters.len();
            let weight = start..start + outputs * inputs;
            let bias = weight.end..weight.end + outputs;
            parameters.resize(bias.end, 0.0);
            let gain = if i + 2 == sizes.len() { 1.0 } else { 2.0 };
            let deviation = arith::sqrt(gain / inputs as f32);
            // Addressed by their place in the buffer.
            stream.fill_normal(start as u64, &mut parameters[weight.clone()]);
            for w in &mut parameters[weight.clone()] {
                *w *= deviation;
            }
            let forward = PackedB::try_new(inputs, outputs)?;
            let backward = if i > 0 { Some(PackedB::try_new(outputs, inputs)?) } else { None };
            layers.push(Layer { inputs, outputs, weight, bias, forward, backward });
        }
        let mut network = Self { layers, parameters, par };
        network.pack()?;
        Ok(network)
    }

    /// All parameters.
    pub(crate) fn parameters(&self) -> &[f32] {
        &self.parameters
    }

    /// Name and place of each parameter.
    pub(crate) fn names(&self) -> Vec<(String, Range<usize>)> {
        let names = |(i, layer): (usize, &Layer)| {
            [(format!("{i}.weight"), layer.weight.clone()), (format!("{i}.bias"), layer.bias.clone())]
        };
        self.layers.iter().enumerate().flat_map(names).collect()
    }

    /// Lets `change` write the parameters, and packs them anew.
    pub(crate) fn change<R>(&mut self, change: impl FnOnce(&mut [f32]) -> R) -> Result<R> {
        let result = change(&mut self.parameters);
        self.pack()?;
        Ok(result)
    }

    /// `p <- p + rate (source - p)` for each parameter p; a rate of 1 copies.
    pub(crate) fn follow(&mut self, source: &Self, rate: f32) -> Result<()> {
        ensure!(self.parameters.len() == source.parameters.len(), "the networks have different layers");
        self.change(|parameters| {
            if rate == 1.0 {
                parameters.copy_from_slice(&source.parameters);
            } else {
                Isa::detect().run(Follow { rate, source: &source.parameters, target: parameters });
            }
        })
    }

    fn pack(&mut self) -> Result<()> {
        for layer in &mut self.layers {
            let weight = MatRef::new(&self.parameters[layer.weight.clone()], layer.outputs, layer.inputs)?;
            layer.forward.pack_nt(weight)?;
            if let Some(backward) = &mut layer.backward {
                backward.pack_nn(weight)?;
            }
        }
        Ok(())
    }

    /// Buffers for passes over at most `rows` rows.
    pub(crate) fn activations(&self, rows: usize) -> Activations {
        let zeros = || self.layers.iter().map(|layer| vec![0.0; rows * layer.outputs]).collect();
        Activations { rows, outputs: zeros(), gradients: zeros(), scratch: Scratch::new() }
    }

    /// Values of all actions: x (rows, inputs) -> q (rows, actions).
    pub(crate) fn forward<'a>(&self, x: &[f32], rows: usize, activations: &'a mut Activations) -> Result<&'a [f32]> {
        ensure!(rows <= activations.rows, "{rows} rows in activations for {}", activations.rows);
        let isa = Isa::detect();
        for (i, layer) in self.layers.iter().enumerate() {
            let (before, after) = activations.outputs.split_at_mut(i);
            let x = before.last().map_or(x, Vec::as_slice);
            let y = &mut after[0][..rows * layer.outputs];
            let x = MatRef::new(x, rows, layer.inputs)?;
            gemm_packed(x, &layer.forward, MatMut::new(y, rows, layer.outputs)?, self.par)?;
            isa.run(AddBias { bias: &self.parameters[layer.bias.clone()], relu: i + 1 < self.layers.len(), y });
        }
        Ok(activations.q(rows))
    }

    /// The gradient of all parameters, from that of q (rows, actions), which [`Activations::q_gradient`] holds.
    ///
    /// `x` and `activations`: those of the forward pass, of which the first `rows` rows count.
    pub(crate) fn backward(
        &self,
        x: &[f32],
        rows: usize,
        activations: &mut Activations,
        gradient: &mut [f32],
    ) -> Result<()> {
        let isa = Isa::detect();
        let Activations { outputs, gradients, scratch, .. } = activations;
        for (i, layer) in self.layers.iter().enumerate().rev() {
            let (before, after) = gradients.split_at_mut(i);
            let dy = MatRef::new(&after[0], rows, layer.outputs)?;
            let input = MatRef::new(if i == 0 { x } else { &outputs[i - 1] }, rows, layer.inputs)?;
            let weight = MatMut::new(&mut gradient[layer.weight.clone()], layer.outputs, layer.inputs)?;
            gemm_tn(dy, input, weight, self.par, scratch)?;
            sum_rows(dy, &mut gradient[layer.bias.clone()], self.par)?;
            if let (Some(backward), Some(dx)) = (&layer.backward, before.last_mut()) {
                let dx = &mut dx[..rows * layer.inputs];
                gemm_packed(dy, backward, MatMut::new(dx, rows, layer.inputs)?, self.par)?;
                isa.run(ReluBackward { y: &outputs[i - 1], d: dx });
            }
        }
        Ok(())
    }
}

impl Activations {
    /// q of the last forward pass, (rows, actions).
    pub(crate) fn q(&self, rows: usize) -> &[f32] {
        self.outputs.last().map_or(&[], |q| &q[..q.len() / self.rows.max(1) * rows])
    }

    /// The gradient of q, (rows, actions), and q itself.
    pub(crate) fn q_gradient(&mut self, rows: usize) -> (&mut [f32], &[f32]) {
        let (Some(d), Some(q)) = (self.gradients.last_mut(), self.outputs.last()) else { return (&mut [], &[]) };
        let len = q.len() / self.rows.max(1) * rows;
        (&mut d[..len], &q[..len])
    }
}

/// `y[r, c] += bias[c]`, then the larger of that and 0 where `relu`. A NaN stays one.
struct AddBias<'a> {
    bias: &'a [f32],
    relu: bool,
    y: &'a mut [f32],
}

impl Kernel for AddBias<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let floor = if self.relu { 0.0 } else { f32::NEG_INFINITY };
        for row in self.y.chunks_exact_mut(self.bias.len()) {
            for (y, &b) in row.iter_mut().zip(self.bias) {
                let sum = *y + b;
                *y = if sum < floor { floor } else { sum };
            }
        }
    }
}

/// `d = 0` where the unit was off: the gradient of relu.
struct ReluBackward<'a> {
    y: &'a [f32],
    d: &'a mut [f32],
}

impl Kernel for ReluBackward<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (d, &y) in self.d.iter_mut().zip(self.y) {
            *d = if y > 0.0 { *d } else { 0.0 };
        }
    }
}

/// `t <- fma(rate, s - t, t)`.
struct Follow<'a> {
    rate: f32,
    source: &'a [f32],
    target: &'a mut [f32],
}

impl Kernel for Follow<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (t, &s) in self.target.iter_mut().zip(self.source) {
            *t = arith::fma(self.rate, s - *t, *t);
        }
    }
}
