//! Running kernels: a launch's blocks on threads, a block's warps in turns, a warp's lanes side by side.

mod atomic;
mod barrier;
mod block;
mod builtin;
mod call;
mod copy;
mod env;
mod exchange;
mod launch;
mod load;
mod matrix;
mod request;
mod run;
mod step;
mod store;
mod warp;
mod watch;

pub(crate) use launch::{Job, launch, shared_layout};
