//! Sizes of a scan.
use crate::{Error, error::product};

/// The largest checkpoint interval, in steps.
pub const MAX_INTERVAL: usize = 64;

/// Sizes of a scan. Any of them may be 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// B, independent rows.
    pub batch: usize,
    /// T, steps.
    pub time: usize,
    /// H, units.
    pub hidden: usize,
}

/// Lengths of all operands of a checked shape, in elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lengths {
    /// (B, T, H).
    pub(crate) sequence: usize,
    /// (B, T, 3H).
    pub(crate) combined: usize,
    /// (B, T).
    pub(crate) keep: usize,
    /// (B, H).
    pub(crate) state: usize,
}

impl Shape {
    /// All lengths, or the overflow.
    pub(crate) fn lengths(&self, operation: &'static str) -> Result<Lengths, Error> {
        let Self { batch, time, hidden } = *self;
        Ok(Lengths {
            combined: product(operation, [batch, time, 3, hidden])?,
            sequence: product(operation, [batch, time, hidden, 1])?,
            keep: product(operation, [batch, time, 1, 1])?,
            state: product(operation, [batch, hidden, 1, 1])?,
        })
    }
}

/// Elements of `checkpoints`, (B, ceil(T / K), H): the state that enters each chunk of `interval` steps.
///
/// # Errors
/// [`Error::Interval`] unless `1 <= interval <= MAX_INTERVAL`, [`Error::Overflow`] where sizes multiply out of range.
pub fn checkpoints_len(shape: Shape, interval: usize) -> Result<usize, Error> {
    let operation = "mingru::checkpoints_len";
    check_interval(operation, interval)?;
    product(operation, [shape.batch, shape.time.div_ceil(interval), shape.hidden, 1])
}

pub(crate) fn check_interval(operation: &'static str, interval: usize) -> Result<(), Error> {
    if (1..=MAX_INTERVAL).contains(&interval) {
        Ok(())
    } else {
        Err(Error::Interval { operation, limit: MAX_INTERVAL, got: interval })
    }
}
