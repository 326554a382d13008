//! Operands to rows.

use super::function::{Lowering, words_of};
use super::scope::Entity;
use super::special;
use crate::LoadError;
use crate::alu::{Form, narrow, widen};
use crate::lanes::{Args, NARROW, NONE, WIDE};
use crate::program::{Address, Constant, Op};
use crate::ptx::ast::Operand;
use crate::types::{Space, Type};

impl Lowering<'_> {
    /// The row of a source of type `ty`. A wider register gives its low bits, a narrower one is extended by zeros.
    pub(super) fn source(&mut self, form: &Form<'_>, operand: &Operand, ty: Type) -> Result<u32, LoadError> {
        let line = form.line();
        let words = words_of(ty);
        match operand {
            Operand::Integer(value) => {
                let mask = if ty.bits() >= 64 { !0 } else { (1 << ty.bits()) - 1 };
                self.constant(line, Constant::Bits(value & mask), words)
            }
            Operand::Single(bits) => {
                let value = match ty {
                    Type::F64 => f64::from(f32::from_bits(*bits)).to_bits(),
                    _ => (*bits).into(),
                };
                self.constant(line, Constant::Bits(value), words)
            }
            Operand::Double(bits) => {
                let value = match ty {
                    Type::F32 => (f64::from_bits(*bits) as f32).to_bits().into(),
                    _ if words == WIDE => *bits,
                    _ => return Err(form.operand("a double where none fits")),
                };
                self.constant(line, Constant::Bits(value), words)
            }
            Operand::Name { name, offset } => {
                if let Some((row, found, register)) = self.register(form, name)? {
                    if *offset != 0 {
                        return Err(form.operand(format!("`{name}` is a register and has no offset")));
                    }
                    return self.fit(form, row, found, register, ty);
                }
                let value = self.address_of(form, name, *offset)?;
                if words == 1 {
                    return Err(form.operand(format!("`{name}` is no predicate")));
                }
                self.constant(line, value, words)
            }
            _ => Err(form.operand("an operand of another kind")),
        }
    }

    /// The row, the words and the type of a register, special ones included.
    pub(super) fn register(&mut self, form: &Form<'_>, name: &str) -> Result<Option<(u32, u32, Type)>, LoadError> {
        if let Some(Entity::Register { row, ty }) = self.scopes.find(name) {
            return Ok(Some((row, words_of(ty), ty)));
        }
        if let Some((vector, component)) = name.split_once('.')
            && let Some(Entity::Vector { rows, ty }) = self.scopes.find(vector)
        {
            let index = ["x", "y", "z", "w"]
                .iter()
                .position(|c| *c == component)
                .or_else(|| ["r", "g", "b", "a"].iter().position(|c| *c == component));
            return match index.and_then(|i| rows.get(i)) {
                Some(&row) => Ok(Some((row, words_of(ty), ty))),
                None => Err(form.operand(format!("`{name}` has no such component"))),
            };
        }
        if !name.starts_with('%') {
            return Ok(None);
        }
        match special::parse(name) {
            Some(special::Found::Fixed(value)) => {
                let row = self.special(form.line(), value)?;
                Ok(Some((row, NARROW, Type::U32)))
            }
            Some(special::Found::Clock { words, high }) => {
                let row = self.row(form.line(), words)?;
                self.step(form.line(), Op::Clock { d: row, words, high });
                Ok(Some((row, words, if words == WIDE { Type::U64 } else { Type::U32 })))
            }
            None => Ok(None),
        }
    }

    fn fit(&mut self, form: &Form<'_>, row: u32, found: u32, register: Type, ty: Type) -> Result<u32, LoadError> {
        let words = words_of(ty);
        if found == words {
            return Ok(row);
        }
        let exec = match (found, words) {
            (WIDE, NARROW) => narrow(self.isa),
            (NARROW, WIDE) => widen(false, self.isa),
            _ => {
                return Err(form.operand(format!("a register of {} bits for {} bits", register.bits(), ty.bits())));
            }
        };
        let fitted = self.row(form.line(), words)?;
        self.step(form.line(), Op::Compute(exec, Args { d: fitted, a: row, ..Args::default() }));
        Ok(fitted)
    }

    /// The row of a destination of type `ty`. Where the register is wider, the value is extended afterwards.
    pub(super) fn destination(&mut self, form: &Form<'_>, operand: &Operand, ty: Type) -> Result<u32, LoadError> {
        let words = words_of(ty);
        let name = match operand {
            Operand::Sink => return self.row(form.line(), words),
            Operand::Name { name, offset: 0 } => name,
            _ => return Err(form.operand("the destination is no register")),
        };
        let (row, found, register) = self.own_register(form, name)?;
        match (found, words) {
            _ if found == words => Ok(row),
            (WIDE, NARROW) => {
                let narrow = self.row(form.line(), NARROW)?;
                let exec = widen(ty.is_signed(), self.isa);
                self.after.push(Op::Compute(exec, Args { d: row, a: narrow, ..Args::default() }));
                Ok(narrow)
            }
            _ => Err(form.operand(format!("a register of {} bits for {} bits", register.bits(), ty.bits()))),
        }
    }

    /// A register that can be written.
    pub(super) fn own_register(&mut self, form: &Form<'_>, name: &str) -> Result<(u32, u32, Type), LoadError> {
        let base = name.split_once('.').map_or(name, |(vector, _)| vector);
        match self.scopes.find(name).or_else(|| self.scopes.find(base)) {
            Some(Entity::Register { row, ty }) => Ok((row, words_of(ty), ty)),
            Some(Entity::Vector { .. }) => match self.register(form, name)? {
                Some(found) => Ok(found),
                None => Err(form.operand(format!("`{name}` is a vector"))),
            },
            Some(_) => Err(form.operand(format!("`{name}` is no register"))),
            None => Err(LoadError::Undeclared { line: form.line(), name: name.to_owned() }),
        }
    }

    /// A predicate source and whether it is negated.
    pub(super) fn predicate(&mut self, form: &Form<'_>, operand: &Operand) -> Result<(u32, bool), LoadError> {
        match operand {
            Operand::Not(inner) => Ok((self.source(form, inner, Type::Pred)?, true)),
            other => Ok((self.source(form, other, Type::Pred)?, false)),
        }
    }

    /// The address that a name stands for, in its own space.
    fn address_of(&mut self, form: &Form<'_>, name: &str, offset: i64) -> Result<Constant, LoadError> {
        Ok(match self.scopes.find(name) {
            Some(Entity::Static(index)) => Constant::Variable { index, offset, generic: false },
            Some(Entity::Frame { offset: place, .. }) => {
                Constant::Frame { offset: place.cast_signed().wrapping_add(offset) }
            }
            Some(Entity::KernelParameter { offset: place }) => {
                Constant::Bits(place.wrapping_add(offset.cast_unsigned()))
            }
            Some(_) => return Err(form.operand(format!("`{name}` has no address"))),
            None => {
                if let Some(&index) = self.globals.get(name) {
                    Constant::Variable { index, offset, generic: false }
                } else if let Some(&index) = self.functions.get(name) {
                    Constant::Function(index)
                } else {
                    return Err(LoadError::Undeclared { line: form.line(), name: name.to_owned() });
                }
            }
        })
    }

    /// `[base+offset]`.
    pub(super) fn address(&mut self, form: &Form<'_>, operand: &Operand) -> Result<Address, LoadError> {
        let Operand::Memory(base, offset) = operand else {
            return Err(form.operand("an address in brackets is missing"));
        };
        if let Operand::Name { name, .. } = &**base
            && let Some((row, words, ty)) = self.register(form, name)?
        {
            if !matches!(words, NARROW | WIDE) || ty.bits() < 32 {
                return Err(form.operand(format!("`{name}` can't hold an address")));
            }
            return Ok(Address { row, words, offset: *offset });
        }
        let row = self.source(form, base, Type::U64)?;
        Ok(Address { row, words: WIDE, offset: *offset })
    }

    /// The space in which `.param` lies: parameters of kernels have their own, all others are in the frame.
    pub(super) fn parameter_space(&self, operand: &Operand) -> Space {
        let kernel = match operand {
            Operand::Memory(base, _) => match &**base {
                Operand::Name { name, .. } => match self.scopes.find(name) {
                    Some(Entity::KernelParameter { .. }) => true,
                    Some(Entity::Frame { .. }) => false,
                    _ => self.entry,
                },
                _ => self.entry,
            },
            _ => self.entry,
        };
        if kernel { Space::Param } else { Space::Local }
    }

    /// Rows of the elements of `{a, b}`, or of a single register, with their words.
    pub(super) fn elements(
        &mut self,
        form: &Form<'_>,
        operand: &Operand,
        ty: Type,
        write: bool,
    ) -> Result<Vec<(u32, u32)>, LoadError> {
        let single = std::slice::from_ref(operand);
        let list = match operand {
            Operand::Vector(list) => list.as_slice(),
            Operand::Name { name, .. } => {
                if let Some(Entity::Vector { rows, ty }) = self.scopes.find(name) {
                    return Ok(rows.iter().map(|&row| (row, words_of(ty))).collect());
                }
                single
            }
            _ => single,
        };
        let mut rows = Vec::with_capacity(list.len());
        for element in list {
            let (row, words) = match element {
                Operand::Sink if write => (NONE, WIDE),
                Operand::Name { name, offset: 0 } if self.scopes.find(name).is_some() && write => {
                    let (row, words, _) = self.own_register(form, name)?;
                    (row, words)
                }
                Operand::Name { name, offset: 0 } => match self.register(form, name)? {
                    Some((row, words, _)) => (row, words),
                    None if write => return Err(LoadError::Undeclared { line: form.line(), name: name.clone() }),
                    None => (self.source(form, element, ty)?, words_of(ty)),
                },
                _ if write => return Err(form.operand("the destination is no register")),
                _ => (self.source(form, element, ty)?, words_of(ty)),
            };
            if words == 1 || words_of(ty) > words && row != NONE {
                return Err(form.operand("a register that is too narrow"));
            }
            if ty.bits() == 128 {
                rows.push((row, WIDE));
                rows.push((if row == NONE { NONE } else { row + WIDE }, WIDE));
            } else {
                rows.push((row, words.min(WIDE)));
            }
        }
        Ok(rows)
    }
}
