//! Handles: which objects live.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use super::lock;
use crate::error::{Error, Result};

/// Objects of one kind by handle. A handle is never used again.
#[derive(Debug)]
pub(crate) struct Registry<T> {
    kind: &'static str,
    table: Mutex<Table<T>>,
}

#[derive(Debug)]
struct Table<T> {
    live: BTreeMap<usize, Arc<T>>,
    next: usize,
}

/// Distance of handles: they look aligned.
const STEP: usize = 16;

impl<T> Registry<T> {
    /// An empty registry. Handles of kinds with different tags differ; bits 56 and up make them no address of any
    /// memory, so that a program that dereferences one stops there.
    pub(crate) fn new(kind: &'static str, tag: u8) -> Self {
        let next = (0x4c << 56) | (usize::from(tag) << 48) | STEP;
        Self { kind, table: Mutex::new(Table { live: BTreeMap::new(), next }) }
    }

    /// Adds an object; its handle.
    pub(crate) fn insert(&self, object: T) -> usize {
        self.insert_shared(Arc::new(object))
    }

    /// Adds an object that is shared already; its handle.
    pub(crate) fn insert_shared(&self, object: Arc<T>) -> usize {
        let mut table = lock(&self.table);
        let handle = table.next;
        table.next += STEP;
        table.live.insert(handle, object);
        handle
    }

    /// The object of a handle.
    pub(crate) fn get(&self, handle: usize) -> Result<Arc<T>> {
        lock(&self.table).live.get(&handle).cloned().ok_or(Error::Handle { kind: self.kind, handle })
    }

    /// Takes the object of a handle out.
    pub(crate) fn remove(&self, handle: usize) -> Result<Arc<T>> {
        lock(&self.table).live.remove(&handle).ok_or(Error::Handle { kind: self.kind, handle })
    }

    /// Takes out all objects for which the predicate doesn't hold.
    pub(crate) fn retain(&self, keep: impl Fn(&T) -> bool) {
        lock(&self.table).live.retain(|_, object| keep(object));
    }

    /// The number of objects for which the predicate holds; it is asked of each.
    pub(crate) fn count(&self, predicate: impl Fn(&T) -> bool) -> usize {
        lock(&self.table).live.values().filter(|object| predicate(object)).count()
    }

    /// Whether the predicate holds for any object.
    pub(crate) fn any(&self, predicate: impl Fn(&T) -> bool) -> bool {
        lock(&self.table).live.values().any(|object| predicate(object))
    }
}
