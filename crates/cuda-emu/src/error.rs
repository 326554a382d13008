//! Why a module can't be loaded.

/// A fault of PTX text. Every one names its line, counted from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// A character that begins no token, or a token that has no end.
    #[error("line {line}: {what}")]
    Token {
        /// Where.
        line: u32,
        /// What is wrong with it.
        what: String,
    },
    /// The text isn't what the grammar has here.
    #[error("line {line}: expected {expected}, found {found}")]
    Syntax {
        /// Where.
        line: u32,
        /// What could stand here.
        expected: String,
        /// What does.
        found: String,
    },
    /// There is no such instruction, or none that this crate knows.
    #[error("line {line}: unknown instruction `{instruction}`")]
    UnknownInstruction {
        /// Where.
        line: u32,
        /// The opcode with its modifiers.
        instruction: String,
    },
    /// The instruction exists, but not with this modifier.
    #[error("line {line}: `{instruction}` has no modifier `.{modifier}`")]
    UnknownModifier {
        /// Where.
        line: u32,
        /// The opcode with its modifiers.
        instruction: String,
        /// The modifier that was left over.
        modifier: String,
    },
    /// Operands don't fit the instruction.
    #[error("line {line}: `{instruction}`: {what}")]
    Operand {
        /// Where.
        line: u32,
        /// The opcode with its modifiers.
        instruction: String,
        /// What doesn't fit.
        what: String,
    },
    /// A name that nothing declares.
    #[error("line {line}: `{name}` is not declared")]
    Undeclared {
        /// Where.
        line: u32,
        /// The name.
        name: String,
    },
    /// A name that is declared twice in one scope.
    #[error("line {line}: `{name}` is declared already")]
    Redeclared {
        /// Where.
        line: u32,
        /// The name.
        name: String,
    },
    /// A declaration that can't be served.
    #[error("line {line}: {what}")]
    Declaration {
        /// Where.
        line: u32,
        /// What is wrong.
        what: String,
    },
}

impl LoadError {
    /// The line that is at fault, counted from 1.
    pub fn line(&self) -> u32 {
        match self {
            Self::Token { line, .. }
            | Self::Syntax { line, .. }
            | Self::UnknownInstruction { line, .. }
            | Self::UnknownModifier { line, .. }
            | Self::Operand { line, .. }
            | Self::Undeclared { line, .. }
            | Self::Redeclared { line, .. }
            | Self::Declaration { line, .. } => *line,
        }
    }
}
