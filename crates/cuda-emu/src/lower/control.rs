//! Branches, calls, barriers, fences.

use super::function::{Lowering, words_of};
use super::scope::Entity;
use crate::LoadError;
use crate::alu::Form;
use crate::lanes::{NARROW, NONE};
use crate::program::{Barrier, Call, Constant, Op, Reduce, Reduction, Slot, Target};
use crate::ptx::ast::{Instruction, Operand};
use crate::types::Type;

impl Lowering<'_> {
    pub(super) fn control(&mut self, instruction: &Instruction, form: &mut Form<'_>) -> Result<(), LoadError> {
        match instruction.opcode.as_str() {
            "ret" | "exit" | "trap" | "brkpt" => {
                form.take("uni");
                form.finish()?;
                self.expect_operands(instruction, form, 0)?;
                let op = match instruction.opcode.as_str() {
                    "ret" => Op::Return,
                    "exit" => Op::Exit,
                    // Without a debugger a breakpoint ends the kernel.
                    _ => Op::Trap,
                };
                self.emit(instruction, op)
            }
            "bra" => {
                form.take("uni");
                form.finish()?;
                self.expect_operands(instruction, form, 1)?;
                let Operand::Name { name, offset: 0 } = &instruction.operands[0] else {
                    return Err(form.operand("the target is no label"));
                };
                let label = self.label(form.line(), name)?;
                self.emit(instruction, Op::Branch(label))
            }
            "brx" => {
                if !form.take("idx") {
                    return Err(form.unknown());
                }
                form.take("uni");
                form.finish()?;
                self.expect_operands(instruction, form, 2)?;
                let index = self.source(form, &instruction.operands[0], Type::U32)?;
                let Operand::Name { name, .. } = &instruction.operands[1] else {
                    return Err(form.operand("the targets are no list"));
                };
                let Some(Entity::Targets(names)) = self.scopes.find(name) else {
                    return Err(LoadError::Undeclared { line: form.line(), name: name.clone() });
                };
                let targets =
                    names.iter().map(|name| self.label(form.line(), name)).collect::<Result<Box<[u32]>, _>>()?;
                self.emit(instruction, Op::Switch { index, targets })
            }
            _ => self.call(instruction, form),
        }
    }

    fn call(&mut self, instruction: &Instruction, form: &mut Form<'_>) -> Result<(), LoadError> {
        form.take("uni");
        form.finish()?;
        let mut operands = instruction.operands.as_slice();
        let mut returns = Vec::new();
        if let Some(Operand::List(list)) = operands.first() {
            for operand in list {
                returns.push(self.slot_of(form, operand, true)?);
            }
            operands = &operands[1..];
        }
        let Some(Operand::Name { name, .. }) = operands.first() else {
            return Err(form.operand("no function is named"));
        };
        let mut arguments = Vec::new();
        if let Some(Operand::List(list)) = operands.get(1) {
            for operand in list {
                arguments.push(self.slot_of(form, operand, false)?);
            }
        }
        // What may stand behind is a prototype or a list of targets, which the operands tell already.
        let target = match self.scopes.find(name) {
            Some(Entity::Register { row, ty }) if ty.bits() == 64 => Target::Pointer(row),
            Some(_) => return Err(form.operand(format!("`{name}` can't be called"))),
            None => match self.functions.get(name) {
                Some(&index) => {
                    if !self.callees.contains(&index) {
                        self.callees.push(index);
                    }
                    Target::Function(index)
                }
                None => return Err(LoadError::Undeclared { line: form.line(), name: name.clone() }),
            },
        };
        self.emit(instruction, Op::Call(Box::new(Call { target, arguments, returns })))
    }

    fn slot_of(&mut self, form: &Form<'_>, operand: &Operand, write: bool) -> Result<Slot, LoadError> {
        if let Operand::Name { name, offset: 0 } = operand {
            match self.scopes.find(name) {
                Some(Entity::Frame { offset, bytes }) => return Ok(Slot::Frame { offset, bytes }),
                Some(Entity::Register { row, ty }) => return Ok(Slot::Register { row, words: words_of(ty) }),
                _ => {}
            }
        }
        match operand {
            Operand::Integer(_) | Operand::Single(_) if !write => {
                Ok(Slot::Register { row: self.source(form, operand, Type::B32)?, words: words_of(Type::B32) })
            }
            _ => Err(form.operand("an argument is neither a parameter nor a register")),
        }
    }

    pub(super) fn barrier(&mut self, instruction: &Instruction, form: &mut Form<'_>) -> Result<(), LoadError> {
        if form.take("warp") {
            form.take("sync");
            form.finish()?;
            self.expect_operands(instruction, form, 1)?;
            let members = self.source(form, &instruction.operands[0], Type::B32)?;
            return self.emit(instruction, Op::WarpSync(members));
        }
        if form.take("cluster") {
            return self.cluster_barrier(instruction, form);
        }
        form.take("cta");
        let old = instruction.opcode == "bar";
        let (sync, arrive, reduces) = (form.take("sync"), form.take("arrive"), form.take("red"));
        if u32::from(sync) + u32::from(arrive) + u32::from(reduces) != 1 {
            return Err(form.unknown());
        }
        let aligned = form.take("aligned") || old;
        let mut operands = instruction.operands.as_slice();
        let mut reduce = None;
        if reduces {
            let kind = form
                .take_with(|name| match name {
                    "popc" => Some(Reduction::Count),
                    "and" => Some(Reduction::All),
                    "or" => Some(Reduction::Any),
                    _ => None,
                })
                .ok_or_else(|| form.unknown())?;
            let ty = form.ty().ok_or_else(|| form.unknown())?;
            if ty != if kind == Reduction::Count { Type::U32 } else { Type::Pred } || operands.len() < 3 {
                return Err(form.unknown());
            }
            let (source, negated) = self.predicate(form, &operands[operands.len() - 1])?;
            let d = self.destination(form, &operands[0], ty)?;
            reduce = Some(Reduce { kind, d, source, negated });
            operands = &operands[1..operands.len() - 1];
        }
        form.finish()?;
        if operands.is_empty() || operands.len() > 2 || arrive && operands.len() != 2 {
            return Err(form.operand("a barrier has a number and perhaps a count"));
        }
        let id = self.source(form, &operands[0], Type::U32)?;
        let threads = match operands.get(1) {
            Some(operand) => self.source(form, operand, Type::U32)?,
            None => NONE,
        };
        self.emit(
            instruction,
            Op::Barrier(Box::new(Barrier { id, threads, aligned, waits: !arrive, cluster: false, reduce })),
        )
    }

    /// A cluster has one block: to wait is to meet, and to arrive is nothing.
    fn cluster_barrier(&mut self, instruction: &Instruction, form: &mut Form<'_>) -> Result<(), LoadError> {
        let (arrive, wait) = (form.take("arrive"), form.take("wait"));
        while ["acquire", "release", "relaxed"].into_iter().any(|order| form.take(order)) {}
        let aligned = form.take("aligned");
        form.finish()?;
        self.expect_operands(instruction, form, 0)?;
        if arrive == wait {
            return Err(form.unknown());
        }
        if arrive {
            return self.emit(instruction, Op::Nop);
        }
        let id = self.constant(form.line(), Constant::Bits(Barrier::CLUSTER.into()), NARROW)?;
        let barrier = Barrier { id, threads: NONE, aligned, waits: true, cluster: true, reduce: None };
        self.emit(instruction, Op::Barrier(Box::new(barrier)))
    }

    pub(super) fn fence(&mut self, instruction: &Instruction, form: &mut Form<'_>) -> Result<(), LoadError> {
        let mut wide = false;
        let mut known = false;
        if form.take("proxy") {
            // Proxies are one here.
            form.take_with(|name| {
                ["alias", "async", "async.global", "tensormap::generic"].contains(&name).then_some(())
            });
            form.take_with(crate::types::Space::parse);
            form.finish()?;
            return self.emit(instruction, Op::Fence { wide });
        }
        // Whose order it is matters to nobody here.
        form.take("mbarrier_init");
        form.take_with(|name| name.starts_with("sync_restrict::").then_some(()));
        while let Some(scope) = form.take_with(|name| match name {
            "gl" | "gpu" | "sys" => Some(true),
            "cta" | "cluster" | "sc" | "acq_rel" | "acquire" | "release" => Some(false),
            _ => None,
        }) {
            wide |= scope;
            known = true;
        }
        form.finish()?;
        if !known {
            return Err(form.unknown());
        }
        self.expect_operands(instruction, form, 0)?;
        self.emit(instruction, Op::Fence { wide })
    }
}
