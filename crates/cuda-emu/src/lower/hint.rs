//! Instructions that tell the hardware something and change no result: caches, registers, the grid that comes next, and
//! clusters, which have one block here.

use super::function::{Lowering, words_of};
use super::memory::strength;
use super::moves::copy;
use crate::LoadError;
use crate::alu::Form;
use crate::lanes::Args;
use crate::program::{Constant, Op};
use crate::ptx::ast::{Instruction, Operand};
use crate::types::{Space, Type};

impl Lowering<'_> {
    /// `prefetch`, `applypriority`, `discard`.
    pub(super) fn cache_hint(&mut self, instruction: &Instruction, form: &mut Form<'_>) -> Result<(), LoadError> {
        form.take("tensormap");
        while form.take("L1") || form.take("L2") {}
        strength(form);
        form.take_with(Space::parse);
        form.finish()?;
        let Some(place) = instruction.operands.first() else { return Err(form.operand("an address is missing")) };
        self.address(form, place)?;
        self.emit(instruction, Op::Nop)
    }

    /// `griddepcontrol`, `setmaxnreg`, `pmevent`.
    pub(super) fn nothing(&mut self, instruction: &Instruction, form: &mut Form<'_>) -> Result<(), LoadError> {
        let (known, operands) = match instruction.opcode.as_str() {
            "griddepcontrol" => (form.take("wait") || form.take("launch_dependents"), 0),
            "setmaxnreg" => {
                let known = form.take("inc") || form.take("dec");
                (known && form.take("sync") && form.take("aligned") && form.ty() == Some(Type::U32), 1)
            }
            _ => {
                form.take("mask");
                (true, 1)
            }
        };
        if !known {
            return Err(form.unknown());
        }
        form.finish()?;
        self.expect_operands(instruction, form, operands)?;
        self.emit(instruction, Op::Nop)
    }

    /// `createpolicy`: a policy is a number that nothing looks into.
    pub(super) fn policy(&mut self, instruction: &Instruction, form: &mut Form<'_>) -> Result<(), LoadError> {
        if !["fractional", "range", "cvt"].into_iter().any(|kind| form.take(kind)) || form.ty() != Some(Type::B64) {
            return Err(form.unknown());
        }
        form.take("L2");
        strength(form);
        form.take_with(Space::parse);
        form.finish()?;
        let Some(d) = instruction.operands.first() else { return Err(form.operand("a destination is missing")) };
        self.give(instruction, form, d, Type::B64, Constant::Bits(0))
    }

    /// `mapa`: the same place in another block of the cluster, of which there is none; `getctarank`: the block's number.
    pub(super) fn cluster(&mut self, instruction: &Instruction, form: &mut Form<'_>) -> Result<(), LoadError> {
        form.take_with(Space::parse);
        let ty = form.ty().filter(|ty| matches!(ty, Type::U32 | Type::U64)).ok_or_else(|| form.unknown())?;
        form.finish()?;
        let operands = &instruction.operands;
        if instruction.opcode == "getctarank" {
            self.expect_operands(instruction, form, 2)?;
            return self.give(instruction, form, &operands[0], Type::U32, Constant::Bits(0));
        }
        self.expect_operands(instruction, form, 3)?;
        let a = self.source(form, &operands[1], ty)?;
        let d = self.destination(form, &operands[0], ty)?;
        let exec = copy(self.isa, words_of(ty));
        self.emit(instruction, Op::Compute(exec, Args { d, a, ..Args::default() }))
    }

    /// A constant to a register.
    fn give(
        &mut self,
        instruction: &Instruction,
        form: &Form<'_>,
        d: &Operand,
        ty: Type,
        value: Constant,
    ) -> Result<(), LoadError> {
        let words = words_of(ty);
        let a = self.constant(form.line(), value, words)?;
        let d = self.destination(form, d, ty)?;
        self.emit(instruction, Op::Compute(copy(self.isa, words), Args { d, a, ..Args::default() }))
    }
}
