//! One instruction at a time, against the text of the PTX ISA: tables of edge values, and formulas over all pairs of
//! them that are written in another way than the emulator's.

#[path = "../common/mod.rs"]
mod common;

mod bits;
mod carry;
mod compare;
mod convert;
mod exchange;
mod extremes;
mod float;
mod halves;
mod integer;
mod matrix;
mod memory;
mod objects;
mod precision;
