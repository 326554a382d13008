//! A place in a list of tokens, and the small steps that parsers take.

use super::lexer::{self, Kind, Token};
use crate::LoadError;

/// Scopes and lists may be nested this deeply.
const DEPTH: u32 = 64;

pub(super) struct Cursor<'t> {
    tokens: Vec<Token<'t>>,
    at: usize,
    depth: u32,
}

impl<'t> Cursor<'t> {
    pub(super) fn new(text: &'t str) -> Result<Self, LoadError> {
        Ok(Self { tokens: lexer::tokens(text)?, at: 0, depth: 0 })
    }

    pub(super) fn peek(&self) -> Option<&Kind<'t>> {
        self.peek_at(0)
    }

    pub(super) fn peek_at(&self, ahead: usize) -> Option<&Kind<'t>> {
        self.tokens.get(self.at + ahead).map(|token| &token.kind)
    }

    /// Line of the next token, or of the last one.
    pub(super) fn line(&self) -> u32 {
        self.tokens.get(self.at).or(self.tokens.last()).map_or(1, |token| token.line)
    }

    /// Line of the token that was taken last.
    pub(super) fn line_behind(&self) -> u32 {
        self.at.checked_sub(1).and_then(|at| self.tokens.get(at)).map_or(0, |token| token.line)
    }

    pub(super) fn advance(&mut self) {
        self.at += 1;
    }

    pub(super) fn fail<T>(&self, expected: impl Into<String>) -> Result<T, LoadError> {
        let found = match self.peek() {
            None => "the end of the text".into(),
            Some(Kind::Word(word)) => format!("`{word}`"),
            Some(Kind::Dotted(word)) => format!("`.{word}`"),
            Some(Kind::Integer(value)) => format!("{value}"),
            Some(Kind::Single(bits)) => format!("0f{bits:08X}"),
            Some(Kind::Double(bits)) => format!("0d{bits:016X}"),
            Some(Kind::Text(text)) => format!("{text:?}"),
            Some(Kind::Mark(mark)) => format!("`{mark}`"),
        };
        Err(LoadError::Syntax { line: self.line(), expected: expected.into(), found })
    }

    pub(super) fn is_mark(&self, mark: char) -> bool {
        self.peek() == Some(&Kind::Mark(mark))
    }

    pub(super) fn take_mark(&mut self, mark: char) -> bool {
        let found = self.is_mark(mark);
        self.at += usize::from(found);
        found
    }

    pub(super) fn mark(&mut self, mark: char) -> Result<(), LoadError> {
        if self.take_mark(mark) { Ok(()) } else { self.fail(format!("`{mark}`")) }
    }

    pub(super) fn take_dotted(&mut self, name: &str) -> bool {
        let found = matches!(self.peek(), Some(Kind::Dotted(dotted)) if *dotted == name);
        self.at += usize::from(found);
        found
    }

    pub(super) fn word(&mut self, expected: &str) -> Result<&'t str, LoadError> {
        match self.peek() {
            Some(&Kind::Word(word)) => {
                self.at += 1;
                Ok(word)
            }
            _ => self.fail(expected),
        }
    }

    pub(super) fn dotted(&mut self, expected: &str) -> Result<&'t str, LoadError> {
        match self.peek() {
            Some(&Kind::Dotted(word)) => {
                self.at += 1;
                Ok(word)
            }
            _ => self.fail(expected),
        }
    }

    pub(super) fn integer(&mut self, expected: &str) -> Result<u64, LoadError> {
        match self.peek() {
            Some(&Kind::Integer(value)) => {
                self.at += 1;
                Ok(value)
            }
            _ => self.fail(expected),
        }
    }

    /// Goes one level down; [`leave`](Self::leave) comes back.
    pub(super) fn enter(&mut self) -> Result<(), LoadError> {
        if self.depth == DEPTH {
            return self.fail(format!("at most {DEPTH} levels of nesting"));
        }
        self.depth += 1;
        Ok(())
    }

    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Passes everything up to the mark, which is passed too.
    pub(super) fn skip_past(&mut self, mark: char) -> Result<(), LoadError> {
        while self.peek().is_some() {
            if self.take_mark(mark) {
                return Ok(());
            }
            self.advance();
        }
        self.fail(format!("`{mark}`"))
    }

    /// Passes the rest of a line.
    pub(super) fn skip_line(&mut self) {
        let line = self.line_behind();
        while self.tokens.get(self.at).is_some_and(|token| token.line == line) {
            self.at += 1;
        }
    }

    /// Passes a `{`, all that it encloses, and its `}`.
    pub(super) fn skip_braces(&mut self) -> Result<(), LoadError> {
        self.mark('{')?;
        let mut depth = 1_u32;
        while depth > 0 {
            match self.peek() {
                None => return self.fail("`}`"),
                Some(Kind::Mark('{')) => depth += 1,
                Some(Kind::Mark('}')) => depth -= 1,
                Some(_) => {}
            }
            self.advance();
        }
        Ok(())
    }
}
