//! What can go wrong in a run.

use std::fmt::Display;

/// An error of the trainer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A field of the configuration is wrong.
    #[error("configuration: {field} is {value}, expected {expected}")]
    Config {
        /// The field's path in the configuration.
        field: &'static str,
        /// What it is.
        value: String,
        /// What it should be.
        expected: &'static str,
    },
    /// An argument of a call is wrong.
    #[error("{operation}: {what} is {got}, expected {expected}")]
    Argument {
        /// The call.
        operation: &'static str,
        /// The argument.
        what: &'static str,
        /// What it should be.
        expected: String,
        /// What it is.
        got: String,
    },
    /// The environments disagree with each other or with the configuration.
    #[error(transparent)]
    Env(#[from] crate::env::Error),
    /// The network gave something that is not a number.
    #[error("rollout: the policy's output for environment {environment} at step {step} is not finite")]
    PolicyOutput {
        /// Index of the environment.
        environment: usize,
        /// Step within the rollout.
        step: usize,
    },
    /// Advantages could not be computed.
    #[error(transparent)]
    Advantage(#[from] crate::advantage::Error),
    /// The loss could not be computed.
    #[error(transparent)]
    Loss(#[from] crate::loss::Error),
    /// The optimizer refused a step: a gradient is not a number, say.
    #[error(transparent)]
    Optim(#[from] crate::optim::Error),
    /// A product of matrices was refused.
    #[error(transparent)]
    Linalg(#[from] linalg::Error),
    /// The minGRU stack refused its input.
    #[error(transparent)]
    MinGru(#[from] mingru::Error),
    /// Segments could not be drawn.
    #[error(transparent)]
    Draw(#[from] per_core::Error),
    /// A checkpoint could not be written or read.
    #[error(transparent)]
    Checkpoint(#[from] crate::checkpoint::Error),
    /// A checkpoint is whole but of another run.
    #[error("checkpoint {path}: {what} is {got}, this run has {expected}")]
    Mismatch {
        /// The file.
        path: String,
        /// What differs.
        what: String,
        /// This run's.
        expected: String,
        /// The file's.
        got: String,
    },
    /// An earlier update stopped half-way.
    #[error("update {update} failed half-way: go on from the last checkpoint")]
    Failed {
        /// The update that failed.
        update: u64,
    },
    /// A run that the machine has no memory for.
    #[error("memory: a run of this configuration takes at least {bytes} bytes, which this machine does not give")]
    Memory {
        /// What it takes, at least.
        bytes: u128,
    },
    /// The pool of threads could not be started.
    #[error("threads: {threads} could not be started: {reason}")]
    Threads {
        /// How many were asked for.
        threads: usize,
        /// The system's reason.
        reason: String,
    },
}

impl Error {
    pub(crate) fn argument(
        operation: &'static str,
        what: &'static str,
        expected: impl Display,
        got: impl Display,
    ) -> Self {
        Self::Argument { operation, what, expected: expected.to_string(), got: got.to_string() }
    }

    pub(crate) fn config(field: &'static str, value: impl Display, expected: &'static str) -> Self {
        Self::Config { field, value: value.to_string(), expected }
    }
}
