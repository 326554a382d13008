//! Draws.

use super::batch::Batch;
use super::config::{AllZero, Draws};
use super::error::Error;
use super::handle::Handle;
use super::records::NO_SLOT;
use super::schedule::check_beta;
use super::weights::weigh;
use super::{ABSENT, PrioritizedReplay, check};
use crate::tree::{Drawn, FANOUT, prefetch};
use arith::fixed::bounded;
use arith::random::Stream;
use arith::simd::Isa;

/// Steps of an n-step return whose items are fetched ahead.
const FETCHED_STEPS: usize = 8;

impl PrioritizedReplay {
    /// A batch for `draws` items of this replay.
    ///
    /// # Errors
    /// [`Error::BatchTooLarge`].
    pub fn batch(&self, draws: usize) -> Result<Batch, Error> {
        self.sequences(draws, 1)
    }

    /// A batch for `draws` sequences of `steps` steps: a drawn item and those that follow it in its environment, up to
    /// the end of its episode, the newest item or a removed one. (Without [`episodes`](super::Config::episodes) none ends.)
    ///
    /// # Errors
    /// [`Error::BatchTooLarge`]; [`Error::Setting`] where `steps` is 0.
    pub fn sequences(&self, draws: usize, steps: usize) -> Result<Batch, Error> {
        check::steps(steps)?;
        Batch::new(&self.columns, draws, steps, self.config.n_step.is_some())
    }

    /// Draws a batch: items, importance weights to the power of `beta`, rows, n-step returns.
    ///
    /// The draws are those with addresses [`draws_made`](Self::draws_made) and on, and as many as the batch has are counted.
    ///
    /// # Errors
    /// [`Error::InvalidBeta`], [`Error::ForeignBatch`], [`Error::NoItems`]; [`Error::AllZero`] unless
    /// [`Config::all_zero`](super::Config) says otherwise; [`Error::TooFewItems`] for draws without replacement. Then neither
    /// the batch nor the count has changed.
    pub fn sample_proportional(&mut self, batch: &mut Batch, beta: f32) -> Result<(), Error> {
        self.sample_proportional_at(self.draws_made, batch, beta)?;
        self.draws_made = self.draws_made.wrapping_add(batch.draws as u64);
        Ok(())
    }

    /// [`sample_proportional`](Self::sample_proportional) at an address of the caller's, which counts nothing: threads may
    /// draw from one replay at the same time. A batch of B items takes the addresses `index..index + B`.
    ///
    /// # Errors
    /// Those of [`sample_proportional`](Self::sample_proportional).
    pub fn sample_proportional_at(&self, index: u64, batch: &mut Batch, beta: f32) -> Result<(), Error> {
        check_beta(beta)?;
        if batch.columns != self.columns || batch.has_returns() != self.config.n_step.is_some() {
            return Err(Error::ForeignBatch);
        }
        if self.present == 0 {
            return Err(Error::NoItems);
        }
        // What can be drawn: those above zero, or all where none is.
        let (items, all_zero) = match self.powers.positive() {
            0 => (self.present, true),
            positive => (positive, false),
        };
        if all_zero && self.config.all_zero == AllZero::Error {
            return Err(Error::AllZero { items });
        }
        if self.config.draws == Draws::Distinct && batch.draws > items {
            return Err(Error::TooFewItems { draws: batch.draws, items });
        }
        if all_zero {
            self.draw_uniformly(index, batch);
            batch.weights.fill(1.0);
        } else {
            self.draw(index, batch)?;
            weigh(self, batch, beta);
        }
        for (handle, &slot) in batch.handles.iter_mut().zip(&batch.indices) {
            *handle = Handle(self.window.number(slot as usize));
        }
        self.follow(batch);
        batch.gather(&self.records);
        Ok(())
    }

    fn stream(&self) -> Stream {
        Stream::new(self.config.seed, self.config.stream)
    }

    /// Slots and masses in proportion to the powers.
    fn draw(&self, index: u64, batch: &mut Batch) -> Result<(), Error> {
        let (isa, stream) = (Isa::detect(), self.stream());
        let tell = |drawn: Drawn, out: &mut (u32, u64)| {
            *out = (drawn.leaf, drawn.weight);
            self.fetch(drawn.leaf as usize);
        };
        match self.config.draws {
            Draws::Independent => self.powers.draw_independent(isa, &stream, index, &mut batch.drawn, tell)?,
            Draws::Stratified => self.powers.draw_stratified(isa, &stream, index, &mut batch.drawn, tell)?,
            Draws::Distinct => {
                self.powers.draw_distinct(isa, &stream, index, &mut batch.distinct, &mut batch.drawn, tell)?;
            }
        }
        for ((index, mass), &(leaf, weight)) in batch.indices.iter_mut().zip(&mut batch.masses).zip(&batch.drawn) {
            (*index, *mass) = (leaf, weight);
        }
        Ok(())
    }

    /// Brings near what a batch reads of the item in `slot` and of those that follow it.
    #[inline(always)]
    fn fetch(&self, slot: usize) {
        self.records.fetch(slot);
        let Some(n_step) = &self.config.n_step else { return };
        let (mut next, step) = (slot, self.config.environments % self.config.capacity);
        prefetch::<_, false>(&self.raw, slot / FANOUT);
        for _ in 1..n_step.steps.min(FETCHED_STEPS) {
            next += step;
            next -= if next >= self.config.capacity { self.config.capacity } else { 0 };
            self.records.fetch(next);
            prefetch::<_, false>(&self.raw, next / FANOUT);
        }
    }

    /// Slots of items, all equally likely.
    fn draw_uniformly(&self, index: u64, batch: &mut Batch) {
        let (stream, draws) = (self.stream(), batch.draws as u64);
        let items = self.present as u64;
        // Ranks among the items, in the order of the slots.
        match self.config.draws {
            Draws::Independent => {
                for (j, out) in batch.indices.iter_mut().enumerate() {
                    *out = bounded_by_block(&stream, index.wrapping_add(j as u64), items) as u32;
                }
            }
            Draws::Stratified => {
                for (j, out) in (0..draws).zip(&mut batch.indices) {
                    let within = bounded_by_block(&stream, index.wrapping_add(j), items);
                    // Below 2^31 draws and items: no overflow, and below `items`.
                    *out = ((j * items + within) / draws) as u32;
                }
            }
            Draws::Distinct => distinct_ranks(&stream, index, items, &mut batch.indices),
        }
        self.ranks_to_slots(&mut batch.indices);
        batch.masses.fill(0);
    }

    /// Replaces ranks among the items by their slots.
    fn ranks_to_slots(&self, ranks: &mut [u32]) {
        if self.present == self.config.capacity.min(usize::try_from(self.window.next).unwrap_or(usize::MAX)) {
            // None was removed. Filled from slot 0 on.
            return;
        }
        // Rare, and as long as the ring: rank and place of each draw, walked through in the order of the ranks.
        let mut wanted: Vec<(u32, usize)> = ranks.iter().copied().zip(0..).collect();
        wanted.sort_unstable();
        let slots = (0..self.config.capacity).filter(|&s| self.raw[s / FANOUT].0[s % FANOUT] != ABSENT);
        let mut items = slots.zip(0_u32..);
        let mut item = items.next();
        for (rank, place) in wanted {
            while let Some((_, at)) = item
                && at < rank
            {
                item = items.next();
            }
            ranks[place] = item.map_or(NO_SLOT, |(slot, _)| slot as u32);
        }
    }
}

/// An integer below `total`, from the first two words of block `index`: as the threshold of a [`SumTree`](crate::SumTree).
fn bounded_by_block(stream: &Stream, index: u64, total: u64) -> u64 {
    let [low, high, ..] = stream.block(index);
    bounded(u64::from(high) << 32 | u64::from(low), total)
}

/// The first `ranks.len()` of a random permutation of `0..items` (Fisher and Yates), which keeps only what has moved:
/// O(m log m) for m ranks.
fn distinct_ranks(stream: &Stream, index: u64, items: u64, ranks: &mut [u32]) {
    let mut moved = std::collections::BTreeMap::new();
    for (j, out) in (0..items).zip(ranks) {
        let chosen = j + bounded_by_block(stream, index.wrapping_add(j), items - j);
        let here = moved.get(&j).copied().unwrap_or(j);
        let there = moved.insert(chosen, here).unwrap_or(chosen);
        *out = there as u32;
    }
}
