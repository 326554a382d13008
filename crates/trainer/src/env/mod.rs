//! Environments: the trait, what steps many of them, and three that come with the crate.
//!
//! An [`Env`] is a plain state machine. A [`Slot`] holds one and starts the next episode as soon as one ends, a
//! [`VecEnv`] holds many. Every random draw is addressed by (seed, stream, index), so an environment's future is a
//! function of its stream and its saved state alone: not of the number of environments, threads or earlier runs.

mod cart_pole;
mod error;
mod group;
mod repeat_previous;
mod rng;
mod scripted;
mod slot;
mod vec_env;

pub use cart_pole::CartPole;
pub use error::Error;
pub use group::step_group;
pub use repeat_previous::RepeatPrevious;
pub use rng::Rng;
pub use scripted::Scripted;
pub use slot::{Episode, Slot, Transition};
pub use vec_env::VecEnv;

/// What an environment looks like from outside. It never changes during the environment's life.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    /// Name with every parameter that changes the task, e.g. `repeat-previous-k4-s2-l32`: two environments with equal
    /// names are the same task.
    pub name: String,
    /// Elements of an observation, from 1 to 2^24.
    pub observation: usize,
    /// Number of discrete actions, at least 1; an action is in `0..actions`.
    pub actions: u32,
    /// Longest episode in steps, where there is a limit.
    pub time_limit: Option<u64>,
    /// Largest return that an episode can have, where it is known.
    pub best_return: Option<f64>,
}

/// What one step of an environment gave, beside the observation.
///
/// Both flags can be set at once (the pole falls at the last step of the time limit). The episode is over when either
/// is; the value after the last step is zero when `terminated` is set, whatever `truncated` says.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Step {
    /// Reward of the step.
    pub reward: f32,
    /// The task has ended: nothing comes after this step.
    pub terminated: bool,
    /// The episode was cut off, by a time limit say: there would have been more.
    pub truncated: bool,
}

impl Step {
    /// Whether the episode is over.
    #[inline(always)]
    pub fn done(&self) -> bool {
        self.terminated | self.truncated
    }

    /// Whether the final observation's value stands for the rewards that were cut off: truncated and not terminated.
    #[inline(always)]
    pub fn bootstraps(&self) -> bool {
        self.truncated & !self.terminated
    }
}

/// An environment with observations of a fixed number of f32s and discrete actions.
///
/// An implementation draws from the `rng` that it is given and from nothing else, and allocates nothing in `reset` and
/// `step`. Mark these two `#[inline(always)]`: [`step_group`] compiles them for the machine's instruction set.
///
/// # Panics
/// `reset` and `step` may panic where `observation` has another length than `spec().observation`. A [`Slot`] always gives
/// the right one.
pub trait Env: Send {
    /// Name, sizes and limits.
    fn spec(&self) -> Spec;

    /// Starts an episode and writes its first observation; `observation` has `spec().observation` elements, all of
    /// which are written.
    fn reset(&mut self, rng: &mut Rng, observation: &mut [f32]);

    /// Takes one step and writes the observation after it, also after the last step of an episode. `action` is in
    /// `0..spec().actions` when a [`Slot`] calls. Must not panic on any action.
    fn step(&mut self, action: u32, rng: &mut Rng, observation: &mut [f32]) -> Step;

    /// Appends the whole state to `words`, so that [`load`](Self::load) brings it back exactly. Parameters of the task
    /// are not part of it.
    fn save(&self, words: &mut Vec<u64>);

    /// Takes the state that [`save`](Self::save) wrote.
    ///
    /// # Errors
    /// [`Error::State`] when `words` is not the state of such an environment; nothing is changed then.
    fn load(&mut self, words: &[u64]) -> Result<(), Error>;
}
