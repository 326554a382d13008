//! One environment with its draws, which starts the next episode as soon as one ends.

use super::{Env, Error, Rng, Spec, Step};

/// A finished episode.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Episode {
    /// Sum of its rewards, in order, in f64.
    pub total: f64,
    /// Its length in steps.
    pub length: u64,
}

/// What one step of a [`Slot`] gave. The observation is in the slot.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Transition {
    /// Reward and flags.
    pub step: Step,
    /// The episode that this step ended, if it did.
    pub finished: Option<Episode>,
}

/// One environment, its draws, the observation that the next action answers, and the episode so far.
///
/// When a step ends an episode, the next one starts within the same call: the last observation goes to the caller's
/// `final_observation` and [`observation`](Self::observation) is already the first one of the new episode. So every
/// call is a transition of the task, and there is none from an episode's last observation to the next one's first.
#[derive(Clone, Debug)]
pub struct Slot<E> {
    env: E,
    index: usize,
    actions: u32,
    rng: Rng,
    observation: Box<[f32]>,
    total: f64,
    length: u64,
    steps: u64,
}

/// Most elements of an observation: a bound on what is allocated.
const LARGEST: usize = 1 << 24;
/// Words of a slot's state before its observation.
const HEAD: usize = 4;

impl<E: Env> Slot<E> {
    /// Slot number `index` (for messages) with `env`, which is reset, and the draws of `rng`.
    ///
    /// # Errors
    /// [`Error::Parameter`] where the specification has no action, no observation or one of more than 2^24 elements, [`Error::Observation`] where the
    /// first observation is not finite.
    pub fn new(index: usize, env: E, rng: Rng) -> Result<Self, Error> {
        let Spec { observation, actions, .. } = env.spec();
        let wrong =
            |parameter, got, expected| Err(Error::Parameter { environment: "specification", parameter, got, expected });
        if observation == 0 || observation > LARGEST {
            return wrong("observation", observation as u64, "from 1 to 2^24");
        }
        if actions == 0 {
            return wrong("actions", 0, "at least 1");
        }
        let observation = vec![0.0; observation].into_boxed_slice();
        let mut slot = Self { env, index, actions, rng, observation, total: 0.0, length: 0, steps: 0 };
        slot.reset()?;
        Ok(slot)
    }

    /// Abandons the episode and starts a new one.
    ///
    /// # Errors
    /// [`Error::Observation`] where its first observation is not finite.
    #[inline(always)]
    pub fn reset(&mut self) -> Result<(), Error> {
        self.total = 0.0;
        self.length = 0;
        self.env.reset(&mut self.rng, &mut self.observation);
        self.check_observation(self.steps)
    }

    /// Takes one step. Where it ends the episode, `final_observation` gets the last observation and the next episode
    /// starts; else `final_observation` is left as it was.
    ///
    /// # Errors
    /// [`Error::Action`] and [`Error::Length`]: nothing was changed. [`Error::Observation`] and [`Error::Reward`]: the
    /// environment has taken the step and no episode was started, so that its state and the observation can be looked
    /// at; the step counts in neither [`steps`](Self::steps) nor the episode. (An observation that fails right after a
    /// reset is the new episode's first.)
    #[inline(always)]
    pub fn step(&mut self, action: u32, final_observation: &mut [f32]) -> Result<Transition, Error> {
        self.check_action(action)?;
        if final_observation.len() != self.observation.len() {
            return Err(self.wrong_length(final_observation.len()));
        }
        let step = self.env.step(action, &mut self.rng, &mut self.observation);
        if !step.reward.is_finite() {
            return Err(self.wrong_reward(step.reward));
        }
        self.check_observation(self.steps)?;
        self.steps = self.steps.wrapping_add(1);
        self.length = self.length.saturating_add(1);
        self.total += f64::from(step.reward);
        let mut finished = None;
        if step.done() {
            finished = Some(Episode { total: self.total, length: self.length });
            final_observation.copy_from_slice(&self.observation);
            self.reset()?;
        }
        Ok(Transition { step, finished })
    }

    /// Checks an action without taking it.
    ///
    /// # Errors
    /// [`Error::Action`].
    #[inline(always)]
    pub fn check_action(&self, action: u32) -> Result<(), Error> {
        if action < self.actions { Ok(()) } else { Err(self.wrong_action(action)) }
    }

    #[inline(always)]
    fn check_observation(&self, step: u64) -> Result<(), Error> {
        // No early exit, so that long observations are checked a vector at a time.
        let finite = self.observation.iter().fold(true, |all, x| all & x.is_finite());
        if finite { Ok(()) } else { Err(self.wrong_observation(step)) }
    }

    #[cold]
    #[inline(never)]
    fn wrong_action(&self, action: u32) -> Error {
        Error::Action { environment: self.index, step: self.steps, action, actions: self.actions }
    }

    #[cold]
    #[inline(never)]
    fn wrong_length(&self, got: usize) -> Error {
        Error::Length { operation: "Slot::step", what: "final_observation", got, expected: self.observation.len() }
    }

    #[cold]
    #[inline(never)]
    fn wrong_reward(&self, value: f32) -> Error {
        Error::Reward { environment: self.index, step: self.steps, value }
    }

    #[cold]
    #[inline(never)]
    fn wrong_observation(&self, step: u64) -> Error {
        let element = self.observation.iter().position(|x| !x.is_finite()).unwrap_or_default();
        Error::Observation { environment: self.index, step, element, value: self.observation[element] }
    }

    /// The observation that the next action answers.
    #[inline(always)]
    pub fn observation(&self) -> &[f32] {
        &self.observation
    }

    /// The environment.
    pub fn env(&self) -> &E {
        &self.env
    }

    /// Index of the slot, as in errors.
    pub fn index(&self) -> usize {
        self.index
    }

    /// The environment's draws.
    pub fn rng(&self) -> &Rng {
        &self.rng
    }

    /// The episode so far.
    pub fn episode(&self) -> Episode {
        Episode { total: self.total, length: self.length }
    }

    /// Steps that the slot has taken, over all episodes.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Appends the whole state to `words`: position of the draws, steps, episode, observation, environment. The seed
    /// and the stream are not part of it.
    pub fn save(&self, words: &mut Vec<u64>) {
        words.extend([self.rng.position(), self.steps, self.length, self.total.to_bits()]);
        words.extend(self.observation.iter().map(|x| u64::from(x.to_bits())));
        self.env.save(words);
    }

    /// Takes the state that [`save`](Self::save) wrote for the same environment and stream.
    ///
    /// # Errors
    /// [`Error::State`] when `words` is not such a state; nothing is changed then.
    pub fn load(&mut self, words: &[u64]) -> Result<(), Error> {
        let least = HEAD + self.observation.len();
        let Some((own, env)) = words.split_at_checked(least) else {
            return Err(Error::state("length of a slot", words.len(), format!("at least {least} words")));
        };
        let [position, steps, length] = [own[0], own[1], own[2]];
        let total = f64::from_bits(own[3]);
        if !total.is_finite() {
            return Err(Error::state("return of an episode", total, "a finite number"));
        }
        for &word in &own[HEAD..] {
            float(word)?;
        }
        self.env.load(env)?;
        self.rng.seek(position);
        (self.steps, self.length, self.total) = (steps, length, total);
        for (x, &word) in self.observation.iter_mut().zip(&own[HEAD..]) {
            *x = float(word)?;
        }
        Ok(())
    }
}

/// A finite f32 from its bits in a word of a saved state.
pub(super) fn float(word: u64) -> Result<f32, Error> {
    let value = u32::try_from(word).ok().map(f32::from_bits).filter(|x| x.is_finite());
    value.ok_or_else(|| Error::state("an f32", format!("{word:#x}"), "the bits of a finite number"))
}
