//! Running kernels: a launch's blocks on threads, a block's warps in turns, a warp's lanes side by side.

mod access;
mod atomic;
mod barrier;
mod block;
mod builtin;
mod call;
mod env;
mod exchange;
mod launch;
mod matrix;
mod run;
mod step;
mod warp;

pub(crate) use launch::{Job, launch, shared_layout};
