//! Names and what they stand for, scope by scope.

use std::collections::HashMap;

use crate::LoadError;
use crate::types::Type;

/// What a name stands for inside a function.
#[derive(Clone, Debug)]
pub(super) enum Entity {
    Register {
        row: u32,
        ty: Type,
    },
    /// Elements of a vector register.
    Vector {
        rows: Vec<u32>,
        ty: Type,
    },
    /// A place in the frame: local variables, parameters of functions and of calls.
    Frame {
        offset: u64,
        bytes: u64,
    },
    /// A parameter of the kernel.
    KernelParameter {
        offset: u64,
    },
    /// A static variable of the program.
    Static(usize),
    Label(u32),
    /// A list of labels.
    Targets(Vec<String>),
    /// A prototype of a call; what it says is known from the call's operands.
    Prototype,
}

/// Registers that a declaration with a count makes: `%r<10>`.
#[derive(Clone, Debug)]
struct Family {
    rows: Vec<u32>,
    ty: Type,
}

/// One scope.
#[derive(Default)]
struct Scope {
    names: HashMap<String, Entity>,
    families: HashMap<String, Family>,
}

/// The scopes that enclose a statement, innermost last.
#[derive(Default)]
pub(super) struct Scopes {
    scopes: Vec<Scope>,
}

impl Scopes {
    pub(super) fn enter(&mut self) {
        self.scopes.push(Scope::default());
    }

    pub(super) fn leave(&mut self) {
        self.scopes.pop();
    }

    pub(super) fn declare(&mut self, line: u32, name: &str, entity: Entity) -> Result<(), LoadError> {
        let Some(scope) = self.scopes.last_mut() else { return Ok(()) };
        if scope.names.insert(name.to_owned(), entity).is_some() {
            return Err(LoadError::Redeclared { line, name: name.to_owned() });
        }
        Ok(())
    }

    pub(super) fn declare_family(&mut self, line: u32, name: &str, rows: Vec<u32>, ty: Type) -> Result<(), LoadError> {
        let Some(scope) = self.scopes.last_mut() else { return Ok(()) };
        if scope.families.insert(name.to_owned(), Family { rows, ty }).is_some() {
            return Err(LoadError::Redeclared { line, name: name.to_owned() });
        }
        Ok(())
    }

    pub(super) fn find(&self, name: &str) -> Option<Entity> {
        self.scopes.iter().rev().find_map(|scope| scope.find(name))
    }
}

impl Scope {
    fn find(&self, name: &str) -> Option<Entity> {
        if let Some(entity) = self.names.get(name) {
            return Some(entity.clone());
        }
        // `%r12` of the family `%r`. A family's name may itself end in digits, so every split is tried.
        let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
        (name.len() - digits..name.len()).find_map(|split| {
            let family = self.families.get(&name[..split])?;
            let number = &name[split..];
            if number.len() > 1 && number.starts_with('0') {
                return None;
            }
            let row = *family.rows.get(number.parse::<usize>().ok()?)?;
            Some(Entity::Register { row, ty: family.ty })
        })
    }
}
