//! Priorities of items that are there.

use super::error::Error;
use super::handle::Handle;
use super::power::clean;
use super::{ABSENT, PrioritizedReplay, check};
use crate::tree::{Block, FANOUT, prefetch};
use arith::fixed::{self, FixedError};
use arith::simd::{Isa, Kernel};
use ndarray::ArrayView1;

/// Handles between a prefetch and its use.
const AHEAD: usize = 32;

/// What is about to change: slots, the priorities that they get, and those to the power of alpha.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    pub(super) slots: Vec<u32>,
    pub(super) raw: Vec<f32>,
    pub(super) powers: Vec<f32>,
    /// What was there before.
    pub(super) old: Vec<f32>,
}

/// What came of a batch of handles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Updated {
    /// Handles whose items were there.
    pub applied: usize,
    /// Handles whose items had been overwritten or removed; these did nothing.
    pub stale: usize,
}

impl PrioritizedReplay {
    /// Sets the priorities of items to `|td| + epsilon`, for each handle in order: of those for one item the last counts.
    /// Handles of items that are gone do nothing.
    ///
    /// `handles`: (m); `td_errors`: (m), finite, with any stride.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`], [`Error::UnknownHandle`], [`Error::InvalidTdError`], [`Error::PriorityOverflow`]; then no
    /// priority has changed.
    pub fn update_priorities<'a>(
        &mut self,
        handles: &[Handle],
        td_errors: impl Into<ArrayView1<'a, f32>>,
    ) -> Result<Updated, Error> {
        const OPERATION: &str = "PrioritizedReplay::update_priorities";
        let (td_errors, epsilon) = (td_errors.into(), self.config.epsilon);
        check::len(OPERATION, "td_errors", handles.len(), td_errors.len())?;
        self.scratch.raw.clear();
        // An infinite one stays infinite, a NaN a NaN.
        self.scratch.raw.extend(td_errors.iter().map(|td| td.abs() + epsilon));
        self.check_handles(OPERATION, handles)?;
        self.raise(OPERATION).map_err(|error| match error {
            Error::PriorityOverflow { position, .. } if !td_errors[position].is_finite() => {
                Error::InvalidTdError { operation: OPERATION, position, value: td_errors[position] }
            }
            error => error,
        })?;
        Ok(self.set_staged(handles))
    }

    /// Sets the priorities of items (before alpha), as [`update_priorities`](Self::update_priorities) does.
    ///
    /// `handles`: (m); `priorities`: (m), finite and `>= 0`, with any stride.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`], [`Error::UnknownHandle`], [`Error::InvalidPriority`], [`Error::PriorityOverflow`]; then no
    /// priority has changed.
    pub fn set_priorities<'a>(
        &mut self,
        handles: &[Handle],
        priorities: impl Into<ArrayView1<'a, f32>>,
    ) -> Result<Updated, Error> {
        const OPERATION: &str = "PrioritizedReplay::set_priorities";
        let priorities = priorities.into();
        check::len(OPERATION, "priorities", handles.len(), priorities.len())?;
        self.scratch.raw.clear();
        self.scratch.raw.extend(priorities);
        self.check_handles(OPERATION, handles)?;
        check_priorities(OPERATION, &self.scratch.raw)?;
        self.raise(OPERATION)?;
        Ok(self.set_staged(handles))
    }

    /// Takes items out: they are never drawn again, and their handles do nothing. Their slots stay empty until the ring
    /// comes round.
    ///
    /// # Errors
    /// [`Error::UnknownHandle`]; then none was removed.
    pub fn remove(&mut self, handles: &[Handle]) -> Result<Updated, Error> {
        self.check_handles("PrioritizedReplay::remove", handles)?;
        let Self { scratch, raw, window, .. } = self;
        scratch.slots.clear();
        scratch.slots.extend(handles.iter().filter_map(|handle| window.slot(handle.0)).map(|slot| slot as u32));
        // Each once.
        scratch.slots.sort_unstable();
        scratch.slots.dedup();
        scratch.slots.retain(|&slot| raw[slot as usize / FANOUT].0[slot as usize % FANOUT] != ABSENT);
        let applied = scratch.slots.len();
        scratch.raw.clear();
        scratch.raw.resize(applied, ABSENT);
        scratch.powers.clear();
        scratch.powers.resize(applied, 0.0);
        self.present -= applied;
        self.apply();
        Ok(Updated { applied, stale: handles.len() - applied })
    }

    /// Takes all items out, in O(capacity). The counts of insertions and draws go on, and so does the largest priority ever.
    pub fn clear(&mut self) {
        self.raw.fill(Block([ABSENT; FANOUT]));
        self.present = 0;
        let zeros = vec![0.0; self.config.capacity];
        self.set_powers(&zeros);
        self.largest.rebuild(Isa::detect(), &self.raw);
    }

    /// Changes alpha, as if it had always been that. O(capacity).
    ///
    /// # Errors
    /// [`Error::Setting`], also where the largest priority that there ever was has an infinite power and new items get it;
    /// [`Error::PriorityOverflow`] with the slot whose priority has one; then nothing has changed.
    pub fn set_alpha(&mut self, alpha: f32) -> Result<(), Error> {
        check::alpha(alpha)?;
        let raw: Vec<f32> = self.raw.iter().flat_map(|block| block.0).take(self.config.capacity).collect();
        let new = all_powers("PrioritizedReplay::set_alpha", alpha, &raw)?;
        check::largest_ever(self.config.new_items, self.largest_ever, alpha)?;
        self.config.alpha = alpha;
        self.set_powers(&new);
        Ok(())
    }

    /// Sets all powers; they are weights, one for each slot.
    pub(super) fn set_powers(&mut self, powers: &[f32]) {
        if let Err(error) = self.powers.rebuild(powers) {
            unreachable!("powers are checked before they are set: {error}");
        }
        self.smallest.rebuild(Isa::detect(), self.powers.leaves());
    }

    fn check_handles(&self, operation: &'static str, handles: &[Handle]) -> Result<(), Error> {
        let inserted = self.window.next;
        match handles.iter().position(|handle| handle.0 >= inserted) {
            Some(position) => Err(Error::UnknownHandle { operation, position, handle: handles[position].0, inserted }),
            None => Ok(()),
        }
    }

    /// The powers of the scratch's priorities.
    pub(super) fn raise(&mut self, operation: &'static str) -> Result<(), Error> {
        let (Scratch { raw, powers: out, .. }, alpha) = (&mut self.scratch, self.config.alpha);
        powers(alpha, raw, out).map_err(|position| overflow(operation, position, raw[position], alpha))
    }

    /// Sets the scratch's priorities for those of `handles` that are there.
    fn set_staged(&mut self, handles: &[Handle]) -> Updated {
        let Self { scratch, raw, window, powers, .. } = self;
        scratch.slots.clear();
        let mut applied = 0;
        for (j, handle) in handles.iter().enumerate() {
            if let Some(slot) = handles.get(j + AHEAD).and_then(|handle| window.slot(handle.0)) {
                prefetch::<_, true>(raw, slot / FANOUT);
                prefetch::<_, true>(powers.leaves(), slot / FANOUT);
            }
            if let Some(slot) = window.slot(handle.0)
                && raw[slot / FANOUT].0[slot % FANOUT] != ABSENT
            {
                scratch.slots.push(slot as u32);
                scratch.raw[applied] = scratch.raw[j];
                scratch.powers[applied] = scratch.powers[j];
                applied += 1;
            }
        }
        scratch.raw.truncate(applied);
        scratch.powers.truncate(applied);
        self.note_largest();
        self.apply();
        Updated { applied, stale: handles.len() - applied }
    }

    /// Keeps the largest of the scratch's priorities, which are weights.
    pub(super) fn note_largest(&mut self) {
        let largest = fixed::largest_weight(&self.scratch.raw).unwrap_or_default();
        self.largest_ever = if largest > self.largest_ever { largest } else { self.largest_ever };
    }

    /// Writes the scratch into the priorities and the trees.
    pub(super) fn apply(&mut self) {
        self.write_raw();
        let Self { scratch: Scratch { slots, powers: new, old, .. }, powers, smallest, .. } = self;
        old.clear();
        old.extend(slots.iter().map(|&slot| powers.leaves()[slot as usize / FANOUT].0[slot as usize % FANOUT]));
        if let Err(error) = powers.update(slots, new) {
            unreachable!("slots and powers are checked before they are written: {error}");
        }
        smallest.refresh(Isa::detect(), powers.leaves(), slots, old);
    }

    /// Writes the scratch's priorities. What was there before goes to its `old`.
    pub(super) fn write_raw(&mut self) {
        let Self { scratch: Scratch { slots, raw: new, old, .. }, raw, largest, .. } = self;
        old.clear();
        for (&slot, &priority) in slots.iter().zip(&*new) {
            old.push(std::mem::replace(&mut raw[slot as usize / FANOUT].0[slot as usize % FANOUT], priority));
        }
        largest.refresh(Isa::detect(), raw, slots, old);
    }
}

/// That all are finite and at least 0.
pub(crate) fn check_priorities(operation: &'static str, priorities: &[f32]) -> Result<(), Error> {
    match fixed::largest_weight(priorities) {
        Err(FixedError::InvalidWeight { index, value }) => {
            Err(Error::InvalidPriority { operation, position: index, value })
        }
        Err(source) => Err(Error::Sampler(crate::Error::Scale { operation, source })),
        Ok(_) => Ok(()),
    }
}

fn overflow(operation: &'static str, position: usize, value: f32, alpha: f32) -> Error {
    Error::PriorityOverflow { operation, position, value, alpha }
}

/// The powers of all slots' priorities.
pub(crate) fn all_powers(operation: &'static str, alpha: f32, priorities: &[f32]) -> Result<Vec<f32>, Error> {
    let mut out = Vec::new();
    match powers(alpha, priorities, &mut out) {
        Ok(()) => Ok(out),
        Err(position) => Err(overflow(operation, position, priorities[position], alpha)),
    }
}

/// The powers of `priorities`; or the position of the first that isn't finite, itself or its power.
fn powers(alpha: f32, priorities: &[f32], out: &mut Vec<f32>) -> Result<(), usize> {
    out.clear();
    out.resize(priorities.len(), 0.0);
    let isa = Isa::detect();
    if let Err(error) = arith::slice::powf_with(isa, priorities, alpha, out) {
        unreachable!("both have the same length: {error}");
    }
    if isa.run(CleanKernel { priorities, powers: out }) {
        return Ok(());
    }
    // An infinite priority is one, with alpha 0 as well.
    let faulty = priorities.iter().zip(out.iter()).position(|(&p, &power)| !power.is_finite() || !p.is_finite());
    Err(faulty.unwrap_or_default())
}

/// A loop of its own: the power isn't vectorized where more happens around it.
struct CleanKernel<'a> {
    priorities: &'a [f32],
    powers: &'a mut [f32],
}

impl Kernel for CleanKernel<'_> {
    /// Whether priorities and powers are finite.
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let mut faults = 0_u32;
        for (power, &priority) in self.powers.iter_mut().zip(self.priorities) {
            *power = clean(priority, *power);
            faults |= u32::from(!power.is_finite()) | u32::from(!priority.is_finite());
        }
        faults == 0
    }
}
