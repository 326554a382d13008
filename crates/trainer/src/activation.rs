//! What an affine layer does to each element of its product. Kernels for GPUs are compiled from this source too.

/// `tanh(y + b)`: a layer of the encoder.
#[inline(always)]
pub(crate) fn bias_tanh(y: f32, bias: f32) -> f32 {
    arith::tanh(y + bias)
}

/// `d * (1 - y^2)`: the gradient of tanh, of which `y` is the value.
#[inline(always)]
pub(crate) fn tanh_backward(d: f32, y: f32) -> f32 {
    d * arith::fma(-y, y, 1.0)
}

/// `y + b`: the decoder.
#[inline(always)]
pub(crate) fn add_bias(y: f32, bias: f32) -> f32 {
    y + bias
}
