//! One pass over the weights that gives every item its draws: no search, no threshold is ever made.

use super::laws::{Law, Offsets};
use super::split::Divider;
use crate::cdf::{Block, Cdf};
use arith::fixed::Scale;
use arith::simd::{Isa, Kernel};

/// Where the offspring go.
pub(super) trait Sink {
    /// `item` has the draws up to (not including) number `end`, from where the item before ended.
    fn put(&mut self, item: u32, end: u64);
}

/// The ancestor of every draw.
pub(super) struct Ancestors<'a> {
    out: &'a mut [u32],
    at: usize,
}

impl<'a> Ancestors<'a> {
    pub(super) fn new(out: &'a mut [u32]) -> Self {
        Self { out, at: 0 }
    }
}

/// Ancestors that are written at once, however few of them are meant: those too many are overwritten by their owners.
const LANES: usize = 8;

impl Sink for Ancestors<'_> {
    #[inline(always)]
    fn put(&mut self, item: u32, end: u64) {
        let end = end as usize;
        // Nearly always so: a loop over the count would be a branch that nobody can foresee.
        if end - self.at <= LANES
            && let Some(lanes) = self.out[self.at..].first_chunk_mut::<LANES>()
        {
            *lanes = [item; LANES];
        } else {
            self.out[self.at..end].fill(item);
        }
        self.at = end;
    }
}

/// The number of draws of every item.
pub(super) struct Counts<'a> {
    out: std::slice::IterMut<'a, u32>,
    at: u64,
}

impl<'a> Counts<'a> {
    pub(super) fn new(out: &'a mut [u32]) -> Self {
        Self { out: out.iter_mut(), at: 0 }
    }
}

impl Sink for Counts<'_> {
    #[inline(always)]
    fn put(&mut self, _: u32, end: u64) {
        // There is none for the zeros that fill up the last block.
        if let Some(count) = self.out.next() {
            // At most all draws: a u32.
            *count = (end - self.at) as u32;
            self.at = end;
        }
    }
}

/// Gives every item of `cdf` its draws.
pub(super) fn merge<L: Law>(isa: Isa, cdf: &Cdf, divider: Divider, offsets: impl Offsets, sink: impl Sink) {
    let (blocks, scale) = cdf.blocks();
    isa.run(MergeKernel { blocks, scale, divider, offsets, sink, law: L::default() });
}

struct MergeKernel<'a, L, O, S> {
    blocks: &'a [Block],
    scale: Scale,
    divider: Divider,
    offsets: O,
    sink: S,
    law: L,
}

impl<L: Law, O: Offsets, S: Sink> Kernel for MergeKernel<'_, L, O, S> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { blocks, scale, divider, mut offsets, mut sink, mut law } = self;
        let mut item = 0;
        for block in blocks {
            for weight in block.quantize(scale) {
                sink.put(item, law.advance(&divider, weight).draws(&mut offsets));
                item += 1;
            }
        }
    }
}
