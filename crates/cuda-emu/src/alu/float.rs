//! `f32` and `f64`: sums, products, quotients, roots, minimum and maximum, in every rounding.
//!
//! To nearest the host's own instructions round as IEEE 754 says; the other roundings are computed in integers.
//! `f32` results that are NaN are the canonical one, `7fffffff`.

use arith::simd::Isa;

use super::{Form, Shape};
use crate::lanes::{Exec, Op1, Op2, Op3, lanes, pick1, pick2, pick3};
use crate::soft::{self, Rounding};
use crate::types::Type::{self, *};

const ADD: u8 = 0;
const SUB: u8 = 1;
const MUL: u8 = 2;
const DIV: u8 = 3;
const SQRT: u8 = 4;
const RCP: u8 = 5;

/// Flags of an operation: rounding in bits 0 and 1, then subnormals to zero, then saturation.
const FTZ: u8 = 4;
const SAT: u8 = 8;

const fn rounding(flags: u8) -> Rounding {
    match flags & 3 {
        0 => Rounding::Nearest,
        1 => Rounding::Zero,
        2 => Rounding::Down,
        _ => Rounding::Up,
    }
}

/// Every NaN to the canonical one. On bits: a compiler may take one NaN of arithmetic for another.
#[inline(always)]
pub(crate) fn canonical(a: f32) -> f32 {
    let bits = a.to_bits();
    f32::from_bits(if bits & 0x7fff_ffff > 0x7f80_0000 { 0x7fff_ffff } else { bits })
}

/// Subnormals to zero of the same sign.
#[inline(always)]
pub(super) fn flush(a: f32) -> f32 {
    if a.to_bits() & 0x7f80_0000 == 0 { f32::from_bits(a.to_bits() & 0x8000_0000) } else { a }
}

/// Into 0..=1; NaN becomes 0.
#[inline(always)]
pub(super) fn saturate(a: f32) -> f32 {
    if a > 0.0 { if a < 1.0 { a } else { 1.0 } } else { 0.0 }
}

#[inline(always)]
fn before(a: f32, flags: u8) -> f32 {
    if flags & FTZ != 0 { flush(a) } else { a }
}

#[inline(always)]
fn after(a: f32, flags: u8) -> f32 {
    let a = if flags & FTZ != 0 { flush(a) } else { a };
    if flags & SAT != 0 { saturate(a) } else { canonical(a) }
}

struct Single<const OP: u8, const FLAGS: u8>;

impl<const OP: u8, const FLAGS: u8> Op2 for Single<OP, FLAGS> {
    type A = f32;
    type B = f32;
    type D = f32;
    #[inline(always)]
    fn f(a: f32, b: f32) -> f32 {
        let (a, b) = (before(a, FLAGS), before(b, FLAGS));
        let d = if FLAGS & 3 == 0 {
            match OP {
                ADD => a + b,
                SUB => a - b,
                MUL => a * b,
                _ => a / b,
            }
        } else {
            let (a, b) = (u64::from(a.to_bits()), u64::from(b.to_bits()));
            let bits = match OP {
                ADD => soft::add(soft::F32, rounding(FLAGS), a, b),
                SUB => soft::add(soft::F32, rounding(FLAGS), a, b ^ soft::F32.sign(true)),
                MUL => soft::mul(soft::F32, rounding(FLAGS), a, b),
                _ => soft::div(soft::F32, rounding(FLAGS), a, b),
            };
            f32::from_bits(bits as u32)
        };
        after(d, FLAGS)
    }
}

impl<const OP: u8, const FLAGS: u8> Op1 for Single<OP, FLAGS> {
    type A = f32;
    type D = f32;
    #[inline(always)]
    fn f(a: f32) -> f32 {
        let a = before(a, FLAGS);
        let d = if FLAGS & 3 == 0 {
            if OP == SQRT { a.sqrt() } else { 1.0 / a }
        } else {
            let a = u64::from(a.to_bits());
            let bits = if OP == SQRT {
                soft::sqrt(soft::F32, rounding(FLAGS), a)
            } else {
                soft::div(soft::F32, rounding(FLAGS), 1.0_f32.to_bits().into(), a)
            };
            f32::from_bits(bits as u32)
        };
        after(d, FLAGS)
    }
}

impl<const OP: u8, const FLAGS: u8> Op3 for Single<OP, FLAGS> {
    type A = f32;
    type B = f32;
    type C = f32;
    type D = f32;
    #[inline(always)]
    fn f(a: f32, b: f32, c: f32) -> f32 {
        let (a, b, c) = (before(a, FLAGS), before(b, FLAGS), before(c, FLAGS));
        let d = if FLAGS & 3 == 0 {
            a.mul_add(b, c)
        } else {
            let bits =
                soft::fma(soft::F32, rounding(FLAGS), a.to_bits().into(), b.to_bits().into(), c.to_bits().into());
            f32::from_bits(bits as u32)
        };
        after(d, FLAGS)
    }
}

struct Double<const OP: u8, const FLAGS: u8>;

impl<const OP: u8, const FLAGS: u8> Op2 for Double<OP, FLAGS> {
    type A = f64;
    type B = f64;
    type D = f64;
    #[inline(always)]
    fn f(a: f64, b: f64) -> f64 {
        if FLAGS == 0 {
            return match OP {
                ADD => a + b,
                SUB => a - b,
                MUL => a * b,
                _ => a / b,
            };
        }
        let (a, b) = (a.to_bits(), b.to_bits());
        f64::from_bits(match OP {
            ADD => soft::add(soft::F64, rounding(FLAGS), a, b),
            SUB => soft::add(soft::F64, rounding(FLAGS), a, b ^ soft::F64.sign(true)),
            MUL => soft::mul(soft::F64, rounding(FLAGS), a, b),
            _ => soft::div(soft::F64, rounding(FLAGS), a, b),
        })
    }
}

impl<const OP: u8, const FLAGS: u8> Op1 for Double<OP, FLAGS> {
    type A = f64;
    type D = f64;
    #[inline(always)]
    fn f(a: f64) -> f64 {
        match (FLAGS, OP) {
            (0, SQRT) => a.sqrt(),
            (0, _) => 1.0 / a,
            (_, SQRT) => f64::from_bits(soft::sqrt(soft::F64, rounding(FLAGS), a.to_bits())),
            _ => f64::from_bits(soft::div(soft::F64, rounding(FLAGS), 1.0_f64.to_bits(), a.to_bits())),
        }
    }
}

impl<const OP: u8, const FLAGS: u8> Op3 for Double<OP, FLAGS> {
    type A = f64;
    type B = f64;
    type C = f64;
    type D = f64;
    #[inline(always)]
    fn f(a: f64, b: f64, c: f64) -> f64 {
        if FLAGS == 0 {
            a.mul_add(b, c)
        } else {
            f64::from_bits(soft::fma(soft::F64, rounding(FLAGS), a.to_bits(), b.to_bits(), c.to_bits()))
        }
    }
}

/// Chooses among the copies for each value of the flags.
macro_rules! by_flags {
    ($isa:expr, $flags:expr, $pick:ident, $kind:ident, $op:expr, [$($n:literal)*]) => {
        match $flags {
            $($n => $pick::<$kind<{ $op }, $n>>($isa),)*
            _ => return None,
        }
    };
}

fn single<const OP: u8>(isa: Isa, flags: u8, sources: u32) -> Option<Exec> {
    Some(match sources {
        1 => by_flags!(isa, flags, pick1, Single, OP, [0 1 2 3 4 5 6 7]),
        2 => by_flags!(isa, flags, pick2, Single, OP, [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15]),
        _ => by_flags!(isa, flags, pick3, Single, OP, [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15]),
    })
}

fn double<const OP: u8>(isa: Isa, flags: u8, sources: u32) -> Option<Exec> {
    Some(match sources {
        1 => by_flags!(isa, flags, pick1, Double, OP, [0 1 2 3]),
        2 => by_flags!(isa, flags, pick2, Double, OP, [0 1 2 3]),
        _ => by_flags!(isa, flags, pick3, Double, OP, [0 1 2 3]),
    })
}

pub(super) fn select(form: &mut Form<'_>, isa: Isa) -> Option<Shape> {
    let ty = form.ty()?;
    if !matches!(ty, F32 | F64) {
        return None;
    }
    let opcode = form.opcode();
    match opcode {
        "add" | "sub" | "mul" | "div" | "fma" | "mad" | "sqrt" | "rcp" => {}
        _ => return other(form, ty, isa),
    }
    let given = form.rounding();
    // Old code has `mad.f32` and sums without a rounding; the rest must say it.
    if given.is_none() && !matches!(opcode, "add" | "sub" | "mul") {
        return None;
    }
    let mut flags = match given.unwrap_or(Rounding::Nearest) {
        Rounding::Nearest => 0,
        Rounding::Zero => 1,
        Rounding::Down => 2,
        Rounding::Up => 3,
        Rounding::Away => return None,
    };
    if ty == F32 {
        flags |= if form.take("ftz") { FTZ } else { 0 };
        let saturates = matches!(opcode, "add" | "sub" | "mul" | "fma" | "mad");
        flags |= if saturates && form.take("sat") { SAT } else { 0 };
    }
    macro_rules! pick {
        ($op:expr, $sources:literal) => {
            if ty == F32 { single::<{ $op }>(isa, flags, $sources)? } else { double::<{ $op }>(isa, flags, $sources)? }
        };
    }
    match opcode {
        "add" => Shape::two(pick!(ADD, 2), ty, ty, ty),
        "sub" => Shape::two(pick!(SUB, 2), ty, ty, ty),
        "mul" => Shape::two(pick!(MUL, 2), ty, ty, ty),
        "div" => Shape::two(pick!(DIV, 2), ty, ty, ty),
        "sqrt" => Shape::one(pick!(SQRT, 1), ty, ty),
        "rcp" => Shape::one(pick!(RCP, 1), ty, ty),
        _ => Shape::three(pick!(MUL, 3), ty, ty, ty, ty),
    }
}

/// The smaller one, by its sign among zeros; the other one when one is NaN.
#[inline(always)]
pub(crate) fn least(a: f32, b: f32) -> f32 {
    if a.is_nan() {
        b
    } else if b.is_nan() || a < b || (a == b && a.is_sign_negative()) {
        a
    } else {
        b
    }
}

/// The greater one, likewise.
#[inline(always)]
pub(crate) fn greatest(a: f32, b: f32) -> f32 {
    if a.is_nan() {
        b
    } else if b.is_nan() || a > b || (a == b && a.is_sign_positive()) {
        a
    } else {
        b
    }
}

#[inline(always)]
fn poisoned(a: f32, b: f32, d: f32) -> f32 {
    if a.is_nan() || b.is_nan() { f32::from_bits(0x7fff_ffff) } else { canonical(d) }
}

/// The sign of the product of both, on a magnitude.
#[inline(always)]
fn signed(a: f32, b: f32, d: f32) -> f32 {
    if d.is_nan() { d } else { f32::from_bits(d.to_bits() | (a.to_bits() ^ b.to_bits()) & 0x8000_0000) }
}

fn other(form: &mut Form<'_>, ty: Type, isa: Isa) -> Option<Shape> {
    let opcode = form.opcode();
    match (opcode, ty) {
        ("min" | "max", F32) => {
            let (ftz, nan, sign) = (form.take("ftz"), form.take("NaN"), form.take("xorsign"));
            if sign && !form.take("abs") {
                return None;
            }
            macro_rules! extreme {
                ($f:ident) => {
                    match (ftz, nan, sign) {
                        (false, false, false) => lanes!(isa; f32, f32 => f32; |a, b| canonical($f(a, b))),
                        (true, false, false) => lanes!(isa; f32, f32 => f32; |a, b| canonical($f(flush(a), flush(b)))),
                        (false, true, false) => lanes!(isa; f32, f32 => f32; |a, b| poisoned(a, b, $f(a, b))),
                        (true, true, false) => lanes!(isa; f32, f32 => f32; |a, b| poisoned(a, b, $f(flush(a), flush(b)))),
                        (false, false, true) => {
                            lanes!(isa; f32, f32 => f32; |a, b| signed(a, b, canonical($f(a.abs(), b.abs()))))
                        }
                        (true, false, true) => lanes!(isa; f32, f32 => f32; |a, b| {
                            signed(a, b, canonical($f(flush(a.abs()), flush(b.abs()))))
                        }),
                        (false, true, true) => {
                            lanes!(isa; f32, f32 => f32; |a, b| signed(a, b, poisoned(a, b, $f(a.abs(), b.abs()))))
                        }
                        (true, true, true) => lanes!(isa; f32, f32 => f32; |a, b| {
                            signed(a, b, poisoned(a, b, $f(flush(a.abs()), flush(b.abs()))))
                        }),
                    }
                };
            }
            let exec = if opcode == "min" { extreme!(least) } else { extreme!(greatest) };
            Shape::two(exec, ty, ty, ty)
        }
        ("min", F64) => {
            let exec = lanes!(isa; f64, f64 => f64; |a, b| {
                if a.is_nan() { b } else if b.is_nan() || a < b || (a == b && a.is_sign_negative()) { a } else { b }
            });
            Shape::two(exec, ty, ty, ty)
        }
        ("max", F64) => {
            let exec = lanes!(isa; f64, f64 => f64; |a, b| {
                if a.is_nan() { b } else if b.is_nan() || a > b || (a == b && a.is_sign_positive()) { a } else { b }
            });
            Shape::two(exec, ty, ty, ty)
        }
        ("abs", F32) if form.take("ftz") => Shape::one(lanes!(isa; f32 => f32; |a| flush(a).abs()), ty, ty),
        ("neg", F32) if form.take("ftz") => Shape::one(lanes!(isa; f32 => f32; |a| -flush(a)), ty, ty),
        ("abs", F32) => Shape::one(lanes!(isa; f32 => f32; |a| a.abs()), ty, ty),
        ("neg", F32) => Shape::one(lanes!(isa; f32 => f32; |a| -a), ty, ty),
        ("abs", F64) => Shape::one(lanes!(isa; f64 => f64; |a| a.abs()), ty, ty),
        ("neg", F64) => Shape::one(lanes!(isa; f64 => f64; |a| -a), ty, ty),
        // The sign of the first on the second.
        ("copysign", F32) => Shape::two(lanes!(isa; f32, f32 => f32; |a, b| b.copysign(a)), ty, ty, ty),
        ("copysign", F64) => Shape::two(lanes!(isa; f64, f64 => f64; |a, b| b.copysign(a)), ty, ty, ty),
        ("testp", _) => testp(form, ty, isa),
        ("selp", F32) => {
            Shape::three(lanes!(isa; u32, u32, bool => u32; |a, b, p| if p { a } else { b }), ty, ty, ty, Pred)
        }
        ("selp", F64) => {
            Shape::three(lanes!(isa; u64, u64, bool => u64; |a, b, p| if p { a } else { b }), ty, ty, ty, Pred)
        }
        _ => None,
    }
}

fn testp(form: &mut Form<'_>, ty: Type, isa: Isa) -> Option<Shape> {
    macro_rules! test {
        (|$a:ident| $body:expr) => {
            if ty == F32 { lanes!(isa; f32 => bool; |$a| $body) } else { lanes!(isa; f64 => bool; |$a| $body) }
        };
    }
    let exec = if form.take("finite") {
        test!(|a| a.is_finite())
    } else if form.take("infinite") {
        test!(|a| a.is_infinite())
    } else if form.take("number") {
        test!(|a| !a.is_nan())
    } else if form.take("notanumber") {
        test!(|a| a.is_nan())
    } else if form.take("normal") {
        test!(|a| a.is_normal())
    } else if form.take("subnormal") {
        test!(|a| a.is_subnormal())
    } else {
        return None;
    };
    Shape::one(exec, Pred, ty)
}
