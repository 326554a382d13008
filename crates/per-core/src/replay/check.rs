//! What settings and arguments must be.

use super::column::{Column, Columns};
use super::config::{Config, NewItems};
use super::error::Error;
use super::power::power;
use crate::tree::MAX_CAPACITY;

pub(crate) fn len(operation: &'static str, what: &'static str, expected: usize, got: usize) -> Result<(), Error> {
    if expected == got { Ok(()) } else { Err(Error::LengthMismatch { operation, what, expected, got }) }
}

/// That a sequence has steps.
pub(crate) fn steps(steps: usize) -> Result<(), Error> {
    if steps > 0 { Ok(()) } else { Err(Error::Setting { name: "steps", value: 0.0, reason: "must be at least 1" }) }
}

/// That numbers of items can go on from `next` for longer than any program runs.
pub(super) fn number(next: u64) -> Result<(), Error> {
    const END: u64 = 1 << 63;
    if next <= END {
        return Ok(());
    }
    Err(Error::Setting { name: "inserted", value: next as f64, reason: "must be at most 2^63" })
}

/// That the system would give the memory for rows and priorities. (It may take it back later: systems promise more than
/// they have.)
pub(super) fn memory(items: usize, item_bytes: usize) -> Result<(), Error> {
    /// Priorities, powers and trees, rounded up.
    const PRIORITY_BYTES: usize = 10;
    let bytes = item_bytes.checked_add(PRIORITY_BYTES).and_then(|n| n.checked_mul(items));
    match bytes.map(|bytes| Vec::<u8>::new().try_reserve_exact(bytes)) {
        Some(Ok(())) => Ok(()),
        _ => Err(Error::OutOfMemory { items, item_bytes }),
    }
}

pub(crate) fn config(config: &Config, columns: &Columns) -> Result<(), Error> {
    if !(1..=MAX_CAPACITY).contains(&config.capacity) {
        let reason = "must be at least 1 and below 2^31";
        return Err(Error::Setting { name: "capacity", value: config.capacity as f64, reason });
    }
    alpha(config.alpha)?;
    let epsilon = config.epsilon;
    if !(epsilon >= 0.0 && epsilon.is_finite()) {
        return Err(setting("epsilon", epsilon, "must be finite and at least 0"));
    }
    if config.environments == 0 {
        return Err(setting("environments", 0.0, "must be at least 1"));
    }
    if let Some(episodes) = &config.episodes {
        let truncated = episodes.truncated.into_iter().map(|column| ("episodes.truncated", column));
        for (name, column) in [("episodes.terminated", episodes.terminated)].into_iter().chain(truncated) {
            columns.check(column)?;
            check_single(name, column)?;
        }
    }
    if let Some(n_step) = &config.n_step {
        if n_step.steps == 0 {
            return Err(setting("n_step.steps", 0.0, "must be at least 1"));
        }
        if !(0.0..=1.0).contains(&n_step.discount) {
            return Err(setting("n_step.discount", n_step.discount, "must be in [0, 1]"));
        }
        columns.check(n_step.reward)?;
        check_single("n_step.reward", n_step.reward)?;
    }
    Ok(())
}

pub(crate) fn alpha(alpha: f32) -> Result<(), Error> {
    if alpha >= 0.0 && alpha.is_finite() {
        return Ok(());
    }
    Err(setting("alpha", alpha, "must be finite and at least 0"))
}

/// That a new item may have the largest priority that there ever was, where it would get that.
pub(crate) fn largest_ever(new_items: NewItems, largest_ever: f32, alpha: f32) -> Result<(), Error> {
    if new_items == NewItems::LargestNow || power(largest_ever, alpha).is_finite() {
        return Ok(());
    }
    Err(setting("alpha", alpha, "makes the power of the largest priority that there ever was infinite"))
}

fn check_single<T>(name: &'static str, column: Column<T>) -> Result<(), Error> {
    if column.width == 1 {
        return Ok(());
    }
    Err(Error::Setting { name, value: column.width as f64, reason: "elements a row; it must have 1" })
}

fn setting(name: &'static str, value: f32, reason: &'static str) -> Error {
    Error::Setting { name, value: value.into(), reason }
}
