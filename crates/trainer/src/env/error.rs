//! What can go wrong with environments.

/// An error of an environment. `environment` is the index of its slot, `step` the number of steps that the slot has
/// taken before the one that failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no such action. Nothing was changed.
    #[error("environment {environment}, step {step}: action {action} is not in 0..{actions}")]
    Action {
        /// Index of the environment.
        environment: usize,
        /// Steps taken before.
        step: u64,
        /// The action.
        action: u32,
        /// Number of actions.
        actions: u32,
    },
    /// The environment gave an observation that is not finite. It has taken the step; the slot shows the observation.
    #[error("environment {environment}, step {step}: element {element} of the observation is {value}")]
    Observation {
        /// Index of the environment.
        environment: usize,
        /// Steps taken before.
        step: u64,
        /// First element that is not finite.
        element: usize,
        /// Its value.
        value: f32,
    },
    /// The environment gave a reward that is not finite. It has taken the step; the slot shows the observation.
    #[error("environment {environment}, step {step}: the reward is {value}")]
    Reward {
        /// Index of the environment.
        environment: usize,
        /// Steps taken before.
        step: u64,
        /// The reward.
        value: f32,
    },
    /// A slice has the wrong length. Nothing was changed.
    #[error("{operation}: {what} has {got} elements, expected {expected}")]
    Length {
        /// The call.
        operation: &'static str,
        /// The argument.
        what: &'static str,
        /// Its length, in elements.
        got: usize,
        /// What it should be.
        expected: usize,
    },
    /// A parameter of an environment is wrong.
    #[error("{environment}: {parameter} is {got}, expected {expected}")]
    Parameter {
        /// The kind of environment.
        environment: &'static str,
        /// The parameter.
        parameter: &'static str,
        /// Its value.
        got: u64,
        /// What it should be.
        expected: &'static str,
    },
    /// The environments of a set are not the same task.
    #[error("environment {environment}: {field} is {got}, environment 0 has {expected}")]
    Differs {
        /// Index of the environment that differs from the first.
        environment: usize,
        /// The field of its specification.
        field: &'static str,
        /// This environment's.
        got: String,
        /// The first environment's.
        expected: String,
    },
    /// A saved state does not fit. Nothing was changed.
    #[error("saved state: {what} is {got}, expected {expected}")]
    State {
        /// What does not fit.
        what: &'static str,
        /// What it is.
        got: String,
        /// What it should be.
        expected: String,
    },
}

impl Error {
    /// A saved state that does not fit.
    pub fn state(what: &'static str, got: impl ToString, expected: impl ToString) -> Self {
        Self::State { what, got: got.to_string(), expected: expected.to_string() }
    }
}
