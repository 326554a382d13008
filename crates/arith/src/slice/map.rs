//! Maps over slices.

use super::LengthMismatch;
use crate::simd::{Isa, Kernel};
use half::bf16;

fn check(operation: &'static str, expected: usize, got: usize) -> Result<(), LengthMismatch> {
    if expected == got { Ok(()) } else { Err(LengthMismatch { operation, expected, got }) }
}

macro_rules! maps {
    ($($name:ident, $with:ident: $input:ty => $output:ty $(, $extra:ident: $extra_type:ty)?; $text:literal, $f:expr;)*) => {$(
        #[doc = concat!("`out[i] = ", $text, "`.")]
        ///
        /// # Errors
        /// [`LengthMismatch`] if the slices differ in length; `out` is unchanged then.
        #[inline]
        pub fn $name(x: &[$input], $($extra: $extra_type,)? out: &mut [$output]) -> Result<(), LengthMismatch> {
            $with(Isa::detect(), x, $($extra,)? out)
        }

        #[doc = concat!("[`", stringify!($name), "`] with a given instruction set.")]
        ///
        /// # Errors
        #[doc = concat!("As [`", stringify!($name), "`].")]
        #[inline]
        pub fn $with(isa: Isa, x: &[$input], $($extra: $extra_type,)? out: &mut [$output]) -> Result<(), LengthMismatch> {
            struct Work<'a> {
                x: &'a [$input],
                $($extra: $extra_type,)?
                out: &'a mut [$output],
            }
            impl Kernel for Work<'_> {
                type Output = ();
                #[inline(always)]
                fn run(self) {
                    let Self { x, $($extra,)? out } = self;
                    for (out, &x) in out.iter_mut().zip(x) {
                        *out = $f(x $(, $extra)?);
                    }
                }
            }
            check(stringify!($name), x.len(), out.len())?;
            isa.run(Work { x, $($extra,)? out });
            Ok(())
        }
    )*};
}

maps! {
    exp, exp_with: f32 => f32; "exp(x[i])", crate::exp;
    ln, ln_with: f32 => f32; "ln(x[i])", crate::ln;
    ln_1p, ln_1p_with: f32 => f32; "ln(1 + x[i])", crate::ln_1p;
    sigmoid, sigmoid_with: f32 => f32; "sigmoid(x[i])", crate::sigmoid;
    softplus, softplus_with: f32 => f32; "ln(1 + exp(x[i]))", crate::softplus;
    tanh, tanh_with: f32 => f32; "tanh(x[i])", crate::tanh;
    sin, sin_with: f32 => f32; "sin(x[i])", crate::sin;
    cos, cos_with: f32 => f32; "cos(x[i])", crate::cos;
    powf, powf_with: f32 => f32, exponent: f32; "x[i]^exponent", crate::powf;
    to_bf16, to_bf16_with: f32 => bf16; "x[i], rounded to the nearest bf16", crate::bf16::from_f32;
    from_bf16, from_bf16_with: bf16 => f32; "x[i], exactly", crate::bf16::to_f32;
}
