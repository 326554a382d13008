//! The kernels of `kernels-gpu`, by module: a struct for each, with its arguments by name.
//!
//! What a kernel computes, and the order of each array, is in the text of the kernel itself (`kernels-gpu/src`).

pub mod advantage;
mod blocks;
pub mod cdf;
pub mod gemm;
pub mod items;
pub mod loss;
mod macros;
mod matrix;
pub mod mingru;
pub mod optim;
pub mod random;
pub mod resample;
pub mod rollout;
pub mod sum;
pub mod tree;

use crate::contract::{Block, Contract, Kind, LaunchError, Parameter, Work};
use crate::launch::{Call, Checked, Kernel, MAX_SIZE};
use crate::{View, ViewMut, bf16};
pub use blocks::nodes_len;
use bytemuck::{Pod, Zeroable};
use macros::kernels;
pub use matrix::{chunks, matrix_len};

/// Where a stream of random words is, in memory, so that a graph which is launched again draws anew: `Position` of
/// `kernels-gpu/src/draws.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Position {
    /// The block of the next draw.
    pub next: u64,
    /// Blocks of threads of the present launch that have finished; 0 between launches.
    pub done: u32,
    /// Nothing.
    pub unused: u32,
}

/// Blocks of any width.
const ANY: Block = Block::Any { usual: 128, most: 1024 };

/// All contracts.
pub fn contracts() -> impl Iterator<Item = &'static Contract> {
    let modules = [
        advantage::CONTRACTS,
        cdf::CONTRACTS,
        gemm::CONTRACTS,
        items::CONTRACTS,
        loss::CONTRACTS,
        mingru::CONTRACTS,
        optim::CONTRACTS,
        random::CONTRACTS,
        resample::CONTRACTS,
        rollout::CONTRACTS,
        sum::CONTRACTS,
        tree::CONTRACTS,
    ];
    modules.into_iter().flatten().copied().flatten().copied()
}
