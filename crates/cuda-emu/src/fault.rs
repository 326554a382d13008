//! Why a launch failed.

use std::fmt;

use crate::types::Space;

/// What went wrong in a kernel, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// What.
    pub kind: FaultKind,
    /// The kernel.
    pub kernel: String,
    /// The function that was running.
    pub function: String,
    /// Line of the PTX text, counted from 1.
    pub line: u32,
    /// Index of the block.
    pub block: [u32; 3],
    /// Index of the thread in its block.
    pub thread: [u32; 3],
    /// The space and the address that was accessed.
    pub address: Option<(Space, u64)>,
    /// The allocation that is nearest to a global address.
    pub nearest: Option<Nearest>,
}

/// An allocation, seen from an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nearest {
    /// Its first address.
    pub base: u64,
    /// Its size in bytes.
    pub bytes: u64,
    /// Offset of the accessed address from its base in bytes.
    pub offset: i128,
    /// The variable that lives there.
    pub name: Option<String>,
    /// Whether it has been freed.
    pub freed: bool,
}

/// A kind of fault.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FaultKind {
    /// An access outside every allocation, of so many bytes.
    OutOfBounds {
        /// Size of the access in bytes.
        bytes: u64,
    },
    /// An access to memory that was freed.
    UseAfterFree {
        /// Size of the access in bytes.
        bytes: u64,
    },
    /// An access whose address is no multiple of its size.
    Misaligned {
        /// Size of the access in bytes.
        bytes: u64,
    },
    /// A write to constant memory.
    ReadOnly,
    /// A read of memory that nothing has written.
    Uninitialised {
        /// Size of the access in bytes.
        bytes: u64,
    },
    /// Two accesses that nothing orders, one of which writes.
    Race {
        /// Whether this access writes.
        write: bool,
        /// Whether the other one did.
        other_write: bool,
        /// Index of the other block, along x first.
        other_block: u32,
        /// Index of the other thread in its block, along x first.
        other_thread: u32,
    },
    /// A barrier for whole warps that only part of a warp reached.
    DivergentBarrier {
        /// Lanes that came.
        arrived: u32,
        /// Lanes that are alive.
        live: u32,
    },
    /// Lanes wait for members that will never come.
    DivergentExchange {
        /// Lanes that came.
        arrived: u32,
        /// Lanes that were named.
        members: u32,
    },
    /// A lane takes part in an exchange that doesn't name it.
    NotAMember {
        /// The lanes that are named.
        members: u32,
    },
    /// All warps of a block wait.
    Deadlock,
    /// A barrier with a number above 15, or a count that isn't a multiple of 32, or two counts at once.
    BadBarrier {
        /// Its number.
        id: u32,
        /// Its count of threads.
        threads: u32,
    },
    /// An operation on an `mbarrier` that hasn't been initialized, or beyond its counts.
    BadBarrierObject {
        /// The count of arrivals or bytes, or the phase.
        operand: u64,
    },
    /// More local memory than a thread can have.
    StackOverflow,
    /// A call through a register that holds no function of this signature.
    BadCall {
        /// What it holds.
        address: u64,
    },
    /// `free` of an address that `malloc` hasn't given, or of one too many.
    BadFree {
        /// The address.
        address: u64,
    },
    /// A call of a function that is declared only.
    Unresolved {
        /// Its name.
        name: String,
    },
    /// An index beyond the list of `brx.idx`.
    BadBranch {
        /// The index.
        index: u32,
    },
    /// `trap` or `brkpt`.
    Trap,
    /// A failed assertion: its text.
    Assertion(String),
    /// A warp ran more instructions than the limit.
    StepLimit {
        /// The limit.
        steps: u64,
    },
}

impl std::error::Error for Fault {}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfBounds { bytes } => write!(f, "access of {bytes} bytes out of bounds"),
            Self::UseAfterFree { bytes } => write!(f, "access of {bytes} bytes to freed memory"),
            Self::Misaligned { bytes } => write!(f, "misaligned access of {bytes} bytes"),
            Self::ReadOnly => f.write_str("write to constant memory"),
            Self::Uninitialised { bytes } => write!(f, "read of {bytes} bytes that nothing has written"),
            Self::Race { write, other_write, other_block, other_thread } => {
                let name = |write: &bool| if *write { "write" } else { "read" };
                write!(
                    f,
                    "race: {} after a {} by thread {other_thread} of block {other_block}",
                    name(write),
                    name(other_write)
                )
            }
            Self::DivergentBarrier { arrived, live } => {
                write!(f, "divergent barrier: lanes {arrived:#010x} of {live:#010x}")
            }
            Self::DivergentExchange { arrived, members } => {
                write!(f, "lanes {arrived:#010x} wait for members {members:#010x} that never come")
            }
            Self::NotAMember { members } => write!(f, "a lane outside the members {members:#010x} takes part"),
            Self::Deadlock => f.write_str("deadlock: all warps of the block wait"),
            Self::BadBarrier { id, threads } => write!(f, "barrier {id} with {threads} threads is not possible"),
            Self::BadBarrierObject { operand } => {
                write!(f, "no mbarrier is here, or {operand:#x} is beyond its counts")
            }
            Self::StackOverflow => f.write_str("stack overflow"),
            Self::BadCall { address } => write!(f, "call of {address:#x}, which is no such function"),
            Self::BadFree { address } => write!(f, "free of {address:#x}, which isn't allocated"),
            Self::Unresolved { name } => write!(f, "call of `{name}`, which is declared only"),
            Self::BadBranch { index } => write!(f, "branch index {index} is beyond the list"),
            Self::Trap => f.write_str("trap"),
            Self::Assertion(text) => write!(f, "assertion failed: {text}"),
            Self::StepLimit { steps } => write!(f, "more than {steps} instructions in a warp"),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in kernel `{}`", self.kind, self.kernel)?;
        if self.function != self.kernel {
            write!(f, ", function `{}`", self.function)?;
        }
        write!(f, ", line {}, block {:?}, thread {:?}", self.line, self.block, self.thread)?;
        if let Some((space, address)) = self.address {
            write!(f, ", {space} address {address:#x}")?;
        }
        if let Some(nearest) = &self.nearest {
            let freed = if nearest.freed { "freed " } else { "" };
            write!(f, "; nearest {freed}allocation {:#x} of {} bytes", nearest.base, nearest.bytes)?;
            if let Some(name) = &nearest.name {
                write!(f, " (`{name}`)")?;
            }
            write!(f, ", at offset {}", nearest.offset)?;
        }
        Ok(())
    }
}
