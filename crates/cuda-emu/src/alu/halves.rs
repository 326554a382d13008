//! 16-bit floats, alone and in pairs.
//!
//! Sums and products are computed in `f32` and rounded again, which gives what rounding once gives: 24 bits are at
//! least twice the 11 of `f16` and two more. `fma` is rounded once.

use arith::simd::Isa;

use super::float::{greatest, least};
use super::{Form, Shape};
use crate::lanes::{Brain, Half, Ieee, lanes};
use crate::types::Type;

/// A body for one half, made into one for halves and for pairs.
macro_rules! halves {
    ($isa:expr, $ty:expr; |$a:ident| $body:expr) => {
        match $ty {
            Type::F16 => lanes!($isa; Ieee => Ieee; |$a| $body),
            Type::Bf16 => lanes!($isa; Brain => Brain; |$a| $body),
            Type::F16x2 => lanes!($isa; [Ieee; 2] => [Ieee; 2]; |a| [{ let $a = a[0]; $body }, { let $a = a[1]; $body }]),
            Type::Bf16x2 => {
                lanes!($isa; [Brain; 2] => [Brain; 2]; |a| [{ let $a = a[0]; $body }, { let $a = a[1]; $body }])
            }
            _ => return None,
        }
    };
    ($isa:expr, $ty:expr; |$a:ident, $b:ident| $body:expr) => {
        match $ty {
            Type::F16 => lanes!($isa; Ieee, Ieee => Ieee; |$a, $b| $body),
            Type::Bf16 => lanes!($isa; Brain, Brain => Brain; |$a, $b| $body),
            Type::F16x2 => lanes!($isa; [Ieee; 2], [Ieee; 2] => [Ieee; 2]; |a, b| {
                [{ let ($a, $b) = (a[0], b[0]); $body }, { let ($a, $b) = (a[1], b[1]); $body }]
            }),
            Type::Bf16x2 => lanes!($isa; [Brain; 2], [Brain; 2] => [Brain; 2]; |a, b| {
                [{ let ($a, $b) = (a[0], b[0]); $body }, { let ($a, $b) = (a[1], b[1]); $body }]
            }),
            _ => return None,
        }
    };
    ($isa:expr, $ty:expr; |$a:ident, $b:ident, $c:ident| $body:expr) => {
        match $ty {
            Type::F16 => lanes!($isa; Ieee, Ieee, Ieee => Ieee; |$a, $b, $c| $body),
            Type::Bf16 => lanes!($isa; Brain, Brain, Brain => Brain; |$a, $b, $c| $body),
            Type::F16x2 => lanes!($isa; [Ieee; 2], [Ieee; 2], [Ieee; 2] => [Ieee; 2]; |a, b, c| {
                [{ let ($a, $b, $c) = (a[0], b[0], c[0]); $body }, { let ($a, $b, $c) = (a[1], b[1], c[1]); $body }]
            }),
            Type::Bf16x2 => lanes!($isa; [Brain; 2], [Brain; 2], [Brain; 2] => [Brain; 2]; |a, b, c| {
                [{ let ($a, $b, $c) = (a[0], b[0], c[0]); $body }, { let ($a, $b, $c) = (a[1], b[1], c[1]); $body }]
            }),
            _ => return None,
        }
    };
}

#[inline(always)]
pub(super) fn round<H: Half>(value: f32) -> H {
    if value.is_nan() { H::NAN } else { H::from_f32(value) }
}

#[inline(always)]
fn negated<H: Half>(a: H) -> H {
    H::from_bits(a.bits() ^ 0x8000)
}

#[inline(always)]
fn magnitude<H: Half>(a: H) -> H {
    H::from_bits(a.bits() & 0x7fff)
}

/// Negative values and NaN become 0.
#[inline(always)]
fn relu<H: Half>(a: H) -> H {
    if a.to_f32() > 0.0 { a } else { H::from_bits(0) }
}

/// NaN stays NaN, negative values become 0.
#[inline(always)]
fn relu_nan<H: Half>(a: H) -> H {
    if a.is_nan() { H::NAN } else { relu(a) }
}

#[inline(always)]
fn fma<H: Half>(a: H, b: H, c: H) -> H {
    H::fma(a, b, c)
}

pub(super) fn select(form: &mut Form<'_>, isa: Isa) -> Option<Shape> {
    let ty = form.ty()?;
    if !matches!(ty, Type::F16 | Type::Bf16 | Type::F16x2 | Type::Bf16x2) {
        return None;
    }
    let ieee = matches!(ty, Type::F16 | Type::F16x2);
    let opcode = form.opcode();
    let ftz = form.take("ftz");
    if ftz && !ieee {
        return None;
    }
    match opcode {
        "add" | "sub" | "mul" => {
            form.take("rn");
            let sat = ieee && form.take("sat");
            macro_rules! arithmetic {
                (|$x:ident, $y:ident| $body:expr) => {
                    match (ftz, sat) {
                        (false, false) => halves!(isa, ty; |a, b| { let ($x, $y) = (a.to_f32(), b.to_f32()); round($body) }),
                        (true, false) => halves!(isa, ty; |a, b| {
                            let ($x, $y) = (a.flush().to_f32(), b.flush().to_f32());
                            Half::flush(round($body))
                        }),
                        (false, true) => halves!(isa, ty; |a, b| {
                            let ($x, $y) = (a.to_f32(), b.to_f32());
                            Half::saturate(round($body))
                        }),
                        (true, true) => halves!(isa, ty; |a, b| {
                            let ($x, $y) = (a.flush().to_f32(), b.flush().to_f32());
                            Half::saturate(Half::flush(round($body)))
                        }),
                    }
                };
            }
            let exec = match opcode {
                "add" => arithmetic!(|x, y| x + y),
                "sub" => arithmetic!(|x, y| x - y),
                _ => arithmetic!(|x, y| x * y),
            };
            Shape::two(exec, ty, ty, ty)
        }
        "fma" => {
            if !form.take("rn") {
                return None;
            }
            let (sat, positive) = (ieee && form.take("sat"), form.take("relu"));
            let exec = match (ftz, sat, positive) {
                (false, false, false) => halves!(isa, ty; |a, b, c| fma(a, b, c)),
                (true, false, false) => halves!(isa, ty; |a, b, c| fma(a.flush(), b.flush(), c.flush()).flush()),
                (false, true, false) => halves!(isa, ty; |a, b, c| fma(a, b, c).saturate()),
                (true, true, false) => {
                    halves!(isa, ty; |a, b, c| fma(a.flush(), b.flush(), c.flush()).flush().saturate())
                }
                (false, false, true) => halves!(isa, ty; |a, b, c| relu_nan(fma(a, b, c))),
                (true, false, true) => {
                    halves!(isa, ty; |a, b, c| relu_nan(fma(a.flush(), b.flush(), c.flush()).flush()))
                }
                (_, true, true) => return None,
            };
            Shape::three(exec, ty, ty, ty, ty)
        }
        "neg" if ftz => Shape::one(halves!(isa, ty; |a| negated(a.flush())), ty, ty),
        "abs" if ftz => Shape::one(halves!(isa, ty; |a| magnitude(a.flush())), ty, ty),
        "neg" => Shape::one(halves!(isa, ty; |a| negated(a)), ty, ty),
        "abs" => Shape::one(halves!(isa, ty; |a| magnitude(a)), ty, ty),
        "min" | "max" => {
            let nan = form.take("NaN");
            let sign = form.take("xorsign") && form.take("abs");
            macro_rules! extreme {
                ($f:ident) => {
                    match (ftz, nan, sign) {
                        (false, false, false) => halves!(isa, ty; |a, b| round($f(a.to_f32(), b.to_f32()))),
                        (true, false, false) => halves!(isa, ty; |a, b| round($f(a.flush().to_f32(), b.flush().to_f32()))),
                        (false, true, false) => {
                            halves!(isa, ty; |a, b| poisoned(a, b, round($f(a.to_f32(), b.to_f32()))))
                        }
                        (true, true, false) => halves!(isa, ty; |a, b| {
                            poisoned(a, b, round($f(a.flush().to_f32(), b.flush().to_f32())))
                        }),
                        (false, false, true) => halves!(isa, ty; |a, b| {
                            signed(a, b, round($f(a.to_f32().abs(), b.to_f32().abs())))
                        }),
                        (false, true, true) => halves!(isa, ty; |a, b| {
                            signed(a, b, poisoned(a, b, round($f(a.to_f32().abs(), b.to_f32().abs()))))
                        }),
                        (true, _, true) => return None,
                    }
                };
            }
            let exec = if opcode == "min" { extreme!(least) } else { extreme!(greatest) };
            Shape::two(exec, ty, ty, ty)
        }
        _ => None,
    }
}

#[inline(always)]
fn poisoned<H: Half>(a: H, b: H, d: H) -> H {
    if a.is_nan() || b.is_nan() { H::NAN } else { d }
}

#[inline(always)]
fn signed<H: Half>(a: H, b: H, d: H) -> H {
    if d.is_nan() { d } else { H::from_bits(d.bits() | (a.bits() ^ b.bits()) & 0x8000) }
}
