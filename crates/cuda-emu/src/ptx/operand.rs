//! Operands of instructions.

use super::ast::Operand;
use super::cursor::Cursor;
use super::lexer::Kind;
use crate::LoadError;

/// One operand, `p|q` included.
pub(super) fn operand(cursor: &mut Cursor<'_>) -> Result<Operand, LoadError> {
    let first = single(cursor)?;
    if cursor.take_mark('|') {
        return Ok(Operand::Pair(Box::new(first), Box::new(single(cursor)?)));
    }
    Ok(first)
}

fn list(cursor: &mut Cursor<'_>, end: char) -> Result<Vec<Operand>, LoadError> {
    cursor.enter()?;
    let mut operands = Vec::new();
    if !cursor.take_mark(end) {
        loop {
            operands.push(operand(cursor)?);
            if cursor.take_mark(end) {
                break;
            }
            cursor.mark(',')?;
        }
    }
    cursor.leave();
    Ok(operands)
}

fn single(cursor: &mut Cursor<'_>) -> Result<Operand, LoadError> {
    match cursor.peek() {
        Some(&Kind::Word(word)) => {
            cursor.advance();
            if word == "_" {
                return Ok(Operand::Sink);
            }
            if word == "WARP_SZ" {
                return Ok(Operand::Integer(32));
            }
            let mut name = word.to_owned();
            if let Some(&Kind::Dotted(part)) = cursor.peek() {
                cursor.advance();
                name.push('.');
                name.push_str(part);
            }
            let offset = offset(cursor)?;
            Ok(Operand::Name { name, offset })
        }
        Some(&Kind::Integer(value)) => {
            cursor.advance();
            Ok(Operand::Integer(value))
        }
        Some(&Kind::Single(bits)) => {
            cursor.advance();
            Ok(Operand::Single(bits))
        }
        Some(&Kind::Double(bits)) => {
            cursor.advance();
            Ok(Operand::Double(bits))
        }
        Some(Kind::Mark('-')) => {
            cursor.advance();
            match cursor.peek() {
                Some(&Kind::Integer(value)) => {
                    cursor.advance();
                    Ok(Operand::Integer(value.wrapping_neg()))
                }
                Some(&Kind::Single(bits)) => {
                    cursor.advance();
                    Ok(Operand::Single(bits ^ (1 << 31)))
                }
                Some(&Kind::Double(bits)) => {
                    cursor.advance();
                    Ok(Operand::Double(bits ^ (1 << 63)))
                }
                Some(&Kind::Word(word)) => {
                    cursor.advance();
                    Ok(Operand::Negated(Box::new(Operand::Name { name: word.to_owned(), offset: 0 })))
                }
                _ => cursor.fail("a number"),
            }
        }
        Some(Kind::Mark('~')) => {
            cursor.advance();
            Ok(Operand::Integer(!cursor.integer("an integer")?))
        }
        Some(Kind::Mark('!')) => {
            cursor.advance();
            let name = cursor.word("a predicate")?.to_owned();
            Ok(Operand::Not(Box::new(Operand::Name { name, offset: 0 })))
        }
        Some(Kind::Mark('{')) => {
            cursor.advance();
            Ok(Operand::Vector(list(cursor, '}')?))
        }
        Some(Kind::Mark('(')) => {
            cursor.advance();
            Ok(Operand::List(list(cursor, ')')?))
        }
        Some(Kind::Mark('[')) => {
            cursor.advance();
            cursor.enter()?;
            let mut base = single(cursor)?;
            cursor.leave();
            // The offset belongs to the address, whatever the base is.
            let mut offset = offset(cursor)?;
            if let Operand::Name { offset: inner, .. } = &mut base {
                offset = offset.wrapping_add(std::mem::take(inner));
            }
            cursor.mark(']')?;
            Ok(Operand::Memory(Box::new(base), offset))
        }
        _ => cursor.fail("an operand"),
    }
}

/// `+4`, `-4`, `+-4`, or nothing.
fn offset(cursor: &mut Cursor<'_>) -> Result<i64, LoadError> {
    let negative = match cursor.peek() {
        Some(Kind::Mark('+')) => {
            cursor.advance();
            cursor.take_mark('-')
        }
        Some(Kind::Mark('-')) if matches!(cursor.peek_at(1), Some(Kind::Integer(_))) => {
            cursor.advance();
            true
        }
        _ => return Ok(0),
    };
    let value = cursor.integer("an offset")?.cast_signed();
    Ok(if negative { value.wrapping_neg() } else { value })
}
