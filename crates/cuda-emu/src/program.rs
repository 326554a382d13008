//! What a module is lowered to: dense, resolved, ready to run.

use crate::lanes::{Args, Exec, NONE};
use crate::types::Space;

/// A loaded module.
#[derive(Debug, Default)]
pub(crate) struct Program {
    pub(crate) functions: Vec<Function>,
    pub(crate) variables: Vec<Static>,
}

impl Program {
    /// Whether its kernels may allocate memory.
    pub(crate) fn allocates(&self) -> bool {
        self.functions.iter().any(|function| function.external && function.name == "malloc")
    }
}

/// A variable with a life longer than a call: global, constant or shared, wherever it was declared.
#[derive(Debug)]
pub(crate) struct Static {
    pub(crate) name: String,
    pub(crate) space: Space,
    pub(crate) align: u64,
    pub(crate) bytes: u64,
    /// `extern .shared`: begins where the static ones end; the launch says its size.
    pub(crate) dynamic: bool,
    pub(crate) initial: Vec<StaticInitial>,
}

/// A piece of initial contents.
#[derive(Debug)]
pub(crate) struct StaticInitial {
    pub(crate) offset: u64,
    pub(crate) bytes: u32,
    pub(crate) value: Constant,
}

/// A value that stays the same throughout a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Constant {
    Bits(u64),
    /// Address of a variable in its own space, plus an offset.
    Variable {
        index: usize,
        offset: i64,
        generic: bool,
    },
    /// Address of a place in the function's frame, in the local space.
    Frame {
        offset: i64,
    },
    /// A function, to be called through a register.
    Function(usize),
}

/// A kernel or a function.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) entry: bool,
    pub(crate) line: u32,
    pub(crate) max_threads: Option<u64>,
    pub(crate) code: Vec<Inst>,
    /// Size of the register file in words.
    pub(crate) words: u32,
    pub(crate) constants: Vec<Fixed<Constant>>,
    pub(crate) specials: Vec<Fixed<Special>>,
    /// Size of the frame in bytes: local variables, parameters and those of calls.
    pub(crate) frame: u64,
    pub(crate) parameters: Vec<Slot>,
    pub(crate) returns: Vec<Slot>,
    /// Of a kernel: size of its parameters in bytes.
    pub(crate) parameter_bytes: u64,
    /// Static variables that it names.
    pub(crate) statics: Vec<usize>,
    /// Functions that it names.
    pub(crate) callees: Vec<usize>,
    /// Declared only.
    pub(crate) external: bool,
}

impl Function {
    /// Whether a call has arguments and results as the function does. Where one side has a register and the other one
    /// memory, the value's low bytes are passed.
    pub(crate) fn takes(&self, call: &Call) -> bool {
        let fits = |given: &[Slot], wanted: &[Slot]| {
            given.len() == wanted.len()
                && given.iter().zip(wanted).all(|(given, wanted)| match (given, wanted) {
                    (Slot::Frame { bytes: g, .. }, Slot::Frame { bytes: w, .. }) => g == w,
                    (Slot::Register { words: g, .. }, Slot::Register { words: w, .. }) => g == w,
                    _ => true,
                })
        };
        !self.entry && fits(&call.arguments, &self.parameters) && fits(&call.returns, &self.returns)
    }
}

/// A row whose contents are known before the function runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fixed<T> {
    pub(crate) row: u32,
    pub(crate) words: u32,
    pub(crate) value: T,
}

/// A special register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Special {
    /// `%tid`, by component.
    Thread(usize),
    /// `%ntid`.
    Threads(usize),
    /// `%ctaid`.
    Block(usize),
    /// `%nctaid`.
    Blocks(usize),
    Lane,
    Warp,
    Warps,
    Grid,
    MaskEq,
    MaskLe,
    MaskLt,
    MaskGe,
    MaskGt,
    /// Bytes of dynamic shared memory.
    Dynamic,
    /// Bytes of all shared memory.
    Shared,
    /// One of those that never change here.
    Fixed(u32),
}

/// Where a parameter or a result of a function is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    Frame { offset: u64, bytes: u64 },
    Register { row: u32, words: u32 },
}

/// An instruction.
#[derive(Debug)]
pub(crate) struct Inst {
    pub(crate) op: Op,
    /// Predicate that lets lanes take part.
    pub(crate) guard: u32,
    pub(crate) negated: bool,
    /// Whether it is one of the text's instructions, rather than a step of one.
    pub(crate) counted: bool,
    pub(crate) line: u32,
}

impl Inst {
    pub(crate) fn new(op: Op, line: u32) -> Self {
        Self { op, guard: NONE, negated: false, counted: true, line }
    }
}

/// What an instruction does.
#[derive(Debug)]
pub(crate) enum Op {
    Compute(Exec, Args),
    /// To another instruction, all lanes of the mask. Holds a label until code is laid out.
    Branch(u32),
    /// By an index in a row.
    Switch {
        index: u32,
        targets: Box<[u32]>,
    },
    Call(Box<Call>),
    Return,
    Exit,
    Trap,
    Load(Box<Access>),
    Store(Box<Access>),
    Atomic(Box<Atomic>),
    CopyAsync(Box<CopyAsync>),
    CopyBulk(Box<CopyBulk>),
    Barrier(Box<Barrier>),
    /// `bar.warp.sync`, members in a row.
    WarpSync(u32),
    Exchange(Box<Exchange>),
    LoadMatrix(Box<LoadMatrix>),
    /// `movmatrix`: to the first row from the second, an 8x8 matrix transposed.
    TransposeMatrix(u32, u32),
    MoveFragment(Box<MoveFragment>),
    Multiply(Box<Multiply>),
    BarrierObject(Box<BarrierObject>),
    /// `alloca`: address to `d`, of so many bytes (a row of 64 bits).
    Allocate {
        d: u32,
        bytes: u32,
        align: u64,
    },
    /// `stacksave`: to a row of so many words.
    SaveStack {
        d: u32,
        words: u32,
    },
    /// `stackrestore`: from a row of so many words.
    RestoreStack {
        a: u32,
        words: u32,
    },
    ActiveMask(u32),
    /// Whether it orders memory beyond the block.
    Fence {
        wide: bool,
    },
    /// Instructions of this warp so far, to a row of so many words.
    Clock {
        d: u32,
        words: u32,
        high: bool,
    },
    /// Lets other warps run.
    Yield,
    Nop,
}

/// A load or a store.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    pub(crate) space: Space,
    /// Bytes of an element: 1, 2, 4 or 8.
    pub(crate) width: u32,
    /// Whether elements are extended by their sign.
    pub(crate) signed: bool,
    /// Register of each element, with its words.
    pub(crate) elements: Vec<(u32, u32)>,
    pub(crate) address: Address,
    /// Volatile or stronger: it may race, as atomics may.
    pub(crate) strong: bool,
    /// Acquires or releases.
    pub(crate) ordered: bool,
}

impl Access {
    /// Bytes of a lane.
    pub(crate) fn bytes(&self) -> u64 {
        u64::from(self.width) * self.elements.len() as u64
    }
}

/// A row and an offset.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Address {
    pub(crate) row: u32,
    pub(crate) words: u32,
    pub(crate) offset: i64,
}

/// `atom` and `red`.
#[derive(Clone, Debug)]
pub(crate) struct Atomic {
    pub(crate) space: Space,
    pub(crate) width: u32,
    /// New value from the old one and the operands.
    pub(crate) update: fn(old: u64, b: u64, c: u64) -> u64,
    /// What the old value goes to.
    pub(crate) d: u32,
    pub(crate) b: u32,
    pub(crate) c: u32,
    pub(crate) words: u32,
    pub(crate) address: Address,
    pub(crate) ordered: bool,
}

/// `cp.async`.
#[derive(Clone, Debug)]
pub(crate) struct CopyAsync {
    pub(crate) to: Address,
    pub(crate) from: Address,
    pub(crate) bytes: u32,
    /// Bytes that are read; the rest is zero.
    pub(crate) source_bytes: u32,
    /// Whether the source is left out, a predicate.
    pub(crate) ignore: u32,
}

/// `cp.async.bulk`: accesses to 16 bytes, over and over.
#[derive(Clone, Debug)]
pub(crate) struct CopyBulk {
    pub(crate) to: Access,
    pub(crate) from: Access,
    /// How many bytes, a row.
    pub(crate) bytes: u32,
    /// The barrier that is told of the bytes.
    pub(crate) barrier: Option<Address>,
}

/// A call.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) target: Target,
    pub(crate) arguments: Vec<Slot>,
    pub(crate) returns: Vec<Slot>,
}

/// What is called.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target {
    Function(usize),
    /// An address in a row.
    Pointer(u32),
}

/// `bar` and `barrier`.
#[derive(Clone, Debug)]
pub(crate) struct Barrier {
    /// Which, a row.
    pub(crate) id: u32,
    /// How many threads, a row; all of the block when there is none.
    pub(crate) threads: u32,
    /// Whether all threads of a warp must come together.
    pub(crate) aligned: bool,
    /// Whether it waits.
    pub(crate) waits: bool,
    /// Whether it is that of the cluster, which has one block.
    pub(crate) cluster: bool,
    pub(crate) reduce: Option<Reduce>,
}

impl Barrier {
    /// Barriers of a block that programs can name.
    pub(crate) const NAMED: u32 = 16;
    /// Number of the cluster's.
    pub(crate) const CLUSTER: u32 = Self::NAMED;
}

/// What a barrier reduces.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reduce {
    pub(crate) kind: Reduction,
    pub(crate) d: u32,
    pub(crate) source: u32,
    pub(crate) negated: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reduction {
    Count,
    All,
    Any,
}

/// An instruction by which lanes learn of each other. All members must come together.
#[derive(Clone, Debug)]
pub(crate) struct Exchange {
    pub(crate) kind: ExchangeKind,
    pub(crate) d: u32,
    /// Second destination, a predicate.
    pub(crate) p: u32,
    pub(crate) a: u32,
    pub(crate) negated: bool,
    pub(crate) b: u32,
    pub(crate) c: u32,
    /// Members, a row; those who are there when there is none.
    pub(crate) members: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExchangeKind {
    ShuffleUp,
    ShuffleDown,
    ShuffleButterfly,
    ShuffleIndex,
    VoteAll,
    VoteAny,
    VoteUniform,
    Ballot,
    MatchAny {
        wide: bool,
    },
    MatchAll {
        wide: bool,
    },
    ReduceAdd,
    ReduceMin {
        signed: bool,
    },
    ReduceMax {
        signed: bool,
    },
    ReduceAnd,
    ReduceOr,
    ReduceXor,
    /// Of `f32`: whether the greatest, of magnitudes, and whether NaN wins.
    ReduceFloat {
        greatest: bool,
        magnitude: bool,
        nan: bool,
    },
    Elect,
}

/// `ldmatrix` and `stmatrix` of 8x8 matrices with elements of 16 bits.
#[derive(Clone, Debug)]
pub(crate) struct LoadMatrix {
    pub(crate) store: bool,
    pub(crate) transposed: bool,
    pub(crate) registers: Vec<u32>,
    pub(crate) address: Address,
    pub(crate) space: Space,
}

/// `mma.sync` and `wmma.mma`: `d = a b + c`.
#[derive(Clone, Debug)]
pub(crate) struct Multiply {
    pub(crate) d: Fragment,
    pub(crate) a: Fragment,
    pub(crate) b: Fragment,
    pub(crate) c: Fragment,
    /// Whether integers stop at the ends of their range instead of wrapping.
    pub(crate) saturates: bool,
}

/// `wmma.load` and `wmma.store`: each lane moves its elements, one after the other.
#[derive(Clone, Debug)]
pub(crate) struct MoveFragment {
    pub(crate) store: bool,
    pub(crate) fragment: Fragment,
    /// Whether columns lie one behind the other, rather than rows.
    pub(crate) by_columns: bool,
    /// Elements from one row (or column) to the next, a row.
    pub(crate) stride: u32,
    /// An access to one element, through a row of its own.
    pub(crate) access: Access,
}

/// A matrix in registers of all lanes.
#[derive(Clone, Debug)]
pub(crate) struct Fragment {
    pub(crate) element: Element,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) registers: Vec<u32>,
    pub(crate) layout: Layout,
}

/// Type of a matrix's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Element {
    F16,
    Bf16,
    /// 32 bits, of which the lowest 13 don't count.
    Tf32,
    F32,
    F64,
    S8,
    U8,
    S32,
}

/// Which element of a matrix is where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Those of `mma.sync`, for its first and second factor and for accumulators.
    First,
    Second,
    Accumulator,
    /// That of `wmma`, which the ISA leaves open: rows one behind the other, lane after lane, over again where lanes
    /// hold more elements than the matrix has.
    Flat,
}

/// `mbarrier` and what arrives at one.
#[derive(Clone, Debug)]
pub(crate) struct BarrierObject {
    pub(crate) kind: BarrierObjectKind,
    pub(crate) space: Space,
    pub(crate) address: Address,
    /// What the old state goes to, 64 bits; or the outcome of a wait, a predicate.
    pub(crate) d: u32,
    /// Count of arrivals or of bytes, 32 bits; the state that a wait is about, 64 bits, or its parity, 32 bits.
    pub(crate) operand: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BarrierObjectKind {
    Init,
    Invalidate,
    /// `operand` is the number of arrivals, one when there is none.
    Arrive {
        drop: bool,
    },
    /// One arrival, after `operand` bytes more are expected.
    ArriveExpecting {
        drop: bool,
    },
    ExpectBytes,
    CompleteBytes,
    WaitState,
    WaitParity,
}
