//! The tree of sums.

mod distinct;
mod items;

use super::draws::Draws;
use super::error::Error;
use super::staging::Staging;
use super::status::{Fault, Status};
use crate::cdf::ratio::ratio;
use crate::tree::{check_batch, check_capacity, shown};
use arith::fixed::{self, Scale};
use arith::simd::Isa;
use gpu::kernels::nodes_len;
use gpu::kernels::tree::{Find, Head, Load, Rebuild, Sample, SampleStratified, Set, Survey, Update, passes};
use gpu::{Buffer, Stream, View, ViewMut};

pub use distinct::DistinctScratch;
pub(super) use items::{Followers, Items, NewItems};

/// [`SumTree`](crate::SumTree) on a device: the same leaves, totals, scales and draws, bit for bit.
///
/// ```no_run
/// use gpu::{Buffer, Device};
/// use per_core::cuda::{Draws, SumTree};
///
/// let stream = Device::new(0)?.stream()?;
/// let mut tree = SumTree::new(&stream, 1000)?;
/// let indices = Buffer::from_slice(&stream, &[0, 7, 999, 7])?;
/// let priorities = Buffer::from_slice(&stream, &[10.0, 1.0, 2.0, 5.0])?;
/// tree.update(&stream, indices.view(), priorities.view())?; // the last one for leaf 7 counts
///
/// let mut draws = Draws::new(&stream, 1, 0, 0)?;
/// let mut leaves = Buffer::zeroed(&stream, 64)?;
/// let mut weights = Buffer::zeroed(&stream, 64)?;
/// tree.sample(&stream, &mut draws, leaves.view_mut(), weights.view_mut())?;
/// assert!(leaves.to_vec(&stream)?.iter().all(|i| [0, 7, 999].contains(i)));
/// # Ok::<(), per_core::cuda::Error>(())
/// ```
///
/// # Launches
/// An update is two (three from 8,193 updates on: one looks for faults first): the first sets leaves and sums, in
/// O(m log_16 capacity); the second makes all sums anew where the
/// priorities have moved to a scale that the sums can't serve (as seldom as on the CPU), and otherwise ends at once. That
/// is known only when all of the first have finished. A draw or a search is one.
///
/// Memory: 12.5 bytes a leaf.
#[derive(Debug)]
pub struct SumTree {
    capacity: usize,
    leaves: Buffer<f32>,
    nodes: Buffer<u64>,
    head: Buffer<Head>,
    /// For each leaf the last update of it.
    claims: Buffer<u64>,
    status: Status,
    /// Of rebuilds, and of searches; `status` is that of updates.
    rebuilds: Status,
    searches: Status,
    indices: Staging<u32>,
    values: Staging<f32>,
}

/// What a tree has in all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mass {
    /// Sum of all priorities in fixed point, below 2^63.
    pub total: u64,
    /// The fixed point.
    pub scale: Scale,
    /// Number of priorities that aren't zero.
    pub positive: usize,
}

impl SumTree {
    /// A tree of `capacity` leaves, all zero. Waits.
    ///
    /// # Errors
    /// As [`SumTree::new`](crate::SumTree::new); [`Error::Gpu`].
    pub fn new(stream: &Stream, capacity: usize) -> Result<Self, Error> {
        check_capacity("SumTree::new", capacity)?;
        let nodes = nodes_len(capacity as u128) as usize;
        let mut tree = Self {
            capacity,
            leaves: Buffer::zeroed(stream, capacity.next_multiple_of(crate::tree::FANOUT))?,
            nodes: Buffer::zeroed(stream, nodes)?,
            head: Buffer::zeroed(stream, 1)?,
            claims: Buffer::zeroed(stream, capacity)?,
            status: Status::new(stream)?,
            rebuilds: Status::new(stream)?,
            searches: Status::new(stream)?,
            indices: Staging::default(),
            values: Staging::default(),
        };
        tree.load(stream, None)?;
        stream.synchronize()?;
        Ok(tree)
    }

    /// The same tree as one of the CPU. Waits.
    ///
    /// # Errors
    /// [`Error::Gpu`].
    pub fn from_host(stream: &Stream, host: &crate::SumTree) -> Result<Self, Error> {
        let mut tree = Self::new(stream, host.capacity())?;
        let mut priorities = vec![0.0; host.capacity()];
        host.copy_priorities(&mut priorities)?;
        tree.rebuild_from_host(stream, &priorities)?;
        Ok(tree)
    }

    /// The same tree on the CPU. Waits.
    ///
    /// # Errors
    /// [`Error::Gpu`].
    pub fn to_host(&self, stream: &Stream) -> Result<crate::SumTree, Error> {
        let mut host = crate::SumTree::new(self.capacity)?;
        host.rebuild(&self.priorities()?.to_vec(stream)?)?;
        Ok(host)
    }

    /// Number of leaves.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Total, scale and number of priorities above zero: one read of a few words. Waits.
    ///
    /// # Errors
    /// [`Error::Gpu`].
    pub fn mass(&self, stream: &Stream) -> Result<Mass, Error> {
        let head = self.head(stream)?;
        let (total, scale) = shown(head.total, head.shown, head.stored, self.capacity);
        let zeros = head.bins[0] as usize;
        Ok(Mass { total, scale, positive: self.capacity - zeros })
    }

    /// Sum of all priorities in fixed point, below 2^63. O(1). Waits.
    ///
    /// # Errors
    /// [`Error::Gpu`].
    pub fn total(&self, stream: &Stream) -> Result<u64, Error> {
        Ok(self.mass(stream)?.total)
    }

    /// All priorities, (capacity).
    ///
    /// # Errors
    /// [`Error::Gpu`].
    pub fn priorities(&self) -> Result<View<'_, f32>, Error> {
        Ok(self.leaves.view().slice(0..self.capacity)?)
    }

    /// Priority `index`. Waits.
    ///
    /// # Errors
    /// [`IndexOutOfRange`](crate::Error::IndexOutOfRange), [`Error::Gpu`].
    pub fn priority(&self, stream: &Stream, index: usize) -> Result<f32, Error> {
        if index >= self.capacity {
            let (operation, count) = ("SumTree::priority", self.capacity);
            return Err(crate::Error::IndexOutOfRange { operation, index, count }.into());
        }
        let mut priority = [0.0];
        self.leaves.view().slice(index..index + 1)?.read(stream, &mut priority)?;
        Ok(priority[0])
    }

    /// `weight / total` of priority `index`, correctly rounded: its probability at the next draw. Waits.
    ///
    /// # Errors
    /// [`IndexOutOfRange`](crate::Error::IndexOutOfRange); [`AllZero`](crate::Error::AllZero) if no priority is above zero;
    /// [`Error::Gpu`].
    pub fn probability(&self, stream: &Stream, index: usize) -> Result<f32, Error> {
        let priority = self.priority(stream, index)?;
        let Mass { total, scale, .. } = self.mass(stream)?;
        if total == 0 {
            return Err(crate::Error::AllZero { operation: "SumTree::probability", count: self.capacity }.into());
        }
        Ok(ratio(scale.quantize(priority), total))
    }

    /// Memory of the device, in bytes.
    pub(in crate::cuda) fn bytes(&self) -> usize {
        let words = self.nodes.len() + self.claims.len();
        size_of::<f32>() * self.leaves.len() + size_of::<u64>() * words + size_of::<Head>()
    }

    /// Sets priority `indices[j]` to `values[j]` for each j in order: of those for one leaf the last counts.
    ///
    /// `indices`: (m), each below the capacity, or [`NOTHING`](super::NOTHING); `values`: (m), finite and `>= 0`. If one isn't,
    /// nothing changes, and [`check`](Self::check) tells.
    ///
    /// # Errors
    /// [`Error::Gpu`], also where the lengths differ.
    pub fn update(&mut self, stream: &Stream, indices: View<'_, u32>, values: View<'_, f32>) -> Result<(), Error> {
        for &pass in passes(indices.len()) {
            let kernel = Set {
                leaves: self.leaves.view_mut(),
                nodes: self.nodes.view_mut(),
                head: self.head.view_mut(),
                claims: self.claims.view_mut(),
                status: self.status.word(),
                indices,
                powers: values,
                capacity: self.capacity,
                m: indices.len(),
                pass,
            };
            // SAFETY: the arrays are those of one tree, which its kernels alone have changed since they were zero.
            unsafe { stream.launch_trusted(&kernel, None) }?;
        }
        self.settle(stream)
    }

    /// [`update`](Self::update) with slices of the host. Waits.
    ///
    /// # Errors
    /// As [`SumTree::update`](crate::SumTree::update); then nothing has changed. [`Error::Gpu`].
    pub fn update_from_host(&mut self, stream: &Stream, indices: &[u32], values: &[f32]) -> Result<(), Error> {
        check_batch("SumTree::update", Isa::detect(), self.capacity, indices, values)?;
        // Out of the tree, which is borrowed as a whole by the update.
        let (mut at, mut of) = (std::mem::take(&mut self.indices), std::mem::take(&mut self.values));
        let updated = (|| self.update(stream, at.upload(stream, indices)?, of.upload(stream, values)?))();
        (self.indices, self.values) = (at, of);
        updated
    }

    /// Sets priority `indices[j]` to `(|td_errors[j]| + epsilon)^alpha`, otherwise as [`update`](Self::update): the powers of
    /// [`PrioritizedReplay`](crate::PrioritizedReplay). Errors must be finite, and have finite powers.
    ///
    /// # Errors
    /// [`Error::Setting`] unless alpha and epsilon are finite and at least 0; [`Error::Gpu`], also where the lengths differ.
    pub fn update_from_errors(
        &mut self,
        stream: &Stream,
        indices: View<'_, u32>,
        td_errors: View<'_, f32>,
        alpha: f32,
        epsilon: f32,
    ) -> Result<(), Error> {
        for (name, value) in [("alpha", alpha), ("epsilon", epsilon)] {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(Error::Setting { operation: "SumTree::update_from_errors", name, value });
            }
        }
        for &pass in passes(indices.len()) {
            let kernel = Update {
                leaves: self.leaves.view_mut(),
                nodes: self.nodes.view_mut(),
                head: self.head.view_mut(),
                claims: self.claims.view_mut(),
                status: self.status.word(),
                indices,
                td: td_errors,
                capacity: self.capacity,
                m: indices.len(),
                pass,
                alpha,
                eps: epsilon,
            };
            // SAFETY: as in `update`.
            unsafe { stream.launch_trusted(&kernel, None) }?;
        }
        self.settle(stream)
    }

    /// Sets all priorities. `priorities`: (capacity), finite and `>= 0`; if one isn't, nothing changes, and
    /// [`check`](Self::check) tells. Two launches: the first looks at all of them.
    ///
    /// # Errors
    /// [`Error::Gpu`], also for another length.
    pub fn rebuild(&mut self, stream: &Stream, priorities: View<'_, f32>) -> Result<(), Error> {
        self.load(stream, Some(priorities))
    }

    /// [`rebuild`](Self::rebuild) with a slice of the host. Waits.
    ///
    /// # Errors
    /// As [`SumTree::rebuild`](crate::SumTree::rebuild); then nothing has changed. [`Error::Gpu`].
    pub fn rebuild_from_host(&mut self, stream: &Stream, priorities: &[f32]) -> Result<(), Error> {
        const OPERATION: &str = "SumTree::rebuild";
        crate::cdf::check_len(OPERATION, "priorities", self.capacity, priorities.len())?;
        fixed::largest_weight(priorities).map_err(|error| crate::Error::from_fixed(OPERATION, error))?;
        self.leaves.view_mut().slice(0..self.capacity)?.write(stream, priorities)?;
        self.load(stream, None)
    }

    /// The leaf that holds each threshold, `prefix[i - 1] <= threshold < prefix[i]`, and its priority in fixed point.
    ///
    /// `thresholds`: (m), each below the total, otherwise [`NOTHING`](super::NOTHING) is found and [`check`](Self::check) tells;
    /// `out`, `weights`: (m).
    ///
    /// # Errors
    /// [`Error::Gpu`], also where the lengths differ.
    pub fn search(
        &mut self,
        stream: &Stream,
        thresholds: View<'_, u64>,
        out: ViewMut<'_, u32>,
        weights: ViewMut<'_, u64>,
    ) -> Result<(), Error> {
        let (leaves, nodes, head) = (self.leaves.view(), self.nodes.view(), self.head.view());
        let (capacity, m, status) = (self.capacity, thresholds.len(), self.searches.word());
        let kernel = Find { leaves, nodes, head, thresholds, out, weights, status, capacity, m };
        // SAFETY: as in `update`.
        Ok(unsafe { stream.launch_trusted(&kernel, None) }?)
    }

    /// Independent draws: leaf i with probability `weight(i) / total`, and its priority in fixed point; the draws of
    /// [`SumTree::sample`](crate::SumTree::sample) from the block at which `draws` is. It goes on by one block a draw.
    ///
    /// `out`, `weights`: (m); [`NOTHING`](super::NOTHING) and 0 if all priorities are zero, and then `draws` stays.
    ///
    /// # Errors
    /// [`Error::Gpu`], also where the lengths differ.
    pub fn sample(
        &self,
        stream: &Stream,
        draws: &mut Draws,
        out: ViewMut<'_, u32>,
        weights: ViewMut<'_, u64>,
    ) -> Result<(), Error> {
        let (leaves, nodes, head) = (self.leaves.view(), self.nodes.view(), self.head.view());
        let (seed, number, capacity, m) = (draws.seed, draws.number, self.capacity, out.len());
        let position = draws.position();
        let kernel = Sample { leaves, nodes, head, position, out, weights, capacity, m, seed, stream: number };
        // SAFETY: as in `update`.
        Ok(unsafe { stream.launch_trusted(&kernel, None) }?)
    }

    /// One draw from each of m equal strata of the mass, in ascending order:
    /// [`SumTree::sample_stratified`](crate::SumTree::sample_stratified). Otherwise as [`sample`](Self::sample).
    ///
    /// # Errors
    /// [`Error::Gpu`], also where the lengths differ.
    pub fn sample_stratified(
        &self,
        stream: &Stream,
        draws: &mut Draws,
        out: ViewMut<'_, u32>,
        weights: ViewMut<'_, u64>,
    ) -> Result<(), Error> {
        let (leaves, nodes, head) = (self.leaves.view(), self.nodes.view(), self.head.view());
        let (seed, number, capacity, m) = (draws.seed, draws.number, self.capacity, out.len());
        let position = draws.position();
        let kernel =
            SampleStratified { leaves, nodes, head, position, out, weights, capacity, m, seed, stream: number };
        // SAFETY: as in `update`.
        Ok(unsafe { stream.launch_trusted(&kernel, None) }?)
    }

    /// What was wrong with batches on the device since the last call: of updates the first index out of range, or else the first
    /// value; when there is none of these, the first value of a rebuild; and then the first threshold of a search. Until it is
    /// `Ok` a further call tells more. Waits.
    ///
    /// # Errors
    /// [`BatchIndexOutOfRange`](crate::Error::BatchIndexOutOfRange), [`InvalidWeight`](crate::Error::InvalidWeight) (of
    /// [`update_from_errors`](Self::update_from_errors) with the error); [`Error::Threshold`]; [`Error::Gpu`].
    pub fn check(&mut self, stream: &Stream) -> Result<(), Error> {
        let (operation, count) = ("SumTree::update", self.capacity);
        if let Some(fault) = self.status.take(stream)? {
            return Err(match fault {
                Fault::OutOfRange { position, index } => {
                    crate::Error::BatchIndexOutOfRange { operation, position, index, count }
                }
                Fault::Invalid { position, value } => crate::Error::InvalidWeight { operation, position, value },
            }
            .into());
        }
        if let Some(Fault::Invalid { position, value }) = self.rebuilds.take(stream)? {
            return Err(crate::Error::InvalidWeight { operation: "SumTree::rebuild", position, value }.into());
        }
        match self.searches.take(stream)? {
            None => Ok(()),
            Some(Fault::OutOfRange { position, .. } | Fault::Invalid { position, .. }) => {
                Err(Error::Threshold { operation: "SumTree::search", position })
            }
        }
    }

    /// Leaves, nodes and head, for kernels.
    pub(in crate::cuda) fn arrays(&self) -> (View<'_, f32>, View<'_, u64>, View<'_, Head>) {
        (self.leaves.view(), self.nodes.view(), self.head.view())
    }

    fn head(&self, stream: &Stream) -> Result<Head, Error> {
        let mut heads = [<Head as bytemuck::Zeroable>::zeroed()];
        self.head.view().read(stream, &mut heads)?;
        let [head] = heads;
        Ok(head)
    }

    /// Takes new leaves, or those that are there, and makes the sums.
    fn load(&mut self, stream: &Stream, source: Option<View<'_, f32>>) -> Result<(), Error> {
        let survey = Survey {
            source,
            leaves: self.leaves.view(),
            head: self.head.view_mut(),
            status: self.rebuilds.word(),
            capacity: self.capacity,
        };
        // SAFETY: as in `update`; the leaves may hold anything.
        unsafe { stream.launch_trusted(&survey, None) }?;
        let load = Load {
            source,
            leaves: self.leaves.view_mut(),
            nodes: self.nodes.view_mut(),
            head: self.head.view_mut(),
            capacity: self.capacity,
        };
        // SAFETY: as above.
        Ok(unsafe { stream.launch_trusted(&load, None) }?)
    }

    /// Makes the sums anew where that is needed.
    fn settle(&mut self, stream: &Stream) -> Result<(), Error> {
        let kernel = Rebuild {
            leaves: self.leaves.view(),
            nodes: self.nodes.view_mut(),
            head: self.head.view_mut(),
            capacity: self.capacity,
        };
        // SAFETY: as in `update`.
        Ok(unsafe { stream.launch_trusted(&kernel, None) }?)
    }
}
