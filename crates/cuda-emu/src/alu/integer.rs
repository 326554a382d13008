//! Integer arithmetic and logic.

use arith::simd::Isa;

use super::{Form, Shape};
use crate::lanes::lanes;
use crate::types::Type::{self, *};

/// One body for all integer types.
macro_rules! integers {
    ($isa:expr, $ty:expr; |$x:pat_param| $body:expr) => {
        match $ty {
            U16 => lanes!($isa; u16 => u16; |$x| $body),
            S16 => lanes!($isa; i16 => i16; |$x| $body),
            U32 => lanes!($isa; u32 => u32; |$x| $body),
            S32 => lanes!($isa; i32 => i32; |$x| $body),
            U64 => lanes!($isa; u64 => u64; |$x| $body),
            S64 => lanes!($isa; i64 => i64; |$x| $body),
            _ => return None,
        }
    };
    ($isa:expr, $ty:expr; |$x:pat_param, $y:pat_param| $body:expr) => {
        match $ty {
            U16 => lanes!($isa; u16, u16 => u16; |$x, $y| $body),
            S16 => lanes!($isa; i16, i16 => i16; |$x, $y| $body),
            U32 => lanes!($isa; u32, u32 => u32; |$x, $y| $body),
            S32 => lanes!($isa; i32, i32 => i32; |$x, $y| $body),
            U64 => lanes!($isa; u64, u64 => u64; |$x, $y| $body),
            S64 => lanes!($isa; i64, i64 => i64; |$x, $y| $body),
            _ => return None,
        }
    };
}

/// One body for untyped integers.
macro_rules! untyped {
    ($isa:expr, $ty:expr; |$x:pat_param| $body:expr) => {
        match $ty {
            B16 => lanes!($isa; u16 => u16; |$x| $body),
            B32 => lanes!($isa; u32 => u32; |$x| $body),
            B64 => lanes!($isa; u64 => u64; |$x| $body),
            _ => return None,
        }
    };
    ($isa:expr, $ty:expr; |$x:pat_param, $y:pat_param| $body:expr) => {
        match $ty {
            B16 => lanes!($isa; u16, u16 => u16; |$x, $y| $body),
            B32 => lanes!($isa; u32, u32 => u32; |$x, $y| $body),
            B64 => lanes!($isa; u64, u64 => u64; |$x, $y| $body),
            _ => return None,
        }
    };
}

/// Quotients, which the host must not trap on: by zero all ones, as the hardware gives (the ISA leaves it open).
trait Divide: Copy {
    fn quotient(self, by: Self) -> Self;
    fn rest(self, by: Self) -> Self;
}

macro_rules! divide {
    ($($t:ty),*) => {$(
        impl Divide for $t {
            #[inline(always)]
            fn quotient(self, by: Self) -> Self {
                if by == 0 { !0 } else { self.wrapping_div(by) }
            }

            #[inline(always)]
            fn rest(self, by: Self) -> Self {
                if by == 0 { self } else { self.wrapping_rem(by) }
            }
        }
    )*};
}
divide!(u16, i16, u32, i32, u64, i64);

pub(super) fn select(form: &mut Form<'_>, isa: Isa) -> Option<Shape> {
    let opcode = form.opcode();
    let ty = form.ty()?;
    if ty == Pred {
        return predicates(opcode, isa);
    }
    let exec = match opcode {
        "add" if ty == S32 && form.take("sat") => lanes!(isa; i32, i32 => i32; |a, b| a.saturating_add(b)),
        "sub" if ty == S32 && form.take("sat") => lanes!(isa; i32, i32 => i32; |a, b| a.saturating_sub(b)),
        "add" => integers!(isa, ty; |a, b| a.wrapping_add(b)),
        "sub" => integers!(isa, ty; |a, b| a.wrapping_sub(b)),
        "div" => integers!(isa, ty; |a, b| a.quotient(b)),
        "rem" => integers!(isa, ty; |a, b| a.rest(b)),
        "min" if ty == S32 && form.take("relu") => lanes!(isa; i32, i32 => i32; |a, b| a.min(b).max(0)),
        "max" if ty == S32 && form.take("relu") => lanes!(isa; i32, i32 => i32; |a, b| a.max(b).max(0)),
        "min" => integers!(isa, ty; |a, b| a.min(b)),
        "max" => integers!(isa, ty; |a, b| a.max(b)),
        "and" => untyped!(isa, ty; |a, b| a & b),
        "or" => untyped!(isa, ty; |a, b| a | b),
        "xor" => untyped!(isa, ty; |a, b| a ^ b),
        "abs" => {
            let exec = match ty {
                S16 => lanes!(isa; i16 => i16; |a| a.wrapping_abs()),
                S32 => lanes!(isa; i32 => i32; |a| a.wrapping_abs()),
                S64 => lanes!(isa; i64 => i64; |a| a.wrapping_abs()),
                _ => return None,
            };
            return Shape::one(exec, ty, ty);
        }
        "neg" if ty.is_signed() => return Shape::one(integers!(isa, ty; |a| a.wrapping_neg()), ty, ty),
        "not" => return Shape::one(untyped!(isa, ty; |a| !a), ty, ty),
        "cnot" => return Shape::one(untyped!(isa, ty; |a| (a == 0).into()), ty, ty),
        "sad" => return sad(ty, isa),
        "shl" | "shr" => return shift(opcode, ty, isa),
        "selp" => return selp(ty, isa),
        _ => return None,
    };
    Shape::two(exec, ty, ty, ty)
}

fn predicates(opcode: &str, isa: Isa) -> Option<Shape> {
    let exec = match opcode {
        "and" => lanes!(isa; bool, bool => bool; |a, b| a & b),
        "or" => lanes!(isa; bool, bool => bool; |a, b| a | b),
        "xor" => lanes!(isa; bool, bool => bool; |a, b| a ^ b),
        "not" => return Shape::one(lanes!(isa; bool => bool; |a| !a), Pred, Pred),
        _ => return None,
    };
    Shape::two(exec, Pred, Pred, Pred)
}

fn sad(ty: Type, isa: Isa) -> Option<Shape> {
    let exec = match ty {
        U16 => lanes!(isa; u16, u16, u16 => u16; |a, b, c| c.wrapping_add(a.abs_diff(b))),
        S16 => lanes!(isa; i16, i16, u16 => u16; |a, b, c| c.wrapping_add(a.abs_diff(b))),
        U32 => lanes!(isa; u32, u32, u32 => u32; |a, b, c| c.wrapping_add(a.abs_diff(b))),
        S32 => lanes!(isa; i32, i32, u32 => u32; |a, b, c| c.wrapping_add(a.abs_diff(b))),
        U64 => lanes!(isa; u64, u64, u64 => u64; |a, b, c| c.wrapping_add(a.abs_diff(b))),
        S64 => lanes!(isa; i64, i64, u64 => u64; |a, b, c| c.wrapping_add(a.abs_diff(b))),
        _ => return None,
    };
    Shape::three(exec, ty, ty, ty, ty)
}

/// Amounts beyond the width shift everything out; a signed shift to the right leaves the sign.
fn shift(opcode: &str, ty: Type, isa: Isa) -> Option<Shape> {
    let exec = match (opcode, ty) {
        ("shl", B16) => lanes!(isa; u16, u32 => u16; |a, b| if b > 15 { 0 } else { a << (b & 15) }),
        ("shl", B32) => lanes!(isa; u32, u32 => u32; |a, b| if b > 31 { 0 } else { a << (b & 31) }),
        ("shl", B64) => lanes!(isa; u64, u32 => u64; |a, b| if b > 63 { 0 } else { a << (b & 63) }),
        ("shr", B16 | U16) => lanes!(isa; u16, u32 => u16; |a, b| if b > 15 { 0 } else { a >> (b & 15) }),
        ("shr", B32 | U32) => lanes!(isa; u32, u32 => u32; |a, b| if b > 31 { 0 } else { a >> (b & 31) }),
        ("shr", B64 | U64) => lanes!(isa; u64, u32 => u64; |a, b| if b > 63 { 0 } else { a >> (b & 63) }),
        ("shr", S16) => lanes!(isa; i16, u32 => i16; |a, b| a >> b.min(15)),
        ("shr", S32) => lanes!(isa; i32, u32 => i32; |a, b| a >> b.min(31)),
        ("shr", S64) => lanes!(isa; i64, u32 => i64; |a, b| a >> b.min(63)),
        _ => return None,
    };
    Shape::two(exec, ty, ty, U32)
}

fn selp(ty: Type, isa: Isa) -> Option<Shape> {
    let exec = match ty.bits() {
        16 => lanes!(isa; u16, u16, bool => u16; |a, b, p| if p { a } else { b }),
        32 => lanes!(isa; u32, u32, bool => u32; |a, b, p| if p { a } else { b }),
        64 => lanes!(isa; u64, u64, bool => u64; |a, b, p| if p { a } else { b }),
        _ => return None,
    };
    Shape::three(exec, ty, ty, ty, Pred)
}
