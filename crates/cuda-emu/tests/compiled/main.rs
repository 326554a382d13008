//! CUDA C++ of our own, compiled by nvcc for several targets as the tests run, with all checks on. Without nvcc
//! (`.ci/install-nvcc` installs it) only the PTX that is committed is tested, and the tests say so.

#[path = "../common/mod.rs"]
mod common;

mod barriers;
mod cub;
mod groups;
mod matrices;
mod nvcc;
mod objects;
mod scalars;
