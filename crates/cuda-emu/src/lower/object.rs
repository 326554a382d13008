//! `mbarrier`: barriers that are objects in shared memory.

use super::function::Lowering;
use super::memory::strength;
use crate::LoadError;
use crate::alu::Form;
use crate::lanes::{Args, NONE, lanes};
use crate::program::{BarrierObject, BarrierObjectKind as Kind, Op};
use crate::ptx::ast::{Instruction, Operand};
use crate::types::{Space, Type};

impl Lowering<'_> {
    pub(super) fn barrier_object(&mut self, instruction: &Instruction, form: &mut Form<'_>) -> Result<(), LoadError> {
        let operation = form
            .take_with(|name| {
                let all = [
                    "init",
                    "inval",
                    "arrive",
                    "arrive_drop",
                    "expect_tx",
                    "complete_tx",
                    "test_wait",
                    "try_wait",
                    "pending_count",
                ];
                all.into_iter().find(|operation| *operation == name)
            })
            .ok_or_else(|| form.unknown())?;
        let arrives = operation.starts_with("arrive");
        let expects = arrives && form.take("expect_tx");
        // An arrival that doesn't complete the phase, as the program promises.
        let counted = arrives && !expects && form.take("noComplete");
        let parity = operation.ends_with("wait") && form.take("parity");
        strength(form);
        let space = form.take_with(Space::parse).unwrap_or(Space::Generic);
        if !matches!(space, Space::Shared | Space::Generic) || form.ty() != Some(Type::B64) {
            return Err(form.unknown());
        }
        form.finish()?;
        let operands = instruction.operands.as_slice();
        if operation == "pending_count" {
            return self.pending_count(instruction, form);
        }
        let gives = arrives || operation.ends_with("wait");
        let kind = match operation {
            "init" => Kind::Init,
            "inval" => Kind::Invalidate,
            "arrive" | "arrive_drop" if expects => Kind::ArriveExpecting { drop: operation == "arrive_drop" },
            "arrive" | "arrive_drop" => Kind::Arrive { drop: operation == "arrive_drop" },
            "expect_tx" => Kind::ExpectBytes,
            "complete_tx" => Kind::CompleteBytes,
            _ if parity => Kind::WaitParity,
            _ => Kind::WaitState,
        };
        // Arrivals at barriers of other blocks give no state.
        let shift = usize::from(gives && !matches!(operands.first(), Some(Operand::Memory(..))));
        let needed = match operation {
            "inval" => shift + 1..=shift + 1,
            "arrive" | "arrive_drop" if !expects && !counted => shift + 1..=shift + 2,
            // The longest time that a wait may be suspended.
            "try_wait" => shift + 2..=shift + 3,
            _ => shift + 2..=shift + 2,
        };
        if !needed.contains(&operands.len()) {
            return Err(form.operand(format!("{} operands, {needed:?} are needed", operands.len())));
        }
        let ty = if kind == Kind::WaitState { Type::B64 } else { Type::U32 };
        let operand = match operands.get(shift + 1) {
            Some(operand) => self.source(form, operand, ty)?,
            None => NONE,
        };
        let address = self.address(form, &operands[shift])?;
        let result = if operation.ends_with("wait") { Type::Pred } else { Type::B64 };
        let d = if shift == 1 { self.destination(form, &operands[0], result)? } else { NONE };
        self.emit(instruction, Op::BarrierObject(Box::new(BarrierObject { kind, space, address, d, operand })))
    }

    fn pending_count(&mut self, instruction: &Instruction, form: &Form<'_>) -> Result<(), LoadError> {
        self.expect_operands(instruction, form, 2)?;
        let a = self.source(form, &instruction.operands[1], Type::B64)?;
        let d = self.destination(form, &instruction.operands[0], Type::U32)?;
        let exec = lanes!(self.isa; u64 => u32; |state| crate::exec::pending(state));
        self.emit(instruction, Op::Compute(exec, Args { d, a, ..Args::default() }))
    }
}
