//! To the CPU, and from there.

use super::{Error, PrioritizedReplay};
use crate::replay::Parts;
use gpu::Stream;

impl PrioritizedReplay {
    /// The same replay as one of the CPU: it goes on with the same draws. Waits.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn from_host(stream: &Stream, host: &crate::PrioritizedReplay) -> Result<Self, Error> {
        let mut replay = Self::new(stream, host.config().clone(), host.columns().clone())?;
        let parts = host.to_parts();
        let mut powers = vec![0.0; host.capacity()];
        host.powers().copy_priorities(&mut powers)?;
        replay.powers.rebuild_from_host(stream, &powers)?;
        // At most as many as the capacity, below 2^31.
        replay.powers.set_items(stream, host.len() as u32, parts.largest_ever)?;
        replay.raw.view_mut().write(stream, &parts.raw)?;
        replay.smallest.rebuild(stream, replay.powers.priorities()?)?;
        replay.largest.rebuild(stream, replay.raw.view())?;
        replay.records.set(stream, &parts.records)?;
        replay.inserted.view_mut().write(stream, &[parts.inserted])?;
        replay.draws.seek(stream, parts.draws_made)?;
        Ok(replay)
    }

    /// The same replay on the CPU, as to save it. Waits.
    ///
    /// # Errors
    /// [`Error::Device`], [`OutOfMemory`](crate::replay::Error::OutOfMemory).
    pub fn to_host(&self, stream: &Stream) -> Result<crate::PrioritizedReplay, Error> {
        let parts = Parts {
            inserted: self.inserted(stream)?,
            draws_made: self.draws_made(stream)?,
            largest_ever: self.powers.items(stream)?.1,
            raw: self.raw.to_vec(stream)?,
            records: self.records.to_host(stream)?,
        };
        Ok(crate::PrioritizedReplay::from_parts(self.config.clone(), self.columns.clone(), &parts)?)
    }
}
