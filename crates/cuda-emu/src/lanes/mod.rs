//! One operation on the 32 lanes of a warp.
//!
//! Registers are rows of a warp's register file, a slice of `u64`: 16 words for values up to 32 bits, 32 words for 64
//! bits, one word for a predicate (a bit a lane). An operation is a function pointer that was chosen at load time; it
//! computes all lanes, which vectorizes, and writes those of the mask. Nothing here has side effects, so lanes outside
//! the mask may compute nonsense.

mod apply;
mod half;
mod lane;

pub(crate) use apply::{Op1, Op2, Op3, Op4, compare, pick1, pick2, pick3, pick4};
pub(crate) use half::{Brain, Half, Ieee};
pub(crate) use lane::{Lane, read_lane, write_lane};

/// Lanes of a warp.
pub(crate) const LANES: usize = 32;
/// Words of a row of 32-bit values.
pub(crate) const NARROW: u32 = 16;
/// Words of a row of 64-bit values.
pub(crate) const WIDE: u32 = 32;
/// No row.
pub(crate) const NONE: u32 = u32::MAX;

/// Rows that an operation reads and writes, as offsets into the register file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Args {
    /// First destination.
    pub(crate) d: u32,
    /// Second destination.
    pub(crate) e: u32,
    /// Sources.
    pub(crate) a: u32,
    pub(crate) b: u32,
    pub(crate) c: u32,
    pub(crate) x: u32,
    /// What varies the operation.
    pub(crate) flags: u32,
}

impl Default for Args {
    fn default() -> Self {
        Self { d: NONE, e: NONE, a: NONE, b: NONE, c: NONE, x: NONE, flags: 0 }
    }
}

/// An operation: register file, rows, mask of lanes to write.
///
/// # Safety
/// The machine has the instruction set that the operation was picked for.
pub(crate) type Exec = unsafe fn(&mut [u64], &Args, u32);

/// Gives an [`Exec`] from the value of one lane: `lanes!(isa; u32, u32 => u32; |a, b| a.wrapping_add(b))`.
macro_rules! lanes {
    ($isa:expr; $a:ty => $d:ty; |$x:pat_param| $body:expr) => {{
        struct Body;
        impl $crate::lanes::Op1 for Body {
            type A = $a;
            type D = $d;
            #[inline(always)]
            fn f($x: $a) -> $d {
                $body
            }
        }
        $crate::lanes::pick1::<Body>($isa)
    }};
    ($isa:expr; $a:ty, $b:ty => $d:ty; |$x:pat_param, $y:pat_param| $body:expr) => {{
        struct Body;
        impl $crate::lanes::Op2 for Body {
            type A = $a;
            type B = $b;
            type D = $d;
            #[inline(always)]
            fn f($x: $a, $y: $b) -> $d {
                $body
            }
        }
        $crate::lanes::pick2::<Body>($isa)
    }};
    ($isa:expr; $a:ty, $b:ty, $c:ty => $d:ty; |$x:pat_param, $y:pat_param, $z:pat_param| $body:expr) => {{
        struct Body;
        impl $crate::lanes::Op3 for Body {
            type A = $a;
            type B = $b;
            type C = $c;
            type D = $d;
            #[inline(always)]
            fn f($x: $a, $y: $b, $z: $c) -> $d {
                $body
            }
        }
        $crate::lanes::pick3::<Body>($isa)
    }};
}
pub(crate) use lanes;
