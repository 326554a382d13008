//! Instructions that compute: from an instruction's name to the operation on a row.
//!
//! Each file has a family; its `select` answers `None` for what isn't its own or doesn't exist. Formulas are those of
//! the PTX ISA's section of the instruction.

mod approximate;
mod bits;
mod carry;
mod compare;
mod convert;
mod float;
mod form;
mod halves;
mod integer;
mod multiply;
mod packed;
mod video;

use arith::simd::Isa;

pub(crate) use form::Form;

use crate::LoadError;
use crate::lanes::Exec;
use crate::types::Type;

/// An operation with the types of its operands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) exec: Exec,
    /// Type of the destination.
    pub(crate) d: Type,
    /// Types of the sources, in order.
    pub(crate) sources: [Option<Type>; 4],
    /// What varies the operation.
    pub(crate) flags: u32,
}

impl Shape {
    pub(crate) fn one(exec: Exec, d: Type, a: Type) -> Option<Self> {
        Some(Self { exec, d, sources: [Some(a), None, None, None], flags: 0 })
    }

    pub(crate) fn two(exec: Exec, d: Type, a: Type, b: Type) -> Option<Self> {
        Some(Self { exec, d, sources: [Some(a), Some(b), None, None], flags: 0 })
    }

    pub(crate) fn three(exec: Exec, d: Type, a: Type, b: Type, c: Type) -> Option<Self> {
        Some(Self { exec, d, sources: [Some(a), Some(b), Some(c), None], flags: 0 })
    }

    pub(crate) fn four(exec: Exec, d: Type, sources: [Type; 4]) -> Option<Self> {
        Some(Self { exec, d, sources: sources.map(Some), flags: 0 })
    }
}

/// The operation of an instruction that only computes.
pub(crate) fn select(form: &mut Form<'_>, isa: Isa) -> Result<Shape, LoadError> {
    let families = [
        integer::select,
        multiply::select,
        bits::select,
        float::select,
        halves::select,
        packed::select,
        video::select,
        approximate::select,
    ];
    for family in families {
        let mut trial = form.clone();
        if let Some(shape) = family(&mut trial, isa) {
            *form = trial;
            form.finish()?;
            return Ok(shape);
        }
    }
    Err(form.unknown())
}

pub(crate) use carry::{Carrying, select as select_carry};
pub(crate) use compare::{Comparison, select as select_comparison};
pub(crate) use convert::{narrow, select as select_conversion, widen};
pub(crate) use float::{canonical, greatest, least};
