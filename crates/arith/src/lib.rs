//! The arithmetic contract of Lockstep: every formula has one value, whatever the machine.
//!
//! The crate is `no_std` without its default feature `std` and never allocates; device kernels and host code call the
//! same functions.
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
