//! Bodies of functions.

use super::ast::{Instruction, Parameter, Statement};
use super::cursor::Cursor;
use super::declaration::{parameters, variables};
use super::lexer::Kind;
use super::operand::operand;
use crate::LoadError;
use crate::types::{Space, Type};

/// Most registers that one declaration may make.
const REGISTERS: u64 = 1 << 20;

/// Statements up to the closing brace, which is taken.
pub(super) fn body(cursor: &mut Cursor<'_>) -> Result<Vec<Statement>, LoadError> {
    cursor.mark('{')?;
    cursor.enter()?;
    let mut statements = Vec::new();
    while !cursor.take_mark('}') {
        statement(cursor, &mut statements)?;
    }
    cursor.leave();
    Ok(statements)
}

fn statement(cursor: &mut Cursor<'_>, into: &mut Vec<Statement>) -> Result<(), LoadError> {
    let line = cursor.line();
    match cursor.peek() {
        Some(Kind::Mark('{')) => into.push(Statement::Scope(body(cursor)?)),
        Some(Kind::Mark(';')) => cursor.advance(),
        Some(&Kind::Dotted(name)) => {
            cursor.advance();
            directive(cursor, name, line, into)?;
        }
        Some(&Kind::Word(name)) if cursor.peek_at(1) == Some(&Kind::Mark(':')) => {
            cursor.advance();
            cursor.advance();
            label(cursor, name, line, into)?;
        }
        Some(Kind::Word(_) | Kind::Mark('@')) => into.push(Statement::Instruction(instruction(cursor)?)),
        _ => return cursor.fail("a statement"),
    }
    Ok(())
}

fn label(cursor: &mut Cursor<'_>, name: &str, line: u32, into: &mut Vec<Statement>) -> Result<(), LoadError> {
    let name = name.to_owned();
    if cursor.take_dotted("branchtargets") {
        let mut labels = Vec::new();
        loop {
            labels.push(cursor.word("a label")?.to_owned());
            if cursor.take_mark(';') {
                break;
            }
            cursor.mark(',')?;
        }
        into.push(Statement::BranchTargets { line, name, labels });
    } else if cursor.take_dotted("callprototype") {
        let returns = if cursor.is_mark('(') { parameters(cursor)? } else { Vec::new() };
        cursor.word("`_`")?;
        let parameters = if cursor.is_mark('(') { parameters(cursor)? } else { Vec::new() };
        cursor.skip_past(';')?;
        into.push(Statement::Prototype { name, returns, parameters });
    } else if cursor.take_dotted("calltargets") {
        // Any function whose address is taken may be called: the list adds nothing.
        cursor.skip_past(';')?;
        into.push(Statement::Prototype { name, returns: Vec::new(), parameters: Vec::<Parameter>::new() });
    } else {
        into.push(Statement::Label { line, name });
    }
    Ok(())
}

fn directive(cursor: &mut Cursor<'_>, name: &str, line: u32, into: &mut Vec<Statement>) -> Result<(), LoadError> {
    match name {
        "reg" => registers(cursor, line, into),
        "loc" | "file" => {
            cursor.skip_line();
            Ok(())
        }
        "pragma" => cursor.skip_past(';'),
        "section" => {
            cursor.dotted("a section's name")?;
            cursor.skip_braces()
        }
        _ => {
            let Some(space) = Space::parse(name) else {
                return Err(LoadError::Syntax { line, expected: "a statement".into(), found: format!("`.{name}`") });
            };
            into.extend(variables(cursor, space, false)?.into_iter().map(Statement::Variable));
            Ok(())
        }
    }
}

fn registers(cursor: &mut Cursor<'_>, line: u32, into: &mut Vec<Statement>) -> Result<(), LoadError> {
    let mut vector = 1;
    if cursor.take_dotted("v2") {
        vector = 2;
    } else if cursor.take_dotted("v4") {
        vector = 4;
    }
    let name = cursor.dotted("a type")?;
    let Some(ty) = Type::parse(name) else {
        return Err(LoadError::Syntax { line, expected: "a type".into(), found: format!("`.{name}`") });
    };
    loop {
        let name = cursor.word("a register")?.to_owned();
        let mut count = None;
        if cursor.take_mark('<') {
            let given = cursor.integer("a count")?;
            if given > REGISTERS {
                return Err(LoadError::Declaration { line, what: format!("{given} registers, at most {REGISTERS}") });
            }
            count = u32::try_from(given).ok();
            cursor.mark('>')?;
        }
        into.push(Statement::Registers { line, ty, vector, name, count });
        if cursor.take_mark(';') {
            return Ok(());
        }
        cursor.mark(',')?;
    }
}

fn instruction(cursor: &mut Cursor<'_>) -> Result<Instruction, LoadError> {
    let line = cursor.line();
    let mut guard = None;
    if cursor.take_mark('@') {
        let negated = cursor.take_mark('!');
        guard = Some((cursor.word("a predicate")?.to_owned(), negated));
    }
    let opcode = cursor.word("an instruction")?.to_owned();
    let mut modifiers = Vec::new();
    while let Some(&Kind::Dotted(modifier)) = cursor.peek() {
        cursor.advance();
        modifiers.push(modifier.to_owned());
    }
    let mut operands = Vec::new();
    if !cursor.take_mark(';') {
        loop {
            operands.push(operand(cursor)?);
            if cursor.take_mark(';') {
                break;
            }
            cursor.mark(',')?;
        }
    }
    Ok(Instruction { line, guard, opcode, modifiers, operands })
}
