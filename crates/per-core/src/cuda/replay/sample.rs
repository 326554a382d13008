//! Draws.

use super::{Batch, Error, PrioritizedReplay};
use crate::replay::schedule::check_beta;
use crate::replay::{Draws, Weights};
use gpu::Stream;
use gpu::kernels::replay::Numbers;
use gpu::kernels::tree::{WeightsOverBatch, WeightsOverBuffer, WeightsUnnormalized};

impl PrioritizedReplay {
    /// A batch for `draws` items of this replay. Waits.
    ///
    /// # Errors
    /// [`BatchTooLarge`](crate::replay::Error::BatchTooLarge), [`Error::Device`].
    pub fn batch(&self, stream: &Stream, draws: usize) -> Result<Batch, Error> {
        Batch::new(stream, &self.columns, draws, self.config.draws == Draws::Distinct)
    }

    /// Sets the exponent of importance weights for the draws from here on, also for those of graphs that were captured
    /// before. At first it is 1. Waits.
    ///
    /// # Errors
    /// [`InvalidBeta`](crate::replay::Error::InvalidBeta), [`Error::Device`].
    pub fn set_beta(&mut self, stream: &Stream, beta: f32) -> Result<(), Error> {
        check_beta(beta)?;
        Ok(self.beta.view_mut().write(stream, &[beta])?)
    }

    /// Draws a batch: items, importance weights, rows. Draw number k takes block k of the replay's stream of random numbers.
    ///
    /// Where no priority is above zero (without replacement: fewer than draws) nothing is drawn, nor counted:
    /// [`Batch::indices`] are [`NOTHING`](crate::cuda::NOTHING).
    ///
    /// # Errors
    /// [`ForeignBatch`](crate::replay::Error::ForeignBatch), [`Error::Device`].
    pub fn sample_proportional(&mut self, stream: &Stream, batch: &mut Batch) -> Result<(), Error> {
        if batch.columns != self.columns {
            return Err(crate::replay::Error::ForeignBatch.into());
        }
        let (slots, masses) = (batch.indices.view_mut(), batch.masses.view_mut());
        match self.config.draws {
            Draws::Independent => self.powers.sample(stream, &mut self.draws, slots, masses)?,
            Draws::Stratified => self.powers.sample_stratified(stream, &mut self.draws, slots, masses)?,
            Draws::Distinct => {
                // A batch of a replay that draws otherwise has none.
                let scratch = batch.scratch.as_mut().ok_or(crate::replay::Error::ForeignBatch)?;
                self.powers.sample_distinct(stream, &mut self.draws, scratch, slots, masses)?;
            }
        }
        self.weigh(stream, batch)?;
        let (capacity, m) = (self.config.capacity, batch.len());
        let (slots, inserted, out) = (batch.indices.view(), self.inserted.view(), batch.handles.view_mut());
        stream.launch(&Numbers { slots, inserted, out, capacity, m })?;
        batch.gather(stream, &self.records)
    }

    fn weigh(&self, stream: &Stream, batch: &mut Batch) -> Result<(), Error> {
        let (beta, head, capacity, m) = (self.beta.view(), self.powers.head_view(), self.config.capacity, batch.len());
        let (masses, out) = (batch.masses.view(), batch.weights.view_mut());
        Ok(match self.config.weights {
            Weights::OverBuffer => {
                let smallest = self.smallest.key();
                stream.launch(&WeightsOverBuffer { masses, head, smallest, beta, out, capacity, m })
            }
            Weights::OverBatch => stream.launch(&WeightsOverBatch { masses, beta, out, m }),
            Weights::Unnormalized => stream.launch(&WeightsUnnormalized { masses, head, beta, out, capacity, m }),
        }?)
    }
}
