//! An instruction's modifiers, taken one after the other; what is left over is an error.

use crate::LoadError;
use crate::ptx::ast::Instruction;
use crate::soft::Rounding;
use crate::types::Type;

/// The modifiers that nobody has taken yet.
#[derive(Clone, Debug)]
pub(crate) struct Form<'i> {
    instruction: &'i Instruction,
    left: Vec<&'i str>,
}

impl<'i> Form<'i> {
    pub(crate) fn new(instruction: &'i Instruction) -> Self {
        Self { instruction, left: instruction.modifiers.iter().map(String::as_str).collect() }
    }

    pub(crate) fn opcode(&self) -> &'i str {
        &self.instruction.opcode
    }

    pub(crate) fn line(&self) -> u32 {
        self.instruction.line
    }

    /// Takes a modifier, if it is there.
    pub(crate) fn take(&mut self, name: &str) -> bool {
        match self.left.iter().position(|modifier| *modifier == name) {
            Some(position) => {
                self.left.remove(position);
                true
            }
            None => false,
        }
    }

    /// Takes the first modifier that `parse` knows.
    pub(crate) fn take_with<T>(&mut self, parse: impl Fn(&str) -> Option<T>) -> Option<T> {
        let (position, value) = self.left.iter().enumerate().find_map(|(i, name)| Some((i, parse(name)?)))?;
        self.left.remove(position);
        Some(value)
    }

    /// Takes the last modifier, which is a type.
    pub(crate) fn ty(&mut self) -> Option<Type> {
        let ty = Type::parse(self.left.last()?)?;
        self.left.pop();
        Some(ty)
    }

    /// Takes the rounding of a floating-point operation.
    pub(crate) fn rounding(&mut self) -> Option<Rounding> {
        self.take_with(|name| {
            Some(match name {
                "rn" => Rounding::Nearest,
                "rna" => Rounding::Away,
                "rz" => Rounding::Zero,
                "rm" => Rounding::Down,
                "rp" => Rounding::Up,
                _ => return None,
            })
        })
    }

    /// Fails if anything is left.
    pub(crate) fn finish(&self) -> Result<(), LoadError> {
        match self.left.first() {
            None => Ok(()),
            Some(modifier) => Err(LoadError::UnknownModifier {
                line: self.line(),
                instruction: self.instruction.name(),
                modifier: (*modifier).to_owned(),
            }),
        }
    }

    /// The instruction doesn't exist.
    pub(crate) fn unknown(&self) -> LoadError {
        LoadError::UnknownInstruction { line: self.line(), instruction: self.instruction.name() }
    }

    /// Operands don't fit.
    pub(crate) fn operand(&self, what: impl Into<String>) -> LoadError {
        LoadError::Operand { line: self.line(), instruction: self.instruction.name(), what: what.into() }
    }
}
