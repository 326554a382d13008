//! `atom` and `red`.

use super::function::{Lowering, words_of};
use super::memory::{strength, vector};
use crate::LoadError;
use crate::alu::Form;
use crate::lanes::{self, Half, NONE};
use crate::program::{Address, Atomic, Op};
use crate::ptx::ast::{Instruction, Operand};
use crate::types::Space;
use crate::types::Type::{self, *};

type Update = fn(u64, u64, u64) -> u64;

impl Lowering<'_> {
    pub(super) fn atomic(&mut self, instruction: &Instruction, form: &mut Form<'_>) -> Result<(), LoadError> {
        let returns = instruction.opcode == "atom";
        let strength = strength(form);
        let space = form.take_with(Space::parse).unwrap_or(Space::Generic);
        if !matches!(space, Space::Generic | Space::Global | Space::Shared) {
            return Err(form.unknown());
        }
        let operation = form
            .take_with(|name| {
                ["add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"]
                    .into_iter()
                    .find(|op| *op == name)
            })
            .ok_or_else(|| form.unknown())?;
        // `relaxed` and others may stand on either side of the space.
        let count = vector(form);
        let ty = form.ty().ok_or_else(|| form.unknown())?;
        form.finish()?;
        let update = update(operation, ty).ok_or_else(|| form.unknown())?;
        let vectors = operation == "add" && space != Space::Shared && ty.is_float() && ty != F64;
        if count > 1 && !vectors || count as u32 * ty.bytes() > 16 {
            return Err(form.unknown());
        }
        let compares = operation == "cas";
        let first = usize::from(returns);
        let expected = first + 2 + usize::from(compares) + usize::from(strength.policy);
        self.expect_operands(instruction, form, expected)?;
        let address = self.address(form, &instruction.operands[first])?;
        let (width, words, ordered) = (ty.bytes(), words_of(ty), strength.ordered);
        let c = if compares { self.source(form, &instruction.operands[first + 2], ty)? } else { NONE };
        let b = parts(form, &instruction.operands[first + 1], count)?;
        let d = if returns { parts(form, &instruction.operands[0], count)? } else { &[] };
        // Each element of a vector is an atomic operation of its own.
        let mut elements = Vec::with_capacity(count);
        for (i, b) in b.iter().enumerate() {
            let b = self.source(form, b, ty)?;
            let d = match d.get(i) {
                None | Some(Operand::Sink) => NONE,
                Some(operand) => self.destination(form, operand, ty)?,
            };
            let address = Address { offset: address.offset + i as i64 * i64::from(width), ..address };
            elements.push(Op::Atomic(Box::new(Atomic { space, width, update, d, b, c, words, address, ordered })));
        }
        let mut elements = elements.into_iter();
        let Some(element) = elements.next() else { return Err(form.unknown()) };
        self.after.splice(0..0, elements);
        self.emit(instruction, element)
    }
}

/// The operands in braces, or the one without.
fn parts<'o>(form: &Form<'_>, operand: &'o Operand, count: usize) -> Result<&'o [Operand], LoadError> {
    let parts = match operand {
        Operand::Vector(parts) => parts.as_slice(),
        single => std::slice::from_ref(single),
    };
    if parts.len() == count { Ok(parts) } else { Err(form.operand(format!("a vector of {count} elements is needed"))) }
}

fn update(operation: &str, ty: Type) -> Option<Update> {
    Some(match (operation, ty) {
        ("exch", B32 | B64 | B16 | U32 | U64 | S32 | S64 | F32 | F64) => |_, b, _| b,
        ("cas", B16) => |old, b, c| if old as u16 == b as u16 { c } else { old },
        ("cas", B32 | U32 | S32) => |old, b, c| if old as u32 == b as u32 { c } else { old },
        ("cas", B64 | U64 | S64) => |old, b, c| if old == b { c } else { old },
        ("and", B32 | B64) => |old, b, _| old & b,
        ("or", B32 | B64) => |old, b, _| old | b,
        ("xor", B32 | B64) => |old, b, _| old ^ b,
        ("add", U32 | S32 | U64 | S64) => |old, b, _| old.wrapping_add(b),
        ("min", U32 | U64) => |old, b, _| old.min(b),
        ("max", U32 | U64) => |old, b, _| old.max(b),
        ("min", S32) => |old, b, _| (old as i32).min(b as i32) as u32 as u64,
        ("max", S32) => |old, b, _| (old as i32).max(b as i32) as u32 as u64,
        ("min", S64) => |old, b, _| (old as i64).min(b as i64) as u64,
        ("max", S64) => |old, b, _| (old as i64).max(b as i64) as u64,
        ("inc", U32) => |old, b, _| if old >= b { 0 } else { old + 1 },
        ("dec", U32) => |old, b, _| if old == 0 || old > b { b } else { old - 1 },
        // In global memory the hardware adds with subnormals to zero: `f32` adds keep them here in every space.
        ("add", F32) => |old, b, _| {
            let sum = f32::from_bits(old as u32) + f32::from_bits(b as u32);
            if sum.is_nan() { 0x7fff_ffff } else { sum.to_bits().into() }
        },
        ("add", F64) => |old, b, _| (f64::from_bits(old) + f64::from_bits(b)).to_bits(),
        ("add", F16) => |old, b, _| add::<lanes::Ieee>(old, b),
        ("add", Bf16) => |old, b, _| add::<lanes::Brain>(old, b),
        ("add", F16x2) => |old, b, _| add::<lanes::Ieee>(old, b) | add::<lanes::Ieee>(old >> 16, b >> 16) << 16,
        ("add", Bf16x2) => |old, b, _| add::<lanes::Brain>(old, b) | add::<lanes::Brain>(old >> 16, b >> 16) << 16,
        _ => return None,
    })
}

fn add<H: Half>(a: u64, b: u64) -> u64 {
    let sum = H::from_bits(a as u16).to_f32() + H::from_bits(b as u16).to_f32();
    let sum = if sum.is_nan() { H::NAN } else { H::from_f32(sum) };
    sum.bits().into()
}
