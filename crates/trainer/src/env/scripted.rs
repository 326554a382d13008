//! An environment that plays a script, for tests of what is built on environments.

use super::{Env, Error, Rng, Spec, Step};

/// Plays the given steps in order, again from the first when it reaches the end; actions have no effect. Observation: the
/// number of the episode (the first is 0) and of the step within it. No random draws.
///
/// ```
/// use arith::random::Stream;
/// use trainer::env::{Rng, Scripted, Slot, Step};
///
/// let go = Step { reward: 1.0, ..Step::default() };
/// let cut = Step { reward: 2.0, truncated: true, ..Step::default() };
/// let mut slot = Slot::new(0, Scripted::new(vec![go, cut], 3)?, Rng::new(Stream::new(0, 0)))?;
/// let mut last = [0.0; 2];
/// assert_eq!(slot.step(0, &mut last)?.finished, None);
/// assert_eq!(slot.observation(), [0.0, 1.0]);
/// let episode = slot.step(2, &mut last)?.finished.unwrap();
/// assert_eq!((episode.total, episode.length), (3.0, 2));
/// assert_eq!((last, slot.observation()), ([0.0, 2.0], &[1.0, 0.0][..]));
/// # Ok::<(), trainer::env::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Scripted {
    script: Vec<Step>,
    actions: u32,
    line: usize,
    started: u64,
    step: u64,
}

impl Scripted {
    /// Plays `script`, and takes any of `actions` actions.
    ///
    /// # Errors
    /// [`Error::Parameter`] where the script is empty.
    pub fn new(script: Vec<Step>, actions: u32) -> Result<Self, Error> {
        if script.is_empty() {
            let (environment, parameter) = ("Scripted", "length of script");
            return Err(Error::Parameter { environment, parameter, got: 0, expected: "at least 1" });
        }
        Ok(Self { script, actions, line: 0, started: 0, step: 0 })
    }

    fn observe(&self, observation: &mut [f32]) {
        // The first reset is that of episode 0.
        observation[0] = self.started.saturating_sub(1) as f32;
        observation[1] = self.step as f32;
    }
}

impl Env for Scripted {
    fn spec(&self) -> Spec {
        let name = format!("scripted-{}", self.script.len());
        Spec { name, observation: 2, actions: self.actions, time_limit: None, best_return: None }
    }

    fn reset(&mut self, _rng: &mut Rng, observation: &mut [f32]) {
        self.started = self.started.saturating_add(1);
        self.step = 0;
        self.observe(observation);
    }

    fn step(&mut self, _action: u32, _rng: &mut Rng, observation: &mut [f32]) -> Step {
        let step = self.script[self.line];
        self.line = if self.line + 1 == self.script.len() { 0 } else { self.line + 1 };
        self.step = self.step.saturating_add(1);
        self.observe(observation);
        step
    }

    fn save(&self, words: &mut Vec<u64>) {
        words.extend([self.line as u64, self.started, self.step]);
    }

    fn load(&mut self, words: &[u64]) -> Result<(), Error> {
        let &[line, started, step] = words else {
            return Err(Error::state("length of Scripted", words.len(), "3 words"));
        };
        self.line = match usize::try_from(line) {
            Ok(l) if l < self.script.len() => l,
            _ => return Err(Error::state("line of Scripted", line, format!("below {}", self.script.len()))),
        };
        (self.started, self.step) = (started, step);
        Ok(())
    }
}
