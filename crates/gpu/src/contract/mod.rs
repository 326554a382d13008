//! What a kernel asks of a launch, checked on the host: a launch that is refused never reaches the device.

mod error;
mod geometry;

pub use error::LaunchError;
pub use geometry::{Geometry, Limits, Work};

/// A kernel of the embedded PTX.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contract {
    /// Its symbol: operation and type of elements.
    pub name: &'static str,
    /// The module that has it.
    pub module: &'static str,
    /// Its parameters in order.
    pub parameters: &'static [Parameter],
    /// Threads of a block.
    pub block: Block,
}

/// A parameter of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Its type.
    pub kind: Kind,
}

/// The type of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The address of an array.
    Pointer {
        /// Bytes of an element.
        element: usize,
        /// Whether the kernel writes to it.
        written: bool,
    },
    /// A count, below 2^31.
    Size,
    /// A number of 64 bits.
    U64,
    /// A float.
    F32,
}

impl Kind {
    /// The type in PTX.
    pub const fn ptx(self) -> &'static str {
        match self {
            Self::Pointer { .. } | Self::U64 => "u64",
            Self::Size => "u32",
            Self::F32 => "f32",
        }
    }
}

/// Threads of a block; whole warps always.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Block {
    /// As the launch wants, up to `most`.
    Any {
        /// Where the launch doesn't say.
        usual: u32,
        /// At most.
        most: u32,
    },
    /// Exactly so many.
    Exactly(u32),
}
