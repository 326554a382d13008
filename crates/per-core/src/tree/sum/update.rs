//! Updates: leaf by leaf into the blocks, then the differences up, level by level.
//!
//! An update adds the difference of the leaf's integer to one element of each level. Integers wrap and add in any
//! order, so that neither duplicates nor the order within a batch need care: each update sees the leaf that the one
//! before it has left.

use super::SumTree;
use super::bins::bin;
use super::exponents::Exponents;
use super::layout::Node;
use super::tuning::{CHUNK, REBUILD_ONE_IN};
use crate::error::Error;
use crate::tree::check::check_batch;
use crate::tree::layout::{Block, FANOUT, FANOUT_BITS, Levels, prefetch};
use arith::fixed::Scale;
use arith::simd::{Isa, Kernel};

impl SumTree {
    /// Sets priority `indices[j]` to `values[j]` for each j in order: of those for one leaf the last counts.
    ///
    /// `indices`: (m), each below the capacity; `values`: (m), finite and `>= 0`. Batches of any size and split give the
    /// same tree. At 2^20 leaves some 9 ns each in batches of 1,024 (one thread, Zen 4; `cargo bench --bench trees`).
    ///
    /// # Errors
    /// [`Error::LengthMismatch`], [`Error::BatchIndexOutOfRange`], [`Error::InvalidWeight`].
    pub fn update(&mut self, indices: &[u32], values: &[f32]) -> Result<(), Error> {
        self.update_on(Isa::detect(), indices, values)
    }

    /// [`update`](Self::update) with a given instruction set.
    #[doc(hidden)]
    pub fn update_on(&mut self, isa: Isa, indices: &[u32], values: &[f32]) -> Result<(), Error> {
        let largest = check_batch("SumTree::update", isa, self.capacity, indices, values)?;
        let done = if !self.storage.stored().fits(largest) || indices.len() > self.capacity / REBUILD_ONE_IN {
            0
        } else {
            isa.run(UpdateKernel {
                leaves: &mut self.leaves,
                nodes: &mut self.nodes,
                levels: &self.levels,
                total: &mut self.total,
                exponents: &mut self.exponents,
                scale: self.storage.stored(),
                indices,
                values,
            })
        };
        for (&i, &value) in indices[done..].iter().zip(&values[done..]) {
            let leaf = &mut self.leaves[i as usize / FANOUT].0[i as usize % FANOUT];
            // + 0 makes +0 of -0.
            let new = value + 0.0;
            self.exponents.transfer(bin(*leaf), bin(new));
            *leaf = new;
        }
        let serves = self.storage.follow(self.exponents.range());
        if done < indices.len() || !serves {
            self.store_anew(isa);
        }
        Ok(())
    }
}

struct UpdateKernel<'a> {
    leaves: &'a mut [Block],
    nodes: &'a mut [Node],
    levels: &'a Levels,
    total: &'a mut u64,
    exponents: &'a mut Exponents,
    scale: Scale,
    /// Below the capacity.
    indices: &'a [u32],
    /// As many weights that fit the scale.
    values: &'a [f32],
}

impl Kernel for UpdateKernel<'_> {
    /// How many updates were done. Not all of them if there is no room for the total; then the sums are of no use.
    type Output = usize;

    #[inline(always)]
    fn run(self) -> usize {
        let Self { leaves, nodes, levels, total, exponents, scale, indices, values } = self;
        let mut done = 0;
        fetch(leaves, nodes, indices);
        for (at, new) in indices.chunks(CHUNK).zip(values.chunks(CHUNK)) {
            done += at.len();
            fetch(leaves, nodes, &indices[done..]);
            let (mut from, mut to) = ([0.0; CHUNK], [0.0; CHUNK]);
            for ((&i, &new), (from, to)) in at.iter().zip(new).zip(from.iter_mut().zip(&mut to)) {
                let leaf = &mut leaves[i as usize / FANOUT].0[i as usize % FANOUT];
                *from = *leaf;
                // + 0 makes +0 of -0.
                *to = new + 0.0;
                *leaf = *to;
            }
            let mut difference = [0; CHUNK];
            let mut bins = [[0; CHUNK]; 2];
            for j in 0..CHUNK {
                difference[j] = scale.quantize(to[j]).wrapping_sub(scale.quantize(from[j]));
                bins[0][j] = bin(from[j]);
                bins[1][j] = bin(to[j]);
            }
            for (&from, &to) in bins[0].iter().zip(&bins[1]).take(at.len()) {
                exponents.transfer(from, to);
            }
            for (level, &start) in levels.starts().iter().enumerate() {
                let nodes = &mut nodes[start..];
                let shift = FANOUT_BITS * (level + 1);
                for (&i, &difference) in at.iter().zip(&difference) {
                    let element = i as usize >> shift;
                    let sum = &mut nodes[element / FANOUT].0[element % FANOUT];
                    *sum = sum.wrapping_add(difference);
                }
            }
            for difference in difference {
                *total = total.wrapping_add(difference);
            }
            // A chunk adds less than CHUNK * 2^52 to what was below 2^63: it can't have gone round.
            if *total >> 63 != 0 {
                // Not even if this was the last chunk.
                return done.saturating_sub(1);
            }
        }
        done
    }
}

/// Brings near what the first chunk of `indices` will change in memory that may be far.
#[inline(always)]
fn fetch(leaves: &[Block], nodes: &[Node], indices: &[u32]) {
    for &i in indices.iter().take(CHUNK) {
        prefetch::<_, true>(leaves, i as usize >> FANOUT_BITS);
        fetch_element(nodes, i as usize >> FANOUT_BITS);
    }
}

/// Brings near an element of level 0.
#[inline(always)]
fn fetch_element(nodes: &[Node], element: usize) {
    if let Some(Node(sums)) = nodes.get(element / FANOUT) {
        prefetch::<_, true>(sums, element % FANOUT);
    }
}
