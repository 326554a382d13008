//! What the parser makes of a module: close to the text, with the line of everything.

use crate::types::{Space, Type};

/// A translation unit.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Unit {
    /// `.version`, major and minor.
    pub(crate) version: (u32, u32),
    /// `.target`, the first of its names: `sm_75`.
    pub(crate) target: String,
    /// `.address_size` in bits.
    pub(crate) address_size: u32,
    /// Variables outside functions.
    pub(crate) variables: Vec<Variable>,
    /// Kernels, functions and declarations of functions.
    pub(crate) functions: Vec<Function>,
    /// `.alias`: a name and the function that it stands for.
    pub(crate) aliases: Vec<(String, String)>,
}

/// A variable or a parameter in memory.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Variable {
    /// Where it is declared.
    pub(crate) line: u32,
    /// Where it lives.
    pub(crate) space: Space,
    /// Alignment in bytes, a power of two.
    pub(crate) align: u64,
    /// Type of an element.
    pub(crate) ty: Type,
    /// Its name.
    pub(crate) name: String,
    /// Size in bytes; 0 for an array without a size.
    pub(crate) bytes: u64,
    /// Whether it is an array without a size (`extern .shared`), whose size the launch says.
    pub(crate) unsized_array: bool,
    /// Whether it is declared only (`.extern`).
    pub(crate) external: bool,
    /// Initial contents; what is missing is zero.
    pub(crate) initial: Vec<Initial>,
}

/// A piece of a variable's initial contents.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Initial {
    /// Offset from the start of the variable in bytes.
    pub(crate) offset: u64,
    /// Size in bytes, at most 8.
    pub(crate) bytes: u32,
    /// What stands there.
    pub(crate) value: InitialValue,
}

/// The value of a piece of initial contents.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum InitialValue {
    /// Its low bits.
    Bits(u64),
    /// An address, in its own space or generic, plus an offset.
    Address {
        /// Of what.
        symbol: String,
        /// Added to it.
        offset: i64,
        /// Whether the generic address is meant.
        generic: bool,
    },
}

/// A kernel or a function.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Function {
    /// Where it begins.
    pub(crate) line: u32,
    /// Its name.
    pub(crate) name: String,
    /// Whether it is a kernel.
    pub(crate) entry: bool,
    /// What it returns.
    pub(crate) returns: Vec<Parameter>,
    /// What it takes.
    pub(crate) parameters: Vec<Parameter>,
    /// `.maxntid`, the product of its dimensions.
    pub(crate) max_threads: Option<u64>,
    /// Its code; none for a declaration.
    pub(crate) body: Option<Vec<Statement>>,
}

/// A parameter: in memory or in a register.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Parameter {
    /// `.param`.
    Memory(Variable),
    /// `.reg`, as old code has it.
    Register {
        /// Its name.
        name: String,
        /// Its type.
        ty: Type,
    },
}

/// A statement of a function.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Statement {
    /// `.reg`: one register, or `count` of them with names `name0`, `name1`, ...
    Registers {
        /// Where.
        line: u32,
        /// Their type.
        ty: Type,
        /// Elements, for vector registers (1, 2 or 4).
        vector: u32,
        /// The name, or its beginning.
        name: String,
        /// How many, when a count is given.
        count: Option<u32>,
    },
    /// A variable.
    Variable(Variable),
    /// A label.
    Label {
        /// Where.
        line: u32,
        /// Its name.
        name: String,
    },
    /// `name: .branchtargets a, b, c;`
    BranchTargets {
        /// Where.
        line: u32,
        /// Name of the list.
        name: String,
        /// The labels.
        labels: Vec<String>,
    },
    /// `name: .callprototype ...;`
    Prototype {
        /// Its name.
        name: String,
        /// What is returned.
        returns: Vec<Parameter>,
        /// What is taken.
        parameters: Vec<Parameter>,
    },
    /// An instruction.
    Instruction(Instruction),
    /// A scope of its own.
    Scope(Vec<Statement>),
}

/// An instruction.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Instruction {
    /// Where.
    pub(crate) line: u32,
    /// The predicate that guards it, and whether it is negated.
    pub(crate) guard: Option<(String, bool)>,
    /// Its opcode: `ld`.
    pub(crate) opcode: String,
    /// Its modifiers, without dots: `global`, `v4`, `f32`.
    pub(crate) modifiers: Vec<String>,
    /// Its operands.
    pub(crate) operands: Vec<Operand>,
}

impl Instruction {
    /// Opcode and modifiers, as the text has them.
    pub(crate) fn name(&self) -> String {
        let mut name = self.opcode.clone();
        for modifier in &self.modifiers {
            name.push('.');
            name.push_str(modifier);
        }
        name
    }
}

/// An operand.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Operand {
    /// A register, a variable, a function, a label; `offset` is that of `symbol+4`.
    Name {
        /// The name, with `.x` for a part of a special register.
        name: String,
        /// Added to an address.
        offset: i64,
    },
    /// An integer.
    Integer(u64),
    /// A single-precision constant.
    Single(u32),
    /// A double-precision constant.
    Double(u64),
    /// `{a, b}`.
    Vector(Vec<Operand>),
    /// `[base+offset]`; more than one part for those instructions that have it.
    Memory(Box<Operand>, i64),
    /// `(a, b)`: arguments of a call.
    List(Vec<Operand>),
    /// `p|q`: two destinations.
    Pair(Box<Operand>, Box<Operand>),
    /// `!p`.
    Not(Box<Operand>),
    /// `-x`, of a register.
    Negated(Box<Operand>),
    /// `_`: no destination.
    Sink,
}
