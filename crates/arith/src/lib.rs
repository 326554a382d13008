//! The arithmetic contract of Lockstep: every formula has one value, whatever the machine.
//!
//! * [`elementary`]: [`exp`], [`ln`], [`sigmoid`], [`tanh`], ... from correctly rounded operations only; [`slice`](mod@slice) maps
//!   them over slices, [`simd`] compiles such loops for each instruction set.
//! * [`fixed`]: weights in fixed point, whose sums are exact.
//! * [`sum`]: the one order in which floats are summed.
//! * [`philox`] and [`random`]: draws that have an address.
//! * [`bf16`]: a storage format.
//!
//! The crate is `no_std` without its default feature `std` and never allocates; device kernels and host code call the
//! same functions. Without `std` hosts get the same bits from a software [`fma`], more slowly.
#![cfg_attr(not(feature = "std"), no_std)]
// `core` has fma and sqrt behind this gate only; kernels are built with it open.
#![cfg_attr(target_arch = "nvptx64", feature(core_float_math))]

pub mod bf16;
pub mod elementary;
pub mod fixed;
pub mod philox;
pub mod random;
pub mod simd;
pub mod slice;
pub mod sum;

pub use elementary::{cos, exp, fma, ln, ln_1p, powf, sigmoid, sigmoid_pair, sin, softplus, sqrt, tanh};
