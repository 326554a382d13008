//! Products of integers: `mul`, `mad`, their 24-bit forms, and dot products of packed integers.

use arith::simd::Isa;

use super::{Form, Shape};
use crate::lanes::lanes;
use crate::types::Type::{self, *};

/// What is kept of a product.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Low,
    High,
    Wide,
}

fn part(form: &mut Form<'_>) -> Option<Part> {
    form.take_with(|name| match name {
        "lo" => Some(Part::Low),
        "hi" => Some(Part::High),
        "wide" => Some(Part::Wide),
        _ => None,
    })
}

pub(super) fn select(form: &mut Form<'_>, isa: Isa) -> Option<Shape> {
    match form.opcode() {
        "mul" => {
            let part = part(form)?;
            let ty = form.ty()?;
            mul(ty, part, isa)
        }
        "mad" => {
            let part = part(form)?;
            let saturate = form.take("sat");
            let ty = form.ty()?;
            if saturate {
                return if (ty, part) == (S32, Part::High) {
                    let exec = lanes!(isa; i32, i32, i32 => i32; |a, b, c| high_s32(a, b).saturating_add(c));
                    Shape::three(exec, ty, ty, ty, ty)
                } else {
                    None
                };
            }
            mad(ty, part, isa)
        }
        "mul24" | "mad24" => {
            let add = form.opcode() == "mad24";
            let high = form.take("hi");
            if !high && !form.take("lo") {
                return None;
            }
            let ty = form.ty()?;
            product24(ty, high, add, isa)
        }
        "dp4a" => {
            let b = form.ty()?;
            let a = form.ty()?;
            let exec = match (a, b) {
                (U32, U32) => {
                    lanes!(isa; [u8; 4], [u8; 4], u32 => u32; |a, b, c| dot4(a.map(i32::from), b.map(i32::from), c))
                }
                (U32, S32) => {
                    lanes!(isa; [u8; 4], [u8; 4], u32 => u32; |a, b, c| dot4(a.map(i32::from), b.map(signed), c))
                }
                (S32, U32) => {
                    lanes!(isa; [u8; 4], [u8; 4], u32 => u32; |a, b, c| dot4(a.map(signed), b.map(i32::from), c))
                }
                (S32, S32) => {
                    lanes!(isa; [u8; 4], [u8; 4], u32 => u32; |a, b, c| dot4(a.map(signed), b.map(signed), c))
                }
                _ => return None,
            };
            Shape::three(exec, U32, a, b, U32)
        }
        "dp2a" => {
            let high = form.take("hi");
            if !high && !form.take("lo") {
                return None;
            }
            let b = form.ty()?;
            let a = form.ty()?;
            dp2a(a, b, high, isa)
        }
        _ => None,
    }
}

#[inline(always)]
fn high_s32(a: i32, b: i32) -> i32 {
    ((i64::from(a) * i64::from(b)) >> 32) as i32
}

#[inline(always)]
fn high_u64(a: u64, b: u64) -> u64 {
    ((u128::from(a) * u128::from(b)) >> 64) as u64
}

#[inline(always)]
fn high_s64(a: i64, b: i64) -> i64 {
    ((i128::from(a) * i128::from(b)) >> 64) as i64
}

fn mul(ty: Type, part: Part, isa: Isa) -> Option<Shape> {
    let exec = match (part, ty) {
        (Part::Low, U16 | S16) => lanes!(isa; u16, u16 => u16; |a, b| a.wrapping_mul(b)),
        (Part::Low, U32 | S32) => lanes!(isa; u32, u32 => u32; |a, b| a.wrapping_mul(b)),
        (Part::Low, U64 | S64) => lanes!(isa; u64, u64 => u64; |a, b| a.wrapping_mul(b)),
        (Part::High, U16) => lanes!(isa; u16, u16 => u16; |a, b| ((u32::from(a) * u32::from(b)) >> 16) as u16),
        (Part::High, S16) => lanes!(isa; i16, i16 => i16; |a, b| ((i32::from(a) * i32::from(b)) >> 16) as i16),
        (Part::High, U32) => lanes!(isa; u32, u32 => u32; |a, b| ((u64::from(a) * u64::from(b)) >> 32) as u32),
        (Part::High, S32) => lanes!(isa; i32, i32 => i32; |a, b| high_s32(a, b)),
        (Part::High, U64) => lanes!(isa; u64, u64 => u64; |a, b| high_u64(a, b)),
        (Part::High, S64) => lanes!(isa; i64, i64 => i64; |a, b| high_s64(a, b)),
        (Part::Wide, U16) => {
            return Shape::two(lanes!(isa; u16, u16 => u32; |a, b| u32::from(a) * u32::from(b)), U32, ty, ty);
        }
        (Part::Wide, S16) => {
            return Shape::two(lanes!(isa; i16, i16 => i32; |a, b| i32::from(a) * i32::from(b)), S32, ty, ty);
        }
        (Part::Wide, U32) => {
            return Shape::two(lanes!(isa; u32, u32 => u64; |a, b| u64::from(a) * u64::from(b)), U64, ty, ty);
        }
        (Part::Wide, S32) => {
            return Shape::two(lanes!(isa; i32, i32 => i64; |a, b| i64::from(a) * i64::from(b)), S64, ty, ty);
        }
        _ => return None,
    };
    Shape::two(exec, ty, ty, ty)
}

fn mad(ty: Type, part: Part, isa: Isa) -> Option<Shape> {
    let exec = match (part, ty) {
        (Part::Low, U16 | S16) => lanes!(isa; u16, u16, u16 => u16; |a, b, c| a.wrapping_mul(b).wrapping_add(c)),
        (Part::Low, U32 | S32) => lanes!(isa; u32, u32, u32 => u32; |a, b, c| a.wrapping_mul(b).wrapping_add(c)),
        (Part::Low, U64 | S64) => lanes!(isa; u64, u64, u64 => u64; |a, b, c| a.wrapping_mul(b).wrapping_add(c)),
        (Part::High, U16) => {
            lanes!(isa; u16, u16, u16 => u16; |a, b, c| (((u32::from(a) * u32::from(b)) >> 16) as u16).wrapping_add(c))
        }
        (Part::High, S16) => {
            lanes!(isa; i16, i16, i16 => i16; |a, b, c| (((i32::from(a) * i32::from(b)) >> 16) as i16).wrapping_add(c))
        }
        (Part::High, U32) => {
            lanes!(isa; u32, u32, u32 => u32; |a, b, c| (((u64::from(a) * u64::from(b)) >> 32) as u32).wrapping_add(c))
        }
        (Part::High, S32) => lanes!(isa; i32, i32, i32 => i32; |a, b, c| high_s32(a, b).wrapping_add(c)),
        (Part::High, U64) => lanes!(isa; u64, u64, u64 => u64; |a, b, c| high_u64(a, b).wrapping_add(c)),
        (Part::High, S64) => lanes!(isa; i64, i64, i64 => i64; |a, b, c| high_s64(a, b).wrapping_add(c)),
        (Part::Wide, U16) => {
            let exec = lanes!(isa; u16, u16, u32 => u32; |a, b, c| (u32::from(a) * u32::from(b)).wrapping_add(c));
            return Shape::three(exec, U32, ty, ty, U32);
        }
        (Part::Wide, S16) => {
            let exec = lanes!(isa; i16, i16, i32 => i32; |a, b, c| (i32::from(a) * i32::from(b)).wrapping_add(c));
            return Shape::three(exec, S32, ty, ty, S32);
        }
        (Part::Wide, U32) => {
            let exec = lanes!(isa; u32, u32, u64 => u64; |a, b, c| (u64::from(a) * u64::from(b)).wrapping_add(c));
            return Shape::three(exec, U64, ty, ty, U64);
        }
        (Part::Wide, S32) => {
            let exec = lanes!(isa; i32, i32, i64 => i64; |a, b, c| (i64::from(a) * i64::from(b)).wrapping_add(c));
            return Shape::three(exec, S64, ty, ty, S64);
        }
        _ => return None,
    };
    Shape::three(exec, ty, ty, ty, ty)
}

#[inline(always)]
fn low24(a: u32) -> u64 {
    u64::from(a & 0x00ff_ffff)
}

#[inline(always)]
fn low24_signed(a: i32) -> i64 {
    i64::from(a << 8 >> 8)
}

/// The 48-bit product of two 24-bit integers: its low 32 bits, or those from bit 16 on.
fn product24(ty: Type, high: bool, add: bool, isa: Isa) -> Option<Shape> {
    let exec = match (ty, high, add) {
        (U32, false, false) => lanes!(isa; u32, u32 => u32; |a, b| (low24(a) * low24(b)) as u32),
        (U32, true, false) => lanes!(isa; u32, u32 => u32; |a, b| ((low24(a) * low24(b)) >> 16) as u32),
        (S32, false, false) => lanes!(isa; i32, i32 => i32; |a, b| (low24_signed(a) * low24_signed(b)) as i32),
        (S32, true, false) => lanes!(isa; i32, i32 => i32; |a, b| ((low24_signed(a) * low24_signed(b)) >> 16) as i32),
        (U32, false, true) => {
            lanes!(isa; u32, u32, u32 => u32; |a, b, c| ((low24(a) * low24(b)) as u32).wrapping_add(c))
        }
        (U32, true, true) => {
            lanes!(isa; u32, u32, u32 => u32; |a, b, c| (((low24(a) * low24(b)) >> 16) as u32).wrapping_add(c))
        }
        (S32, false, true) => lanes!(isa; i32, i32, i32 => i32; |a, b, c| {
            ((low24_signed(a) * low24_signed(b)) as i32).wrapping_add(c)
        }),
        (S32, true, true) => lanes!(isa; i32, i32, i32 => i32; |a, b, c| {
            (((low24_signed(a) * low24_signed(b)) >> 16) as i32).wrapping_add(c)
        }),
        _ => return None,
    };
    if add { Shape::three(exec, ty, ty, ty, ty) } else { Shape::two(exec, ty, ty, ty) }
}

#[inline(always)]
fn signed(byte: u8) -> i32 {
    i32::from(byte as i8)
}

#[inline(always)]
fn dot4(a: [i32; 4], b: [i32; 4], c: u32) -> u32 {
    c.wrapping_add((a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]) as u32)
}

/// Two 16-bit integers of `a` times two bytes of `b`.
fn dp2a(a: Type, b: Type, high: bool, isa: Isa) -> Option<Shape> {
    macro_rules! dot {
        ($x:ty, $y:ty, $first:literal) => {
            lanes!(isa; [u16; 2], [u8; 4], u32 => u32; |a, b, c| {
                let product = |i: usize| i32::from(a[i] as $x).wrapping_mul(i32::from(b[$first + i] as $y));
                c.wrapping_add(product(0) as u32).wrapping_add(product(1) as u32)
            })
        };
    }
    let exec = match (a, b, high) {
        (U32, U32, false) => dot!(u16, u8, 0),
        (U32, U32, true) => dot!(u16, u8, 2),
        (U32, S32, false) => dot!(u16, i8, 0),
        (U32, S32, true) => dot!(u16, i8, 2),
        (S32, U32, false) => dot!(i16, u8, 0),
        (S32, U32, true) => dot!(i16, u8, 2),
        (S32, S32, false) => dot!(i16, i8, 0),
        (S32, S32, true) => dot!(i16, i8, 2),
        _ => return None,
    };
    Shape::three(exec, U32, a, b, U32)
}
