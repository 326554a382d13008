//! Instructions on bits and bytes.

use arith::simd::Isa;

use super::{Form, Shape};
use crate::lanes::{Op4, lanes, pick4};
use crate::types::Type::{self, *};

pub(super) fn select(form: &mut Form<'_>, isa: Isa) -> Option<Shape> {
    match form.opcode() {
        "popc" => match form.ty()? {
            B32 => Shape::one(lanes!(isa; u32 => u32; |a| a.count_ones()), U32, B32),
            B64 => Shape::one(lanes!(isa; u64 => u32; |a| a.count_ones()), U32, B64),
            _ => None,
        },
        "clz" => match form.ty()? {
            B32 => Shape::one(lanes!(isa; u32 => u32; |a| a.leading_zeros()), U32, B32),
            B64 => Shape::one(lanes!(isa; u64 => u32; |a| a.leading_zeros()), U32, B64),
            _ => None,
        },
        "brev" => match form.ty()? {
            B32 => Shape::one(lanes!(isa; u32 => u32; |a| a.reverse_bits()), B32, B32),
            B64 => Shape::one(lanes!(isa; u64 => u64; |a| a.reverse_bits()), B64, B64),
            _ => None,
        },
        "bfind" => {
            let shift = form.take("shiftamt");
            let ty = form.ty()?;
            bfind(ty, shift, isa)
        }
        "bfe" => {
            let ty = form.ty()?;
            let exec = match ty {
                U32 => lanes!(isa; u32, u32, u32 => u32; |a, b, c| field(a.into(), b, c, 32, false) as u32),
                S32 => lanes!(isa; u32, u32, u32 => u32; |a, b, c| field(a.into(), b, c, 32, true) as u32),
                U64 => lanes!(isa; u64, u32, u32 => u64; |a, b, c| field(a, b, c, 64, false)),
                S64 => lanes!(isa; u64, u32, u32 => u64; |a, b, c| field(a, b, c, 64, true)),
                _ => return None,
            };
            Shape::three(exec, ty, ty, U32, U32)
        }
        "bfi" => bfi(form.ty()?, isa),
        "fns" => {
            let exec = lanes!(isa; u32, u32, i32 => u32; |mask, base, offset| nth_set(mask, base, offset));
            (form.ty()? == B32).then_some(())?;
            Shape::three(exec, B32, B32, U32, S32)
        }
        "bmsk" | "szext" => {
            let clamp = form.take("clamp");
            if !clamp && !form.take("wrap") {
                return None;
            }
            let ty = form.ty()?;
            let exec = match (form.opcode(), clamp, ty) {
                ("bmsk", true, B32) => lanes!(isa; u32, u32 => u32; |a, b| bmsk(a, b)),
                ("bmsk", false, B32) => lanes!(isa; u32, u32 => u32; |a, b| bmsk(a & 31, b & 31)),
                ("szext", true, U32) => {
                    lanes!(isa; u32, u32 => u32; |a, b| field(a.into(), 0, b.min(32), 32, false) as u32)
                }
                ("szext", true, S32) => {
                    lanes!(isa; u32, u32 => u32; |a, b| field(a.into(), 0, b.min(32), 32, true) as u32)
                }
                ("szext", false, U32) => {
                    lanes!(isa; u32, u32 => u32; |a, b| field(a.into(), 0, b & 31, 32, false) as u32)
                }
                ("szext", false, S32) => {
                    lanes!(isa; u32, u32 => u32; |a, b| field(a.into(), 0, b & 31, 32, true) as u32)
                }
                _ => return None,
            };
            Shape::two(exec, ty, ty, U32)
        }
        "shf" => funnel(form, isa),
        "prmt" => permute(form, isa),
        "lop3" => {
            struct Lop3;
            impl Op4 for Lop3 {
                type A = u32;
                type D = u32;
                type E = u32;
                #[inline(always)]
                fn f(a: u32, b: u32, c: u32, table: u32) -> (u32, u32) {
                    let mut d = 0;
                    for row in 0..8 {
                        let a = if row & 4 != 0 { a } else { !a };
                        let b = if row & 2 != 0 { b } else { !b };
                        let c = if row & 1 != 0 { c } else { !c };
                        d |= a & b & c & (table >> row & 1).wrapping_neg();
                    }
                    (d, table)
                }
            }
            (form.ty()? == B32).then_some(())?;
            Shape::four(pick4::<Lop3>(isa), B32, [B32; 4])
        }
        _ => None,
    }
}

/// `length` bits of `a` from `position` on. Beyond the top are zeros, or for signed fields copies of the field's
/// highest bit.
#[inline(always)]
fn field(a: u64, position: u32, length: u32, width: u32, signed: bool) -> u64 {
    let (position, length) = (position & 0xff, length & 0xff);
    let moved = if position < width { a >> position } else { 0 };
    let there = length.min(width.saturating_sub(position));
    let mask = if there >= 64 { !0 } else { (1 << there) - 1 };
    let top = (position + length).wrapping_sub(1).min(width - 1);
    let fill = signed && length != 0 && a >> top & 1 != 0;
    moved & mask | if fill { !mask } else { 0 }
}

#[inline(always)]
fn insert(a: u64, b: u64, position: u32, length: u32, width: u32) -> u64 {
    let (position, length) = (position & 0xff, length & 0xff);
    if position >= width || length == 0 {
        return b;
    }
    let there = length.min(width - position);
    let mask = if there >= 64 { !0 } else { (1_u64 << there) - 1 };
    b & !(mask << position) | (a & mask) << position
}

fn bfi(ty: Type, isa: Isa) -> Option<Shape> {
    struct Narrow;
    impl Op4 for Narrow {
        type A = u32;
        type D = u32;
        type E = u32;
        #[inline(always)]
        fn f(a: u32, b: u32, position: u32, length: u32) -> (u32, u32) {
            (insert(a.into(), b.into(), position, length, 32) as u32, length)
        }
    }
    // Position and length come widened.
    struct Wide;
    impl Op4 for Wide {
        type A = u64;
        type D = u64;
        type E = u32;
        #[inline(always)]
        fn f(a: u64, b: u64, position: u64, length: u32) -> (u64, u32) {
            (insert(a, b, position as u32, length, 64), length)
        }
    }
    match ty {
        B32 => Shape::four(pick4::<Narrow>(isa), ty, [B32, B32, U32, U32]),
        B64 => Shape::four(pick4::<Wide>(isa), ty, [B64, B64, U64, U32]),
        _ => None,
    }
}

fn bfind(ty: Type, shift: bool, isa: Isa) -> Option<Shape> {
    // Signed: the highest bit that differs from the sign.
    let exec = match (ty, shift) {
        (U32, false) => lanes!(isa; u32 => u32; |a| 31_u32.wrapping_sub(a.leading_zeros())),
        (U32, true) => lanes!(isa; u32 => u32; |a| if a == 0 { !0 } else { a.leading_zeros() }),
        (S32, false) => lanes!(isa; i32 => u32; |a| 31_u32.wrapping_sub((a ^ a >> 31).leading_zeros())),
        (S32, true) => lanes!(isa; i32 => u32; |a| if a ^ a >> 31 == 0 { !0 } else { (a ^ a >> 31).leading_zeros() }),
        (U64, false) => lanes!(isa; u64 => u32; |a| 63_u32.wrapping_sub(a.leading_zeros())),
        (U64, true) => lanes!(isa; u64 => u32; |a| if a == 0 { !0 } else { a.leading_zeros() }),
        (S64, false) => lanes!(isa; i64 => u32; |a| 63_u32.wrapping_sub((a ^ a >> 63).leading_zeros())),
        (S64, true) => lanes!(isa; i64 => u32; |a| if a ^ a >> 63 == 0 { !0 } else { (a ^ a >> 63).leading_zeros() }),
        _ => return None,
    };
    Shape::one(exec, U32, ty)
}

/// Position of the `offset`-th set bit from `base` on, upwards or (negative) downwards; all ones when there is none.
#[inline(always)]
fn nth_set(mask: u32, base: u32, offset: i32) -> u32 {
    let mut position = base as i32;
    let step = if offset < 0 { -1 } else { 1 };
    let mut left = if offset == 0 { 1 } else { offset.unsigned_abs() };
    while (0..32).contains(&position) {
        if mask >> position & 1 != 0 {
            left -= 1;
            if left == 0 {
                return position as u32;
            }
        } else if offset == 0 {
            break;
        }
        position += step;
    }
    !0
}

#[inline(always)]
fn bmsk(start: u32, count: u32) -> u32 {
    let ones = if count >= 32 { !0 } else { (1_u32 << count) - 1 };
    if start >= 32 { 0 } else { ones << start }
}

fn funnel(form: &mut Form<'_>, isa: Isa) -> Option<Shape> {
    let left = form.take("l");
    if !left && !form.take("r") {
        return None;
    }
    let clamp = form.take("clamp");
    if !clamp && !form.take("wrap") {
        return None;
    }
    (form.ty()? == B32).then_some(())?;
    macro_rules! funnel {
        (|$pair:ident, $n:ident| $amount:expr, $result:expr) => {
            lanes!(isa; u32, u32, u32 => u32; |a, b, c| {
                let $pair = u64::from(a) | u64::from(b) << 32;
                let $n = { let $n = c; $amount };
                $result
            })
        };
    }
    let exec = match (left, clamp) {
        (true, true) => funnel!(|pair, n| n.min(32), ((pair << n) >> 32) as u32),
        (true, false) => funnel!(|pair, n| n & 31, ((pair << n) >> 32) as u32),
        (false, true) => funnel!(|pair, n| n.min(32), (pair >> n) as u32),
        (false, false) => funnel!(|pair, n| n & 31, (pair >> n) as u32),
    };
    Shape::three(exec, B32, B32, B32, U32)
}

fn permute(form: &mut Form<'_>, isa: Isa) -> Option<Shape> {
    // Modes but the default one are selections by the low two bits of the selector.
    macro_rules! mode {
        ($selectors:expr) => {
            lanes!(isa; u32, u32, u32 => u32; |a, b, c| {
                const SELECTORS: [u32; 4] = $selectors;
                bytes(a, b, SELECTORS[(c & 3) as usize])
            })
        };
    }
    let exec = if form.take("f4e") {
        mode!([0x3210, 0x4321, 0x5432, 0x6543])
    } else if form.take("b4e") {
        mode!([0x5670, 0x6701, 0x7012, 0x0123])
    } else if form.take("rc8") {
        mode!([0x0000, 0x1111, 0x2222, 0x3333])
    } else if form.take("ecl") {
        mode!([0x3210, 0x3211, 0x3222, 0x3333])
    } else if form.take("ecr") {
        mode!([0x0000, 0x1110, 0x2210, 0x3210])
    } else if form.take("rc16") {
        mode!([0x1010, 0x3232, 0x1010, 0x3232])
    } else {
        lanes!(isa; u32, u32, u32 => u32; |a, b, c| bytes(a, b, c))
    };
    (form.ty()? == B32).then_some(())?;
    Shape::three(exec, B32, B32, B32, B32)
}

/// Each nibble of the selector picks a byte of the pair; its highest bit asks for eight copies of the byte's sign.
#[inline(always)]
fn bytes(a: u32, b: u32, selector: u32) -> u32 {
    let pair = u64::from(a) | u64::from(b) << 32;
    let mut d = 0;
    for i in 0..4 {
        let nibble = selector >> (4 * i) & 0xf;
        let byte = (pair >> (8 * (nibble & 7))) as u8;
        let byte = if nibble & 8 != 0 { (byte as i8 >> 7) as u8 } else { byte };
        d |= u32::from(byte) << (8 * i);
    }
    d
}
