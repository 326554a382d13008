//! Pairs of values in one register: 16-bit integers, and `f32` in 64 bits.

use arith::simd::Isa;

use super::{Form, Shape};
use crate::lanes::lanes;
use crate::types::Type::{B32, B64, S8, S16, S32, U8, U16, U32};

pub(super) fn select(form: &mut Form<'_>, isa: Isa) -> Option<Shape> {
    let opcode = form.opcode();
    if form.take("f32x2") {
        return pairs_of_singles(form, isa);
    }
    let signed = form.take("s16x2");
    if !signed && !form.take("u16x2") {
        return None;
    }
    let exec = match (opcode, signed) {
        ("add", _) => {
            lanes!(isa; [u16; 2], [u16; 2] => [u16; 2]; |a, b| [a[0].wrapping_add(b[0]), a[1].wrapping_add(b[1])])
        }
        ("min", false) => lanes!(isa; [u16; 2], [u16; 2] => [u16; 2]; |a, b| [a[0].min(b[0]), a[1].min(b[1])]),
        ("max", false) => lanes!(isa; [u16; 2], [u16; 2] => [u16; 2]; |a, b| [a[0].max(b[0]), a[1].max(b[1])]),
        ("min", true) => {
            let relu = form.take("relu");
            if relu {
                lanes!(isa; [u16; 2], [u16; 2] => [u16; 2]; |a, b| [
                    (a[0] as i16).min(b[0] as i16).max(0) as u16, (a[1] as i16).min(b[1] as i16).max(0) as u16,
                ])
            } else {
                lanes!(isa; [u16; 2], [u16; 2] => [u16; 2]; |a, b| [
                    (a[0] as i16).min(b[0] as i16) as u16, (a[1] as i16).min(b[1] as i16) as u16,
                ])
            }
        }
        ("max", true) => {
            let relu = form.take("relu");
            if relu {
                lanes!(isa; [u16; 2], [u16; 2] => [u16; 2]; |a, b| [
                    (a[0] as i16).max(b[0] as i16).max(0) as u16, (a[1] as i16).max(b[1] as i16).max(0) as u16,
                ])
            } else {
                lanes!(isa; [u16; 2], [u16; 2] => [u16; 2]; |a, b| [
                    (a[0] as i16).max(b[0] as i16) as u16, (a[1] as i16).max(b[1] as i16) as u16,
                ])
            }
        }
        _ => return None,
    };
    Shape::two(exec, B32, B32, B32)
}

fn pairs_of_singles(form: &mut Form<'_>, isa: Isa) -> Option<Shape> {
    let rounded = form.take("rn");
    let exec = match form.opcode() {
        "add" => lanes!(isa; [f32; 2], [f32; 2] => [f32; 2]; |a, b| [a[0] + b[0], a[1] + b[1]]),
        "sub" => lanes!(isa; [f32; 2], [f32; 2] => [f32; 2]; |a, b| [a[0] - b[0], a[1] - b[1]]),
        "mul" => lanes!(isa; [f32; 2], [f32; 2] => [f32; 2]; |a, b| [a[0] * b[0], a[1] * b[1]]),
        "fma" if rounded => {
            let exec = lanes!(isa; [f32; 2], [f32; 2], [f32; 2] => [f32; 2]; |a, b, c| {
                [a[0].mul_add(b[0], c[0]), a[1].mul_add(b[1], c[1])]
            });
            return Shape::three(exec, B64, B64, B64, B64);
        }
        _ => return None,
    };
    Shape::two(exec, B64, B64, B64)
}

/// `cvt.pack`: two integers, saturated, into the low halves or bytes; above bytes the low half of the third source.
pub(super) fn integers(form: &mut Form<'_>, isa: Isa) -> Option<Shape> {
    if !form.take("sat") {
        return None;
    }
    macro_rules! part {
        ($a:expr, $t:ty, $bits:ty) => {
            u32::from($a.clamp(<$t>::MIN.into(), <$t>::MAX.into()) as $bits)
        };
    }
    let third = form.take("b32");
    let (source, to) = (form.ty()?, form.ty()?);
    if source != S32 {
        return None;
    }
    let exec = match (to, third) {
        (U16, false) => lanes!(isa; i32, i32 => u32; |a, b| part!(a, u16, u16) << 16 | part!(b, u16, u16)),
        (S16, false) => lanes!(isa; i32, i32 => u32; |a, b| part!(a, i16, u16) << 16 | part!(b, i16, u16)),
        (U8, true) => lanes!(isa; i32, i32, u32 => u32; |a, b, c| c << 16 | part!(a, u8, u8) << 8 | part!(b, u8, u8)),
        (S8, true) => lanes!(isa; i32, i32, u32 => u32; |a, b, c| c << 16 | part!(a, i8, u8) << 8 | part!(b, i8, u8)),
        _ => return None,
    };
    if third { Shape::three(exec, U32, S32, S32, B32) } else { Shape::two(exec, U32, S32, S32) }
}
