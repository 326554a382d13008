//! Instructions on two 16-bit or four 8-bit integers in a register (`vadd4` and its like), as CUDA's header has them:
//! whole registers, without masks or selectors, and a third operand that `.add` sums up with.

use arith::simd::Isa;

use super::{Form, Shape};
use crate::lanes::{Args, Exec, LANES, Lane};
use crate::types::Type::{self, *};

/// What is done with each part.
#[derive(Clone, Copy)]
enum Operation {
    Add,
    Sub,
    AbsoluteDifference,
    Min,
    Max,
}

impl Operation {
    fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "vadd" => Self::Add,
            "vsub" => Self::Sub,
            "vabsdiff" => Self::AbsoluteDifference,
            "vmin" => Self::Min,
            "vmax" => Self::Max,
            _ => return None,
        })
    }

    fn apply(self, a: i32, b: i32) -> i32 {
        match self {
            Self::Add => a + b,
            Self::Sub => a - b,
            Self::AbsoluteDifference => (a - b).abs(),
            Self::Min => a.min(b),
            Self::Max => a.max(b),
        }
    }
}

const SIGNED_A: u32 = 1;
const SIGNED_B: u32 = 2;
const SIGNED_D: u32 = 4;
const SATURATE: u32 = 8;
const SUM: u32 = 16;

pub(super) fn select(form: &mut Form<'_>, _: Isa) -> Option<Shape> {
    let (name, parts) = form.opcode().split_at_checked(form.opcode().len() - 1)?;
    let operation = Operation::parse(name)?;
    let (sum, saturate) = (form.take("add"), form.take("sat"));
    let sign = |ty: Type, flag: u32| match ty {
        U32 => Some(0),
        S32 => Some(flag),
        _ => None,
    };
    let mut flags = sign(form.ty()?, SIGNED_B)? | sign(form.ty()?, SIGNED_A)? | sign(form.ty()?, SIGNED_D)?;
    if sum && saturate {
        return None;
    }
    flags |= if saturate { SATURATE } else { 0 } | if sum { SUM } else { 0 };
    macro_rules! width {
        ($bits:literal) => {
            match operation {
                Operation::Add => run::<$bits, 0>,
                Operation::Sub => run::<$bits, 1>,
                Operation::AbsoluteDifference => run::<$bits, 2>,
                Operation::Min => run::<$bits, 3>,
                Operation::Max => run::<$bits, 4>,
            }
        };
    }
    let exec: Exec = match parts {
        "2" => width!(16),
        "4" => width!(8),
        _ => return None,
    };
    let mut shape = Shape::three(exec, U32, U32, U32, U32)?;
    shape.flags = flags;
    Some(shape)
}

const OPERATIONS: [Operation; 5] =
    [Operation::Add, Operation::Sub, Operation::AbsoluteDifference, Operation::Min, Operation::Max];

fn run<const BITS: u32, const OPERATION: usize>(file: &mut [u64], args: &Args, mask: u32) {
    let [a, b, c] = [args.a, args.b, args.c].map(|row| u32::load(file, row));
    let d =
        std::array::from_fn::<u32, LANES, _>(|i| parts(OPERATIONS[OPERATION], BITS, [a[i], b[i], c[i]], args.flags));
    u32::store(file, args.d, &d, mask);
}

fn parts(operation: Operation, bits: u32, [a, b, c]: [u32; 3], flags: u32) -> u32 {
    let part = |word: u32, shift: u32, signed: bool| {
        let high = word << (32 - bits - shift);
        if signed { high.cast_signed() >> (32 - bits) } else { (high >> (32 - bits)).cast_signed() }
    };
    let mask = (1_u32 << bits) - 1;
    let mut d = if flags & SUM != 0 { c } else { 0 };
    for shift in (0..32).step_by(bits as usize) {
        let value = operation.apply(part(a, shift, flags & SIGNED_A != 0), part(b, shift, flags & SIGNED_B != 0));
        let value = match (flags & SATURATE != 0, flags & SIGNED_D != 0) {
            (false, _) => value,
            (true, false) => value.clamp(0, mask.cast_signed()),
            (true, true) => value.clamp(-1 << (bits - 1), (mask >> 1).cast_signed()),
        };
        if flags & SUM != 0 {
            d = d.wrapping_add_signed(value);
        } else {
            d |= (value.cast_unsigned() & mask) << shift;
        }
    }
    d
}
