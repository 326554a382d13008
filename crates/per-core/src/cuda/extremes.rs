//! The smallest priority, and the largest.

use super::error::Error;
use super::staging::filled;
use crate::tree::{Ascending, Descending, check_capacity, priority_of};
use gpu::kernels::nodes_len;
use gpu::kernels::tree::{RebuildMax, RebuildMin, RefreshMax, RefreshMin};
use gpu::{Buffer, Stream, View, ViewMut};

macro_rules! extremes {
    ($(#[$doc:meta])* $Tree:ident($Order:ident, $Refresh:ident, $Rebuild:ident) $first:ident, $what:literal) => {
        $(#[$doc])*
        ///
        /// The priorities lie elsewhere, as in a [`SumTree`](super::SumTree), which has seen to it that they are finite and at
        /// least 0; what isn't counts as 0 here, without a word. [`refresh`](Self::refresh) follows an update of them, in one
        /// launch. Memory: 0.3 bytes a leaf.
        #[derive(Debug)]
        pub struct $Tree {
            capacity: usize,
            keys: Buffer<u32>,
            /// The lowest key of all.
            first: Buffer<u32>,
            /// Of a rebuild: blocks that have finished.
            done: Buffer<u32>,
        }

        impl $Tree {
            /// A tree over `capacity` priorities, all zero. Waits.
            ///
            /// # Errors
            /// [`Empty`](crate::Error::Empty), [`TooManyWeights`](crate::Error::TooManyWeights), [`Error::Gpu`].
            pub fn new(stream: &Stream, capacity: usize) -> Result<Self, Error> {
                check_capacity(concat!(stringify!($Tree), "::new"), capacity)?;
                let keys = nodes_len(capacity as u128) as usize;
                Ok(Self {
                    capacity,
                    keys: filled(stream, keys, u32::MAX)?,
                    first: Buffer::from_slice(stream, &[u32::MAX])?,
                    done: Buffer::zeroed(stream, 1)?,
                })
            }

            /// Number of priorities.
            pub fn capacity(&self) -> usize {
                self.capacity
            }

            #[doc = concat!("The ", $what, " that isn't zero, if there is one. O(1). Waits.")]
            ///
            /// # Errors
            /// [`Error::Gpu`].
            pub fn $first(&self, stream: &Stream) -> Result<Option<f32>, Error> {
                let mut first = [u32::MAX];
                self.first.view().read(stream, &mut first)?;
                Ok(priority_of::<$Order>(first[0]))
            }

            /// Follows priorities that have changed.
            ///
            /// `leaves`: (capacity), all priorities; `indices`: (m), those of all that have changed since the tree was up to
            /// date, in any order and as often as you like; those that aren't below the capacity are passed over.
            ///
            /// # Errors
            /// [`Error::Gpu`], also for another number of leaves.
            pub fn refresh(
                &mut self,
                stream: &Stream,
                leaves: View<'_, f32>,
                indices: View<'_, u32>,
            ) -> Result<(), Error> {
                let (capacity, m) = (self.capacity, indices.len());
                let (keys, first) = (self.keys.view_mut(), self.first.view_mut());
                let kernel = $Refresh { leaves, keys, first, indices, capacity, m };
                // SAFETY: keys are only compared; which ones are read follows from the capacity and from indices below it.
                Ok(unsafe { stream.launch_trusted(&kernel, None) }?)
            }

            /// Follows all priorities. `leaves`: (capacity).
            ///
            /// # Errors
            /// [`Error::Gpu`], also for another number of leaves.
            pub fn rebuild(&mut self, stream: &Stream, leaves: View<'_, f32>) -> Result<(), Error> {
                let (keys, first, done) = (self.keys.view_mut(), self.first.view_mut(), self.done.view_mut());
                let kernel = $Rebuild { leaves, keys, first, done, capacity: self.capacity };
                // SAFETY: as in `refresh`.
                Ok(unsafe { stream.launch_trusted(&kernel, None) }?)
            }

            /// Memory of the device, in bytes.
            pub(super) fn bytes(&self) -> usize {
                size_of::<u32>() * (self.keys.len() + 2)
            }

            /// Keys, and the lowest of all, for kernels that change them.
            pub(super) fn parts(&mut self) -> (ViewMut<'_, u32>, ViewMut<'_, u32>) {
                (self.keys.view_mut(), self.first.view_mut())
            }

            /// The keys, for kernels.
            #[allow(dead_code, reason = "those of the smallest aren't asked for")]
            pub(super) fn keys(&self) -> View<'_, u32> {
                self.keys.view()
            }

            /// The lowest key, for kernels.
            #[allow(dead_code, reason = "that of the largest isn't asked for")]
            pub(super) fn key(&self) -> View<'_, u32> {
                self.first.view()
            }
        }
    };
}

extremes! {
    /// [`MinTree`](crate::MinTree) on a device: the smallest priority above zero.
    MinTree(Ascending, RefreshMin, RebuildMin) min, "smallest priority"
}

extremes! {
    /// [`MaxTree`](crate::MaxTree) on a device: the largest priority.
    MaxTree(Descending, RefreshMax, RebuildMax) max, "largest priority"
}
