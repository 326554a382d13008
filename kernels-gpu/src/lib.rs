//! CUDA kernels in Rust. Formulas are the own source of `arith`, `mingru`, `per-core` and `trainer`, compiled for the
//! device, so they exist once.
//!
//! `cargo xtask ptx` builds each module to `ptx/<module>.ptx`, which is committed: users need no GPU toolchain.
//!
//! | module | kernels |
//! | --- | --- |
//! | `map` | every function of `arith` on arrays |
//! | `random` | draws of a Philox stream |
//! | `sum` | sums in the contract's order, of arrays, rows and columns |
//! | `gemm` | products of matrices in the contract's order |
//! | `cdf` | cumulative sums of weights: build, search, draws |
//! | `resample` | resampling by them: stratified, systematic, residual |
//! | `tree` | trees of sums and of extremes of `per-core`: update, rebuild, search, draws; a replay's priorities, batches, rows |
//! | `mingru` | the minGRU scan |
//! | `advantage` | generalized advantage estimation, V-trace |
//! | `loss` | the loss of PPO and its gradient |
//! | `optim` | a step of Adam |
//! | `rollout` | a step of the trainer's rollout: policy and draw of an action |
//!
//! # Conventions
//! A kernel's name is its operation and the type of its elements. Pointers are to global memory, aligned to their type, and
//! to as many elements as the shapes in the kernel's text say; arrays don't overlap unless it says so. Shapes are row-major.
//! Counts of elements are below 2^31, so that no index overflows. Grids are one-dimensional; threads beyond the work do
//! nothing, so grids are rounded up. Blocks are whole warps. A launch needs no preparation, allocates nothing and waits for
//! nothing, so all can be captured in a graph.
#![no_std]
// Kernels and shared memory: the calling convention of kernels, special registers, and declarations that asm! can't give.
#![feature(abi_ptx, asm_experimental_arch, link_llvm_intrinsics, stdarch_nvptx)]
// Intrinsics are declared with the types of LLVM.
#![allow(internal_features)]

/// An array with the value of an expression for each number: `unrolled!([0 1 2] |i| f(i))`. It is written out, since a loop
/// that the compiler doesn't unroll would need the arrays that it goes through in local memory.
#[allow(unused_macros, reason = "not every module has a use for it")]
macro_rules! unrolled {
    ([$($number:literal)*] |$i:ident| $value:expr) => {
        [$({
            let $i = $number;
            $value
        }),*]
    };
}

#[cfg(feature = "advantage")]
pub mod advantage;
#[cfg(any(feature = "cdf", feature = "resample", feature = "tree"))]
pub mod blocks;
#[cfg(any(feature = "loss", feature = "rollout"))]
pub mod categorical;
#[cfg(any(feature = "cdf", feature = "resample"))]
pub mod cdf;
#[cfg(any(feature = "mingru", feature = "rollout"))]
#[path = "../../crates/mingru/src/cell.rs"]
#[allow(dead_code, reason = "not every kernel has a use for every formula")]
mod cell;
pub mod device;
#[cfg(any(feature = "cdf", feature = "resample", feature = "tree"))]
pub mod draws;
#[cfg(any(feature = "cdf", feature = "tree"))]
pub mod fault;
#[cfg(feature = "gemm")]
pub mod gemm;
#[cfg(any(feature = "cdf", feature = "resample", feature = "sum", feature = "tree"))]
pub mod grouped;
#[cfg(any(feature = "loss", feature = "rollout", feature = "sum"))]
pub mod join;
#[cfg(any(feature = "cdf", feature = "resample", feature = "tree"))]
pub mod levels;
#[cfg(feature = "loss")]
pub mod loss;
#[cfg(feature = "map")]
pub mod map;
#[cfg(feature = "mingru")]
pub mod mingru;
#[cfg(feature = "optim")]
pub mod optim;
#[cfg(feature = "random")]
pub mod random;
#[cfg(feature = "resample")]
pub mod resample;
#[cfg(feature = "rollout")]
pub mod rollout;
#[cfg(any(feature = "resample", feature = "tree"))]
mod strata;
#[cfg(feature = "sum")]
pub mod sum;
#[cfg(feature = "tree")]
pub mod tree;

/// Nothing here panics knowingly; if something does, the launch ends with an error.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    device::trap()
}
