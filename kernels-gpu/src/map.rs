//! Functions of `arith` on arrays: `out[i] = f(x[i], ...)`. One thread an element.

use crate::device::thread::index_1d;
use arith::fixed::{self, Scale};
use half::bf16;

macro_rules! maps {
    ($($(#[$doc:meta])* $name:ident($($x:ident: $input:ty),+ $(; $extra:ident: $kind:ty)*) -> $output:ty = $f:expr;)*) => {$(
        $(#[$doc])*
        ///
        /// Arrays: (n), in the order of the arguments, `out` after the inputs; `n` is the last parameter. `out` may be one of
        /// the inputs if their elements have the same size.
        ///
        /// # Safety
        /// The crate's conventions.
        #[unsafe(no_mangle)]
        pub unsafe extern "ptx-kernel" fn $name($($x: *const $input,)+ out: *mut $output, $($extra: $kind,)* n: u32) {
            let i = index_1d();
            if i < n as usize {
                // SAFETY: i < n, and no other thread has this i.
                unsafe {
                    $(let $x = *$x.add(i);)+
                    *out.add(i) = $f;
                }
            }
        }
    )*};
}

maps! {
    /// `e^x`.
    exp_f32(x: f32) -> f32 = arith::exp(x);
    /// `ln x`.
    ln_f32(x: f32) -> f32 = arith::ln(x);
    /// `ln(1 + x)`.
    ln_1p_f32(x: f32) -> f32 = arith::ln_1p(x);
    /// `1 / (1 + e^-x)`.
    sigmoid_f32(x: f32) -> f32 = arith::sigmoid(x);
    /// `sigmoid(-x)`, the second of the pair.
    sigmoid_complement_f32(x: f32) -> f32 = arith::sigmoid_pair(x).1;
    /// `ln(1 + e^x)`.
    softplus_f32(x: f32) -> f32 = arith::softplus(x);
    /// `tanh x`.
    tanh_f32(x: f32) -> f32 = arith::tanh(x);
    /// `sin x`.
    sin_f32(x: f32) -> f32 = arith::sin(x);
    /// `cos x`.
    cos_f32(x: f32) -> f32 = arith::cos(x);
    /// The square root.
    sqrt_f32(x: f32) -> f32 = arith::sqrt(x);
    /// `x^y`.
    powf_f32(x: f32, y: f32) -> f32 = arith::powf(x, y);
    /// `x * y + z`, rounded once.
    fma_f32(x: f32, y: f32, z: f32) -> f32 = arith::fma(x, y, z);
    /// `x / y`.
    div_f32(x: f32, y: f32) -> f32 = x / y;
    /// The bits of the nearest bf16.
    to_bf16(x: f32) -> u16 = arith::bf16::from_f32(x).to_bits();
    /// The value of the bf16 with bits `x`.
    from_bf16(x: u16) -> f32 = arith::bf16::to_f32(bf16::from_bits(x));
    /// `Scale::new(largest, leaves).quantize(x)`; 0 if there is no such scale.
    quantize_f32(x: f32; largest: f32; leaves: u32) -> u64 =
        Scale::new(largest, leaves as usize).map_or(0, |scale| scale.quantize(x));
    /// `fixed::to_f32` of the integer `x` at `Scale::new(largest, leaves)`; 0 if there is no such scale.
    dequantize_f32(x: u64; largest: f32; leaves: u32) -> f32 =
        Scale::new(largest, leaves as usize).map_or(0.0, |scale| fixed::to_f32(x, scale));
    /// The integer below `total` that the random word `x` draws.
    bounded_u64(x: u64; total: u64) -> u64 = fixed::bounded(x, total);
}
