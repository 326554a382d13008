//! Priorities of items that are there.

use super::{Error, PrioritizedReplay};
use crate::replay::check;
use gpu::kernels::replay::Slots;
use gpu::{Stream, View};

impl PrioritizedReplay {
    /// Sets the priorities of items to `|td| + epsilon`, for each handle in order: of those for one item the last counts.
    /// Handles of items that are gone do nothing, and [`stale`](Self::stale) counts them; nor do those of what couldn't be
    /// drawn (`u64::MAX`).
    ///
    /// `handles`: (m), as [`Batch::handles`](super::Batch::handles) of this or an earlier batch; `td_errors`: (m), finite.
    /// What isn't, or has no finite power, is passed over, and [`check`](Self::check) tells; so it is with a handle that no
    /// item has yet.
    ///
    /// # Errors
    /// [`LengthMismatch`](crate::replay::Error::LengthMismatch), [`Error::Device`].
    pub fn update_priorities(
        &mut self,
        stream: &Stream,
        handles: View<'_, u64>,
        td_errors: View<'_, f32>,
    ) -> Result<(), Error> {
        check::len("PrioritizedReplay::update_priorities", "td_errors", handles.len(), td_errors.len())?;
        self.find(stream, handles)?;
        let Self { config, powers, raw, slots, .. } = self;
        let slots = slots.room(stream.device(), handles.len())?.view().slice(0..handles.len())?;
        powers.update_items(stream, Some(raw.view_mut()), slots, td_errors, (config.alpha, config.epsilon))?;
        self.follow(stream, handles.len())
    }

    /// Takes items out: they are never drawn again, and their handles do nothing. Their slots stay empty until the ring
    /// comes round.
    ///
    /// `handles`: (m).
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn remove(&mut self, stream: &Stream, handles: View<'_, u64>) -> Result<(), Error> {
        self.find(stream, handles)?;
        let Self { powers, raw, slots, .. } = self;
        let slots = slots.room(stream.device(), handles.len())?.view().slice(0..handles.len())?;
        powers.remove_items(stream, raw.view_mut(), slots)?;
        powers.settle(stream)?;
        self.follow(stream, handles.len())
    }

    /// [`update_priorities`](Self::update_priorities) with TD errors of the host. Waits.
    ///
    /// # Errors
    /// As [`update_priorities`](Self::update_priorities), and
    /// [`InvalidTdError`](crate::replay::Error::InvalidTdError); then nothing has changed.
    pub fn update_priorities_from_host(
        &mut self,
        stream: &Stream,
        handles: &[crate::replay::Handle],
        td_errors: &[f32],
    ) -> Result<(), Error> {
        const OPERATION: &str = "PrioritizedReplay::update_priorities";
        check::len(OPERATION, "td_errors", handles.len(), td_errors.len())?;
        if let Some(position) = td_errors.iter().position(|td| !td.is_finite()) {
            let value = td_errors[position];
            return Err(crate::replay::Error::InvalidTdError { operation: OPERATION, position, value }.into());
        }
        let numbers: Vec<_> = handles.iter().map(|handle| handle.number()).collect();
        let (mut at, mut of) = (std::mem::take(&mut self.handles), std::mem::take(&mut self.priorities));
        let updated =
            (|| self.update_priorities(stream, at.upload(stream, &numbers)?, of.upload(stream, td_errors)?))();
        (self.handles, self.priorities) = (at, of);
        updated
    }

    /// Leaves the slots of handles in the replay's own.
    fn find(&mut self, stream: &Stream, handles: View<'_, u64>) -> Result<(), Error> {
        let m = handles.len();
        let out = self.slots.room(stream.device(), m)?.view_mut().slice(0..m)?;
        let kernel = Slots {
            numbers: handles,
            inserted: self.inserted.view(),
            raw: self.raw.view(),
            out,
            stale: self.stale.view_mut(),
            status: self.handles_status.word(),
            capacity: self.config.capacity,
            m,
        };
        Ok(stream.launch(&kernel)?)
    }

    /// Brings the trees of the smallest and the largest up to date with m slots.
    fn follow(&mut self, stream: &Stream, m: usize) -> Result<(), Error> {
        let Self { powers, raw, smallest, largest, slots, .. } = self;
        let slots = slots.room(stream.device(), m)?.view().slice(0..m)?;
        smallest.refresh(stream, powers.priorities()?, slots)?;
        Ok(largest.refresh(stream, raw.view(), slots)?)
    }
}
