//! Running kernels: a launch's blocks on threads, a block's warps in turns, a warp's lanes side by side.

mod atomic;
mod barrier;
mod block;
mod builtin;
mod call;
mod chain;
mod copy;
mod env;
mod exchange;
mod fragment;
mod launch;
mod load;
mod local;
mod matrix;
mod object;
mod poison;
mod print;
mod product;
mod request;
mod run;
mod stack;
mod step;
mod store;
mod warp;
mod watch;

pub(crate) use launch::{Job, launch, shared_layout};
pub(crate) use object::pending;
