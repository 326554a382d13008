//! From an item to the next ones of its episode: `crates/per-core/src/replay/chain.rs`, by half a warp, which looks at 16
//! items at once.

use super::window::Window;
use super::{NO_COLUMN, Ring};
use crate::blocks::FANOUT;
use crate::device::warp::{ALL, lane_id, warp_shuffle_idx, warp_vote_ballot};

/// What it takes to follow items.
#[derive(Clone, Copy)]
pub(super) struct Chain {
    pub(super) window: Window,
    /// (capacity), below zero where there is no item.
    pub(super) raw: *const f32,
    pub(super) records: *const u8,
    pub(super) stride: u32,
    pub(super) ring: *const Ring,
}

/// An n-step return: R, D and m of `NStep`.
#[derive(Clone, Copy)]
pub(super) struct Return {
    /// The last item's number.
    pub(super) last: u64,
    pub(super) sum: f32,
    pub(super) discount: f32,
    pub(super) span: u32,
}

impl Chain {
    /// The record in a slot.
    #[inline(always)]
    pub(super) fn record(self, slot: usize) -> *const u8 {
        self.records.wrapping_add(slot * self.stride as usize)
    }

    /// The item that comes `steps` after item `number` in its environment.
    ///
    /// # Safety
    /// `ring` is one.
    #[inline(always)]
    pub(super) unsafe fn after(self, number: u64, steps: u32) -> u64 {
        // SAFETY: the caller's.
        number + u64::from(steps) * u64::from(unsafe { (*self.ring).environments })
    }

    /// Whether a flag of the item in a slot is set.
    ///
    /// # Safety
    /// Records have this offset, or it is [`NO_COLUMN`]; the slot is below the capacity.
    #[inline(always)]
    unsafe fn flag(self, offset: u32, slot: usize) -> bool {
        // SAFETY: the caller's.
        offset != NO_COLUMN && unsafe { *self.record(slot).add(offset as usize) } != 0
    }

    /// Whether item `number` is followed by one of its episode. False where there is no item with this number.
    ///
    /// # Safety
    /// As the kernels.
    #[inline(always)]
    unsafe fn goes_on(self, number: u64) -> bool {
        // SAFETY: slots are below the capacity, offsets are those of columns.
        unsafe {
            let (own, next) = (self.window.slot(number), self.window.slot(self.after(number, 1)));
            let (Some(own), Some(next)) = (own, next) else { return false };
            let Ring { terminated, truncated, .. } = *self.ring;
            // All at once, rather than one after the other.
            let ended = self.flag(terminated, own) | self.flag(truncated, own);
            (*self.raw.add(next) >= 0.0) & !ended
        }
    }

    /// How many items follow item `number` without a gap, at most `limit`. 0 unless `active`.
    ///
    /// # Safety
    /// All lanes of the warp come here; `active`, `number` and `limit` are the same in all lanes of a half. Otherwise as the
    /// kernels.
    #[inline(always)]
    pub(super) unsafe fn run(self, active: bool, number: u64, limit: u32) -> u32 {
        let lane = lane_id();
        let (mut count, mut going) = (0, active && limit > 0);
        // SAFETY: all lanes come here.
        while unsafe { warp_vote_ballot(ALL, going) } != 0 {
            let k = count + lane % FANOUT;
            // SAFETY: the caller's; all lanes come to the vote.
            let follows = unsafe {
                let follows = going && k < limit && self.goes_on(self.after(number, k));
                warp_vote_ballot(ALL, follows) >> (lane & FANOUT) & 0xffff
            };
            let more = follows.trailing_ones();
            count += if going { more } else { 0 };
            going &= more == FANOUT && count < limit;
        }
        count
    }

    /// The return of item `number` over at most `steps` steps. All zero unless `active`.
    ///
    /// # Safety
    /// As [`run`](Self::run); `steps` is the same in all lanes of the warp, and above 0.
    #[inline(always)]
    pub(super) unsafe fn returns(self, active: bool, number: u64, steps: u32) -> Return {
        // SAFETY: the caller's.
        let (discount, reward) = unsafe { ((*self.ring).discount, (*self.ring).reward as usize) };
        // SAFETY: all lanes come here.
        let span = unsafe { self.run(active, number, steps - 1) } + u32::from(active);
        let (mut sum, mut power, mut first) = (0.0, discount, 0);
        // SAFETY: all lanes come here.
        while unsafe { warp_vote_ballot(ALL, first < span) } != 0 {
            let k = first + lane_id() % FANOUT;
            // SAFETY: there is such an item, and a record has its reward, aligned.
            let own = unsafe {
                match self.window.slot(self.after(number, k)) {
                    Some(slot) if k < span => *self.record(slot).add(reward).cast::<f32>(),
                    _ => 0.0,
                }
            };
            for i in 0..FANOUT {
                // SAFETY: all lanes come here.
                let reward = unsafe { warp_shuffle_idx(ALL, own, i, FANOUT) };
                if first + i == 0 {
                    sum = reward;
                } else if first + i < span {
                    sum = arith::fma(power, reward, sum);
                    power *= discount;
                }
            }
            first += FANOUT;
        }
        if span == 0 {
            return Return { last: number, sum: 0.0, discount: 0.0, span };
        }
        // SAFETY: the caller's; the last one is there.
        unsafe {
            let last = self.after(number, span - 1);
            let ended = self.window.slot(last).is_some_and(|slot| self.flag((*self.ring).terminated, slot));
            Return { last, sum, discount: if ended { 0.0 } else { power }, span }
        }
    }
}
