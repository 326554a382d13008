//! `mov`: copies, addresses, and packing and unpacking of vectors.

use super::function::{Lowering, words_of};
use crate::LoadError;
use crate::alu::Form;
use crate::lanes::{Args, Exec, NARROW, WIDE, lanes};
use crate::program::{Constant, Op};
use crate::ptx::ast::{Instruction, Operand};
use crate::types::Type;

impl Lowering<'_> {
    pub(super) fn mov(&mut self, instruction: &Instruction, form: &mut Form<'_>) -> Result<(), LoadError> {
        let ty = form.ty().ok_or_else(|| form.unknown())?;
        form.finish()?;
        self.expect_operands(instruction, form, 2)?;
        let (to, from) = (&instruction.operands[0], &instruction.operands[1]);
        match (to, from) {
            (Operand::Vector(to), from) => self.unpack(instruction, form, ty, to, from),
            (to, Operand::Vector(from)) => self.pack(instruction, form, ty, to, from),
            _ => {
                let a = self.source(form, from, ty)?;
                let d = self.destination(form, to, ty)?;
                self.copy(instruction, d, a, words_of(ty))
            }
        }
    }

    fn copy(&mut self, instruction: &Instruction, d: u32, a: u32, words: u32) -> Result<(), LoadError> {
        let exec = copy(self.isa, words);
        if words == 2 * WIDE {
            self.after.push(Op::Compute(exec, Args { d: d + WIDE, a: a + WIDE, ..Args::default() }));
        }
        self.emit(instruction, Op::Compute(exec, Args { d, a, ..Args::default() }))
    }

    /// The first element goes to the lowest bits.
    fn pack(
        &mut self,
        instruction: &Instruction,
        form: &Form<'_>,
        ty: Type,
        to: &Operand,
        from: &[Operand],
    ) -> Result<(), LoadError> {
        let element = element(ty, from.len()).ok_or_else(|| form.operand("a vector that doesn't fit"))?;
        let mut rows = Vec::with_capacity(from.len());
        for operand in from {
            rows.push(self.source(form, operand, element)?);
        }
        let d = self.destination(form, to, ty)?;
        if ty.bits() == 128 {
            let copy = copy(self.isa, WIDE);
            self.after.push(Op::Compute(copy, Args { d: d + WIDE, a: rows[1], ..Args::default() }));
            return self.emit(instruction, Op::Compute(copy, Args { d, a: rows[0], ..Args::default() }));
        }
        // Halves are joined until one is left.
        let mut bits = element.bits();
        while rows.len() > 2 {
            let joined = join(self.isa, bits);
            let mut next = Vec::new();
            for pair in rows.chunks_exact(2) {
                let row = self.row(form.line(), if bits == 32 { WIDE } else { NARROW })?;
                self.step(form.line(), Op::Compute(joined, Args { d: row, a: pair[0], b: pair[1], ..Args::default() }));
                next.push(row);
            }
            rows = next;
            bits *= 2;
        }
        let args = Args { d, a: rows[0], b: rows[1], ..Args::default() };
        self.emit(instruction, Op::Compute(join(self.isa, bits), args))
    }

    fn unpack(
        &mut self,
        instruction: &Instruction,
        form: &Form<'_>,
        ty: Type,
        to: &[Operand],
        from: &Operand,
    ) -> Result<(), LoadError> {
        let element = element(ty, to.len()).ok_or_else(|| form.operand("a vector that doesn't fit"))?;
        let a = self.source(form, from, ty)?;
        if ty.bits() == 128 {
            let copy = copy(self.isa, WIDE);
            let high = self.destination(form, &to[1], element)?;
            let low = self.destination(form, &to[0], element)?;
            self.after.insert(0, Op::Compute(copy, Args { d: high, a: a + WIDE, ..Args::default() }));
            return self.emit(instruction, Op::Compute(copy, Args { d: low, a, ..Args::default() }));
        }
        let exec = part(self.isa, ty.bits(), element.bits());
        let mut parts = Vec::new();
        for (i, operand) in to.iter().enumerate() {
            if *operand == Operand::Sink {
                continue;
            }
            let shift = Constant::Bits(i as u64 * u64::from(element.bits()));
            let b = self.constant(form.line(), shift, NARROW)?;
            let d = self.destination(form, operand, element)?;
            parts.push(Op::Compute(exec, Args { d, a, b, ..Args::default() }));
        }
        // The source may be among the destinations' temporaries, never among the destinations: their sizes differ.
        let extensions = std::mem::take(&mut self.after);
        let mut parts = parts.into_iter();
        let Some(first) = parts.next() else { return self.emit(instruction, Op::Nop) };
        self.after.extend(parts);
        self.after.extend(extensions);
        self.emit(instruction, first)
    }
}

/// Type of each of `count` elements.
fn element(ty: Type, count: usize) -> Option<Type> {
    Some(match (ty.bits(), count) {
        (16, 2) | (32, 4) => Type::B8,
        (32, 2) | (64, 4) => Type::B16,
        (64, 2) => Type::B32,
        (128, 2) => Type::B64,
        _ => return None,
    })
}

pub(super) fn copy(isa: arith::simd::Isa, words: u32) -> Exec {
    match words {
        1 => lanes!(isa; bool => bool; |a| a),
        NARROW => lanes!(isa; u32 => u32; |a| a),
        _ => lanes!(isa; u64 => u64; |a| a),
    }
}

fn join(isa: arith::simd::Isa, bits: u32) -> Exec {
    match bits {
        8 => lanes!(isa; u8, u8 => u32; |a, b| u32::from(a) | u32::from(b) << 8),
        16 => lanes!(isa; u16, u16 => u32; |a, b| u32::from(a) | u32::from(b) << 16),
        _ => lanes!(isa; u32, u32 => u64; |a, b| u64::from(a) | u64::from(b) << 32),
    }
}

fn part(isa: arith::simd::Isa, whole: u32, bits: u32) -> Exec {
    match (whole, bits) {
        (64, 32) => lanes!(isa; u64, u32 => u32; |a, b| (a >> (b & 63)) as u32),
        (64, _) => lanes!(isa; u64, u32 => u16; |a, b| (a >> (b & 63)) as u16),
        (_, 16) => lanes!(isa; u32, u32 => u16; |a, b| (a >> (b & 31)) as u16),
        _ => lanes!(isa; u32, u32 => u8; |a, b| (a >> (b & 31)) as u8),
    }
}
