//! Many environments of one task.

use arith::random::Stream;
use arith::simd::Isa;

use super::{Env, Error, Rng, Slot, Spec, Transition, step_group};

/// Environments of one task, each in its own [`Slot`] with its own stream of draws.
#[derive(Clone, Debug)]
pub struct VecEnv<E> {
    slots: Vec<Slot<E>>,
    spec: Spec,
}

impl<E: Env> VecEnv<E> {
    /// `count` environments: number i is `make(i)` and draws from `stream(i)`. Streams must differ, or environments
    /// will be copies of each other.
    ///
    /// # Errors
    /// [`Error::Parameter`] where `count` is 0 or too large for the memory, [`Error::Differs`] where the specifications aren't all the same, and
    /// the errors of [`Slot::new`].
    pub fn new(
        count: usize,
        mut make: impl FnMut(usize) -> E,
        mut stream: impl FnMut(usize) -> Stream,
    ) -> Result<Self, Error> {
        let wrong =
            |expected| Error::Parameter { environment: "VecEnv", parameter: "count", got: count as u64, expected };
        let mut slots = Vec::new();
        slots.try_reserve_exact(count).map_err(|_| wrong("as many as fit the memory"))?;
        for i in 0..count {
            slots.push(Slot::new(i, make(i), Rng::new(stream(i)))?);
        }
        let Some(first) = slots.first() else { return Err(wrong("at least 1")) };
        let spec = first.env().spec();
        for (i, slot) in slots.iter().enumerate() {
            same(&spec, &slot.env().spec(), i)?;
        }
        Ok(Self { slots, spec })
    }

    /// The task.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Number of environments, at least 1.
    pub fn count(&self) -> usize {
        self.slots.len()
    }

    /// The slots, in order.
    pub fn slots(&self) -> &[Slot<E>] {
        &self.slots
    }

    /// The slots, to be stepped in groups with [`step_group`], in parallel if need be.
    pub fn slots_mut(&mut self) -> &mut [Slot<E>] {
        &mut self.slots
    }

    /// Takes one step in every environment, on this thread; see [`step_group`].
    ///
    /// # Errors
    /// Those of [`step_group`].
    pub fn step(
        &mut self,
        actions: &[u32],
        transitions: &mut [Transition],
        final_observations: &mut [f32],
    ) -> Result<(), Error> {
        step_group(Isa::detect(), &mut self.slots, actions, transitions, final_observations)
    }

    /// Copies the observations to `out` (environments, observation).
    ///
    /// # Errors
    /// [`Error::Length`] where `out` has another size.
    pub fn observations(&self, out: &mut [f32]) -> Result<(), Error> {
        let (width, expected) = (self.spec.observation, self.spec.observation * self.slots.len());
        if out.len() != expected {
            return Err(Error::Length { operation: "VecEnv::observations", what: "out", got: out.len(), expected });
        }
        for (row, slot) in out.chunks_exact_mut(width).zip(&self.slots) {
            row.copy_from_slice(slot.observation());
        }
        Ok(())
    }

    /// The state of all environments, exactly: their number, then for each the number of its words and the words.
    pub fn save(&self) -> Vec<u64> {
        let mut words = vec![self.slots.len() as u64];
        for slot in &self.slots {
            let at = words.len();
            words.push(0);
            slot.save(&mut words);
            words[at] = (words.len() - at - 1) as u64;
        }
        words
    }

    /// Takes the state that [`save`](Self::save) wrote for as many environments of the same task and streams. What
    /// follows is then what would have followed there, bit for bit.
    ///
    /// # Errors
    /// [`Error::State`] when `words` is not such a state; nothing is changed then.
    pub fn load(&mut self, words: &[u64]) -> Result<(), Error> {
        let before = self.save();
        let result = self.load_slots(words);
        if result.is_err() {
            self.load_slots(&before)?;
        }
        result
    }

    fn load_slots(&mut self, words: &[u64]) -> Result<(), Error> {
        let count = self.slots.len();
        let truncated = || Error::state("length", words.len(), format!("the words of {count} environments"));
        let (&stored, mut rest) = words.split_first().ok_or_else(truncated)?;
        if stored != count as u64 {
            return Err(Error::state("number of environments", stored, count));
        }
        for slot in &mut self.slots {
            let (&length, tail) = rest.split_first().ok_or_else(truncated)?;
            let length = usize::try_from(length).map_err(|_| truncated())?;
            let (own, tail) = tail.split_at_checked(length).ok_or_else(truncated)?;
            slot.load(own)?;
            rest = tail;
        }
        if rest.is_empty() { Ok(()) } else { Err(truncated()) }
    }
}

fn same(first: &Spec, other: &Spec, environment: usize) -> Result<(), Error> {
    let differs = |field, got: String, expected: String| Err(Error::Differs { environment, field, got, expected });
    if other.name != first.name {
        return differs("name", other.name.clone(), first.name.clone());
    }
    if other.observation != first.observation {
        return differs("observation", other.observation.to_string(), first.observation.to_string());
    }
    if other.actions != first.actions {
        return differs("actions", other.actions.to_string(), first.actions.to_string());
    }
    Ok(())
}
