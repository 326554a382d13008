//! The instructions with `.approx`: computed in `f64` and rounded once, which stays inside the ISA's error bounds.

use arith::simd::Isa;

use super::float::{canonical, flush};
use super::{Form, Shape};
use crate::lanes::{Brain, Half, Ieee, lanes};
use crate::types::Type::*;

/// One body, with and without subnormals to zero.
macro_rules! approximation {
    ($isa:expr, $ftz:expr; |$a:ident| $body:expr) => {
        if $ftz {
            lanes!($isa; f32 => f32; |a| { let $a = f64::from(flush(a)); canonical(flush($body as f32)) })
        } else {
            lanes!($isa; f32 => f32; |a| { let $a = f64::from(a); canonical($body as f32) })
        }
    };
}

pub(super) fn select(form: &mut Form<'_>, isa: Isa) -> Option<Shape> {
    let opcode = form.opcode();
    let full = opcode == "div" && form.take("full");
    if !full && !form.take("approx") {
        return None;
    }
    let ftz = form.take("ftz");
    let ty = form.ty()?;
    let exec = match (opcode, ty) {
        ("div", F32) if ftz => {
            let exec = lanes!(isa; f32, f32 => f32; |a, b| canonical(flush(flush(a) / flush(b))));
            return Shape::two(exec, ty, ty, ty);
        }
        ("div", F32) => return Shape::two(lanes!(isa; f32, f32 => f32; |a, b| canonical(a / b)), ty, ty, ty),
        ("rcp", F32) => approximation!(isa, ftz; |a| 1.0 / a),
        ("sqrt", F32) => approximation!(isa, ftz; |a| a.sqrt()),
        // Of -0 it is -infinity, as of the reciprocal.
        ("rsqrt", F32) => approximation!(isa, ftz; |a| 1.0 / a.sqrt()),
        ("sin", F32) => approximation!(isa, ftz; |a| a.sin()),
        ("cos", F32) => approximation!(isa, ftz; |a| a.cos()),
        ("lg2", F32) => approximation!(isa, ftz; |a| a.log2()),
        ("ex2", F32) => approximation!(isa, ftz; |a| a.exp2()),
        ("tanh", F32) => approximation!(isa, false; |a| a.tanh()),
        // The upper 32 bits only; the lower ones are zero.
        ("rcp", F64) if ftz => lanes!(isa; f64 => f64; |a| upper(1.0 / flush64(a))),
        ("rsqrt", F64) if ftz => lanes!(isa; f64 => f64; |a| upper(1.0 / flush64(a).sqrt())),
        ("rsqrt", F64) => lanes!(isa; f64 => f64; |a| 1.0 / a.sqrt()),
        ("ex2", F16) => lanes!(isa; Ieee => Ieee; |a| half(a, f64::exp2)),
        ("ex2", F16x2) => lanes!(isa; [Ieee; 2] => [Ieee; 2]; |a| a.map(|a| half(a, f64::exp2))),
        ("ex2", Bf16) if ftz => lanes!(isa; Brain => Brain; |a| half(a.flush(), f64::exp2).flush()),
        ("ex2", Bf16x2) if ftz => {
            lanes!(isa; [Brain; 2] => [Brain; 2]; |a| a.map(|a| half(a.flush(), f64::exp2).flush()))
        }
        ("tanh", F16) => lanes!(isa; Ieee => Ieee; |a| half(a, f64::tanh)),
        ("tanh", F16x2) => lanes!(isa; [Ieee; 2] => [Ieee; 2]; |a| a.map(|a| half(a, f64::tanh))),
        ("tanh", Bf16) => lanes!(isa; Brain => Brain; |a| half(a, f64::tanh)),
        ("tanh", Bf16x2) => lanes!(isa; [Brain; 2] => [Brain; 2]; |a| a.map(|a| half(a, f64::tanh))),
        _ => return None,
    };
    Shape::one(exec, ty, ty)
}

#[inline(always)]
fn half<H: Half>(a: H, f: fn(f64) -> f64) -> H {
    let value = f(a.to_f32().into()) as f32;
    if value.is_nan() { H::NAN } else { H::from_f32(value) }
}

#[inline(always)]
fn flush64(a: f64) -> f64 {
    if a.is_subnormal() { 0.0_f64.copysign(a) } else { a }
}

#[inline(always)]
fn upper(a: f64) -> f64 {
    flush64(f64::from_bits(a.to_bits() & 0xffff_ffff_0000_0000))
}
