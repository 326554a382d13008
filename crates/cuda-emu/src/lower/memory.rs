//! Loads, stores, address conversions.

use super::function::Lowering;
use crate::LoadError;
use crate::alu::Form;
use crate::lanes::{Args, lanes};
use crate::memory::layout::{LOCAL, PARAMETERS, SHARED, WINDOW};
use crate::program::{Access, Op};
use crate::ptx::ast::Instruction;
use crate::types::{Space, Type};

/// What modifiers say about order and caches.
pub(super) struct Strength {
    pub(super) strong: bool,
    pub(super) ordered: bool,
    /// Whether a cache policy stands behind the other operands.
    pub(super) policy: bool,
}

/// Takes semantics, scopes and hints, in any order.
pub(super) fn strength(form: &mut Form<'_>) -> Strength {
    let mut strength = Strength { strong: false, ordered: false, policy: false };
    loop {
        let taken = form.take_with(|name| match name {
            "weak" | "cta" | "cluster" | "gpu" | "sys" | "ca" | "cg" | "cs" | "lu" | "cv" | "nc" | "wb" | "wt"
            | "unified" | "noftz" => Some(0),
            "volatile" | "relaxed" | "mmio" => Some(1),
            "acquire" | "release" | "acq_rel" | "sc" => Some(2),
            "L2::cache_hint" | "level::cache_hint" => Some(3),
            _ if name.starts_with("L1::") || name.starts_with("L2::") || name.starts_with("level::") => Some(0),
            _ => None,
        });
        match taken {
            None => return strength,
            Some(1) => strength.strong = true,
            Some(2) => {
                strength.strong = true;
                strength.ordered = true;
            }
            Some(3) => strength.policy = true,
            Some(_) => {}
        }
    }
}

/// Elements of a vector, one without.
pub(super) fn vector(form: &mut Form<'_>) -> usize {
    form.take_with(|name| match name {
        "v2" => Some(2),
        "v4" => Some(4),
        "v8" => Some(8),
        _ => None,
    })
    .unwrap_or(1)
}

impl Lowering<'_> {
    fn access(&mut self, instruction: &Instruction, form: &mut Form<'_>, write: bool) -> Result<Access, LoadError> {
        let strength = strength(form);
        let space = form.take_with(Space::parse).unwrap_or(Space::Generic);
        let count = vector(form);
        let ty = form.ty().ok_or_else(|| form.unknown())?;
        form.finish()?;
        if ty == Type::Pred || write && space == Space::Const {
            return Err(form.unknown());
        }
        let expected = 2 + usize::from(strength.policy);
        self.expect_operands(instruction, form, expected)?;
        let (value, place) = if write { (1, 0) } else { (0, 1) };
        let place = &instruction.operands[place];
        let space = if space == Space::Param { self.parameter_space(place) } else { space };
        if write && space == Space::Param {
            return Err(form.operand("parameters of a kernel can't be written"));
        }
        let address = self.address(form, place)?;
        let elements = self.elements(form, &instruction.operands[value], ty, !write)?;
        if elements.len() != count * if ty.bits() == 128 { 2 } else { 1 } {
            return Err(form.operand(format!("a vector of {} elements, {count} are needed", elements.len())));
        }
        Ok(Access {
            space,
            width: ty.bytes().min(8),
            signed: ty.is_signed(),
            elements,
            address,
            strong: strength.strong,
            ordered: strength.ordered,
        })
    }

    pub(super) fn load(&mut self, instruction: &Instruction, form: &mut Form<'_>) -> Result<(), LoadError> {
        let access = self.access(instruction, form, false)?;
        self.emit(instruction, Op::Load(Box::new(access)))
    }

    pub(super) fn store(&mut self, instruction: &Instruction, form: &mut Form<'_>) -> Result<(), LoadError> {
        let access = self.access(instruction, form, true)?;
        self.emit(instruction, Op::Store(Box::new(access)))
    }

    /// Global and constant addresses are generic ones; the other spaces have windows.
    pub(super) fn cvta(&mut self, instruction: &Instruction, form: &mut Form<'_>) -> Result<(), LoadError> {
        let to = form.take("to");
        let space = form.take_with(Space::parse).ok_or_else(|| form.unknown())?;
        let ty = form.ty().filter(|ty| matches!(ty, Type::U64 | Type::B64)).ok_or_else(|| form.unknown())?;
        form.finish()?;
        self.expect_operands(instruction, form, 2)?;
        let space = if space == Space::Param && !self.entry { Space::Local } else { space };
        let isa = self.isa;
        let exec = match (space, to) {
            (Space::Shared, false) => lanes!(isa; u64 => u64; |a| a.wrapping_add(SHARED)),
            (Space::Shared, true) => lanes!(isa; u64 => u64; |a| a.wrapping_sub(SHARED)),
            (Space::Local, false) => lanes!(isa; u64 => u64; |a| a.wrapping_add(LOCAL)),
            (Space::Local, true) => lanes!(isa; u64 => u64; |a| a.wrapping_sub(LOCAL)),
            (Space::Param, false) => lanes!(isa; u64 => u64; |a| a.wrapping_add(PARAMETERS)),
            (Space::Param, true) => lanes!(isa; u64 => u64; |a| a.wrapping_sub(PARAMETERS)),
            _ => lanes!(isa; u64 => u64; |a| a),
        };
        let a = self.source(form, &instruction.operands[1], ty)?;
        let d = self.destination(form, &instruction.operands[0], ty)?;
        self.emit(instruction, Op::Compute(exec, Args { d, a, ..Args::default() }))
    }

    pub(super) fn isspacep(&mut self, instruction: &Instruction, form: &mut Form<'_>) -> Result<(), LoadError> {
        let space = form.take_with(Space::parse).ok_or_else(|| form.unknown())?;
        form.finish()?;
        self.expect_operands(instruction, form, 2)?;
        let isa = self.isa;
        let exec = match space {
            Space::Shared => lanes!(isa; u64 => bool; |a| a.wrapping_sub(SHARED) < WINDOW),
            Space::Local => lanes!(isa; u64 => bool; |a| a.wrapping_sub(LOCAL) < WINDOW),
            Space::Param => lanes!(isa; u64 => bool; |a| a.wrapping_sub(PARAMETERS) < WINDOW),
            Space::Global => lanes!(isa; u64 => bool; |a| a >= PARAMETERS + WINDOW),
            _ => lanes!(isa; u64 => bool; |_| false),
        };
        let a = self.source(form, &instruction.operands[1], Type::U64)?;
        let d = self.destination(form, &instruction.operands[0], Type::Pred)?;
        self.emit(instruction, Op::Compute(exec, Args { d, a, ..Args::default() }))
    }
}
