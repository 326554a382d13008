//! The state of lowering one function: rows, constants, code.

use std::collections::HashMap;

use arith::simd::Isa;

use super::scope::{Entity, Scopes};
use crate::LoadError;
use crate::lanes::{NARROW, NONE, WIDE};
use crate::program::{Constant, Fixed, Inst, Op, Special, Static};
use crate::ptx::ast::Instruction;
use crate::types::Type;

/// Largest register file of a function, in words: 2^16 registers of 32 bits.
const WORDS: u32 = 1 << 20;
/// Largest frame, in bytes: the ISA's limit of local memory.
const FRAME: u64 = 512 << 10;

/// Lowers one function.
pub(super) struct Lowering<'u> {
    pub(super) isa: Isa,
    pub(super) entry: bool,
    /// Functions by name.
    pub(super) functions: &'u HashMap<String, usize>,
    /// Module variables by name.
    pub(super) globals: &'u HashMap<String, usize>,
    /// All static variables; those of functions are added.
    pub(super) statics: &'u mut Vec<Static>,
    pub(super) scopes: Scopes,
    pub(super) code: Vec<Inst>,
    /// Steps that follow the instruction that is being lowered.
    pub(super) after: Vec<Op>,
    /// Position of each label in the code.
    pub(super) labels: Vec<Option<u32>>,
    pub(super) words: u32,
    pub(super) frame: u64,
    pub(super) constants: Vec<Fixed<Constant>>,
    pub(super) specials: Vec<Fixed<Special>>,
    constant_rows: HashMap<(Constant, u32), u32>,
    special_rows: HashMap<Special, u32>,
    /// The carry of extended precision.
    carry: u32,
    pub(super) used_statics: Vec<usize>,
    pub(super) callees: Vec<usize>,
}

/// Words of a row for values of a type.
pub(super) fn words_of(ty: Type) -> u32 {
    match ty.bits() {
        1 => 1,
        64 => WIDE,
        128 => 2 * WIDE,
        _ => NARROW,
    }
}

impl<'u> Lowering<'u> {
    pub(super) fn new(
        isa: Isa,
        entry: bool,
        functions: &'u HashMap<String, usize>,
        globals: &'u HashMap<String, usize>,
        statics: &'u mut Vec<Static>,
    ) -> Self {
        Self {
            isa,
            entry,
            functions,
            globals,
            statics,
            scopes: Scopes::default(),
            code: Vec::new(),
            after: Vec::new(),
            labels: Vec::new(),
            words: 0,
            frame: 0,
            constants: Vec::new(),
            specials: Vec::new(),
            constant_rows: HashMap::new(),
            special_rows: HashMap::new(),
            carry: NONE,
            used_statics: Vec::new(),
            callees: Vec::new(),
        }
    }

    /// A new row.
    pub(super) fn row(&mut self, line: u32, words: u32) -> Result<u32, LoadError> {
        // Rows of lanes begin at multiples of 64 bytes; predicates fill what is between.
        if words > 1 {
            self.words = self.words.next_multiple_of(8);
        }
        let row = self.words;
        self.words += words;
        if self.words > WORDS {
            return Err(LoadError::Declaration { line, what: "more registers than are possible".into() });
        }
        Ok(row)
    }

    /// The row of a constant.
    pub(super) fn constant(&mut self, line: u32, value: Constant, words: u32) -> Result<u32, LoadError> {
        if let Some(&row) = self.constant_rows.get(&(value, words)) {
            return Ok(row);
        }
        let row = self.row(line, words)?;
        self.constants.push(Fixed { row, words, value });
        self.constant_rows.insert((value, words), row);
        match value {
            Constant::Variable { index, .. } if !self.used_statics.contains(&index) => self.used_statics.push(index),
            Constant::Function(index) if !self.callees.contains(&index) => self.callees.push(index),
            _ => {}
        }
        Ok(row)
    }

    pub(super) fn special(&mut self, line: u32, value: Special) -> Result<u32, LoadError> {
        if let Some(&row) = self.special_rows.get(&value) {
            return Ok(row);
        }
        let row = self.row(line, NARROW)?;
        self.specials.push(Fixed { row, words: NARROW, value });
        self.special_rows.insert(value, row);
        Ok(row)
    }

    pub(super) fn carry(&mut self, line: u32) -> Result<u32, LoadError> {
        if self.carry == NONE {
            self.carry = self.row(line, NARROW)?;
        }
        Ok(self.carry)
    }

    /// A place in the frame.
    pub(super) fn place(&mut self, line: u32, bytes: u64, align: u64) -> Result<u64, LoadError> {
        let offset = self.frame.next_multiple_of(align.max(1));
        self.frame = offset.saturating_add(bytes);
        if self.frame > FRAME {
            let what = format!("local memory of more than {FRAME} bytes");
            return Err(LoadError::Declaration { line, what });
        }
        Ok(offset)
    }

    /// A step before the instruction's own.
    pub(super) fn step(&mut self, line: u32, op: Op) {
        self.code.push(Inst { counted: false, ..Inst::new(op, line) });
    }

    /// The instruction's own step, and those after it, under its guard.
    pub(super) fn emit(&mut self, instruction: &Instruction, op: Op) -> Result<(), LoadError> {
        let line = instruction.line;
        let (guard, negated) = self.guard(instruction)?;
        self.code.push(Inst { op, guard, negated, counted: true, line });
        for op in std::mem::take(&mut self.after) {
            self.code.push(Inst { op, guard, negated, counted: false, line });
        }
        Ok(())
    }

    pub(super) fn guard(&mut self, instruction: &Instruction) -> Result<(u32, bool), LoadError> {
        let Some((name, negated)) = &instruction.guard else { return Ok((NONE, false)) };
        match self.scopes.find(name) {
            Some(Entity::Register { row, ty: Type::Pred }) => Ok((row, *negated)),
            Some(_) => Err(LoadError::Operand {
                line: instruction.line,
                instruction: instruction.name(),
                what: format!("the guard `{name}` is no predicate"),
            }),
            None => Err(LoadError::Undeclared { line: instruction.line, name: name.clone() }),
        }
    }

    /// The number of a label, which is in scope.
    pub(super) fn label(&self, line: u32, name: &str) -> Result<u32, LoadError> {
        match self.scopes.find(name) {
            Some(Entity::Label(label)) => Ok(label),
            _ => Err(LoadError::Undeclared { line, name: name.to_owned() }),
        }
    }
}
