//! Floating-point arithmetic in integers, for every format and every rounding: what the host's instructions don't
//! have. One place rounds ([`Format::round`]), so one place can be wrong.
//!
//! Numbers are `significand * 2^exponent`. Where a result can't be held exactly, its lowest bit is sticky: set when
//! anything below was. All operations keep at least two bits more than any format, so that rounding them is rounding
//! the exact result.

mod format;
mod integer;
mod operations;

pub(crate) use format::{BF16, F16, F32, F64, Format, Rounding, TF32};
pub(crate) use integer::{from_integer, round_to_integral};
pub(crate) use operations::{add, convert, div, fma, mul, sqrt};

#[cfg(test)]
mod tests;
