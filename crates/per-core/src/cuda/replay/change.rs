//! Changes of all items at once. They go through the host: none is part of a learner's step.

use super::{Error, PrioritizedReplay};
use crate::replay::{ABSENT, check, priority};
use gpu::Stream;

impl PrioritizedReplay {
    /// Takes all items out, in O(capacity). The counts of insertions and draws go on, and so does the largest priority ever.
    /// Waits.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn clear(&mut self, stream: &Stream) -> Result<(), Error> {
        let capacity = self.capacity();
        self.raw.view_mut().write(stream, &vec![ABSENT; capacity])?;
        self.set_powers(stream, &vec![0.0; capacity], 0)?;
        Ok(self.largest.rebuild(stream, self.raw.view())?)
    }

    /// Changes alpha, as if it had always been that. O(capacity). Waits. Updates and insertions in graphs that were captured
    /// before keep the old one.
    ///
    /// # Errors
    /// [`Setting`](crate::replay::Error::Setting), also where the largest priority that there ever was has an infinite power
    /// and new items get it; [`PriorityOverflow`](crate::replay::Error::PriorityOverflow) with the slot whose priority has
    /// one; then nothing has changed. [`Error::Device`].
    pub fn set_alpha(&mut self, stream: &Stream, alpha: f32) -> Result<(), Error> {
        check::alpha(alpha)?;
        let powers = priority::all_powers("PrioritizedReplay::set_alpha", alpha, &self.raw.to_vec(stream)?)?;
        let (items, largest_ever) = self.powers.items(stream)?;
        check::largest_ever(self.config.new_items, largest_ever, alpha)?;
        // At most as many as the capacity, below 2^31.
        self.set_powers(stream, &powers, items as u32)?;
        self.config.alpha = alpha;
        Ok(())
    }

    /// Sets all powers, (capacity), of which so many are items'.
    fn set_powers(&mut self, stream: &Stream, powers: &[f32], items: u32) -> Result<(), Error> {
        let largest_ever = self.powers.items(stream)?.1;
        self.powers.rebuild_from_host(stream, powers)?;
        self.powers.set_items(stream, items, largest_ever)?;
        Ok(self.smallest.rebuild(stream, self.powers.priorities()?)?)
    }
}
