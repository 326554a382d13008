//! Instructions by which lanes learn of each other.

use super::function::Lowering;
use crate::LoadError;
use crate::alu::Form;
use crate::lanes::NONE;
use crate::program::{Exchange, ExchangeKind, Op};
use crate::ptx::ast::{Instruction, Operand};
use crate::types::Type;

impl Lowering<'_> {
    pub(super) fn exchange(&mut self, instruction: &Instruction, form: &mut Form<'_>) -> Result<(), LoadError> {
        let operands = instruction.operands.as_slice();
        let none = Exchange {
            kind: ExchangeKind::Elect,
            d: NONE,
            p: NONE,
            a: NONE,
            negated: false,
            b: NONE,
            c: NONE,
            members: NONE,
        };
        let sync = form.take("sync");
        // Old forms without `sync` mean the lanes that are there.
        let members = usize::from(sync);
        let exchange = match instruction.opcode.as_str() {
            "activemask" => {
                if form.ty() != Some(Type::B32) {
                    return Err(form.unknown());
                }
                form.finish()?;
                self.expect_operands(instruction, form, 1)?;
                let d = self.destination(form, &operands[0], Type::B32)?;
                return self.emit(instruction, Op::ActiveMask(d));
            }
            "shfl" => {
                let kind = form.take_with(|name| match name {
                    "up" => Some(ExchangeKind::ShuffleUp),
                    "down" => Some(ExchangeKind::ShuffleDown),
                    "bfly" => Some(ExchangeKind::ShuffleButterfly),
                    "idx" => Some(ExchangeKind::ShuffleIndex),
                    _ => None,
                });
                let kind = kind.ok_or_else(|| form.unknown())?;
                if form.ty() != Some(Type::B32) {
                    return Err(form.unknown());
                }
                self.expect_operands(instruction, form, 4 + members)?;
                let (d, p) = self.pair(form, &operands[0], Type::B32)?;
                let a = self.source(form, &operands[1], Type::B32)?;
                let b = self.source(form, &operands[2], Type::B32)?;
                let c = self.source(form, &operands[3], Type::B32)?;
                Exchange { kind, d, p, a, b, c, ..none }
            }
            "vote" => {
                let kind = form.take_with(|name| match name {
                    "all" => Some(ExchangeKind::VoteAll),
                    "any" => Some(ExchangeKind::VoteAny),
                    "uni" => Some(ExchangeKind::VoteUniform),
                    "ballot" => Some(ExchangeKind::Ballot),
                    _ => None,
                });
                let kind = kind.ok_or_else(|| form.unknown())?;
                let ty = form.ty();
                let wanted = if kind == ExchangeKind::Ballot { Type::B32 } else { Type::Pred };
                if ty != Some(wanted) {
                    return Err(form.unknown());
                }
                self.expect_operands(instruction, form, 2 + members)?;
                let (a, negated) = self.predicate(form, &operands[1])?;
                Exchange { kind, d: self.destination(form, &operands[0], wanted)?, a, negated, ..none }
            }
            "match" => {
                let all = form.take("all");
                if !sync || !all && !form.take("any") {
                    return Err(form.unknown());
                }
                let ty = form.ty().filter(|ty| matches!(ty, Type::B32 | Type::B64)).ok_or_else(|| form.unknown())?;
                self.expect_operands(instruction, form, 3)?;
                let wide = ty == Type::B64;
                let kind = if all { ExchangeKind::MatchAll { wide } } else { ExchangeKind::MatchAny { wide } };
                let a = self.source(form, &operands[1], ty)?;
                let (d, p) = self.pair(form, &operands[0], Type::B32)?;
                Exchange { kind, d, p, a, ..none }
            }
            "redux" => {
                if !sync {
                    return Err(form.unknown());
                }
                let operation =
                    form.take_with(|name| ["add", "min", "max", "and", "or", "xor"].into_iter().find(|op| *op == name));
                let (magnitude, nan) = (form.take("abs"), form.take("NaN"));
                let ty = form.ty();
                if (magnitude || nan) && ty != Some(Type::F32) {
                    return Err(form.unknown());
                }
                let kind = match (operation, ty) {
                    (Some(op @ ("min" | "max")), Some(Type::F32)) => {
                        ExchangeKind::ReduceFloat { greatest: op == "max", magnitude, nan }
                    }
                    (Some("add"), Some(Type::U32 | Type::S32)) => ExchangeKind::ReduceAdd,
                    (Some("min"), Some(ty @ (Type::U32 | Type::S32))) => {
                        ExchangeKind::ReduceMin { signed: ty.is_signed() }
                    }
                    (Some("max"), Some(ty @ (Type::U32 | Type::S32))) => {
                        ExchangeKind::ReduceMax { signed: ty.is_signed() }
                    }
                    (Some("and"), Some(Type::B32)) => ExchangeKind::ReduceAnd,
                    (Some("or"), Some(Type::B32)) => ExchangeKind::ReduceOr,
                    (Some("xor"), Some(Type::B32)) => ExchangeKind::ReduceXor,
                    _ => return Err(form.unknown()),
                };
                self.expect_operands(instruction, form, 3)?;
                let a = self.source(form, &operands[1], Type::B32)?;
                Exchange { kind, d: self.destination(form, &operands[0], Type::B32)?, a, ..none }
            }
            _ => {
                if !sync {
                    return Err(form.unknown());
                }
                self.expect_operands(instruction, form, 2)?;
                let (d, p) = self.pair(form, &operands[0], Type::B32)?;
                Exchange { d, p, ..none }
            }
        };
        form.finish()?;
        let members = match operands.last() {
            Some(operand) if sync => self.source(form, operand, Type::B32)?,
            _ => NONE,
        };
        self.emit(instruction, Op::Exchange(Box::new(Exchange { members, ..exchange })))
    }

    /// `d|p`, or `d` alone.
    fn pair(&mut self, form: &Form<'_>, operand: &Operand, ty: Type) -> Result<(u32, u32), LoadError> {
        match operand {
            Operand::Pair(d, p) => Ok((self.destination(form, d, ty)?, self.destination(form, p, Type::Pred)?)),
            single => Ok((self.destination(form, single, ty)?, NONE)),
        }
    }
}
