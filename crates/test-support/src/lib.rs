//! What the tests of several crates share.

mod alloc;
pub mod isa;

pub use alloc::{Counting, allocations, allocations_of};
