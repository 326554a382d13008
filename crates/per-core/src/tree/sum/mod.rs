//! The tree of sums.
//!
//! One rung a file: [`exponents`], counted in [`bins`], decide the scale ([`scale`]), `update` and `build` write the [`layout`], `find` takes
//! one [`step`] a level down it, `draw` and `distinct` choose what to find.

mod bins;
mod build;
#[cfg(feature = "cuda")]
mod device;
mod distinct;
mod draw;
mod exponents;
mod find;
mod layout;
mod scale;
mod step;
#[cfg(test)]
mod tests;
mod tuning;
mod update;

use super::check::{check_index, check_len};
use super::layout::{Block, FANOUT, Levels, check_capacity};
use crate::cdf::ratio::ratio;
use crate::error::Error;
use crate::memory::filled;
use arith::fixed::Scale;
use exponents::Exponents;
use layout::Node;
use scale::Storage;

#[cfg(feature = "cuda")]
pub(crate) use device::shown;
pub use distinct::DistinctScratch;
pub(crate) use draw::Drawn;

/// Priorities that change, for drawing in proportion to them: a tree of exact sums with 16 children a node.
///
/// ```text
/// q[i]      = round(p[i] * 2^S)         u64; never 0 unless p[i] is
/// prefix[i] = q[0] + ... + q[i]         exact; the total is below 2^63
/// leaf i holds the thresholds  prefix[i-1] <= t < prefix[i]
/// ```
///
/// S is [`Scale::new`] of the largest priority that the tree has *now* and of its capacity (only the power of two above
/// the largest matters). So all that a tree says is a function of its priorities alone: not of earlier ones, nor of the
/// order or the batches in which they came, the instruction set or the machine. `==` compares the priorities.
///
/// # What a change of the scale costs
/// When the largest priority enters another power of two, S changes, up or down. As long as all priorities above zero
/// are within a factor 2^(b - 24) of the largest, where b = min(52, 63 - ceil(log2 capacity)) (2^19 at 2^20 leaves),
/// before and after, each q changes by the same power of two; the sums are then left as they are and read with a shift
/// (upwards up to 52 - b powers of two, or until the sums have no more room). Only otherwise are they made anew, at most
/// once a batch. That takes O(capacity), 0.36 ms at 2^20 leaves: the price of a scale that keeps no memory of earlier
/// priorities, since the roundings of the small ones change. Priorities with a floor above zero, as `(|td| + eps)^alpha`
/// has, rarely get there.
///
/// # Costs
/// Update and draw: O(log_16 capacity). Memory: 4.5 bytes a leaf. Nothing allocates after `new`.
///
/// An operation that returns an error has changed nothing.
///
/// ```
/// use arith::random::Stream;
/// use per_core::SumTree;
///
/// let mut tree = SumTree::new(1000)?;
/// tree.update(&[0, 7, 999, 7], &[10.0, 1.0, 2.0, 5.0])?; // the last one for leaf 7 counts
/// let unit = tree.total() / 17;
/// assert_eq!(tree.find(10 * unit - 1)?, 0);
/// assert_eq!(tree.find(10 * unit)?, 7);
/// assert_eq!(tree.find(15 * unit)?, 999);
///
/// // Draws have an address, not a generator.
/// let mut leaves = [0; 64];
/// tree.sample(&Stream::new(1, 0), 0, &mut leaves)?;
/// assert!(leaves.iter().all(|i| [0, 7, 999].contains(i)));
///
/// // Add and take away as often as you like: nothing is left behind.
/// tree.update(&[0, 7, 999], &[0.0, 0.0, 0.0])?;
/// assert_eq!(tree.total(), 0);
/// # Ok::<(), per_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct SumTree {
    /// The priorities, never -0.
    leaves: Vec<Block>,
    /// Sums at the stored scale, level 0 first.
    nodes: Vec<Node>,
    levels: Levels,
    capacity: usize,
    /// Sum of all at the stored scale.
    total: u64,
    exponents: Exponents,
    storage: Storage,
}

impl PartialEq for SumTree {
    fn eq(&self, other: &Self) -> bool {
        self.capacity == other.capacity && self.leaves == other.leaves
    }
}

impl SumTree {
    /// A tree of `capacity` leaves, all zero.
    ///
    /// # Errors
    /// [`Error::Empty`] and [`Error::TooManyWeights`] unless `1 <= capacity < 2^31`.
    pub fn new(capacity: usize) -> Result<Self, Error> {
        const OPERATION: &str = "SumTree::new";
        check_capacity(OPERATION, capacity)?;
        let blocks = capacity.div_ceil(FANOUT);
        let levels = Levels::new(blocks);
        Ok(Self {
            leaves: filled(Block::ZERO, blocks),
            nodes: filled(Node::ZERO, levels.nodes()),
            levels,
            capacity,
            total: 0,
            // The zeros that fill the last block count too. At most 2^31.
            exponents: Exponents::zeros((blocks * FANOUT) as u32),
            // Below 2^31.
            storage: Storage::new(capacity as u32),
        })
    }

    /// Number of leaves.
    #[inline]
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Sum of all priorities in fixed point, below 2^63.
    #[inline]
    pub fn total(&self) -> u64 {
        self.storage.reveal(self.total)
    }

    /// The fixed point: how priorities become integers.
    #[inline]
    pub fn scale(&self) -> Scale {
        self.storage.shown()
    }

    /// Number of priorities that aren't zero. O(1).
    #[inline]
    pub fn positive(&self) -> usize {
        self.exponents.positive(self.leaves.len() * FANOUT)
    }

    /// Priority `index`.
    ///
    /// # Errors
    /// [`Error::IndexOutOfRange`].
    pub fn priority(&self, index: usize) -> Result<f32, Error> {
        check_index("SumTree::priority", index, self.capacity)?;
        Ok(self.leaf(index))
    }

    /// Writes the priority of each of `indices`.
    ///
    /// `indices`: (m), each below the capacity; `out`: (m).
    ///
    /// # Errors
    /// [`Error::LengthMismatch`], [`Error::BatchIndexOutOfRange`]; then nothing is written.
    pub fn priorities(&self, indices: &[u32], out: &mut [f32]) -> Result<(), Error> {
        const OPERATION: &str = "SumTree::priorities";
        check_len(OPERATION, "out", indices.len(), out.len())?;
        if let Some((position, &index)) = indices.iter().enumerate().find(|&(_, &i)| i as usize >= self.capacity) {
            return Err(Error::BatchIndexOutOfRange { operation: OPERATION, position, index, count: self.capacity });
        }
        for (out, &i) in out.iter_mut().zip(indices) {
            *out = self.leaf(i as usize);
        }
        Ok(())
    }

    /// Writes all priorities: what [`rebuild`](Self::rebuild) makes the same tree from.
    ///
    /// `out`: (capacity).
    ///
    /// # Errors
    /// [`Error::LengthMismatch`].
    pub fn copy_priorities(&self, out: &mut [f32]) -> Result<(), Error> {
        check_len("SumTree::copy_priorities", "out", self.capacity, out.len())?;
        for (out, block) in out.chunks_mut(FANOUT).zip(&self.leaves) {
            out.copy_from_slice(&block.0[..out.len()]);
        }
        Ok(())
    }

    /// Priority `index` in fixed point.
    ///
    /// # Errors
    /// [`Error::IndexOutOfRange`].
    pub fn weight(&self, index: usize) -> Result<u64, Error> {
        check_index("SumTree::weight", index, self.capacity)?;
        Ok(self.quantize(self.leaf(index)))
    }

    /// `weight(index) / total`, correctly rounded.
    ///
    /// # Errors
    /// [`Error::IndexOutOfRange`]; [`Error::AllZero`] if no priority is above zero.
    pub fn probability(&self, index: usize) -> Result<f32, Error> {
        let weight = self.weight(index)?;
        self.check_mass("SumTree::probability")?;
        Ok(ratio(weight, self.total()))
    }

    /// Blocks of the priorities; those past the capacity are zero.
    pub(crate) fn leaves(&self) -> &[Block] {
        &self.leaves
    }

    /// A priority that the tree has, in fixed point.
    pub(crate) fn quantize(&self, priority: f32) -> u64 {
        self.scale().quantize(priority)
    }

    /// Memory of leaves and nodes, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(self.leaves.as_slice()) + size_of_val(self.nodes.as_slice())
    }

    fn leaf(&self, index: usize) -> f32 {
        self.leaves[index / FANOUT].0[index % FANOUT]
    }

    /// That there is something to draw.
    fn check_mass(&self, operation: &'static str) -> Result<(), Error> {
        if self.total == 0 { Err(Error::AllZero { operation, count: self.capacity }) } else { Ok(()) }
    }
}
