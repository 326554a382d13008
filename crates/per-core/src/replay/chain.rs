//! From an item to the next ones of its episode.

use super::batch::Batch;
use super::config::NStep;
use super::records::NO_SLOT;
use super::{ABSENT, PrioritizedReplay};
use crate::tree::FANOUT;

/// An item that is there.
#[derive(Clone, Copy)]
struct Item {
    number: u64,
    slot: usize,
}

impl PrioritizedReplay {
    /// From the drawn items to all steps of their sequences, and the last item and n-step return of each.
    pub(super) fn follow(&self, batch: &mut Batch) {
        if batch.steps == 1 {
            batch.slots.copy_from_slice(&batch.indices);
            batch.lengths.fill(1);
        } else {
            self.follow_sequences(batch);
        }
        if let Some(n_step) = &self.config.n_step {
            self.follow_returns(n_step, batch);
        }
    }

    fn follow_sequences(&self, batch: &mut Batch) {
        let Batch { steps, handles, indices, slots, lengths, .. } = batch;
        for (b, slots) in slots.chunks_exact_mut(*steps).enumerate() {
            let mut item = Some(Item { number: handles[b].0, slot: indices[b] as usize });
            lengths[b] = 0;
            for slot in slots {
                let Some(at) = item else {
                    *slot = NO_SLOT;
                    continue;
                };
                lengths[b] += 1;
                *slot = at.slot as u32;
                self.records.fetch(at.slot);
                item = self.next(at);
            }
        }
    }

    fn follow_returns(&self, n_step: &NStep, batch: &mut Batch) {
        for (i, &slot) in batch.slots.iter().enumerate() {
            let out = (&mut batch.last[i], &mut batch.returns[i], &mut batch.discounts[i], &mut batch.spans[i]);
            if slot == NO_SLOT {
                (*out.0, *out.1, *out.2, *out.3) = (NO_SLOT, 0.0, 0.0, 0);
                continue;
            }
            let slot = slot as usize;
            let mut item = Item { number: self.window.number(slot), slot };
            let (mut sum, mut discount, mut span) = (self.reward(n_step, slot), n_step.discount, 1);
            while span < n_step.steps
                && let Some(next) = self.next(item)
            {
                sum = arith::fma(discount, self.reward(n_step, next.slot), sum);
                discount *= n_step.discount;
                span += 1;
                item = next;
            }
            let terminated = self.config.episodes.is_some_and(|e| self.flag(e.terminated.index, item.slot));
            // At most as many as there are items, below 2^31.
            let discount = if terminated { 0.0 } else { discount };
            (*out.0, *out.1, *out.2, *out.3) = (item.slot as u32, sum, discount, span as u32);
        }
    }

    /// The item after this one in its environment, if it belongs to the same episode and is there.
    #[inline(always)]
    fn next(&self, item: Item) -> Option<Item> {
        if let Some(episodes) = &self.config.episodes {
            let truncated = episodes.truncated.is_some_and(|column| self.flag(column.index, item.slot));
            if truncated || self.flag(episodes.terminated.index, item.slot) {
                return None;
            }
        }
        let number = item.number.checked_add(self.config.environments as u64)?;
        let slot = self.window.slot(number)?;
        (self.raw[slot / FANOUT].0[slot % FANOUT] != ABSENT).then_some(Item { number, slot })
    }

    fn flag(&self, column: usize, slot: usize) -> bool {
        self.records.row(column, 1, slot)[0] != 0
    }

    fn reward(&self, n_step: &NStep, slot: usize) -> f32 {
        bytemuck::pod_read_unaligned(self.records.row(n_step.reward.index, size_of::<f32>(), slot))
    }
}
