//! Architectures.

use std::fmt;
use std::str::FromStr;

/// A compute capability, `sm_75` or newer: the oldest that current drivers and assemblers serve.
///
/// PTX for one runs on all newer ones; the driver compiles it for the GPU that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Arch {
    /// Turing.
    Sm75,
    /// Ampere, data centre.
    Sm80,
    /// Ampere.
    Sm86,
    /// Ada.
    Sm89,
    /// Hopper.
    Sm90,
    /// Blackwell, data centre.
    Sm100,
    /// Blackwell.
    Sm120,
}

impl Arch {
    /// All, the oldest first.
    pub const ALL: [Self; 7] = [Self::Sm75, Self::Sm80, Self::Sm86, Self::Sm89, Self::Sm90, Self::Sm100, Self::Sm120];

    /// Its name as LLVM and `ptxas` spell it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sm75 => "sm_75",
            Self::Sm80 => "sm_80",
            Self::Sm86 => "sm_86",
            Self::Sm89 => "sm_89",
            Self::Sm90 => "sm_90",
            Self::Sm100 => "sm_100",
            Self::Sm120 => "sm_120",
        }
    }
}

impl Default for Arch {
    /// The oldest: its PTX runs everywhere.
    fn default() -> Self {
        Self::Sm75
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is none of [`Arch::ALL`]'s.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is none of sm_75, sm_80, sm_86, sm_89, sm_90, sm_100, sm_120")]
pub struct UnknownArch {
    /// The name.
    pub name: String,
}

impl FromStr for Arch {
    type Err = UnknownArch;

    fn from_str(name: &str) -> Result<Self, UnknownArch> {
        Self::ALL.into_iter().find(|arch| arch.name() == name).ok_or_else(|| UnknownArch { name: name.to_owned() })
    }
}
