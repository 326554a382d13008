//! Text to tokens. Comments vanish; each token knows its line.

use crate::LoadError;

/// What a token is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind<'t> {
    /// An identifier or a keyword: `ld`, `%rd1`, `$L__BB0_2`, `_`.
    Word(&'t str),
    /// A dot and the name after it: a directive or a modifier. Holds the name, with `::` parts.
    Dotted(&'t str),
    /// An integer; its bits in 64-bit two's complement.
    Integer(u64),
    /// A single-precision constant, `0f3F800000`.
    Single(u32),
    /// A double-precision constant, `0d...` or decimal.
    Double(u64),
    /// A string, without its quotes.
    Text(&'t str),
    /// One character of punctuation.
    Mark(char),
}

/// A token and its line, counted from 1.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Token<'t> {
    pub(crate) kind: Kind<'t>,
    pub(crate) line: u32,
}

/// All tokens of `text`.
pub(crate) fn tokens(text: &str) -> Result<Vec<Token<'_>>, LoadError> {
    let mut lexer = Lexer { text, at: 0, line: 1 };
    let mut tokens = Vec::with_capacity(text.len() / 4);
    while let Some(token) = lexer.next()? {
        tokens.push(token);
    }
    Ok(tokens)
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
    line: u32,
}

fn begins_word(c: u8) -> bool {
    c.is_ascii_alphabetic() || matches!(c, b'_' | b'$' | b'%')
}

fn in_word(c: u8) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, b'_' | b'$')
}

impl<'t> Lexer<'t> {
    fn peek(&self, ahead: usize) -> u8 {
        self.text.as_bytes().get(self.at + ahead).copied().unwrap_or(0)
    }

    fn fail<T>(&self, what: impl Into<String>) -> Result<T, LoadError> {
        Err(LoadError::Token { line: self.line, what: what.into() })
    }

    fn skip_blank(&mut self) -> Result<(), LoadError> {
        loop {
            match self.peek(0) {
                b'\n' => {
                    self.line += 1;
                    self.at += 1;
                }
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c => self.at += 1,
                b'/' if self.peek(1) == b'/' => {
                    while self.at < self.text.len() && self.peek(0) != b'\n' {
                        self.at += 1;
                    }
                }
                b'/' if self.peek(1) == b'*' => {
                    let Some(length) = self.text.get(self.at + 2..).and_then(|rest| rest.find("*/")) else {
                        return self.fail("a comment has no end");
                    };
                    let end = self.at + 2 + length + 2;
                    self.line += self.text.as_bytes()[self.at..end].iter().filter(|&&c| c == b'\n').count() as u32;
                    self.at = end;
                }
                // A preprocessor's line marker.
                b'#' => {
                    while self.at < self.text.len() && self.peek(0) != b'\n' {
                        self.at += 1;
                    }
                }
                _ => return Ok(()),
            }
        }
    }

    fn word_from(&mut self, start: usize) -> &'t str {
        while in_word(self.peek(0)) {
            self.at += 1;
        }
        // Only ASCII has been passed since `start`.
        &self.text[start..self.at]
    }

    fn next(&mut self) -> Result<Option<Token<'t>>, LoadError> {
        self.skip_blank()?;
        let line = self.line;
        if self.at >= self.text.len() {
            return Ok(None);
        }
        let c = self.peek(0);
        let kind = if begins_word(c) {
            let start = self.at;
            self.at += 1;
            Kind::Word(self.word_from(start))
        } else if c == b'.' && (in_word(self.peek(1))) {
            self.at += 1;
            let start = self.at;
            self.word_from(start);
            while self.peek(0) == b':' && self.peek(1) == b':' && in_word(self.peek(2)) {
                self.at += 2;
                self.word_from(start);
            }
            Kind::Dotted(&self.text[start..self.at])
        } else if c.is_ascii_digit() {
            self.number()?
        } else if c == b'"' {
            let start = self.at + 1;
            self.at += 1;
            while self.peek(0) != b'"' {
                if self.at >= self.text.len() || self.peek(0) == b'\n' {
                    return self.fail("a string has no end");
                }
                self.at += if self.peek(0) == b'\\' { 2 } else { 1 };
            }
            let Some(text) = self.text.get(start..self.at) else { return self.fail("a string has no end") };
            self.at += 1;
            Kind::Text(text)
        } else if c.is_ascii_graphic() {
            self.at += 1;
            Kind::Mark(char::from(c))
        } else {
            let unknown = self.text.get(self.at..).and_then(|rest| rest.chars().next()).unwrap_or('?');
            return self.fail(format!("unexpected character {unknown:?}"));
        };
        Ok(Some(Token { kind, line }))
    }

    fn number(&mut self) -> Result<Kind<'t>, LoadError> {
        let start = self.at;
        let word = self.word_from(start);
        if let Some(digits) = word.strip_prefix("0f").or_else(|| word.strip_prefix("0F")) {
            return match u32::from_str_radix(digits, 16) {
                Ok(bits) if digits.len() == 8 => Ok(Kind::Single(bits)),
                _ => self.fail(format!("`{word}` is no 32-bit float in hexadecimal")),
            };
        }
        if let Some(digits) = word.strip_prefix("0d").or_else(|| word.strip_prefix("0D")) {
            return match u64::from_str_radix(digits, 16) {
                Ok(bits) if digits.len() == 16 => Ok(Kind::Double(bits)),
                _ => self.fail(format!("`{word}` is no 64-bit float in hexadecimal")),
            };
        }
        let hexadecimal = word.starts_with("0x") || word.starts_with("0X");
        let decimal_point = self.peek(0) == b'.' && self.peek(1).is_ascii_digit() && !hexadecimal;
        let exponent = !hexadecimal && word.bytes().any(|c| matches!(c, b'e' | b'E'));
        if decimal_point || exponent {
            if decimal_point {
                self.at += 1;
                self.word_from(start);
            }
            if matches!(self.text.as_bytes()[self.at - 1], b'e' | b'E') && matches!(self.peek(0), b'+' | b'-') {
                self.at += 1;
                self.word_from(start);
            }
            let text = &self.text[start..self.at];
            return match text.parse::<f64>() {
                Ok(value) => Ok(Kind::Double(value.to_bits())),
                Err(_) => self.fail(format!("`{text}` is no number")),
            };
        }
        let digits = word.strip_suffix(['u', 'U']).unwrap_or(word);
        let value = if hexadecimal {
            u64::from_str_radix(&digits[2..], 16)
        } else if let Some(binary) = digits.strip_prefix("0b").or_else(|| digits.strip_prefix("0B")) {
            u64::from_str_radix(binary, 2)
        } else if digits.len() > 1 && digits.starts_with('0') {
            u64::from_str_radix(&digits[1..], 8)
        } else {
            digits.parse()
        };
        match value {
            Ok(value) => Ok(Kind::Integer(value)),
            Err(_) => self.fail(format!("`{word}` is no 64-bit number")),
        }
    }
}
