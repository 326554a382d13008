//! PTX text to a syntax tree.

pub(crate) mod ast;
mod cursor;
mod declaration;
mod lexer;
mod operand;
mod statement;
mod unit;

pub(crate) use unit::parse;
