//! From opcodes to those who lower them.

use super::function::Lowering;
use crate::LoadError;
use crate::alu::{self, Form, Shape};
use crate::lanes::{Args, Exec, NARROW, NONE};
use crate::program::{Constant, Op};
use crate::ptx::ast::{Instruction, Operand};
use crate::types::Type;

impl Lowering<'_> {
    pub(super) fn instruction(&mut self, instruction: &Instruction) -> Result<(), LoadError> {
        let mut form = Form::new(instruction);
        let form = &mut form;
        match instruction.opcode.as_str() {
            "mov" => self.mov(instruction, form),
            "ld" | "ldu" => self.load(instruction, form),
            "st" => self.store(instruction, form),
            "cvta" => self.cvta(instruction, form),
            "isspacep" => self.isspacep(instruction, form),
            "atom" | "red" => self.atomic(instruction, form),
            "cp" => self.copy_async(instruction, form),
            "prefetch" | "prefetchu" | "applypriority" | "discard" => self.cache_hint(instruction, form),
            "bra" | "brx" | "ret" | "exit" | "trap" | "brkpt" | "call" => self.control(instruction, form),
            "bar" | "barrier" => self.barrier(instruction, form),
            "membar" | "fence" => self.fence(instruction, form),
            "shfl" | "vote" | "match" | "redux" | "elect" | "activemask" => self.exchange(instruction, form),
            "ldmatrix" | "stmatrix" | "movmatrix" | "mma" => self.matrix(instruction, form),
            "wmma" => self.wmma(instruction, form),
            "mbarrier" => self.barrier_object(instruction, form),
            "alloca" | "stacksave" | "stackrestore" => self.stack(instruction, form),
            "nanosleep" => {
                form.take("u32");
                form.finish()?;
                self.emit(instruction, Op::Yield)
            }
            "pmevent" | "griddepcontrol" | "setmaxnreg" => self.nothing(instruction, form),
            "mapa" | "getctarank" => self.cluster(instruction, form),
            "createpolicy" => self.policy(instruction, form),
            "setp" | "set" => self.compare(instruction, form),
            "slct" => self.slct(instruction, form),
            "cvt" => {
                let mut trial = form.clone();
                let shape = alu::select_conversion(&mut trial, self.isa).ok_or_else(|| form.unknown())?;
                trial.finish()?;
                self.compute(instruction, form, &shape)
            }
            _ => {
                let mut trial = form.clone();
                if let Some(carrying) = alu::select_carry(&mut trial, self.isa) {
                    trial.finish()?;
                    return self.carrying(instruction, form, carrying);
                }
                let shape = alu::select(form, self.isa)?;
                self.compute(instruction, form, &shape)
            }
        }
    }

    /// An operation on rows, bound to its operands.
    pub(super) fn compute(
        &mut self,
        instruction: &Instruction,
        form: &Form<'_>,
        shape: &Shape,
    ) -> Result<(), LoadError> {
        let count = shape.sources.iter().flatten().count();
        self.expect_operands(instruction, form, count + 1)?;
        let mut args = Args { flags: shape.flags, ..Args::default() };
        for (i, ty) in shape.sources.iter().flatten().enumerate() {
            let operand = &instruction.operands[i + 1];
            let row = match (operand, ty) {
                (Operand::Not(inner), Type::Pred) => {
                    let row = self.source(form, inner, Type::Pred)?;
                    self.negated_predicate(form, row)?
                }
                _ => self.source(form, operand, *ty)?,
            };
            match i {
                0 => args.a = row,
                1 => args.b = row,
                2 => args.c = row,
                _ => args.x = row,
            }
        }
        // `set`-like destinations `p|q` have their own way.
        args.d = self.destination(form, &instruction.operands[0], shape.d)?;
        self.emit(instruction, Op::Compute(shape.exec, args))
    }

    pub(super) fn expect_operands(
        &self,
        instruction: &Instruction,
        form: &Form<'_>,
        count: usize,
    ) -> Result<(), LoadError> {
        if instruction.operands.len() == count {
            Ok(())
        } else {
            Err(form.operand(format!("{} operands, {count} are needed", instruction.operands.len())))
        }
    }

    pub(super) fn negated_predicate(&mut self, form: &Form<'_>, row: u32) -> Result<u32, LoadError> {
        let negated = self.row(form.line(), 1)?;
        let exec = crate::lanes::lanes!(self.isa; bool => bool; |a| !a);
        self.step(form.line(), Op::Compute(exec, Args { d: negated, a: row, ..Args::default() }));
        Ok(negated)
    }

    fn carrying(
        &mut self,
        instruction: &Instruction,
        form: &Form<'_>,
        carrying: crate::alu::Carrying,
    ) -> Result<(), LoadError> {
        let line = instruction.line;
        self.expect_operands(instruction, form, if carrying.three { 4 } else { 3 })?;
        let a = self.source(form, &instruction.operands[1], carrying.ty)?;
        let b = self.source(form, &instruction.operands[2], carrying.ty)?;
        let mut args = Args { a, b, ..Args::default() };
        if carrying.three {
            args.c = self.source(form, &instruction.operands[3], carrying.ty)?;
        }
        let carry = self.carry(line)?;
        args.x =
            if carrying.reads { carry } else { self.constant(line, Constant::Bits(carrying.initial.into()), NARROW)? };
        args.e = if carrying.writes { carry } else { NONE };
        args.d = self.destination(form, &instruction.operands[0], carrying.ty)?;
        self.emit(instruction, Op::Compute(carrying.exec, args))
    }

    /// `setp` to one or two predicates, and `set` to a value.
    fn compare(&mut self, instruction: &Instruction, form: &mut Form<'_>) -> Result<(), LoadError> {
        let unknown = form.unknown();
        let comparison = alu::select_comparison(form, self.isa).ok_or(unknown)?;
        let value = if instruction.opcode == "set" { Some(form.ty().ok_or_else(|| form.unknown())?) } else { None };
        form.finish()?;
        self.expect_operands(instruction, form, if comparison.join.is_some() { 4 } else { 3 })?;
        let a = self.source(form, &instruction.operands[1], comparison.ty)?;
        let b = self.source(form, &instruction.operands[2], comparison.ty)?;
        let mut args = Args { a, b, ..Args::default() };
        if let Some(join) = comparison.join {
            let (row, negated) = self.predicate(form, &instruction.operands[3])?;
            args.c = row;
            args.flags = join | u32::from(negated) << 2;
        }
        if let Some(ty) = value {
            return self.set(instruction, form, comparison, args, ty);
        }
        let (first, second) = match &instruction.operands[0] {
            Operand::Pair(first, second) => (&**first, Some(&**second)),
            single => (single, None),
        };
        args.d = self.destination(form, first, Type::Pred)?;
        let second = match second {
            Some(second) => self.destination(form, second, Type::Pred)?,
            None => NONE,
        };
        match comparison.upper {
            None => self.emit(instruction, Op::Compute(comparison.exec, Args { e: second, ..args })),
            Some(upper) => {
                if second != NONE {
                    self.after.push(Op::Compute(upper, Args { d: second, ..args }));
                }
                self.emit(instruction, Op::Compute(comparison.exec, args))
            }
        }
    }

    /// `set`: one, all ones, or zero by a comparison; of pairs one in each half.
    fn set(
        &mut self,
        instruction: &Instruction,
        form: &Form<'_>,
        comparison: alu::Comparison,
        args: Args,
        ty: Type,
    ) -> Result<(), LoadError> {
        let line = instruction.line;
        let one: u32 = match ty {
            Type::F32 => 1.0_f32.to_bits(),
            Type::F16 => 0x3c00,
            Type::Bf16 => 0x3f80,
            Type::F16x2 => 0x3c00_3c00,
            Type::Bf16x2 => 0x3f80_3f80,
            Type::U32 | Type::S32 => u32::MAX,
            Type::U16 | Type::S16 => 0xffff,
            _ => return Err(form.unknown()),
        };
        // Pairs give a pair, or a mask for each half.
        let pair = matches!(ty, Type::F16x2 | Type::Bf16x2);
        if pair != comparison.upper.is_some() && !(comparison.upper.is_some() && matches!(ty, Type::U32 | Type::S32)) {
            return Err(form.unknown());
        }
        let half = if comparison.upper.is_some() { one & 0xffff } else { one };
        let lower = self.outcome(line, comparison.exec, args, half)?;
        let d = self.destination(form, &instruction.operands[0], ty)?;
        let upper = match comparison.upper {
            Some(exec) => self.outcome(line, exec, args, one & 0xffff_0000)?,
            None => self.constant(line, Constant::Bits(0), NARROW)?,
        };
        let exec = crate::lanes::lanes!(self.isa; u32, u32 => u32; |a, b| a | b);
        self.emit(instruction, Op::Compute(exec, Args { d, a: lower, b: upper, ..Args::default() }))
    }

    /// A row with `one` where a comparison holds, else zero.
    fn outcome(&mut self, line: u32, comparison: Exec, args: Args, one: u32) -> Result<u32, LoadError> {
        let predicate = self.row(line, 1)?;
        self.step(line, Op::Compute(comparison, Args { d: predicate, ..args }));
        let a = self.constant(line, Constant::Bits(one.into()), NARROW)?;
        let b = self.constant(line, Constant::Bits(0), NARROW)?;
        let d = self.row(line, NARROW)?;
        let exec = crate::lanes::lanes!(self.isa; u32, u32, bool => u32; |a, b, p| if p { a } else { b });
        self.step(line, Op::Compute(exec, Args { d, a, b, c: predicate, ..Args::default() }));
        Ok(d)
    }

    /// `slct`: the first when the third isn't negative, else the second.
    fn slct(&mut self, instruction: &Instruction, form: &mut Form<'_>) -> Result<(), LoadError> {
        let line = instruction.line;
        let by = form.ty().ok_or_else(|| form.unknown())?;
        let ty = form.ty().ok_or_else(|| form.unknown())?;
        let ftz = by == Type::F32 && form.take("ftz");
        form.finish()?;
        self.expect_operands(instruction, form, 4)?;
        let isa = self.isa;
        let test = match by {
            Type::S32 => crate::lanes::lanes!(isa; i32 => bool; |c| c >= 0),
            // With subnormals to zero, a negative one is zero, which isn't negative.
            Type::F32 if ftz => crate::lanes::lanes!(isa; f32 => bool; |c| c > -f32::MIN_POSITIVE),
            Type::F32 => crate::lanes::lanes!(isa; f32 => bool; |c| c >= 0.0),
            _ => return Err(form.unknown()),
        };
        let choose = match ty.bits() {
            16 | 32 => crate::lanes::lanes!(isa; u32, u32, bool => u32; |a, b, p| if p { a } else { b }),
            64 => crate::lanes::lanes!(isa; u64, u64, bool => u64; |a, b, p| if p { a } else { b }),
            _ => return Err(form.unknown()),
        };
        let c = self.source(form, &instruction.operands[3], by)?;
        let outcome = self.row(line, 1)?;
        self.step(line, Op::Compute(test, Args { d: outcome, a: c, ..Args::default() }));
        let a = self.source(form, &instruction.operands[1], ty)?;
        let b = self.source(form, &instruction.operands[2], ty)?;
        let d = self.destination(form, &instruction.operands[0], ty)?;
        self.emit(instruction, Op::Compute(choose, Args { d, a, b, c: outcome, ..Args::default() }))
    }
}
