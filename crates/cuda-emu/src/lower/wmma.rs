//! `wmma`: loads, stores and products of fragments whose layout the ISA leaves open.

use super::function::{Lowering, words_of};
use super::matrix::shape;
use crate::LoadError;
use crate::alu::Form;
use crate::program::{Access, Element, Layout, MoveFragment, Multiply, Op};
use crate::ptx::ast::Instruction;
use crate::types::{Space, Type};

/// Which of the matrices of a product.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    First,
    Second,
    Accumulator,
}

/// Rows, columns and number of registers of a fragment; `None` for a shape that doesn't exist.
fn extent(role: Role, element: Element, [m, n, k]: [usize; 3]) -> Option<([usize; 2], usize)> {
    use Element::{Bf16, F16, F32, F64, S8, S32, Tf32, U8};
    let wide = matches!([m, n, k], [16, 16, 16] | [32, 8, 16] | [8, 32, 16]);
    let (rows, columns) = match role {
        Role::First => (m, k),
        Role::Second => (k, n),
        Role::Accumulator => (m, n),
    };
    let count = rows * columns / 32 / element.per_register();
    let count = match (role, element) {
        // Halves of the factors are held twice or more: eight registers, whatever the shape.
        (Role::First | Role::Second, F16) if wide => 8,
        (Role::First | Role::Second, Bf16 | S8 | U8) if wide => count,
        (Role::First | Role::Second, Tf32) if [m, n, k] == [16, 16, 8] => count,
        (_, F64) if [m, n, k] == [8, 8, 4] => count,
        (Role::Accumulator, F16 | S32) if wide => count,
        (Role::Accumulator, F32) if wide || [m, n, k] == [16, 16, 8] => count,
        _ => return None,
    };
    Some(([rows, columns], count))
}

impl Lowering<'_> {
    pub(super) fn wmma(&mut self, instruction: &Instruction, form: &mut Form<'_>) -> Result<(), LoadError> {
        let (load, store, product) = (form.take("load"), form.take("store"), form.take("mma"));
        if u32::from(load) + u32::from(store) + u32::from(product) != 1 || !form.take("sync") {
            return Err(form.unknown());
        }
        form.take("aligned");
        if product { self.fragment_product(instruction, form) } else { self.move_fragment(instruction, form, store) }
    }

    fn move_fragment(&mut self, instruction: &Instruction, form: &mut Form<'_>, store: bool) -> Result<(), LoadError> {
        let role = form.take_with(|name| match name {
            "a" if !store => Some(Role::First),
            "b" if !store => Some(Role::Second),
            "c" if !store => Some(Role::Accumulator),
            "d" if store => Some(Role::Accumulator),
            _ => None,
        });
        let by_columns = form.take("col");
        if !by_columns && !form.take("row") {
            return Err(form.unknown());
        }
        let shape = form.take_with(shape);
        let space = form.take_with(Space::parse).unwrap_or(Space::Generic);
        let ty = form.ty();
        form.finish()?;
        let (Some(role), Some(shape), Some(ty)) = (role, shape, ty) else { return Err(form.unknown()) };
        let element = Element::of(ty).ok_or_else(|| form.unknown())?;
        let (size, count) = extent(role, element, shape).ok_or_else(|| form.unknown())?;
        if !matches!(space, Space::Global | Space::Shared | Space::Generic) {
            return Err(form.unknown());
        }
        let operands = &instruction.operands;
        let (value, place) = if store { (1, 0) } else { (0, 1) };
        let line = form.line();
        let stride = match operands.len() {
            3 => self.source(form, &operands[2], Type::U32)?,
            // Without a stride the matrix is dense.
            2 => {
                let dense = if by_columns { size[0] } else { size[1] };
                self.constant(line, crate::program::Constant::Bits(dense as u64), words_of(Type::U32))?
            }
            given => return Err(form.operand(format!("{given} operands, 2 or 3 are needed"))),
        };
        let address = self.address(form, &operands[place])?;
        let fragment = self.fragment(form, &operands[value], (element, size), (Layout::Flat, count), !store)?;
        let words = words_of(element.register());
        let through = self.row(line, words)?;
        let access = Access {
            space,
            width: element.bytes() as u32,
            signed: false,
            elements: vec![(through, words)],
            address,
            strong: false,
            ordered: false,
        };
        self.emit(instruction, Op::MoveFragment(Box::new(MoveFragment { store, fragment, by_columns, stride, access })))
    }

    /// The layouts of the factors have been said by the loads.
    fn fragment_product(&mut self, instruction: &Instruction, form: &mut Form<'_>) -> Result<(), LoadError> {
        for _ in 0..2 {
            if !form.take("row") && !form.take("col") {
                return Err(form.unknown());
            }
        }
        // Of doubles the rounding may be said, wherever.
        let (saturates, rounds) = (form.take("satfinite"), form.take("rn"));
        let shape = form.take_with(shape).ok_or_else(|| form.unknown())?;
        let c = form.ty();
        // With two types the factors are `f16`.
        let (a, b, d) = match (form.ty(), form.ty()) {
            (d, None) => (Some(Type::F16), Some(Type::F16), d),
            (b, a) => (a, b, form.ty()),
        };
        if rounds && a != Some(Type::F64) {
            return Err(form.unknown());
        }
        form.finish()?;
        let element = |ty: Option<Type>| ty.and_then(Element::of).ok_or_else(|| form.unknown());
        let (a, b, c, d) = (element(a)?, element(b)?, element(c)?, element(d)?);
        let integers = a.is_integer();
        let fits = a == b || integers && b.is_integer();
        let sums = match a {
            Element::F16 => matches!(c, Element::F16 | Element::F32) && matches!(d, Element::F16 | Element::F32),
            Element::F64 => (c, d) == (Element::F64, Element::F64),
            _ if integers => (c, d) == (Element::S32, Element::S32),
            _ => (c, d) == (Element::F32, Element::F32),
        };
        if !fits || !sums || saturates && !integers {
            return Err(form.unknown());
        }
        self.expect_operands(instruction, form, 4)?;
        let operands = &instruction.operands;
        let mut fragment = |operand, role, element, write| {
            let (size, count) = extent(role, element, shape).ok_or_else(|| form.unknown())?;
            self.fragment(form, operand, (element, size), (Layout::Flat, count), write)
        };
        let a = fragment(&operands[1], Role::First, a, false)?;
        let b = fragment(&operands[2], Role::Second, b, false)?;
        let c = fragment(&operands[3], Role::Accumulator, c, false)?;
        let d = fragment(&operands[0], Role::Accumulator, d, true)?;
        self.emit(instruction, Op::Multiply(Box::new(Multiply { d, a, b, c, saturates })))
    }
}
