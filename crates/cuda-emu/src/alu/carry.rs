//! Extended precision: `add.cc`, `addc`, `sub.cc`, `subc`, `mad.cc`, `madc`. The carry is a row of its own. A subtraction
//! adds the complement, as the hardware does: its carry is set when nothing was borrowed. Code that mixes the two kinds
//! shows it, such as nvcc's for quotients of 128 bits.

use arith::simd::Isa;

use super::Form;
use crate::lanes::{Exec, Op4, pick4};
use crate::types::Type::{self, *};

/// An operation that reads or writes the carry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Carrying {
    pub(crate) exec: Exec,
    pub(crate) ty: Type,
    /// Whether there are three sources besides the carry.
    pub(crate) three: bool,
    pub(crate) reads: bool,
    pub(crate) writes: bool,
    /// The carry of one that doesn't read it.
    pub(crate) initial: u32,
}

/// `None` unless the instruction has to do with the carry.
pub(crate) fn select(form: &mut Form<'_>, isa: Isa) -> Option<Carrying> {
    let opcode = form.opcode();
    let reads = matches!(opcode, "addc" | "subc" | "madc");
    if !reads && !matches!(opcode, "add" | "sub" | "mad") {
        return None;
    }
    let writes = form.take("cc");
    if !reads && !writes {
        return None;
    }
    let three = matches!(opcode, "mad" | "madc");
    let high = three && form.take("hi");
    if three && !high && !form.take("lo") {
        return None;
    }
    let ty = form.ty()?;
    let exec = match (opcode, ty) {
        ("add" | "addc", U32 | S32 | B32) => pick4::<Add<u32>>(isa),
        ("add" | "addc", U64 | S64 | B64) => pick4::<Add<u64>>(isa),
        ("sub" | "subc", U32 | S32 | B32) => pick4::<Sub<u32>>(isa),
        ("sub" | "subc", U64 | S64 | B64) => pick4::<Sub<u64>>(isa),
        (_, U32 | S32) if !high => pick4::<Mad<u32>>(isa),
        (_, U64 | S64) if !high => pick4::<Mad<u64>>(isa),
        (_, U32) => pick4::<MadHigh<u32>>(isa),
        (_, S32) => pick4::<MadHigh<i32>>(isa),
        (_, U64) => pick4::<MadHigh<u64>>(isa),
        (_, S64) => pick4::<MadHigh<i64>>(isa),
        _ => return None,
    };
    Some(Carrying { exec, ty, three, reads, writes, initial: u32::from(opcode == "sub") })
}

struct Add<T>(T);
struct Sub<T>(T);
struct Mad<T>(T);
struct MadHigh<T>(T);

macro_rules! carrying {
    ($t:ty) => {
        impl Op4 for Add<$t> {
            type A = $t;
            type D = $t;
            type E = u32;
            #[inline(always)]
            fn f(a: $t, b: $t, _: $t, carry: u32) -> ($t, u32) {
                let (d, first) = a.overflowing_add(b);
                let (d, second) = d.overflowing_add(carry.into());
                (d, u32::from(first | second))
            }
        }

        impl Op4 for Sub<$t> {
            type A = $t;
            type D = $t;
            type E = u32;
            #[inline(always)]
            fn f(a: $t, b: $t, _: $t, carry: u32) -> ($t, u32) {
                Add::<$t>::f(a, !b, 0, carry)
            }
        }

        impl Op4 for Mad<$t> {
            type A = $t;
            type D = $t;
            type E = u32;
            #[inline(always)]
            fn f(a: $t, b: $t, c: $t, carry: u32) -> ($t, u32) {
                Add::<$t>::f(a.wrapping_mul(b), c, 0, carry)
            }
        }
    };
}
carrying!(u32);
carrying!(u64);

macro_rules! mad_high {
    ($t:ty, $unsigned:ty, $wide:ty) => {
        impl Op4 for MadHigh<$t> {
            type A = $t;
            type D = $unsigned;
            type E = u32;
            #[inline(always)]
            fn f(a: $t, b: $t, c: $t, carry: u32) -> ($unsigned, u32) {
                let high = ((<$wide>::from(a) * <$wide>::from(b)) >> <$t>::BITS) as $unsigned;
                Add::<$unsigned>::f(high, c as $unsigned, 0, carry)
            }
        }
    };
}
mad_high!(u32, u32, u64);
mad_high!(i32, u32, i64);
mad_high!(u64, u64, u128);
mad_high!(i64, u64, i128);
