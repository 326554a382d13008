//! `cvt`, and the extensions and truncations that loads, stores and calls need.

use arith::simd::Isa;

use super::float::{canonical, flush, saturate};
use super::halves::round;
use super::{Form, Shape};
use crate::lanes::{Args, Brain, Exec, Half, Ieee, LANES, Lane, lanes};
use crate::soft::{self, Format, Rounding};
use crate::types::Type::{self, *};

/// 64 bits from a row of up to 32, with the sign or with zeros.
pub(crate) fn widen(signed: bool, isa: Isa) -> Exec {
    if signed { lanes!(isa; i32 => i64; |a| i64::from(a)) } else { lanes!(isa; u32 => u64; |a| u64::from(a)) }
}

/// The low 32 bits of 64.
pub(crate) fn narrow(isa: Isa) -> Exec {
    lanes!(isa; u64 => u32; |a| a as u32)
}

/// How a conversion rounds.
#[derive(Clone, Copy, PartialEq)]
enum Mode {
    None,
    /// To an integer.
    Integral(Rounding),
    /// To the destination's precision.
    Precision(Rounding),
}

fn mode(form: &mut Form<'_>) -> Mode {
    let integral = form.take_with(|name| {
        Some(match name {
            "rni" => Rounding::Nearest,
            "rzi" => Rounding::Zero,
            "rmi" => Rounding::Down,
            "rpi" => Rounding::Up,
            _ => return None,
        })
    });
    match (integral, form.rounding()) {
        (Some(rounding), _) => Mode::Integral(rounding),
        (None, Some(rounding)) => Mode::Precision(rounding),
        (None, None) => Mode::None,
    }
}

/// The conversion that `cvt` asks for.
pub(crate) fn select(form: &mut Form<'_>, isa: Isa) -> Option<Shape> {
    if form.take("pack") {
        return super::packed::integers(form, isa);
    }
    let from = form.ty()?;
    let to = form.ty()?;
    let mode = mode(form);
    let (ftz, sat) = (form.take("ftz"), form.take("sat"));
    let (relu, satfinite) = (form.take("relu"), form.take("satfinite"));
    if ftz && from != F32 && to != F32 {
        return None;
    }
    if matches!(to, F16x2 | Bf16x2) {
        return pair(to, from, mode, relu, satfinite, isa);
    }
    match (from.is_float(), to.is_float()) {
        (false, false) if mode == Mode::None && !relu && !satfinite => {
            let exec = integers(from, to, sat, isa)?;
            Shape::one(exec, to, from)
        }
        (true, false) => {
            let Mode::Integral(rounding) = mode else { return None };
            Shape::one(to_integer(from, to, rounding, ftz, isa)?, to, from)
        }
        (false, true) => {
            let Mode::Precision(rounding) = mode else { return None };
            let mut shape = Shape::one(from_integer(from, to, rounding, sat, isa)?, to, from)?;
            shape.flags = rounding_code(rounding) | if sat { SAT } else { 0 };
            Some(shape)
        }
        (true, true) => floats(from, to, mode, Flags { ftz, sat, relu, satfinite }, isa),
        _ => None,
    }
}

macro_rules! for_integers {
    ($ty:expr, $callback:ident $(, $rest:tt)*) => {
        match $ty {
            U8 | B8 => $callback!(u8 $(, $rest)*),
            S8 => $callback!(i8 $(, $rest)*),
            U16 | B16 => $callback!(u16 $(, $rest)*),
            S16 => $callback!(i16 $(, $rest)*),
            U32 | B32 => $callback!(u32 $(, $rest)*),
            S32 => $callback!(i32 $(, $rest)*),
            U64 | B64 => $callback!(u64 $(, $rest)*),
            S64 => $callback!(i64 $(, $rest)*),
            _ => return None,
        }
    };
}

fn integers(from: Type, to: Type, sat: bool, isa: Isa) -> Option<Exec> {
    fn between<S: Lane + Into<i128>, D: Lane + TryFrom<i128> + Limits>(_: Isa) -> Exec {
        fn run<S: Lane + Into<i128>, D: Lane + TryFrom<i128> + Limits>(file: &mut [u64], args: &Args, mask: u32) {
            let a = S::load(file, args.a);
            let d = a.map(|a| D::clamped(a.into()));
            D::store(file, args.d, &d, mask);
        }
        run::<S, D>
    }
    macro_rules! second {
        ($d:ty, $s:ty) => {
            if sat { between::<$s, $d>(isa) } else { lanes!(isa; $s => $d; |a| a as $d) }
        };
    }
    macro_rules! first {
        ($s:ty) => {
            for_integers!(to, second, $s)
        };
    }
    Some(for_integers!(from, first))
}

/// The range of an integer type.
trait Limits: Sized {
    fn clamped(value: i128) -> Self;
}

macro_rules! limits {
    ($($t:ty),*) => {$(
        impl Limits for $t {
            #[inline(always)]
            fn clamped(value: i128) -> Self {
                value.clamp(Self::MIN.into(), Self::MAX.into()) as Self
            }
        }
    )*};
}
limits!(u8, i8, u16, i16, u32, i32, u64, i64);

/// Beyond the range the nearest integer; NaN is zero, or for 64 bits on either side only the highest bit.
fn to_integer(from: Type, to: Type, rounding: Rounding, ftz: bool, isa: Isa) -> Option<Exec> {
    macro_rules! body {
        ($s:ty, $d:ty, $special:expr, |$a:ident| $wide:expr) => {
            match rounding {
                Rounding::Nearest => lanes!(isa; $s => $d; |$a| { let x: f64 = $wide; finish!($d, $special, x, x.round_ties_even()) }),
                Rounding::Zero => lanes!(isa; $s => $d; |$a| { let x: f64 = $wide; finish!($d, $special, x, x) }),
                Rounding::Down => lanes!(isa; $s => $d; |$a| { let x: f64 = $wide; finish!($d, $special, x, x.floor()) }),
                Rounding::Up => lanes!(isa; $s => $d; |$a| { let x: f64 = $wide; finish!($d, $special, x, x.ceil()) }),
                Rounding::Away => return None,
            }
        };
    }
    macro_rules! finish {
        ($d:ty, $special:expr, $x:ident, $rounded:expr) => {
            if $special && $x.is_nan() { (1 as $d) << (<$d>::BITS - 1) } else { $rounded as $d }
        };
    }
    macro_rules! destination {
        ($d:ty) => {
            match (from, ftz) {
                (F16, _) => body!(Ieee, $d, <$d>::BITS == 64, |a| a.to_f32().into()),
                (Bf16, _) => body!(Brain, $d, <$d>::BITS == 64, |a| a.to_f32().into()),
                (F32, false) => body!(f32, $d, <$d>::BITS == 64, |a| a.into()),
                (F32, true) => body!(f32, $d, <$d>::BITS == 64, |a| flush(a).into()),
                (F64, _) => body!(f64, $d, true, |a| a),
                _ => return None,
            }
        };
    }
    Some(for_integers!(to, destination))
}

fn from_integer(from: Type, to: Type, rounding: Rounding, sat: bool, isa: Isa) -> Option<Exec> {
    fn slow<S: Lane + Into<i128>, D: Value>(file: &mut [u64], args: &Args, mask: u32) {
        let rounding = rounding_of(args.flags);
        let a = S::load(file, args.a);
        let d = a.map(|a| {
            let value = D::from_bits(soft::from_integer(D::FORMAT, rounding, a.into()));
            if args.flags & SAT != 0 { value.saturated() } else { value }
        });
        D::store(file, args.d, &d, mask);
    }
    macro_rules! source {
        ($s:ty) => {
            match to {
                F32 if rounding == Rounding::Nearest && !sat => lanes!(isa; $s => f32; |a| a as f32),
                F64 if rounding == Rounding::Nearest && !sat => lanes!(isa; $s => f64; |a| a as f64),
                F32 => slow::<$s, f32>,
                F64 => slow::<$s, f64>,
                F16 => slow::<$s, Ieee>,
                Bf16 => slow::<$s, Brain>,
                _ => return None,
            }
        };
    }
    Some(for_integers!(from, source))
}

struct Flags {
    ftz: bool,
    sat: bool,
    relu: bool,
    satfinite: bool,
}

const INTEGRAL: u32 = 8;
const SAT: u32 = 16;
const FTZ: u32 = 32;
const RELU: u32 = 64;
const SATFINITE: u32 = 128;
const TF32_FLAG: u32 = 256;

fn rounding_code(rounding: Rounding) -> u32 {
    match rounding {
        Rounding::Nearest => 0,
        Rounding::Zero => 1,
        Rounding::Down => 2,
        Rounding::Up => 3,
        Rounding::Away => 4,
    }
}

fn rounding_of(flags: u32) -> Rounding {
    match flags & 7 {
        0 => Rounding::Nearest,
        1 => Rounding::Zero,
        2 => Rounding::Down,
        3 => Rounding::Up,
        _ => Rounding::Away,
    }
}

/// A floating-point type of a register.
trait Value: Lane {
    const FORMAT: Format;
    fn bits(self) -> u64;
    fn from_bits(bits: u64) -> Self;
    fn saturated(self) -> Self;
}

macro_rules! values {
    ($($t:ty, $format:expr, $bits:ty, |$a:ident| $to:expr, |$b:ident| $from:expr, $sat:expr;)*) => {$(
        impl Value for $t {
            const FORMAT: Format = $format;
            fn bits(self) -> u64 {
                let $a = self;
                u64::from($to)
            }
            fn from_bits(bits: u64) -> Self {
                let $b = bits as $bits;
                $from
            }
            fn saturated(self) -> Self {
                let $a = self;
                $sat
            }
        }
    )*};
}

values! {
    Ieee, soft::F16, u16, |a| a.0, |b| Ieee(b), a.saturate();
    Brain, soft::BF16, u16, |a| a.0, |b| Brain(b), a.saturate();
    f32, soft::F32, u32, |a| a.to_bits(), |b| f32::from_bits(b), saturate(a);
    f64, soft::F64, u64, |a| a.to_bits(), |b| f64::from_bits(b), if a > 0.0 { a.min(1.0) } else { 0.0 };
}

fn flushed(format: Format, bits: u64) -> u64 {
    if format == soft::F32 && bits & format.exponent_mask() == 0 { bits & format.sign(true) } else { bits }
}

fn converted<S: Value, D: Value>(a: S, flags: u32) -> D {
    let rounding = rounding_of(flags);
    let mut bits = a.bits();
    if flags & FTZ != 0 {
        bits = flushed(S::FORMAT, bits);
    }
    if flags & INTEGRAL != 0 {
        bits = soft::round_to_integral(S::FORMAT, rounding, bits);
    }
    let format = if flags & TF32_FLAG != 0 { soft::TF32 } else { D::FORMAT };
    let mut bits = soft::convert(S::FORMAT, format, rounding, bits);
    if flags & FTZ != 0 {
        bits = flushed(format, bits);
    }
    let magnitude = bits & !format.sign(true);
    if flags & RELU != 0 && bits & format.sign(true) != 0 && magnitude <= format.infinity(false) {
        bits = 0;
    }
    if flags & SATFINITE != 0 && bits & !format.sign(true) == format.infinity(false) {
        // The greatest finite number is one unit below infinity.
        bits = soft::convert(format, format, Rounding::Zero, bits) - if format == soft::TF32 { 1 << 13 } else { 1 };
    }
    let value = D::from_bits(bits);
    if flags & SAT != 0 { value.saturated() } else { value }
}

fn run<S: Value, D: Value>(file: &mut [u64], args: &Args, mask: u32) {
    let a = S::load(file, args.a);
    let d = a.map(|a| converted::<S, D>(a, args.flags));
    D::store(file, args.d, &d, mask);
}

fn floats(from: Type, to: Type, mode: Mode, flags: Flags, isa: Isa) -> Option<Shape> {
    let width = |ty: Type| if ty == Tf32 { 19 } else { ty.bits() };
    let (integral, rounding) = match mode {
        Mode::Integral(rounding) if from == to => (true, rounding),
        Mode::Precision(rounding) if width(from) > width(to) || to == Bf16 || (from, to) == (Bf16, F16) => {
            (false, rounding)
        }
        Mode::None if width(from) < width(to) || from == to => (false, Rounding::Nearest),
        _ => return None,
    };
    let mut code = rounding_code(rounding);
    for (flag, bit) in [
        (integral, INTEGRAL),
        (flags.ftz, FTZ),
        (flags.sat, SAT),
        (flags.relu, RELU),
        (flags.satfinite, SATFINITE),
        (to == Tf32, TF32_FLAG),
    ] {
        code |= if flag { bit } else { 0 };
    }
    let exec: Exec = match (from, to, code) {
        (F16, F32, 0) => lanes!(isa; Ieee => f32; |a| canonical(a.to_f32())),
        (Bf16, F32, 0) => lanes!(isa; Brain => f32; |a| canonical(a.to_f32())),
        (F32, F64, 0) => lanes!(isa; f32 => f64; |a| f64::from(a)),
        (F64, F32, 0) => lanes!(isa; f64 => f32; |a| canonical(a as f32)),
        (F32, Bf16, 0) => lanes!(isa; f32 => Brain; |a| Brain::from_f32(a)),
        (F32, F32, 9) => lanes!(isa; f32 => f32; |a| canonical(a.trunc())),
        (F32, F32, 10) => lanes!(isa; f32 => f32; |a| canonical(a.floor())),
        (F32, F32, 11) => lanes!(isa; f32 => f32; |a| canonical(a.ceil())),
        (F16, F16, _) => run::<Ieee, Ieee>,
        (F16, F32, _) => run::<Ieee, f32>,
        (F16, F64, _) => run::<Ieee, f64>,
        (F16, Bf16, _) => run::<Ieee, Brain>,
        (Bf16, F16, _) => run::<Brain, Ieee>,
        (Bf16, Bf16, _) => run::<Brain, Brain>,
        (Bf16, F32, _) => run::<Brain, f32>,
        (Bf16, F64, _) => run::<Brain, f64>,
        (F32, F16, _) => run::<f32, Ieee>,
        (F32, Bf16, _) => run::<f32, Brain>,
        (F32, F32 | Tf32, _) => run::<f32, f32>,
        (F32, F64, _) => run::<f32, f64>,
        (F64, F16, _) => run::<f64, Ieee>,
        (F64, Bf16, _) => run::<f64, Brain>,
        (F64, F32, _) => run::<f64, f32>,
        (F64, F64, _) => run::<f64, f64>,
        _ => return None,
    };
    let mut shape = Shape::one(exec, to, from)?;
    shape.flags = code;
    Some(shape)
}

/// Two `f32` into one register: the first source into the upper half.
fn pair(to: Type, from: Type, mode: Mode, relu: bool, satfinite: bool, isa: Isa) -> Option<Shape> {
    let Mode::Precision(rounding) = mode else { return None };
    if from != F32 {
        return None;
    }
    fn run<H: Half + Value>(file: &mut [u64], args: &Args, mask: u32)
    where
        [H; 2]: Lane,
    {
        let a = f32::load(file, args.a);
        let b = f32::load(file, args.b);
        let mut d = [<[H; 2]>::default(); LANES];
        for i in 0..LANES {
            d[i] = [converted(b[i], args.flags), converted(a[i], args.flags)];
        }
        <[H; 2]>::store(file, args.d, &d, mask);
    }
    let mut code = rounding_code(rounding);
    code |= if relu { RELU } else { 0 } | if satfinite { SATFINITE } else { 0 };
    let exec: Exec = match (to, code) {
        (Bf16x2, 0) => lanes!(isa; f32, f32 => [Brain; 2]; |a, b| [round(b), round(a)]),
        (F16x2, _) => run::<Ieee>,
        _ => run::<Brain>,
    };
    let mut shape = Shape::two(exec, to, F32, F32)?;
    shape.flags = code;
    Some(shape)
}
