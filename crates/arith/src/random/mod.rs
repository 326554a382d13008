//! Draws that have an address (seed, stream, index) instead of a generator with a state.
//!
//! A [`Stream`] is a sequence of random words: word i is word `i % 4` of Philox block `i / 4`. All sequences of
//! draws over it are addressed by element, so filling a slice in pieces, in any order or on any number of threads
//! gives the same values. Two kinds of draws that must be independent take different streams.
//!
//! Element i takes: a word or uniform, word i; a 64-bit word or bounded integer, words 2i (low half) and 2i + 1; a
//! normal, words `i & !1` and `i | 1`, a pair of which makes a pair of normals.

mod fill;
mod shape;
mod stream;

pub use shape::{normal_pair, uniform, uniform_positive};
pub use stream::Stream;
