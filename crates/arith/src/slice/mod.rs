//! The elementary functions and conversions over slices, with run-time choice of the instruction set.
//!
//! Each function has a variant `_with` that takes the [`Isa`](crate::simd::Isa) as an argument; the bits are the same.

mod error;
mod map;

pub use error::LengthMismatch;
pub use map::*;
