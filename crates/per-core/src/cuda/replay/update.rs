//! Priorities of items that are there.

use super::{Error, PrioritizedReplay};
use crate::cuda::sum_tree::{Followers, Items};
use crate::replay::check;
use gpu::{Stream, View};

impl PrioritizedReplay {
    /// Sets the priorities of items to `|td| + epsilon`, for each handle in order: of those for one item the last counts.
    /// Handles of items that are gone do nothing, and [`stale`](Self::stale) counts them; nor do those of what couldn't be
    /// drawn (`u64::MAX`).
    ///
    /// `handles`: (m), as [`Batch::handles`](super::Batch::handles) of this or an earlier batch; `td_errors`: (m), finite.
    /// If one isn't, or has no finite power, or a handle is of no item so far, nothing changes, and [`check`](Self::check) tells.
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
        let Self { config, powers, raw, stale, inserted, .. } = self;
        let (raw, stale, inserted) = (raw.view_mut(), stale.view_mut(), inserted.view());
        let items = Items { raw, stale, numbers: handles, inserted };
        powers.update_items(stream, items, td_errors, (config.alpha, config.epsilon))?;
        self.follow(stream, Some(handles), handles.len())
    }

    /// Takes items out: they are never drawn again, and their handles do nothing. Their slots stay empty until the ring
    /// comes round.
    ///
    /// `handles`: (m). If one is of no item so far, nothing changes, and [`check`](Self::check) tells; of those for one item all
    /// but one count as [`stale`](Self::stale).
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn remove(&mut self, stream: &Stream, handles: View<'_, u64>) -> Result<(), Error> {
        let Self { powers, raw, stale, inserted, remove_status, .. } = self;
        let (raw, stale, inserted) = (raw.view_mut(), stale.view_mut(), inserted.view());
        powers.remove_items(stream, Items { raw, stale, numbers: handles, inserted }, remove_status)?;
        self.follow(stream, Some(handles), handles.len())
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

    /// Brings sums and trees up to date after the priorities of these items, or of m new ones, have changed.
    pub(super) fn follow(&mut self, stream: &Stream, handles: Option<View<'_, u64>>, m: usize) -> Result<(), Error> {
        let Self { powers, raw, smallest, largest, inserted, .. } = self;
        let followers = Followers { raw: raw.view(), smallest, largest, inserted: inserted.view_mut() };
        Ok(powers.follow_items(stream, followers, handles, m)?)
    }
}
