//! A function: parameters, scopes, labels, statements.

use std::collections::HashMap;

use arith::simd::Isa;

use super::function::{Lowering, words_of};
use super::scope::Entity;
use super::{contents, declare, order};
use crate::LoadError;
use crate::program::{Function, Inst, Op, Slot, Static};
use crate::ptx::ast::{self, Parameter, Statement, Variable};
use crate::types::Space;

pub(super) fn lower(
    function: &ast::Function,
    isa: Isa,
    functions: &HashMap<String, usize>,
    globals: &HashMap<String, usize>,
    statics: &mut Vec<Static>,
) -> Result<Function, LoadError> {
    let mut lowering = Lowering::new(isa, function.entry, functions, globals, statics);
    lowering.scopes.enter();
    let mut parameter_bytes = 0_u64;
    let mut parameters = Vec::new();
    let mut returns = Vec::new();
    for parameter in &function.returns {
        returns.push(lowering.slot(function.line, parameter)?);
    }
    for parameter in &function.parameters {
        if !function.entry {
            parameters.push(lowering.slot(function.line, parameter)?);
            continue;
        }
        let Parameter::Memory(variable) = parameter else {
            let what = format!("`{}` is a kernel and takes a register", function.name);
            return Err(LoadError::Declaration { line: function.line, what });
        };
        let offset = parameter_bytes.next_multiple_of(variable.align);
        parameter_bytes = offset.saturating_add(variable.bytes);
        if parameter_bytes > 32 << 10 {
            return Err(LoadError::Declaration { line: variable.line, what: "more than 32 KiB of parameters".into() });
        }
        lowering.scopes.declare(variable.line, &variable.name, Entity::KernelParameter { offset })?;
        parameters.push(Slot::Frame { offset, bytes: variable.bytes });
    }
    if let Some(body) = &function.body {
        lowering.block(body)?;
        // Running off the end is returning.
        lowering.code.push(Inst { counted: false, ..Inst::new(Op::Return, function.line) });
    }
    let labels = resolve(&lowering.labels);
    let code = order::arrange(std::mem::take(&mut lowering.code), &labels);
    Ok(Function {
        name: function.name.clone(),
        entry: function.entry,
        line: function.line,
        max_threads: function.max_threads,
        code,
        words: lowering.words.next_multiple_of(8),
        constants: lowering.constants,
        specials: lowering.specials,
        frame: lowering.frame.next_multiple_of(16),
        parameters,
        returns,
        parameter_bytes,
        statics: lowering.used_statics,
        callees: lowering.callees,
        external: function.body.is_none(),
    })
}

/// Every label has been placed by the time its scope ends.
fn resolve(labels: &[Option<u32>]) -> Vec<u32> {
    labels.iter().map(|position| position.unwrap_or(0)).collect()
}

impl Lowering<'_> {
    fn slot(&mut self, line: u32, parameter: &Parameter) -> Result<Slot, LoadError> {
        match parameter {
            Parameter::Memory(variable) => {
                let offset = self.place(variable.line, variable.bytes, variable.align)?;
                // Unnamed parameters of declarations can be many.
                if variable.name != "_" {
                    let entity = Entity::Frame { offset, bytes: variable.bytes };
                    self.scopes.declare(variable.line, &variable.name, entity)?;
                }
                Ok(Slot::Frame { offset, bytes: variable.bytes })
            }
            Parameter::Register { name, ty } => {
                let words = words_of(*ty);
                let row = self.row(line, words)?;
                self.scopes.declare(line, name, Entity::Register { row, ty: *ty })?;
                Ok(Slot::Register { row, words })
            }
        }
    }

    /// Statements of one scope. Labels may be used before they stand, so they are declared first.
    fn block(&mut self, statements: &[Statement]) -> Result<(), LoadError> {
        self.scopes.enter();
        for statement in statements {
            match statement {
                Statement::Label { line, name } => {
                    let label = self.labels.len() as u32;
                    self.labels.push(None);
                    self.scopes.declare(*line, name, Entity::Label(label))?;
                }
                Statement::BranchTargets { line, name, labels } => {
                    self.scopes.declare(*line, name, Entity::Targets(labels.clone()))?;
                }
                Statement::Prototype { name, .. } => self.scopes.declare(0, name, Entity::Prototype)?,
                _ => {}
            }
        }
        for statement in statements {
            self.statement(statement)?;
        }
        self.scopes.leave();
        Ok(())
    }

    fn statement(&mut self, statement: &Statement) -> Result<(), LoadError> {
        match statement {
            Statement::Registers { line, ty, vector, name, count } => {
                let (line, ty, words) = (*line, *ty, words_of(*ty));
                let mut rows = Vec::new();
                for _ in 0..count.unwrap_or(1).saturating_mul(*vector) {
                    rows.push(self.row(line, words)?);
                }
                match (count, vector) {
                    (Some(_), 1) => self.scopes.declare_family(line, name, rows, ty),
                    (None, 1) => self.scopes.declare(line, name, Entity::Register { row: rows[0], ty }),
                    (None, _) => self.scopes.declare(line, name, Entity::Vector { rows, ty }),
                    (Some(count), &vector) => {
                        for (i, rows) in rows.chunks(vector as usize).enumerate().take(*count as usize) {
                            let entity = Entity::Vector { rows: rows.to_vec(), ty };
                            self.scopes.declare(line, &format!("{name}{i}"), entity)?;
                        }
                        Ok(())
                    }
                }
            }
            Statement::Variable(variable) => self.variable(variable),
            Statement::Label { line, name } => {
                let label = self.label(*line, name)?;
                self.labels[label as usize] = Some(self.code.len() as u32);
                Ok(())
            }
            Statement::BranchTargets { .. } | Statement::Prototype { .. } => Ok(()),
            Statement::Instruction(instruction) => self.instruction(instruction),
            Statement::Scope(statements) => self.block(statements),
        }
    }

    fn variable(&mut self, variable: &Variable) -> Result<(), LoadError> {
        let line = variable.line;
        match variable.space {
            Space::Local | Space::Param => {
                let offset = self.place(line, variable.bytes, variable.align)?;
                self.scopes.declare(line, &variable.name, Entity::Frame { offset, bytes: variable.bytes })
            }
            _ => {
                let mut declared = declare(variable);
                declared.initial = contents(variable, self.functions, self.globals)?;
                let index = self.statics.len();
                self.statics.push(declared);
                self.scopes.declare(line, &variable.name, Entity::Static(index))
            }
        }
    }
}
