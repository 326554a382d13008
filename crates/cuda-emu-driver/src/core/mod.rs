//! The driver in safe Rust.

pub(crate) mod command;
pub(crate) mod context;
pub(crate) mod current;
pub(crate) mod device;
pub(crate) mod driver;
pub(crate) mod event;
pub(crate) mod graph;
pub(crate) mod host;
pub(crate) mod launch;
pub(crate) mod memory;
pub(crate) mod module;
pub(crate) mod occupancy;
pub(crate) mod queue;
pub(crate) mod registry;
mod report;
pub(crate) mod settings;
pub(crate) mod stream;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks. A panic inside the driver is reported once, as an unknown error; it doesn't make later calls panic too.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
