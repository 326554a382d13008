//! One step of several slots, compiled for the machine's instruction set.

use arith::simd::{Isa, Kernel};

use super::{Env, Error, Slot, Transition};

/// Takes one step in each of `slots`. No allocation; groups of a set of slots can be stepped on as many threads as there
/// are groups, without any effect on the results.
///
/// - `actions` (slots), each in `0..actions`
/// - `transitions` (slots), written
/// - `final_observations` (slots, observation): rows of the slots whose episode ended are written, others left
///
/// # Errors
/// [`Error::Length`] and [`Error::Action`]: nothing was changed. Any other: the error of the first slot that failed, as in
/// [`Slot::step`]; all others have taken their step, and `transitions` holds theirs.
pub fn step_group<E: Env>(
    isa: Isa,
    slots: &mut [Slot<E>],
    actions: &[u32],
    transitions: &mut [Transition],
    final_observations: &mut [f32],
) -> Result<(), Error> {
    let Some(width) = slots.first().map(|s| s.observation().len()) else {
        return length("final_observations", final_observations.len(), 0)
            .and(length("actions", actions.len(), 0))
            .and(length("transitions", transitions.len(), 0));
    };
    length("actions", actions.len(), slots.len())?;
    length("transitions", transitions.len(), slots.len())?;
    length("final_observations", final_observations.len(), slots.len().saturating_mul(width))?;
    for (slot, &action) in slots.iter().zip(actions) {
        length("observation of a slot", slot.observation().len(), width)?;
        slot.check_action(action)?;
    }
    isa.run(Group { slots, actions, transitions, final_observations, width })
}

fn length(what: &'static str, got: usize, expected: usize) -> Result<(), Error> {
    if got == expected { Ok(()) } else { Err(Error::Length { operation: "step_group", what, got, expected }) }
}

struct Group<'a, E> {
    slots: &'a mut [Slot<E>],
    actions: &'a [u32],
    transitions: &'a mut [Transition],
    final_observations: &'a mut [f32],
    width: usize,
}

impl<E: Env> Kernel for Group<'_, E> {
    type Output = Result<(), Error>;

    #[inline(always)]
    fn run(self) -> Self::Output {
        let mut result = Ok(());
        let rows = self.final_observations.chunks_exact_mut(self.width);
        for (((slot, &action), transition), row) in
            self.slots.iter_mut().zip(self.actions).zip(self.transitions).zip(rows)
        {
            match slot.step(action, row) {
                Ok(t) => *transition = t,
                Err(e) => result = result.and(Err(e)),
            }
        }
        result
    }
}
