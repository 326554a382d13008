//! `cp.async` and `cp.async.bulk`.

use super::function::{Lowering, words_of};
use super::memory::strength;
use crate::LoadError;
use crate::alu::Form;
use crate::lanes::{NARROW, NONE, WIDE};
use crate::program::{Access, Address, BarrierObject, BarrierObjectKind, CopyAsync, CopyBulk, Op};
use crate::ptx::ast::{Instruction, Operand};
use crate::types::{Space, Type};

impl Lowering<'_> {
    /// `cp.async` copies at once; groups then have nothing left to wait for.
    pub(super) fn copy_async(&mut self, instruction: &Instruction, form: &mut Form<'_>) -> Result<(), LoadError> {
        if !form.take("async") {
            return Err(form.unknown());
        }
        if form.take("bulk") {
            return self.copy_bulk(instruction, form);
        }
        if form.take("mbarrier") {
            return self.arrive_after_copies(instruction, form);
        }
        if form.take("commit_group") || form.take("wait_all") {
            form.finish()?;
            self.expect_operands(instruction, form, 0)?;
            return self.emit(instruction, Op::Nop);
        }
        if form.take("wait_group") {
            form.finish()?;
            self.expect_operands(instruction, form, 1)?;
            return self.emit(instruction, Op::Nop);
        }
        let all = !form.take("ca");
        if all && !form.take("cg") {
            return Err(form.unknown());
        }
        let strength = strength(form);
        if form.take_with(Space::parse) != Some(Space::Shared) || form.take_with(Space::parse) != Some(Space::Global) {
            return Err(form.unknown());
        }
        form.finish()?;
        let operands = instruction.operands.len() - usize::from(strength.policy).min(instruction.operands.len());
        let Some(Operand::Integer(bytes)) = instruction.operands.get(2) else {
            return Err(form.operand("the number of bytes is no constant"));
        };
        let bytes = match (*bytes, all) {
            (16, _) => 16,
            (4 | 8, false) => *bytes as u32,
            _ => return Err(form.operand(format!("{bytes} bytes can't be copied"))),
        };
        let to = self.address(form, &instruction.operands[0])?;
        let from = self.address(form, &instruction.operands[1])?;
        let (mut source_bytes, mut ignore) = (NONE, NONE);
        if operands == 4 {
            match &instruction.operands[3] {
                Operand::Name { name, .. } => match self.register(form, name)? {
                    Some((row, 1, _)) => ignore = row,
                    Some((row, NARROW, _)) => source_bytes = row,
                    _ => return Err(form.operand("the size of the source is no register of 32 bits")),
                },
                other => source_bytes = self.source(form, other, Type::U32)?,
            }
        } else if operands != 3 {
            return Err(form.operand(format!("{operands} operands, 3 or 4 are needed")));
        }
        self.emit(instruction, Op::CopyAsync(Box::new(CopyAsync { to, from, bytes, source_bytes, ignore })))
    }

    /// `cp.async.mbarrier.arrive`: an arrival when the copies have ended, which is at once. Without `noinc` the barrier
    /// is first told of one arrival more, which leaves it as it was.
    fn arrive_after_copies(&mut self, instruction: &Instruction, form: &mut Form<'_>) -> Result<(), LoadError> {
        let (arrive, no_increment) = (form.take("arrive"), form.take("noinc"));
        let space = form.take_with(Space::parse).unwrap_or(Space::Generic);
        if !arrive || form.ty() != Some(Type::B64) {
            return Err(form.unknown());
        }
        form.finish()?;
        self.expect_operands(instruction, form, 1)?;
        let address = self.address(form, &instruction.operands[0])?;
        if !no_increment {
            return self.emit(instruction, Op::Nop);
        }
        let kind = BarrierObjectKind::Arrive { drop: false };
        let object = BarrierObject { kind, space, address, d: NONE, operand: NONE };
        self.emit(instruction, Op::BarrierObject(Box::new(object)))
    }

    /// `cp.async.bulk` between global and shared memory, done at once as well.
    fn copy_bulk(&mut self, instruction: &Instruction, form: &mut Form<'_>) -> Result<(), LoadError> {
        if form.take("commit_group") {
            form.finish()?;
            self.expect_operands(instruction, form, 0)?;
            return self.emit(instruction, Op::Nop);
        }
        if form.take("wait_group") {
            form.take("read");
            form.finish()?;
            self.expect_operands(instruction, form, 1)?;
            return self.emit(instruction, Op::Nop);
        }
        let (to, from) = (form.take_with(Space::parse), form.take_with(Space::parse));
        let (Some(to), Some(from)) = (to, from) else { return Err(form.unknown()) };
        let completes = form.take("mbarrier::complete_tx::bytes");
        let known = match (to, from) {
            (Space::Shared, Space::Global | Space::Shared) => completes,
            (Space::Global, Space::Shared) => form.take("bulk_group"),
            _ => false,
        };
        if !known {
            return Err(form.unknown());
        }
        let policy = strength(form).policy;
        form.finish()?;
        self.expect_operands(instruction, form, 3 + usize::from(completes) + usize::from(policy))?;
        let operands = &instruction.operands;
        let bytes = self.source(form, &operands[2], Type::U32)?;
        let barrier = if completes { Some(self.address(form, &operands[3])?) } else { None };
        let (to_address, from_address) = (self.address(form, &operands[0])?, self.address(form, &operands[1])?);
        // 16 bytes at a time, through rows of their own.
        let first = self.row(form.line(), words_of(Type::B128))?;
        let elements = vec![(first, WIDE), (first + WIDE, WIDE)];
        let access = |space, address: Address| Access {
            space,
            width: 8,
            signed: false,
            elements: elements.clone(),
            address,
            strong: false,
            ordered: false,
        };
        let copy = CopyBulk { to: access(to, to_address), from: access(from, from_address), bytes, barrier };
        self.emit(instruction, Op::CopyBulk(Box::new(copy)))
    }
}
