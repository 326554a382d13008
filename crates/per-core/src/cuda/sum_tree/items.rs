//! The tree of a replay: its leaves are items, which have priorities before alpha beside it.

use super::SumTree;
use crate::cuda::error::Error;
use crate::cuda::status::{Fault, Status};
use gpu::kernels::tree::{Head, Insert, Remove, Update};
use gpu::{Stream, View, ViewMut};

/// New items of a replay.
pub(in crate::cuda) struct NewItems<'a> {
    /// (capacity)
    pub(in crate::cuda) raw: ViewMut<'a, f32>,
    pub(in crate::cuda) inserted: View<'a, u64>,
    /// (m) before alpha; if there are none, all get the largest.
    pub(in crate::cuda) priorities: Option<View<'a, f32>>,
    /// First key of a tree of largest priorities; without it the largest ever is meant.
    pub(in crate::cuda) largest: Option<View<'a, u32>>,
    pub(in crate::cuda) status: &'a mut Status,
    pub(in crate::cuda) m: usize,
}

impl SumTree {
    /// [`update_from_errors`](Self::update_from_errors) of items whose priorities before alpha are `raw`, with alpha and
    /// epsilon.
    pub(in crate::cuda) fn update_items(
        &mut self,
        stream: &Stream,
        raw: Option<ViewMut<'_, f32>>,
        indices: View<'_, u32>,
        td_errors: View<'_, f32>,
        (alpha, epsilon): (f32, f32),
    ) -> Result<(), Error> {
        let kernel = Update {
            leaves: self.leaves.view_mut(),
            nodes: self.nodes.view_mut(),
            head: self.head.view_mut(),
            claims: self.claims.view_mut(),
            raw,
            status: self.status.word(),
            indices,
            td: td_errors,
            capacity: self.capacity,
            m: indices.len(),
            alpha,
            eps: epsilon,
        };
        // SAFETY: as in `update`.
        unsafe { stream.launch_trusted(&kernel, None) }?;
        self.settle(stream)
    }

    /// Sets the leaves of a replay's new items: those of the slots from `inserted` on.
    pub(in crate::cuda) fn insert_items(
        &mut self,
        stream: &Stream,
        new: NewItems<'_>,
        alpha: f32,
    ) -> Result<(), Error> {
        let NewItems { raw, inserted, priorities, largest, status, m } = new;
        let kernel = Insert {
            leaves: self.leaves.view_mut(),
            nodes: self.nodes.view_mut(),
            head: self.head.view_mut(),
            claims: self.claims.view_mut(),
            raw: Some(raw),
            status: status.word(),
            inserted,
            priorities,
            largest,
            capacity: self.capacity,
            m,
            alpha,
        };
        // SAFETY: as in `update`.
        unsafe { stream.launch_trusted(&kernel, None) }?;
        self.settle(stream)
    }

    /// Takes items of a replay out. What changes the tree next settles it.
    pub(in crate::cuda) fn remove_items(
        &mut self,
        stream: &Stream,
        raw: ViewMut<'_, f32>,
        indices: View<'_, u32>,
    ) -> Result<(), Error> {
        let kernel = Remove {
            leaves: self.leaves.view_mut(),
            nodes: self.nodes.view_mut(),
            head: self.head.view_mut(),
            claims: self.claims.view_mut(),
            raw,
            status: self.status.word(),
            indices,
            capacity: self.capacity,
            m: indices.len(),
        };
        // SAFETY: as in `update`.
        Ok(unsafe { stream.launch_trusted(&kernel, None) }?)
    }

    /// What was wrong with updates.
    pub(in crate::cuda) fn take_fault(&mut self, stream: &Stream) -> Result<Option<Fault>, Error> {
        Ok(self.status.take(stream)?)
    }

    /// What a replay knows of its items: how many there are, and the largest priority before alpha that there ever was.
    pub(in crate::cuda) fn items(&self, stream: &Stream) -> Result<(usize, f32), Error> {
        let head = self.head(stream)?;
        Ok((head.present as usize, f32::from_bits(head.largest)))
    }

    /// Sets what [`items`](Self::items) tells.
    pub(in crate::cuda) fn set_items(&mut self, stream: &Stream, present: u32, largest: f32) -> Result<(), Error> {
        let head = Head { present, largest: largest.to_bits(), ..self.head(stream)? };
        Ok(self.head.view_mut().write(stream, &[head])?)
    }
}
