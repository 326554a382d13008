//! `setp`, `set` and `slct`: comparisons.

use arith::simd::Isa;

use super::Form;
use super::float::flush;
use crate::lanes::{Brain, Exec, Half, Ieee, Op2, compare};
use crate::types::Type::{self, *};

/// A comparison, with what joins its outcome to a predicate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Comparison {
    /// Of the values, or of the lower halves.
    pub(crate) exec: Exec,
    /// Of the upper halves.
    pub(crate) upper: Option<Exec>,
    /// Type of both sources.
    pub(crate) ty: Type,
    /// And, or, xor with a predicate.
    pub(crate) join: Option<u32>,
}

#[derive(Clone, Copy, PartialEq)]
enum Order {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// Which comparison it is: whether NaN makes it true, and the order.
#[derive(Clone, Copy)]
enum Test {
    /// `lo`, `ls`, `hi`, `hs` ask for unsigned integers.
    Ordered {
        order: Order,
        unsigned: bool,
    },
    Unordered(Order),
    BothNumbers,
    AnyNan,
}

fn test(name: &str) -> Option<Test> {
    let ordered = |order| Some(Test::Ordered { order, unsigned: false });
    let unsigned = |order| Some(Test::Ordered { order, unsigned: true });
    match name {
        "eq" => ordered(Order::Eq),
        "ne" => ordered(Order::Ne),
        "lt" => ordered(Order::Lt),
        "le" => ordered(Order::Le),
        "gt" => ordered(Order::Gt),
        "ge" => ordered(Order::Ge),
        "lo" => unsigned(Order::Lt),
        "ls" => unsigned(Order::Le),
        "hi" => unsigned(Order::Gt),
        "hs" => unsigned(Order::Ge),
        "equ" => Some(Test::Unordered(Order::Eq)),
        "neu" => Some(Test::Unordered(Order::Ne)),
        "ltu" => Some(Test::Unordered(Order::Lt)),
        "leu" => Some(Test::Unordered(Order::Le)),
        "gtu" => Some(Test::Unordered(Order::Gt)),
        "geu" => Some(Test::Unordered(Order::Ge)),
        "num" => Some(Test::BothNumbers),
        "nan" => Some(Test::AnyNan),
        _ => None,
    }
}

/// Takes comparison, joining operation and type.
pub(crate) fn select(form: &mut Form<'_>, isa: Isa) -> Option<Comparison> {
    let ty = form.ty()?;
    let test = form.take_with(test)?;
    let join = form.take_with(|name| match name {
        "and" => Some(0),
        "or" => Some(1),
        "xor" => Some(2),
        _ => None,
    });
    let ftz = matches!(ty, F32 | F16 | F16x2) && form.take("ftz");
    let mut upper = None;
    let exec = match ty {
        B16 | U16 => integer::<Lane<u16>, Lane<i16>>(test, ty, isa)?,
        B32 | U32 => integer::<Lane<u32>, Lane<i32>>(test, ty, isa)?,
        B64 | U64 => integer::<Lane<u64>, Lane<i64>>(test, ty, isa)?,
        S16 => integer::<Lane<u16>, Lane<i16>>(test, ty, isa)?,
        S32 => integer::<Lane<u32>, Lane<i32>>(test, ty, isa)?,
        S64 => integer::<Lane<u64>, Lane<i64>>(test, ty, isa)?,
        F32 if ftz => float::<FlushedSingle>(test, isa)?,
        F32 => float::<Lane<f32>>(test, isa)?,
        F64 => float::<Lane<f64>>(test, isa)?,
        F16 if ftz => float::<Flushed<Ieee>>(test, isa)?,
        F16 => float::<Plain<Ieee>>(test, isa)?,
        Bf16 => float::<Plain<Brain>>(test, isa)?,
        F16x2 if ftz => {
            upper = Some(float::<FlushedPart<Ieee, 1>>(test, isa)?);
            float::<FlushedPart<Ieee, 0>>(test, isa)?
        }
        F16x2 => {
            upper = Some(float::<Part<Ieee, 1>>(test, isa)?);
            float::<Part<Ieee, 0>>(test, isa)?
        }
        Bf16x2 => {
            upper = Some(float::<Part<Brain, 1>>(test, isa)?);
            float::<Part<Brain, 0>>(test, isa)?
        }
        _ => return None,
    };
    Some(Comparison { exec, upper, ty, join })
}

/// How a register's lane becomes something that can be compared.
trait View {
    type Raw: crate::lanes::Lane;
    type Value: PartialOrd;
    fn view(raw: Self::Raw) -> Self::Value;
}

struct Lane<T>(std::marker::PhantomData<T>);

macro_rules! plain_view {
    ($($t:ty),*) => {$(
        impl View for Lane<$t> {
            type Raw = $t;
            type Value = $t;
            #[inline(always)]
            fn view(raw: $t) -> $t {
                raw
            }
        }
    )*};
}
plain_view!(u16, i16, u32, i32, u64, i64, f32, f64);

struct FlushedSingle;
impl View for FlushedSingle {
    type Raw = f32;
    type Value = f32;
    #[inline(always)]
    fn view(raw: f32) -> f32 {
        flush(raw)
    }
}

struct Plain<H>(std::marker::PhantomData<H>);
impl<H: Half + crate::lanes::Lane> View for Plain<H> {
    type Raw = H;
    type Value = f32;
    #[inline(always)]
    fn view(raw: H) -> f32 {
        raw.to_f32()
    }
}

struct Flushed<H>(std::marker::PhantomData<H>);
impl<H: Half + crate::lanes::Lane> View for Flushed<H> {
    type Raw = H;
    type Value = f32;
    #[inline(always)]
    fn view(raw: H) -> f32 {
        raw.flush().to_f32()
    }
}

struct Part<H, const N: usize>(std::marker::PhantomData<H>);
impl<H: Half, const N: usize> View for Part<H, N>
where
    [H; 2]: crate::lanes::Lane,
{
    type Raw = [H; 2];
    type Value = f32;
    #[inline(always)]
    fn view(raw: [H; 2]) -> f32 {
        raw[N].to_f32()
    }
}

struct FlushedPart<H, const N: usize>(std::marker::PhantomData<H>);
impl<H: Half, const N: usize> View for FlushedPart<H, N>
where
    [H; 2]: crate::lanes::Lane,
{
    type Raw = [H; 2];
    type Value = f32;
    #[inline(always)]
    fn view(raw: [H; 2]) -> f32 {
        raw[N].flush().to_f32()
    }
}

/// The orders, and for floats those that NaN makes true, and the two tests for NaN.
struct Compare<V, const TEST: u8>(std::marker::PhantomData<V>);

const UNORDERED: u8 = 6;
const BOTH_NUMBERS: u8 = 12;
const ANY_NAN: u8 = 13;

impl<V: View, const TEST: u8> Op2 for Compare<V, TEST> {
    type A = V::Raw;
    type B = V::Raw;
    type D = bool;
    #[inline(always)]
    // NaN alone differs from itself, and makes the negation of every order true.
    #[allow(clippy::eq_op, clippy::neg_cmp_op_on_partial_ord)]
    fn f(a: V::Raw, b: V::Raw) -> bool {
        let (a, b) = (V::view(a), V::view(b));
        match TEST {
            0 => a == b,
            // Ordered: false for NaN. Integers are their own equals.
            1 => (a != b) & (a == a) & (b == b),
            2 => a < b,
            3 => a <= b,
            4 => a > b,
            5 => a >= b,
            6 => !((a != b) & (a == a) & (b == b)),
            7 => !(a == b),
            8 => !(a >= b),
            9 => !(a > b),
            10 => !(a <= b),
            11 => !(a < b),
            BOTH_NUMBERS => (a == a) & (b == b),
            _ => (a != a) | (b != b),
        }
    }
}

fn code(order: Order) -> u8 {
    match order {
        Order::Eq => 0,
        Order::Ne => 1,
        Order::Lt => 2,
        Order::Le => 3,
        Order::Gt => 4,
        Order::Ge => 5,
    }
}

fn by_code<V: View>(code: u8, isa: Isa) -> Option<Exec> {
    macro_rules! copies {
        ($($n:literal)*) => {
            match code {
                $($n => compare::<Compare<V, $n>>(isa),)*
                _ => return None,
            }
        };
    }
    Some(copies!(0 1 2 3 4 5))
}

fn integer<U: View, S: View>(test: Test, ty: Type, isa: Isa) -> Option<Exec> {
    let Test::Ordered { order, unsigned } = test else { return None };
    match ty {
        // Bits have no order.
        B16 | B32 | B64 if !matches!(order, Order::Eq | Order::Ne) => None,
        _ if ty.is_signed() && !unsigned => by_code::<S>(code(order), isa),
        _ => by_code::<U>(code(order), isa),
    }
}

fn float<V: View>(test: Test, isa: Isa) -> Option<Exec> {
    macro_rules! copies {
        ($code:expr; $($n:literal)*) => {
            match $code {
                $($n => Some(compare::<Compare<V, $n>>(isa)),)*
                _ => None,
            }
        };
    }
    match test {
        Test::Ordered { unsigned: true, .. } => None,
        Test::Ordered { order, .. } => by_code::<V>(code(order), isa),
        Test::Unordered(order) => copies!(code(order) + UNORDERED; 6 7 8 9 10 11),
        Test::BothNumbers => copies!(BOTH_NUMBERS; 12),
        Test::AnyNan => copies!(ANY_NAN; 13),
    }
}
