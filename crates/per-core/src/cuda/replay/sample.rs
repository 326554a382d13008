//! Draws.

use super::rows::Records;
use super::{Batch, Error, PrioritizedReplay};
use crate::replay::schedule::check_beta;
use crate::replay::{AllZero, Column, Config, Draws, Weights, check};
use gpu::Stream;
use gpu::kernels::items::{NO_COLUMN, Ring, SampleItems};

impl PrioritizedReplay {
    /// A batch for `draws` items of this replay. Waits.
    ///
    /// # Errors
    /// [`BatchTooLarge`](crate::replay::Error::BatchTooLarge), [`Error::Device`].
    pub fn batch(&self, stream: &Stream, draws: usize) -> Result<Batch, Error> {
        self.sequences(stream, draws, 1)
    }

    /// A batch for `draws` sequences of `steps` steps, as [`sequences`](crate::PrioritizedReplay::sequences) on the CPU. Waits.
    ///
    /// # Errors
    /// [`BatchTooLarge`](crate::replay::Error::BatchTooLarge); [`Setting`](crate::replay::Error::Setting) where `steps` is 0;
    /// [`Error::Device`].
    pub fn sequences(&self, stream: &Stream, draws: usize, steps: usize) -> Result<Batch, Error> {
        check::steps(steps)?;
        let (n_step, distinct) = (self.config.n_step.is_some(), self.config.draws == Draws::Distinct);
        Batch::new(stream, (&self.columns, &self.records), (draws, steps), n_step, distinct)
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

    /// Draws a batch: items or sequences, importance weights, rows, n-step returns. Draw number k takes block k of the replay's
    /// stream of random numbers.
    ///
    /// Where no priority is above zero, unless [`Config::all_zero`] says otherwise, and without replacement where there are
    /// fewer than draws, nothing is drawn, nor counted: [`Batch::indices`] are [`NOTHING`](crate::cuda::NOTHING).
    ///
    /// # Errors
    /// [`ForeignBatch`](crate::replay::Error::ForeignBatch), [`Error::Device`].
    pub fn sample_proportional(&mut self, stream: &Stream, batch: &mut Batch) -> Result<(), Error> {
        let foreign = || Error::from(crate::replay::Error::ForeignBatch);
        let (n_step, distinct) = (self.config.n_step.is_some(), self.config.draws == Draws::Distinct);
        if batch.columns != self.columns || batch.n_step != n_step || (distinct && batch.distinct.is_none()) {
            return Err(foreign());
        }
        let Batch { steps, teams, distinct: scratch, .. } = batch;
        let mut drawn = None;
        if let (true, Some((scratch, out))) = (distinct, scratch) {
            let uniform = self.config.all_zero == AllZero::Uniform;
            let (ranks, masses) = (out.view_mut(), batch.masses.view_mut());
            self.powers.sample_items_distinct(stream, &mut self.draws, scratch, ranks, masses, uniform)?;
            drawn = Some(out.view());
        }
        let (leaves, nodes, head) = self.powers.arrays();
        let kernel = SampleItems {
            leaves,
            nodes,
            head,
            raw: self.raw.view(),
            records: self.records.bytes(),
            ring: self.ring.view(),
            columns: batch.table.view(),
            inserted: self.inserted.view(),
            smallest: self.smallest.key(),
            beta: self.beta.view(),
            drawn,
            m: batch.indices.len(),
            indices: batch.indices.view_mut(),
            masses: batch.masses.view_mut(),
            handles: batch.handles.view_mut(),
            weights: batch.weights.view_mut(),
            lengths: batch.lengths.view_mut(),
            returns: n_step.then(|| batch.returns.view_mut()),
            discounts: n_step.then(|| batch.discounts.view_mut()),
            spans: n_step.then(|| batch.spans.view_mut()),
            row_bytes: batch.rows.len() as u64,
            rows: batch.rows.view_mut(),
            seed: self.draws.seed,
            stream: self.draws.number,
            position: self.draws.position(),
            capacity: self.config.capacity,
            stride: self.records.stride(),
            count: self.columns.len(),
            steps: *steps,
            teams: *teams,
        };
        // SAFETY: the tree's arrays are those of one tree, the table has the columns of these records and of this batch, and
        // the ring their offsets; `raw` and `inserted` only decide among slots below the capacity.
        Ok(unsafe { stream.launch_trusted(&kernel, None) }.map_err(super::super::Error::from)?)
    }
}

/// The settings for kernels.
pub(super) fn ring(config: &Config, records: &Records) -> Ring {
    let offset = |column: usize| records.places()[column].offset as u32;
    let (draws, weights) = (config.draws, config.weights);
    let flag = |column: Option<Column<u8>>| column.map_or(NO_COLUMN, |column| offset(column.index));
    Ring {
        draws: match draws {
            Draws::Independent => 0,
            Draws::Stratified => 1,
            Draws::Distinct => 2,
        },
        weights: match weights {
            Weights::OverBuffer => 0,
            Weights::OverBatch => 1,
            Weights::Unnormalized => 2,
        },
        all_zero: u32::from(config.all_zero == AllZero::Uniform),
        // Below 2^31. No item has as many after it.
        environments: config.environments.min(config.capacity) as u32,
        terminated: flag(config.episodes.map(|episodes| episodes.terminated)),
        truncated: flag(config.episodes.and_then(|episodes| episodes.truncated)),
        // No return has more steps than there are items.
        n_step: config.n_step.map_or(0, |n_step| n_step.steps.min(config.capacity) as u32),
        reward: config.n_step.map_or(NO_COLUMN, |n_step| offset(n_step.reward.index)),
        discount: config.n_step.map_or(0.0, |n_step| n_step.discount),
    }
}
