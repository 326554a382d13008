//! The tree of a replay: its leaves are items, which have priorities before alpha beside it.

use super::SumTree;
use crate::cuda::error::Error;
use crate::cuda::extremes::{MaxTree, MinTree};
use crate::cuda::status::{Fault, Status};
use gpu::kernels::items::{Follow, Insert, Remove, Update};
use gpu::kernels::tree::{Head, passes};
use gpu::{Stream, View, ViewMut};

/// Items of a replay by their numbers.
pub(in crate::cuda) struct Items<'a> {
    /// (capacity), before alpha.
    pub(in crate::cuda) raw: ViewMut<'a, f32>,
    pub(in crate::cuda) stale: ViewMut<'a, u64>,
    /// (m)
    pub(in crate::cuda) numbers: View<'a, u64>,
    pub(in crate::cuda) inserted: View<'a, u64>,
}

/// New items of a replay.
pub(in crate::cuda) struct NewItems<'a> {
    /// (capacity), before alpha.
    pub(in crate::cuda) raw: ViewMut<'a, f32>,
    pub(in crate::cuda) inserted: View<'a, u64>,
    /// (n) before alpha; if there are none, all get the largest.
    pub(in crate::cuda) priorities: Option<View<'a, f32>>,
    /// Of the priorities of the items that are there; without it the largest ever is meant.
    pub(in crate::cuda) largest: Option<&'a MaxTree>,
    pub(in crate::cuda) status: &'a mut Status,
    pub(in crate::cuda) n: usize,
}

/// What follows from the priorities of a replay's items.
pub(in crate::cuda) struct Followers<'a> {
    /// (capacity), before alpha.
    pub(in crate::cuda) raw: View<'a, f32>,
    pub(in crate::cuda) smallest: &'a mut MinTree,
    pub(in crate::cuda) largest: &'a mut MaxTree,
    pub(in crate::cuda) inserted: ViewMut<'a, u64>,
}

impl SumTree {
    /// Sets the priorities of items to `|td| + epsilon`, and their leaves to these to the power of alpha.
    pub(in crate::cuda) fn update_items(
        &mut self,
        stream: &Stream,
        items: Items<'_>,
        td: View<'_, f32>,
        (alpha, eps): (f32, f32),
    ) -> Result<(), Error> {
        let Items { mut raw, mut stale, numbers, inserted } = items;
        let m = numbers.len();
        for &pass in passes(m) {
            let kernel = Update {
                leaves: self.leaves.view_mut(),
                nodes: self.nodes.view_mut(),
                head: self.head.view_mut(),
                claims: self.claims.view_mut(),
                raw: raw.reborrow(),
                stale: stale.reborrow(),
                status: self.status.word(),
                numbers,
                inserted,
                td,
                capacity: self.capacity,
                m,
                pass,
                alpha,
                eps,
            };
            // SAFETY: as in `update`.
            unsafe { stream.launch_trusted(&kernel, None) }?;
        }
        Ok(())
    }

    /// Takes items out.
    pub(in crate::cuda) fn remove_items(
        &mut self,
        stream: &Stream,
        items: Items<'_>,
        status: &mut Status,
    ) -> Result<(), Error> {
        let Items { mut raw, mut stale, numbers, inserted } = items;
        let m = numbers.len();
        for &pass in passes(m) {
            let kernel = Remove {
                leaves: self.leaves.view_mut(),
                nodes: self.nodes.view_mut(),
                head: self.head.view_mut(),
                claims: self.claims.view_mut(),
                raw: raw.reborrow(),
                stale: stale.reborrow(),
                status: status.word(),
                numbers,
                inserted,
                capacity: self.capacity,
                m,
                pass,
            };
            // SAFETY: as in `update`.
            unsafe { stream.launch_trusted(&kernel, None) }?;
        }
        Ok(())
    }

    /// Sets the leaves of new items: those of the slots from `inserted` on.
    pub(in crate::cuda) fn insert_items(
        &mut self,
        stream: &Stream,
        new: NewItems<'_>,
        alpha: f32,
    ) -> Result<(), Error> {
        let NewItems { mut raw, inserted, priorities, largest, status, n } = new;
        for &pass in passes(n) {
            let kernel = Insert {
                leaves: self.leaves.view_mut(),
                nodes: self.nodes.view_mut(),
                head: self.head.view_mut(),
                claims: self.claims.view_mut(),
                raw: raw.reborrow(),
                status: status.word(),
                inserted,
                priorities,
                largest_keys: largest.map(MaxTree::keys),
                capacity: self.capacity,
                n,
                pass,
                alpha,
            };
            // SAFETY: as in `update`; the tree of the largest is one over `raw`.
            unsafe { stream.launch_trusted(&kernel, None) }?;
        }
        Ok(())
    }

    /// Brings all up to date after one of these: after an insertion of m items without `numbers`, and counts them.
    pub(in crate::cuda) fn follow_items(
        &mut self,
        stream: &Stream,
        followers: Followers<'_>,
        numbers: Option<View<'_, u64>>,
        m: usize,
    ) -> Result<(), Error> {
        let Followers { raw, smallest, largest, inserted } = followers;
        let (smallest_keys, smallest_first) = smallest.parts();
        let (largest_keys, largest_first) = largest.parts();
        let kernel = Follow {
            leaves: self.leaves.view(),
            nodes: self.nodes.view_mut(),
            head: self.head.view_mut(),
            raw,
            smallest_keys,
            smallest_first,
            largest_keys,
            largest_first,
            numbers,
            inserted,
            capacity: self.capacity,
            m,
        };
        // SAFETY: as in `update`; keys are only compared.
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
