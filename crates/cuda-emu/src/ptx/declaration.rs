//! Declarations of variables and parameters.

use super::ast::{Initial, InitialValue, Parameter, Variable};
use super::cursor::Cursor;
use super::lexer::Kind;
use crate::LoadError;
use crate::types::{Space, Type};

/// Largest variable, in bytes.
const LIMIT: u64 = 1 << 32;
/// Largest vector of a declaration.
const VECTOR: u64 = 8;

/// A variable, from its space on: `.shared .align 4 .b8 name[64]`. Several may share a declaration.
pub(super) fn variables(cursor: &mut Cursor<'_>, space: Space, external: bool) -> Result<Vec<Variable>, LoadError> {
    let head = Head::parse(cursor)?;
    let mut variables = Vec::new();
    loop {
        variables.push(head.variable(cursor, space, external)?);
        if !cursor.take_mark(',') {
            break;
        }
    }
    cursor.mark(';')?;
    Ok(variables)
}

/// `(.param .b32 a, .param .b64 b)`.
pub(super) fn parameters(cursor: &mut Cursor<'_>) -> Result<Vec<Parameter>, LoadError> {
    let mut parameters = Vec::new();
    cursor.mark('(')?;
    if cursor.take_mark(')') {
        return Ok(parameters);
    }
    loop {
        if cursor.take_dotted("reg") {
            let head = Head::parse(cursor)?;
            parameters.push(Parameter::Register { name: cursor.word("a name")?.to_owned(), ty: head.ty });
        } else if cursor.take_dotted("param") {
            let head = Head::parse(cursor)?;
            parameters.push(Parameter::Memory(head.variable(cursor, Space::Param, false)?));
        } else {
            return cursor.fail("`.param` or `.reg`");
        }
        if cursor.take_mark(')') {
            return Ok(parameters);
        }
        cursor.mark(',')?;
    }
}

/// What stands before the name.
struct Head {
    align: u64,
    ty: Type,
    vector: u64,
}

impl Head {
    fn parse(cursor: &mut Cursor<'_>) -> Result<Self, LoadError> {
        let (mut align, mut ty, mut vector) = (None, None, 1);
        while let Some(&Kind::Dotted(name)) = cursor.peek() {
            if name == "align" {
                cursor.advance();
                let value = cursor.integer("an alignment")?;
                if !value.is_power_of_two() || value > 1 << 20 {
                    return declaration(cursor, format!("alignment {value} is no power of two up to 2^20"));
                }
                align = Some(value);
                continue;
            }
            match name {
                "v2" => vector = 2,
                "v4" => vector = 4,
                "v8" => vector = VECTOR,
                // `.ptr .global .align 4` describes what a parameter points at.
                "ptr" => {
                    cursor.advance();
                    while let Some(&Kind::Dotted(hint)) = cursor.peek() {
                        cursor.advance();
                        if hint == "align" {
                            cursor.integer("an alignment")?;
                        }
                    }
                    continue;
                }
                "managed" | "unified" => {}
                _ => match Type::parse(name) {
                    Some(parsed) => ty = Some(parsed),
                    // Opaque handles are 64-bit values that nothing here looks into.
                    None if matches!(name, "texref" | "samplerref" | "surfref") => ty = Some(Type::B64),
                    None => return cursor.fail("a type"),
                },
            }
            cursor.advance();
        }
        let Some(ty) = ty else { return cursor.fail("a type") };
        let align = align.unwrap_or(u64::from(ty.bytes()) * vector);
        Ok(Self { align, ty, vector })
    }

    fn variable(&self, cursor: &mut Cursor<'_>, space: Space, external: bool) -> Result<Variable, LoadError> {
        let line = cursor.line();
        let name = match cursor.peek() {
            Some(&Kind::Word(name)) => {
                cursor.advance();
                name.to_owned()
            }
            // A prototype's parameter may lack one.
            _ if space == Space::Param => "_".to_owned(),
            _ => return cursor.fail("a name"),
        };
        let mut dimensions = Vec::new();
        while cursor.take_mark('[') {
            if cursor.take_mark(']') {
                dimensions.push(None);
            } else {
                dimensions.push(Some(cursor.integer("a size")?));
                cursor.mark(']')?;
            }
        }
        let element = u64::from(self.ty.bytes());
        let mut initial = Vec::new();
        let mut written = 0;
        if cursor.take_mark('=') {
            self.initial(cursor, &mut written, &mut initial)?;
        }
        if dimensions.first() == Some(&None) && written > 0 {
            let inner: u64 = dimensions[1..].iter().map(|size| size.unwrap_or(0)).fold(element, u64::saturating_mul);
            dimensions[0] = Some(written.div_ceil(inner.max(1)));
        }
        let unsized_array = dimensions.contains(&None);
        let bytes = dimensions.iter().map(|size| size.unwrap_or(0)).fold(element * self.vector, u64::saturating_mul);
        if bytes > LIMIT {
            return declaration(cursor, format!("`{name}` has {bytes} bytes, at most {LIMIT} are possible"));
        }
        if written > bytes {
            return declaration(cursor, format!("`{name}` has {bytes} bytes, but {written} are given"));
        }
        Ok(Variable { line, space, align: self.align, ty: self.ty, name, bytes, unsized_array, external, initial })
    }

    /// Initial contents: an item, or a list of them in braces, which may be nested. Rows aren't padded: compilers
    /// give all elements.
    fn initial(&self, cursor: &mut Cursor<'_>, at: &mut u64, into: &mut Vec<Initial>) -> Result<(), LoadError> {
        if cursor.take_mark('{') {
            cursor.enter()?;
            if !cursor.take_mark('}') {
                loop {
                    self.initial(cursor, at, into)?;
                    if cursor.take_mark('}') {
                        break;
                    }
                    cursor.mark(',')?;
                }
            }
            cursor.leave();
            return Ok(());
        }
        let bytes = self.ty.bytes();
        let value = self.value(cursor)?;
        into.push(Initial { offset: *at, bytes: bytes.min(8), value });
        *at += u64::from(bytes);
        Ok(())
    }

    fn value(&self, cursor: &mut Cursor<'_>) -> Result<InitialValue, LoadError> {
        let negative = cursor.take_mark('-');
        let kind = match cursor.peek() {
            Some(kind) => kind.clone(),
            None => return cursor.fail("a value"),
        };
        let bits = match kind {
            Kind::Integer(value) => {
                let value = if negative { value.wrapping_neg() } else { value };
                match self.ty {
                    Type::F32 => (value.cast_signed() as f32).to_bits().into(),
                    Type::F64 => (value.cast_signed() as f64).to_bits(),
                    _ => value,
                }
            }
            Kind::Single(bits) => {
                let bits = bits ^ (u32::from(negative) << 31);
                if self.ty == Type::F64 { f64::from(f32::from_bits(bits)).to_bits() } else { bits.into() }
            }
            Kind::Double(bits) => {
                let bits = bits ^ (u64::from(negative) << 63);
                if self.ty == Type::F32 { (f64::from_bits(bits) as f32).to_bits().into() } else { bits }
            }
            Kind::Word(word) if !negative => {
                cursor.advance();
                let mut generic = false;
                let mut symbol = word;
                // `0xFF00(symbol)` picks a byte of an address; only whole addresses are served.
                if word == "generic" && cursor.take_mark('(') {
                    generic = true;
                    symbol = cursor.word("a name")?;
                    cursor.mark(')')?;
                }
                let mut offset = 0_i64;
                if cursor.take_mark('+') {
                    let minus = cursor.take_mark('-');
                    let value = cursor.integer("an offset")?.cast_signed();
                    offset = if minus { value.wrapping_neg() } else { value };
                } else if cursor.take_mark('-') {
                    offset = cursor.integer("an offset")?.cast_signed().wrapping_neg();
                }
                return Ok(InitialValue::Address { symbol: symbol.to_owned(), offset, generic });
            }
            _ => return cursor.fail("a value"),
        };
        cursor.advance();
        Ok(InitialValue::Bits(bits))
    }
}

fn declaration<T>(cursor: &Cursor<'_>, what: String) -> Result<T, LoadError> {
    Err(LoadError::Declaration { line: cursor.line(), what })
}
