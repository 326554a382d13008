//! What there is. All of it is read from the device, and waits.

use super::{Error, PrioritizedReplay};
use crate::replay::{Column, Element, Handle, Memory, Window, check};
use arith::fixed;
use gpu::{Stream, View};

impl PrioritizedReplay {
    /// Number of items. Waits.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn len(&self, stream: &Stream) -> Result<usize, Error> {
        Ok(self.powers.items(stream)?.0)
    }

    /// Number of items inserted so far: the next item's number. Waits.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn inserted(&self, stream: &Stream) -> Result<u64, Error> {
        Ok(word(stream, self.inserted.view())?)
    }

    /// Number of draws made so far: the next draw's address. Waits.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn draws_made(&self, stream: &Stream) -> Result<u64, Error> {
        Ok(self.draws.next(stream)?)
    }

    /// Number of handles so far, of updates and removals, whose items were gone. Waits.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn stale(&self, stream: &Stream) -> Result<u64, Error> {
        Ok(word(stream, self.stale.view())?)
    }

    /// Sum of all powers `priority^alpha`, exact in fixed point and rounded once to f64. O(1). Waits.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn total_priority(&self, stream: &Stream) -> Result<f64, Error> {
        let mass = self.powers.mass(stream)?;
        Ok(fixed::to_f64(mass.total, mass.scale))
    }

    /// The smallest power `priority^alpha` above zero. O(1). Waits.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn min_priority(&self, stream: &Stream) -> Result<Option<f32>, Error> {
        Ok(self.smallest.min(stream)?)
    }

    /// The largest priority above zero, before alpha. O(1). Waits.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn max_priority(&self, stream: &Stream) -> Result<Option<f32>, Error> {
        Ok(self.largest.max(stream)?)
    }

    /// Whether there are no items. Waits.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn is_empty(&self, stream: &Stream) -> Result<bool, Error> {
        Ok(self.len(stream)? == 0)
    }

    /// The slot of the item, if it is still there: `number % capacity`. Waits.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn slot(&self, stream: &Stream, handle: Handle) -> Result<Option<usize>, Error> {
        Ok(self.find_item(stream, handle)?.map(|(slot, _)| slot))
    }

    /// Whether the item is still there. Waits.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn contains(&self, stream: &Stream, handle: Handle) -> Result<bool, Error> {
        Ok(self.find_item(stream, handle)?.is_some())
    }

    /// The item's priority, before alpha, if it is still there. Waits.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn priority(&self, stream: &Stream, handle: Handle) -> Result<Option<f32>, Error> {
        Ok(self.find_item(stream, handle)?.map(|(_, priority)| priority))
    }

    /// The item's probability at the next draw, if it is still there and any item has a priority above zero. Waits.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn probability(&self, stream: &Stream, handle: Handle) -> Result<Option<f32>, Error> {
        let Some((slot, _)) = self.find_item(stream, handle)? else { return Ok(None) };
        match self.powers.probability(stream, slot) {
            Err(super::super::Error::Sampler(crate::Error::AllZero { .. })) => Ok(None),
            probability => Ok(Some(probability?)),
        }
    }

    /// Copies the item's row of a column. `out`: (width). False if the item is gone; then nothing is written. Waits.
    ///
    /// # Errors
    /// [`ForeignColumn`](crate::replay::Error::ForeignColumn), [`LengthMismatch`](crate::replay::Error::LengthMismatch),
    /// [`Error::Device`].
    pub fn read<T: Element>(
        &self,
        stream: &Stream,
        handle: Handle,
        column: Column<T>,
        out: &mut [T],
    ) -> Result<bool, Error> {
        self.columns.check(column)?;
        check::len("PrioritizedReplay::read", "out", column.width(), out.len())?;
        let Some((slot, _)) = self.find_item(stream, handle)? else { return Ok(false) };
        self.records.row(slot, column.index)?.read(stream, bytemuck::cast_slice_mut(out))?;
        Ok(true)
    }

    /// Memory of the device that is taken for priorities and for rows, in bytes.
    pub fn memory(&self) -> Memory {
        let trees = self.powers.bytes() + self.smallest.bytes() + self.largest.bytes();
        Memory { priorities: self.raw.len() * size_of::<f32>() + trees, rows: self.records.bytes().len() }
    }

    /// The item's slot and its priority before alpha, if it is still there.
    fn find_item(&self, stream: &Stream, handle: Handle) -> Result<Option<(usize, f32)>, Error> {
        let window = Window::new(self.config.capacity, self.inserted(stream)?);
        let Some(slot) = window.slot(handle.number()) else { return Ok(None) };
        let mut priority = [0.0];
        self.raw.view().slice(slot..slot + 1)?.read(stream, &mut priority)?;
        // Below zero where it was removed.
        Ok(Some((slot, priority[0])).filter(|&(_, priority)| priority >= 0.0))
    }
}

/// A counter.
fn word(stream: &Stream, counter: View<'_, u64>) -> Result<u64, gpu::Error> {
    let mut word = [0];
    counter.read(stream, &mut word)?;
    Ok(word[0])
}
