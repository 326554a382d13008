//! Cumulative sums.

use super::draws::Draws;
use super::error::Error;
use super::resample;
use super::status::{Fault, Status};
use crate::cdf::check_count;
use crate::resample::Base;
use arith::fixed::{self, Scale};
use gpu::kernels::cdf::{Build, Head, Search, Survey};
use gpu::kernels::nodes_len;
use gpu::{Buffer, Stream, View, ViewMut};

/// Weights of a tile.
pub(super) const TILE: usize = 4096;

/// [`Cdf`](crate::Cdf) on a device: the same sums and draws, bit for bit.
///
/// # Launches
/// A build is two: the first finds the largest of all weights, from which the scale follows that makes integers of them;
/// the second is a scan in a single pass. A draw or a search is one.
///
/// Memory: 4.5 bytes a weight.
#[derive(Debug)]
pub struct Cdf {
    /// Weights in use.
    len: usize,
    weights: Buffer<f32>,
    nodes: Buffer<u64>,
    head: Buffer<Head>,
    tiles: Buffer<u64>,
    status: Status,
}

/// What kernels read of a CDF.
pub(super) struct Parts<'a> {
    pub(super) weights: View<'a, f32>,
    pub(super) nodes: View<'a, u64>,
    pub(super) head: View<'a, Head>,
    pub(super) n: usize,
}

impl Cdf {
    /// A CDF of no weights, with memory for `capacity` of them.
    ///
    /// # Errors
    /// [`Empty`](crate::Error::Empty), [`TooManyWeights`](crate::Error::TooManyWeights), [`Error::Gpu`].
    pub fn with_capacity(stream: &Stream, capacity: usize) -> Result<Self, Error> {
        check_count("Cdf::with_capacity", capacity)?;
        let device = stream.device();
        Ok(Self {
            len: 0,
            weights: Buffer::uninit(device, capacity)?,
            nodes: Buffer::uninit(device, nodes_len(capacity as u128) as usize)?,
            head: Buffer::zeroed(stream, 1)?,
            tiles: Buffer::uninit(device, 2 * capacity.div_ceil(TILE))?,
            status: Status::new(stream)?,
        })
    }

    /// The most weights.
    pub fn capacity(&self) -> usize {
        self.weights.len()
    }

    /// Number of weights.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no weights.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The weights, (len).
    ///
    /// # Errors
    /// [`Error::Gpu`].
    pub fn weights(&self) -> Result<View<'_, f32>, Error> {
        Ok(self.weights.view().slice(0..self.len)?)
    }

    /// Builds the CDF of a copy of `weights`: (n), n at most the capacity; finite and `>= 0`. If one isn't, there is no
    /// CDF: [`check`](Self::check) tells, and draws are [`NOTHING`](super::NOTHING).
    ///
    /// # Errors
    /// [`Empty`](crate::Error::Empty), [`LengthMismatch`](crate::Error::LengthMismatch) for more than the capacity;
    /// [`Error::Gpu`].
    pub fn build(&mut self, stream: &Stream, weights: View<'_, f32>) -> Result<(), Error> {
        self.build_with(stream, weights.len(), |mut own| Ok(own.copy_from(stream, weights)?))
    }

    /// Builds the CDF of `n` weights that `write` has put in place on the stream, without a copy.
    ///
    /// # Errors
    /// As [`build`](Self::build), and what `write` returns; then there are no weights.
    pub fn build_with(
        &mut self,
        stream: &Stream,
        n: usize,
        write: impl FnOnce(ViewMut<'_, f32>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        check_count("Cdf::build", n)?;
        if n > self.capacity() {
            let (expected, operation) = (self.capacity(), "Cdf::build");
            return Err(crate::Error::LengthMismatch { operation, what: "weights", expected, got: n }.into());
        }
        self.len = 0;
        write(self.weights.view_mut().slice(0..n)?)?;
        let tiles = 2 * n.div_ceil(TILE);
        let survey = Survey {
            weights: self.weights.view().slice(0..n)?,
            head: self.head.view_mut(),
            tiles: self.tiles.view_mut().slice(0..tiles)?,
            status: self.status.word(),
            n,
        };
        // SAFETY: the weights may be anything; all else is the CDF's own.
        unsafe { stream.launch_trusted(&survey, None) }?;
        let build = Build {
            weights: self.weights.view().slice(0..n)?,
            nodes: self.nodes.view_mut().slice(0..nodes_len(n as u128) as usize)?,
            head: self.head.view_mut(),
            tiles: self.tiles.view_mut().slice(0..tiles)?,
            n,
        };
        // SAFETY: head and tiles are as the survey leaves them.
        unsafe { stream.launch_trusted(&build, None) }?;
        self.len = n;
        Ok(())
    }

    /// [`build`](Self::build) with a slice of the host. Waits.
    ///
    /// # Errors
    /// As [`Cdf::build`](crate::Cdf::build), and [`LengthMismatch`](crate::Error::LengthMismatch) for more than the capacity;
    /// then nothing has changed. [`Error::Gpu`].
    pub fn build_from_host(&mut self, stream: &Stream, weights: &[f32]) -> Result<(), Error> {
        fixed::largest_weight(weights).map_err(|error| crate::Error::from_fixed("Cdf::build", error))?;
        self.build_with(stream, weights.len(), |mut own| Ok(own.write(stream, weights)?))
    }

    /// Sum of all weights in fixed point, below 2^63, and the fixed point; 0 at the scale of zeros where there is no CDF.
    /// Waits.
    ///
    /// # Errors
    /// [`Error::Gpu`].
    pub fn mass(&self, stream: &Stream) -> Result<(u64, Scale), Error> {
        let mut heads = [<Head as bytemuck::Zeroable>::zeroed()];
        self.head.view().read(stream, &mut heads)?;
        let [Head { total, largest, ready, n, .. }] = heads;
        let built = self.len > 0 && ready != 0 && n as usize == self.len;
        let scale = Scale::new(if built { largest } else { 0.0 }, self.len);
        let scale = scale.map_err(|source| crate::Error::Scale { operation: "Cdf::mass", source })?;
        Ok((if built { total } else { 0 }, scale))
    }

    /// The item that holds each threshold: the i with `prefix[i - 1] <= threshold < prefix[i]`.
    ///
    /// `thresholds`: (m), each below the total, otherwise [`NOTHING`](super::NOTHING) is found and [`check`](Self::check)
    /// tells; `out`: (m).
    ///
    /// # Errors
    /// [`Empty`](crate::Error::Empty) without weights; [`Error::Gpu`], also where the lengths differ.
    pub fn search(&mut self, stream: &Stream, thresholds: View<'_, u64>, out: ViewMut<'_, u32>) -> Result<(), Error> {
        self.check_any("Cdf::search")?;
        let n = self.len;
        let kernel = Search {
            weights: self.weights.view().slice(0..n)?,
            nodes: self.nodes.view().slice(0..nodes_len(n as u128) as usize)?,
            head: self.head.view(),
            thresholds,
            out,
            status: self.status.word(),
            n,
            m: thresholds.len(),
        };
        // SAFETY: as `build_with` leaves it.
        Ok(unsafe { stream.launch_trusted(&kernel, None) }?)
    }

    /// Independent draws, [`Cdf::sample`](crate::Cdf::sample) from the block at which `draws` is.
    ///
    /// # Errors
    /// As [`resample::ancestors`].
    pub fn sample(&self, stream: &Stream, draws: &mut Draws, out: ViewMut<'_, u32>) -> Result<(), Error> {
        resample::draw(stream, self, Base::Multinomial, draws, out)
    }

    /// One draw from each of m equal strata, [`Cdf::sample_stratified`](crate::Cdf::sample_stratified).
    ///
    /// # Errors
    /// As [`resample::ancestors`].
    pub fn sample_stratified(&self, stream: &Stream, draws: &mut Draws, out: ViewMut<'_, u32>) -> Result<(), Error> {
        resample::draw(stream, self, Base::Stratified, draws, out)
    }

    /// One draw from each of m equal strata, at the same place in all:
    /// [`Cdf::sample_systematic`](crate::Cdf::sample_systematic).
    ///
    /// # Errors
    /// As [`resample::ancestors`].
    pub fn sample_systematic(&self, stream: &Stream, draws: &mut Draws, out: ViewMut<'_, u32>) -> Result<(), Error> {
        resample::draw(stream, self, Base::Systematic, draws, out)
    }

    /// What was wrong with weights and thresholds on the device since the last call: the first position of all. Waits.
    ///
    /// # Errors
    /// [`InvalidWeight`](crate::Error::InvalidWeight), [`Error::Threshold`], [`Error::Gpu`].
    pub fn check(&mut self, stream: &Stream) -> Result<(), Error> {
        match self.status.take(stream)? {
            None => Ok(()),
            Some(Fault::OutOfRange { position, .. }) => Err(Error::Threshold { operation: "Cdf::search", position }),
            Some(Fault::Invalid { position, value }) => {
                Err(crate::Error::InvalidWeight { operation: "Cdf::build", position, value }.into())
            }
        }
    }

    /// What kernels read, if there are weights.
    pub(super) fn parts(&self, operation: &'static str) -> Result<Parts<'_>, Error> {
        self.check_any(operation)?;
        let n = self.len;
        let nodes = self.nodes.view().slice(0..nodes_len(n as u128) as usize)?;
        Ok(Parts { weights: self.weights()?, nodes, head: self.head.view(), n })
    }

    fn check_any(&self, operation: &'static str) -> Result<(), Error> {
        if self.len == 0 { Err(crate::Error::Empty { operation }.into()) } else { Ok(()) }
    }
}
