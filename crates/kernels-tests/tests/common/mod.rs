//! What tests of the dense kernels share.
// Each test file uses a part of it.
#![allow(dead_code, unreachable_pub)]

pub mod products;
pub mod scan;
