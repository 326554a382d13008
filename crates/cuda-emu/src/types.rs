//! Types and state spaces of PTX.

use std::fmt;

/// A fundamental type, as an instruction or a declaration names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub(crate) enum Type {
    Pred,
    B8,
    B16,
    B32,
    B64,
    B128,
    U8,
    U16,
    U32,
    U64,
    S8,
    S16,
    S32,
    S64,
    F16,
    F16x2,
    Bf16,
    Bf16x2,
    Tf32,
    F32,
    F64,
}

impl Type {
    /// The type that a modifier names (without its dot).
    pub(crate) fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "pred" => Self::Pred,
            "b8" => Self::B8,
            "b16" => Self::B16,
            "b32" => Self::B32,
            "b64" => Self::B64,
            "b128" => Self::B128,
            "u8" => Self::U8,
            "u16" => Self::U16,
            "u32" => Self::U32,
            "u64" => Self::U64,
            "s8" => Self::S8,
            "s16" => Self::S16,
            "s32" => Self::S32,
            "s64" => Self::S64,
            "f16" => Self::F16,
            "f16x2" => Self::F16x2,
            "bf16" => Self::Bf16,
            "bf16x2" => Self::Bf16x2,
            "tf32" => Self::Tf32,
            "f32" => Self::F32,
            "f64" => Self::F64,
            _ => return None,
        })
    }

    /// Size in bits; a predicate has one.
    pub(crate) fn bits(self) -> u32 {
        match self {
            Self::Pred => 1,
            Self::B8 | Self::U8 | Self::S8 => 8,
            Self::B16 | Self::U16 | Self::S16 | Self::F16 | Self::Bf16 => 16,
            Self::B32 | Self::U32 | Self::S32 | Self::F32 | Self::F16x2 | Self::Bf16x2 | Self::Tf32 => 32,
            Self::B64 | Self::U64 | Self::S64 | Self::F64 => 64,
            Self::B128 => 128,
        }
    }

    /// Size in memory in bytes.
    pub(crate) fn bytes(self) -> u32 {
        self.bits().div_ceil(8)
    }

    /// Whether it is a signed integer.
    pub(crate) fn is_signed(self) -> bool {
        matches!(self, Self::S8 | Self::S16 | Self::S32 | Self::S64)
    }

    /// Whether it is a floating-point type, packed ones included.
    pub(crate) fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::F16x2 | Self::Bf16 | Self::Bf16x2 | Self::Tf32 | Self::F32 | Self::F64)
    }
}

/// Where a variable lives or an access goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// No space named: the address says where.
    Generic,
    /// Device memory.
    Global,
    /// Constant variables of a module.
    Const,
    /// Memory of a block.
    Shared,
    /// Memory of a thread.
    Local,
    /// Parameters of a kernel or of a call.
    Param,
}

impl Space {
    /// The space that a modifier names (without its dot).
    pub(crate) fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "global" => Self::Global,
            "const" => Self::Const,
            "shared" | "shared::cta" | "shared::cluster" => Self::Shared,
            "local" => Self::Local,
            "param" | "param::entry" | "param::func" => Self::Param,
            _ => return None,
        })
    }
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Generic => "generic",
            Self::Global => "global",
            Self::Const => "const",
            Self::Shared => "shared",
            Self::Local => "local",
            Self::Param => "param",
        })
    }
}
