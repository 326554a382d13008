//! From the value of one lane to an operation on a row, compiled once for each instruction set.

use arith::simd::Isa;

use super::lane::Lane;
use super::{Args, Exec, LANES, NONE};

/// A function of one source.
#[allow(missing_docs)]
pub(crate) trait Op1 {
    type A: Lane;
    type D: Lane;
    fn f(a: Self::A) -> Self::D;
}

/// A function of two sources.
pub(crate) trait Op2 {
    type A: Lane;
    type B: Lane;
    type D: Lane;
    fn f(a: Self::A, b: Self::B) -> Self::D;
}

/// A function of three sources.
pub(crate) trait Op3 {
    type A: Lane;
    type B: Lane;
    type C: Lane;
    type D: Lane;
    fn f(a: Self::A, b: Self::B, c: Self::C) -> Self::D;
}

/// A function of four sources, the third of which may be missing, with two values.
pub(crate) trait Op4 {
    type A: Lane;
    type D: Lane;
    type E: Lane;
    fn f(a: Self::A, b: Self::A, c: Self::A, x: Self::E) -> (Self::D, Self::E);
}

/// The two copies of a body, and the choice between them.
macro_rules! picker {
    ($pick:ident, $body:ident, $($bound:tt)+) => {
        #[doc = "The operation, for this instruction set."]
        pub(crate) fn $pick<O: $($bound)+>(isa: Isa) -> Exec {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
                unsafe fn avx2<O: $($bound)+>(file: &mut [u64], args: &Args, mask: u32) {
                    $body::<O>(file, args, mask);
                }
                if isa >= Isa::Avx2 && is_x86_feature_detected!("lzcnt") && is_x86_feature_detected!("popcnt") {
                    return avx2::<O>;
                }
            }
            let _ = isa;
            fn baseline<O: $($bound)+>(file: &mut [u64], args: &Args, mask: u32) {
                $body::<O>(file, args, mask);
            }
            baseline::<O>
        }
    };
}

#[inline(always)]
fn apply1<O: Op1>(file: &mut [u64], args: &Args, mask: u32) {
    let a = O::A::load(file, args.a);
    let mut d = [O::D::default(); LANES];
    for i in 0..LANES {
        d[i] = O::f(a[i]);
    }
    O::D::store(file, args.d, &d, mask);
}

#[inline(always)]
fn apply2<O: Op2>(file: &mut [u64], args: &Args, mask: u32) {
    let a = O::A::load(file, args.a);
    let b = O::B::load(file, args.b);
    let mut d = [O::D::default(); LANES];
    for i in 0..LANES {
        d[i] = O::f(a[i], b[i]);
    }
    O::D::store(file, args.d, &d, mask);
}

#[inline(always)]
fn apply3<O: Op3>(file: &mut [u64], args: &Args, mask: u32) {
    let a = O::A::load(file, args.a);
    let b = O::B::load(file, args.b);
    let c = O::C::load(file, args.c);
    let mut d = [O::D::default(); LANES];
    for i in 0..LANES {
        d[i] = O::f(a[i], b[i], c[i]);
    }
    O::D::store(file, args.d, &d, mask);
}

/// Sources `a`, `b`, `x` and, where there is one, `c`; values to `d` and `e`, where there are any.
#[inline(always)]
fn apply4<O: Op4>(file: &mut [u64], args: &Args, mask: u32) {
    let a = O::A::load(file, args.a);
    let b = O::A::load(file, args.b);
    let c = if args.c == NONE { [O::A::default(); LANES] } else { O::A::load(file, args.c) };
    let x = O::E::load(file, args.x);
    let mut d = [O::D::default(); LANES];
    let mut e = [O::E::default(); LANES];
    for i in 0..LANES {
        (d[i], e[i]) = O::f(a[i], b[i], c[i], x[i]);
    }
    if args.d != NONE {
        O::D::store(file, args.d, &d, mask);
    }
    if args.e != NONE {
        O::E::store(file, args.e, &e, mask);
    }
}

/// `d = f(a, b)` and `e = !f(a, b)`, each joined with the predicate at `c` when there is one. `flags` say how: bits 0 and
/// 1 are and, or, xor; bit 2 negates `c`.
#[inline(always)]
fn apply_compare<O: Op2<D = bool>>(file: &mut [u64], args: &Args, mask: u32) {
    let a = O::A::load(file, args.a);
    let b = O::B::load(file, args.b);
    let mut bits = 0_u32;
    for i in 0..LANES {
        bits |= u32::from(O::f(a[i], b[i])) << i;
    }
    let (mut d, mut e) = (bits, !bits);
    if args.c != NONE {
        let mut c = file[args.c as usize] as u32;
        if args.flags & 4 != 0 {
            c = !c;
        }
        (d, e) = match args.flags & 3 {
            0 => (d & c, e & c),
            1 => (d | c, e | c),
            _ => (d ^ c, e ^ c),
        };
    }
    for (row, bits) in [(args.d, d), (args.e, e)] {
        if row != NONE {
            let old = file[row as usize] as u32;
            file[row as usize] = u64::from(old & !mask | bits & mask);
        }
    }
}

picker!(pick1, apply1, Op1);
picker!(pick2, apply2, Op2);
picker!(pick3, apply3, Op3);
picker!(pick4, apply4, Op4);
picker!(compare, apply_compare, Op2<D = bool>);
