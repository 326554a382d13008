//! `ldmatrix`, `stmatrix`, `movmatrix` and `mma.sync`.

use super::function::{Lowering, words_of};
use crate::LoadError;
use crate::alu::Form;
use crate::lanes::NONE;
use crate::program::{Element, Fragment, Layout, LoadMatrix, Multiply, Op};
use crate::ptx::ast::{Instruction, Operand};
use crate::types::{Space, Type};

impl Element {
    pub(super) fn of(ty: Type) -> Option<Self> {
        Some(match ty {
            Type::F16 => Self::F16,
            Type::Bf16 => Self::Bf16,
            Type::Tf32 => Self::Tf32,
            Type::F32 => Self::F32,
            Type::F64 => Self::F64,
            Type::S8 => Self::S8,
            Type::U8 => Self::U8,
            Type::S32 => Self::S32,
            _ => return None,
        })
    }

    /// Size in bytes.
    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::S8 | Self::U8 => 1,
            Self::F16 | Self::Bf16 => 2,
            Self::Tf32 | Self::F32 | Self::S32 => 4,
            Self::F64 => 8,
        }
    }

    /// Elements in a register.
    pub(crate) fn per_register(self) -> usize {
        (4 / self.bytes()).max(1)
    }

    pub(super) fn is_integer(self) -> bool {
        matches!(self, Self::S8 | Self::U8 | Self::S32)
    }

    /// Type of a register that holds them.
    pub(super) fn register(self) -> Type {
        if self == Self::F64 { Type::B64 } else { Type::B32 }
    }
}

/// `m`, `n` and `k` of a shape's name: `m16n8k16`.
pub(super) fn shape(name: &str) -> Option<[usize; 3]> {
    let (m, rest) = name.strip_prefix('m')?.split_once('n')?;
    let (n, k) = rest.split_once('k')?;
    Some([m.parse().ok()?, n.parse().ok()?, k.parse().ok()?])
}

impl Lowering<'_> {
    pub(super) fn matrix(&mut self, instruction: &Instruction, form: &mut Form<'_>) -> Result<(), LoadError> {
        if !form.take("sync") {
            return Err(form.unknown());
        }
        form.take("aligned");
        match instruction.opcode.as_str() {
            "mma" => self.multiply(instruction, form),
            "movmatrix" => self.transpose(instruction, form),
            _ => self.move_matrix(instruction, form),
        }
    }

    fn transpose(&mut self, instruction: &Instruction, form: &mut Form<'_>) -> Result<(), LoadError> {
        if !form.take("m8n8") || !form.take("trans") || form.ty() != Some(Type::B16) {
            return Err(form.unknown());
        }
        form.finish()?;
        self.expect_operands(instruction, form, 2)?;
        let a = self.source(form, &instruction.operands[1], Type::B32)?;
        let d = self.destination(form, &instruction.operands[0], Type::B32)?;
        self.emit(instruction, Op::TransposeMatrix(d, a))
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
        let registers = self.registers(form, &instruction.operands[value], Type::B32, count, !store)?;
        self.emit(instruction, Op::LoadMatrix(Box::new(LoadMatrix { store, transposed, registers, address, space })))
    }

    /// Rows of so many registers of a type of 32 or 64 bits.
    fn registers(
        &mut self,
        form: &Form<'_>,
        operand: &Operand,
        ty: Type,
        count: usize,
        write: bool,
    ) -> Result<Vec<u32>, LoadError> {
        let elements = self.elements(form, operand, ty, write)?;
        if elements.len() != count || elements.iter().any(|&(row, words)| words != words_of(ty) || row == NONE) {
            return Err(form.operand(format!("{count} registers of {} bits are needed", ty.bits())));
        }
        Ok(elements.into_iter().map(|(row, _)| row).collect())
    }

    /// A fragment of `count` registers.
    pub(super) fn fragment(
        &mut self,
        form: &Form<'_>,
        operand: &Operand,
        (element, [rows, columns]): (Element, [usize; 2]),
        (layout, count): (Layout, usize),
        write: bool,
    ) -> Result<Fragment, LoadError> {
        let registers = self.registers(form, operand, element.register(), count, write)?;
        Ok(Fragment { element, rows, columns, registers, layout })
    }

    /// Fragments have as many registers as 32 lanes need for `a` (m*k), `b` (k*n), `c` and `d` (m*n elements).
    fn multiply(&mut self, instruction: &Instruction, form: &mut Form<'_>) -> Result<(), LoadError> {
        let [m, n, k] = form.take_with(shape).ok_or_else(|| form.unknown())?;
        if !form.take("row") || !form.take("col") {
            return Err(form.unknown());
        }
        // Of doubles the rounding may be said, wherever.
        let (saturates, rounds) = (form.take("satfinite"), form.take("rn"));
        let [c, b, a, d] = [(); 4].map(|()| form.ty().and_then(Element::of));
        if rounds && a != Some(Element::F64) {
            return Err(form.unknown());
        }
        form.finish()?;
        let (Some(a), Some(b), Some(c), Some(d)) = (a, b, c, d) else { return Err(form.unknown()) };
        if !exists([m, n, k], [a, b, c, d]) || saturates && !a.is_integer() {
            return Err(form.unknown());
        }
        self.expect_operands(instruction, form, 4)?;
        let operands = &instruction.operands;
        let count = |element: Element, [rows, columns]: [usize; 2]| rows * columns / 32 / element.per_register();
        let mut fragment = |operand, element, shape, layout, write| {
            self.fragment(form, operand, (element, shape), (layout, count(element, shape)), write)
        };
        let a = fragment(&operands[1], a, [m, k], Layout::First, false)?;
        let b = fragment(&operands[2], b, [k, n], Layout::Second, false)?;
        let c = fragment(&operands[3], c, [m, n], Layout::Accumulator, false)?;
        let d = fragment(&operands[0], d, [m, n], Layout::Accumulator, true)?;
        self.emit(instruction, Op::Multiply(Box::new(Multiply { d, a, b, c, saturates })))
    }
}

/// Whether `mma.sync` has the shape for these types of `a`, `b`, `c`, `d`.
fn exists(shape: [usize; 3], [a, b, c, d]: [Element; 4]) -> bool {
    use Element::{Bf16, F16, F32, F64, S8, S32, Tf32, U8};
    let single = (c, d) == (F32, F32);
    match (a, b, shape) {
        (F16, F16, [16, 8, 8 | 16]) => matches!(c, F16 | F32) && matches!(d, F16 | F32),
        (Bf16, Bf16, [16, 8, 8 | 16]) | (Tf32, Tf32, [16, 8, 4 | 8]) => single,
        (F64, F64, [8, 8, 4] | [16, 8, 4 | 8 | 16]) => (c, d) == (F64, F64),
        (S8 | U8, S8 | U8, [8, 8, 16] | [16, 8, 16 | 32]) => (c, d) == (S32, S32),
        _ => false,
    }
}
