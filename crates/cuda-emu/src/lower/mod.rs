//! Syntax tree to program: names become rows and indices, labels become positions, unknown instructions are refused.

mod atomic;
mod body;
mod control;
mod copy;
mod function;
mod hint;
mod instruction;
mod matrix;
mod memory;
mod moves;
mod object;
mod operand;
mod order;
mod scope;
mod special;
mod stack;
mod warp;
mod wmma;

use std::collections::HashMap;

use arith::simd::Isa;

use crate::LoadError;
use crate::program::{Constant, Op, Program, Static, StaticInitial, Target};
use crate::ptx::ast::{self, InitialValue, Unit, Variable};
use crate::types::Space;

/// Lowers a whole module.
pub(crate) fn lower(unit: &Unit) -> Result<Program, LoadError> {
    let isa = Isa::detect();
    let mut functions = HashMap::new();
    let mut definitions: Vec<&ast::Function> = Vec::new();
    for function in &unit.functions {
        match functions.get(&function.name) {
            None => {
                functions.insert(function.name.clone(), definitions.len());
                definitions.push(function);
            }
            // A declaration and its definition.
            Some(&index) if definitions[index].body.is_none() => definitions[index] = function,
            Some(_) if function.body.is_none() => {}
            Some(_) => return Err(LoadError::Redeclared { line: function.line, name: function.name.clone() }),
        }
    }
    for (name, target) in &unit.aliases {
        let Some(&index) = functions.get(target) else {
            return Err(LoadError::Undeclared { line: 0, name: target.clone() });
        };
        functions.insert(name.clone(), index);
    }
    let mut globals = HashMap::new();
    let mut statics = Vec::new();
    let mut initials = Vec::new();
    for variable in &unit.variables {
        let index = statics.len();
        if let Some(&first) = globals.get(&variable.name) {
            let declared: &Variable = initials[first];
            if declared.external && !variable.external {
                statics[first] = declare(variable);
                initials[first] = variable;
                continue;
            }
            if variable.external {
                continue;
            }
            return Err(LoadError::Redeclared { line: variable.line, name: variable.name.clone() });
        }
        globals.insert(variable.name.clone(), index);
        statics.push(declare(variable));
        initials.push(variable);
    }
    for (index, variable) in initials.iter().enumerate() {
        statics[index].initial = contents(variable, &functions, &globals)?;
    }
    let mut program = Program { functions: Vec::with_capacity(definitions.len()), variables: statics };
    for definition in definitions {
        let function = body::lower(definition, isa, &functions, &globals, &mut program.variables)?;
        program.functions.push(function);
    }
    check_calls(&program)?;
    Ok(program)
}

/// The program's view of a declared variable; its contents come later.
fn declare(variable: &Variable) -> Static {
    Static {
        name: variable.name.clone(),
        space: variable.space,
        align: variable.align,
        bytes: variable.bytes,
        dynamic: variable.space == Space::Shared && (variable.unsized_array || variable.bytes == 0),
        initial: Vec::new(),
    }
}

/// Initial contents with names resolved.
fn contents(
    variable: &Variable,
    functions: &HashMap<String, usize>,
    globals: &HashMap<String, usize>,
) -> Result<Vec<StaticInitial>, LoadError> {
    let line = variable.line;
    if variable.space == Space::Shared && !variable.initial.is_empty() {
        return Err(LoadError::Declaration { line, what: format!("`{}` is shared and has contents", variable.name) });
    }
    variable
        .initial
        .iter()
        .map(|initial| {
            let value = match &initial.value {
                InitialValue::Bits(bits) => Constant::Bits(*bits),
                InitialValue::Address { symbol, offset, generic } => {
                    if let Some(&index) = globals.get(symbol) {
                        Constant::Variable { index, offset: *offset, generic: *generic }
                    } else if let Some(&index) = functions.get(symbol) {
                        Constant::Function(index)
                    } else {
                        return Err(LoadError::Undeclared { line, name: symbol.clone() });
                    }
                }
            };
            Ok(StaticInitial { offset: initial.offset, bytes: initial.bytes, value })
        })
        .collect()
}

/// Arguments must fit the functions that are called directly.
fn check_calls(program: &Program) -> Result<(), LoadError> {
    for function in &program.functions {
        for inst in &function.code {
            let Op::Call(call) = &inst.op else { continue };
            let Target::Function(index) = call.target else { continue };
            let callee = &program.functions[index];
            if !callee.takes(call) {
                return Err(LoadError::Operand {
                    line: inst.line,
                    instruction: "call".into(),
                    what: format!("arguments or results don't fit `{}`", callee.name),
                });
            }
        }
    }
    Ok(())
}
