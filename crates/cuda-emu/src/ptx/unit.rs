//! A whole translation unit: directives, variables and functions.

use super::ast::{Function, Unit};
use super::cursor::Cursor;
use super::declaration::{parameters, variables};
use super::lexer::Kind;
use super::statement::body;
use crate::LoadError;
use crate::types::Space;

/// Parses a module's text.
pub(crate) fn parse(text: &str) -> Result<Unit, LoadError> {
    let mut cursor = Cursor::new(text)?;
    let mut unit = Unit { address_size: 64, ..Unit::default() };
    while cursor.peek().is_some() {
        item(&mut cursor, &mut unit)?;
    }
    Ok(unit)
}

fn item(cursor: &mut Cursor<'_>, unit: &mut Unit) -> Result<(), LoadError> {
    let line = cursor.line();
    let mut external = false;
    loop {
        let name = match cursor.peek() {
            Some(Kind::Mark(';')) => {
                cursor.advance();
                return Ok(());
            }
            Some(&Kind::Dotted(name)) => name,
            // Debug information may carry labels.
            Some(Kind::Word(_)) if cursor.peek_at(1) == Some(&Kind::Mark(':')) => {
                cursor.advance();
                cursor.advance();
                return Ok(());
            }
            _ => return cursor.fail("a directive"),
        };
        cursor.advance();
        match name {
            "extern" => external = true,
            "visible" | "weak" | "common" => {}
            "version" => {
                unit.version = version(cursor)?;
                return Ok(());
            }
            "target" => {
                unit.target = cursor.word("a target")?.to_owned();
                while cursor.take_mark(',') {
                    cursor.word("a target")?;
                }
                return Ok(());
            }
            "address_size" => {
                let bits = cursor.integer("32 or 64")?;
                if bits != 64 {
                    let what = format!("addresses of {bits} bits; only 64 are served");
                    return Err(LoadError::Declaration { line, what });
                }
                return Ok(());
            }
            "file" | "loc" => {
                cursor.skip_line();
                return Ok(());
            }
            "pragma" => return cursor.skip_past(';'),
            "section" => {
                if matches!(cursor.peek(), Some(Kind::Dotted(_) | Kind::Word(_))) {
                    cursor.advance();
                }
                return cursor.skip_braces();
            }
            "alias" => {
                let name = cursor.word("a name")?.to_owned();
                cursor.mark(',')?;
                unit.aliases.push((name, cursor.word("a function")?.to_owned()));
                return cursor.mark(';');
            }
            "entry" | "func" => {
                unit.functions.push(function(cursor, line, name == "entry")?);
                return Ok(());
            }
            _ => match Space::parse(name) {
                Some(space @ (Space::Global | Space::Const | Space::Shared)) => {
                    unit.variables.extend(variables(cursor, space, external)?);
                    return Ok(());
                }
                _ => {
                    return Err(LoadError::Syntax {
                        line,
                        expected: "a directive of a module".into(),
                        found: format!("`.{name}`"),
                    });
                }
            },
        }
    }
}

/// `8.7`, which the lexer reads as a decimal number.
fn version(cursor: &mut Cursor<'_>) -> Result<(u32, u32), LoadError> {
    let value = match cursor.peek() {
        Some(&Kind::Double(bits)) => f64::from_bits(bits),
        Some(&Kind::Integer(major)) => major as f64,
        _ => return cursor.fail("a version"),
    };
    cursor.advance();
    Ok((value as u32, ((value - value.floor()) * 10.0).round() as u32))
}

fn function(cursor: &mut Cursor<'_>, line: u32, entry: bool) -> Result<Function, LoadError> {
    while cursor.take_dotted("attribute") {
        cursor.skip_past(')')?;
    }
    let returns = if cursor.is_mark('(') { parameters(cursor)? } else { Vec::new() };
    let name = cursor.word("a name")?.to_owned();
    let parameters = if cursor.is_mark('(') { parameters(cursor)? } else { Vec::new() };
    let mut max_threads = None;
    while let Some(&Kind::Dotted(directive)) = cursor.peek() {
        cursor.advance();
        let mut numbers = Vec::new();
        while let Some(&Kind::Integer(value)) = cursor.peek() {
            numbers.push(value);
            cursor.advance();
            if !cursor.take_mark(',') {
                break;
            }
        }
        match directive {
            "maxntid" => max_threads = Some(numbers.iter().fold(1, |product: u64, &n| product.saturating_mul(n))),
            "reqntid" => max_threads = Some(numbers.iter().fold(1, |product: u64, &n| product.saturating_mul(n))),
            "minnctapersm" | "maxnreg" | "maxnctapersm" | "noreturn" | "maxclusterrank" | "blocksareclusters"
            | "explicitcluster" | "reqnctapercluster" => {}
            "pragma" => cursor.skip_past(';')?,
            "unified" => {
                cursor.skip_past(')')?;
            }
            _ => {
                return Err(LoadError::Syntax {
                    line: cursor.line_behind(),
                    expected: "a directive of a function".into(),
                    found: format!("`.{directive}`"),
                });
            }
        }
    }
    let body = if cursor.take_mark(';') { None } else { Some(body(cursor)?) };
    Ok(Function { line, name, entry, returns, parameters, max_threads, body })
}
