//! `alloca`, `stacksave`, `stackrestore`.

use super::function::{Lowering, words_of};
use crate::LoadError;
use crate::alu::Form;
use crate::program::Op;
use crate::ptx::ast::{Instruction, Operand};
use crate::types::Type;

/// Largest alignment of `alloca` in bytes.
const ALIGN: u64 = 1 << 10;

impl Lowering<'_> {
    pub(super) fn stack(&mut self, instruction: &Instruction, form: &mut Form<'_>) -> Result<(), LoadError> {
        let ty = form.ty().filter(|ty| matches!(ty, Type::U32 | Type::U64 | Type::B32 | Type::B64));
        let ty = ty.ok_or_else(|| form.unknown())?;
        form.finish()?;
        let operands = &instruction.operands;
        match instruction.opcode.as_str() {
            "stacksave" => {
                self.expect_operands(instruction, form, 1)?;
                let d = self.destination(form, &operands[0], ty)?;
                self.emit(instruction, Op::SaveStack { d, words: words_of(ty) })
            }
            "stackrestore" => {
                self.expect_operands(instruction, form, 1)?;
                let a = self.source(form, &operands[0], ty)?;
                self.emit(instruction, Op::RestoreStack { a, words: words_of(ty) })
            }
            _ => {
                let align = match operands.get(2) {
                    None => 8,
                    Some(&Operand::Integer(align)) if align.is_power_of_two() && align <= ALIGN => align,
                    Some(_) => return Err(form.operand(format!("the alignment is no power of two up to {ALIGN}"))),
                };
                if !(2..=3).contains(&operands.len()) {
                    return Err(form.operand(format!("{} operands, 2 or 3 are needed", operands.len())));
                }
                let bytes = match &operands[1] {
                    // A size of 32 bits is widened.
                    operand @ Operand::Name { .. } if ty.bits() == 32 => {
                        let narrow = self.source(form, operand, Type::U32)?;
                        let wide = self.row(form.line(), words_of(Type::U64))?;
                        let exec = crate::alu::widen(false, self.isa);
                        let args = crate::lanes::Args { d: wide, a: narrow, ..crate::lanes::Args::default() };
                        self.step(form.line(), Op::Compute(exec, args));
                        wide
                    }
                    operand => self.source(form, operand, Type::U64)?,
                };
                let d = if ty.bits() == 64 {
                    self.destination(form, &operands[0], ty)?
                } else {
                    let wide = self.row(form.line(), words_of(Type::U64))?;
                    let narrow = self.destination(form, &operands[0], ty)?;
                    let args = crate::lanes::Args { d: narrow, a: wide, ..crate::lanes::Args::default() };
                    self.after.insert(0, Op::Compute(crate::alu::narrow(self.isa), args));
                    wide
                };
                self.emit(instruction, Op::Allocate { d, bytes, align })
            }
        }
    }
}
