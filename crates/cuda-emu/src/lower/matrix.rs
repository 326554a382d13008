//! `ldmatrix`, `stmatrix` and `mma.sync`.

use super::function::Lowering;
use crate::LoadError;
use crate::alu::Form;
use crate::lanes::NARROW;
use crate::program::{LoadMatrix, Multiply, MultiplyInput, Op};
use crate::ptx::ast::{Instruction, Operand};
use crate::types::{Space, Type};

impl Lowering<'_> {
    pub(super) fn matrix(&mut self, instruction: &Instruction, form: &mut Form<'_>) -> Result<(), LoadError> {
        if !form.take("sync") {
            return Err(form.unknown());
        }
        form.take("aligned");
        if instruction.opcode == "mma" { self.multiply(instruction, form) } else { self.move_matrix(instruction, form) }
    }

    fn move_matrix(&mut self, instruction: &Instruction, form: &mut Form<'_>) -> Result<(), LoadError> {
        let store = instruction.opcode == "stmatrix";
        let count = form
            .take_with(|name| match name {
                "x1" => Some(1),
                "x2" => Some(2),
                "x4" => Some(4),
                _ => None,
            })
            .ok_or_else(|| form.unknown())?;
        if !form.take("m8n8") {
            return Err(form.unknown());
        }
        let transposed = form.take("trans");
        let space = form.take_with(Space::parse).unwrap_or(Space::Generic);
        if !matches!(space, Space::Shared | Space::Generic) || form.ty() != Some(Type::B16) {
            return Err(form.unknown());
        }
        form.finish()?;
        self.expect_operands(instruction, form, 2)?;
        let (value, place) = if store { (1, 0) } else { (0, 1) };
        let address = self.address(form, &instruction.operands[place])?;
        let registers = self.registers(form, &instruction.operands[value], count, !store)?;
        self.emit(instruction, Op::LoadMatrix(Box::new(LoadMatrix { store, transposed, registers, address, space })))
    }

    fn registers(
        &mut self,
        form: &Form<'_>,
        operand: &Operand,
        count: usize,
        write: bool,
    ) -> Result<Vec<u32>, LoadError> {
        let elements = self.elements(form, operand, Type::B32, write)?;
        if elements.len() != count || elements.iter().any(|&(row, words)| words != NARROW || row == u32::MAX) {
            return Err(form.operand(format!("{count} registers of 32 bits are needed")));
        }
        Ok(elements.into_iter().map(|(row, _)| row).collect())
    }

    /// Fragments have a fixed number of registers: `a` m*k, `b` k*n, `c` and `d` m*n elements over 32 lanes.
    fn multiply(&mut self, instruction: &Instruction, form: &mut Form<'_>) -> Result<(), LoadError> {
        let shape = form.take_with(|name| match name {
            "m16n8k4" => Some(4),
            "m16n8k8" => Some(8),
            "m16n8k16" => Some(16),
            _ => None,
        });
        let k: usize = shape.ok_or_else(|| form.unknown())?;
        if !form.take("row") || !form.take("col") {
            return Err(form.unknown());
        }
        let c = form.ty();
        let b = form.ty();
        let a = form.ty();
        let d = form.ty();
        form.finish()?;
        let half = |ty| match ty {
            Some(Type::F16) => Ok(true),
            Some(Type::F32) => Ok(false),
            _ => Err(form.unknown()),
        };
        let input = match (a, b, k) {
            (Some(Type::F16), Some(Type::F16), 8 | 16) => MultiplyInput::F16,
            (Some(Type::Bf16), Some(Type::Bf16), 8 | 16) => MultiplyInput::Bf16,
            (Some(Type::Tf32), Some(Type::Tf32), 4 | 8) => MultiplyInput::Tf32,
            _ => return Err(form.unknown()),
        };
        let half = (half(d)?, half(c)?);
        if input != MultiplyInput::F16 && half != (false, false) {
            return Err(form.unknown());
        }
        self.expect_operands(instruction, form, 4)?;
        let per_register = if input == MultiplyInput::Tf32 { 1 } else { 2 };
        let operands = &instruction.operands;
        let accumulators = |half| if half { 2 } else { 4 };
        let a = self.registers(form, &operands[1], 16 * k / 32 / per_register, false)?;
        let b = self.registers(form, &operands[2], 8 * k / 32 / per_register, false)?;
        let c = self.registers(form, &operands[3], accumulators(half.1), false)?;
        let d = self.registers(form, &operands[0], accumulators(half.0), true)?;
        self.emit(instruction, Op::Multiply(Box::new(Multiply { k, input, half, d, a, b, c })))
    }
}
