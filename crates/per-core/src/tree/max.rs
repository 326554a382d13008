//! The largest priority.

use super::check::check_index;
use super::lowest::Lowest;
use super::order::Descending;
use crate::error::Error;
use arith::simd::Isa;

/// The largest priority of many, kept through updates: a tree with 16 children a node.
///
/// Priorities are `f32`, finite and `>= 0`; all are zero at first, and a zero is no priority. An update takes
/// O(log_16 capacity) and stops where nothing changes any more; [`max`](Self::max) takes O(1). Nothing
/// allocates after `new`. Memory: 4.3 bytes a leaf. What a tree says is a function of its priorities alone, for every
/// instruction set and however updates are put into batches; `==` compares the priorities.
///
/// An operation that returns an error has changed nothing.
///
/// ```
/// let mut tree = per_core::MaxTree::new(1000)?;
/// assert_eq!(tree.max(), None);
/// tree.update(&[3, 7, 999], &[2.0, 0.5, 1.0])?;
/// assert_eq!(tree.max(), Some(2.0));
/// tree.update(&[3], &[0.0])?;
/// assert_eq!(tree.max(), Some(1.0));
/// # Ok::<(), per_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaxTree(Lowest<Descending>);

impl MaxTree {
    /// A tree of `capacity` leaves, all zero.
    ///
    /// # Errors
    /// [`Error::Empty`] and [`Error::TooManyWeights`] unless `1 <= capacity < 2^31`.
    pub fn new(capacity: usize) -> Result<Self, Error> {
        Lowest::new("MaxTree::new", capacity).map(Self)
    }

    /// Number of leaves.
    #[inline]
    pub fn capacity(&self) -> usize {
        self.0.capacity()
    }

    /// Priority `index`.
    ///
    /// # Errors
    /// [`Error::IndexOutOfRange`].
    pub fn priority(&self, index: usize) -> Result<f32, Error> {
        check_index("MaxTree::priority", index, self.0.capacity())?;
        Ok(self.0.priority(index))
    }

    /// The largest priority that isn't zero, if there is one.
    #[inline]
    pub fn max(&self) -> Option<f32> {
        self.0.first()
    }

    /// Sets priority `indices[j]` to `values[j]` for each j in order: of those for one leaf the last counts.
    ///
    /// `indices`: (m), each below the capacity; `values`: (m), finite and `>= 0`.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`], [`Error::BatchIndexOutOfRange`], [`Error::InvalidWeight`].
    pub fn update(&mut self, indices: &[u32], values: &[f32]) -> Result<(), Error> {
        self.update_on(Isa::detect(), indices, values)
    }

    /// [`update`](Self::update) with a given instruction set.
    #[doc(hidden)]
    pub fn update_on(&mut self, isa: Isa, indices: &[u32], values: &[f32]) -> Result<(), Error> {
        self.0.update("MaxTree::update", isa, indices, values)
    }

    /// Sets all priorities.
    ///
    /// `priorities`: (capacity), finite and `>= 0`.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`], [`Error::InvalidWeight`].
    pub fn rebuild(&mut self, priorities: &[f32]) -> Result<(), Error> {
        self.0.rebuild("MaxTree::rebuild", Isa::detect(), priorities)
    }
}
