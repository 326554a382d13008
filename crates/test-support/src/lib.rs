//! What the tests of several crates share.

mod alloc;
mod apart;
pub mod isa;

pub use alloc::{Counting, allocations, allocations_of};
pub use apart::{assert_misses_driver, example, run_apart};
