//! Pinned host memory.

use std::collections::BTreeMap;
use std::sync::Mutex;

use super::lock;
use crate::error::{Error, Result, invalid};

/// Unit of pinned memory: a page.
#[derive(Clone, Copy)]
#[repr(C, align(4096))]
struct Page([u8; 4096]);

/// Pinned allocations by address, in vectors since those may be moved while others have pointers into them. They live until they are freed, also when their context doesn't.
#[derive(Default)]
pub(crate) struct HostMemory {
    live: Mutex<BTreeMap<usize, Vec<Page>>>,
}

impl std::fmt::Debug for HostMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(lock(&self.live).keys()).finish()
    }
}

impl HostMemory {
    /// Allocates zeros; the address of the first byte.
    pub(crate) fn allocate(&self, bytes: usize) -> Result<usize> {
        if bytes == 0 {
            return Err(invalid!("an allocation of 0 bytes"));
        }
        let mut pages = Vec::new();
        let count = bytes.div_ceil(size_of::<Page>());
        pages.try_reserve_exact(count).map_err(|_| Error::OutOfMemory(bytes as u64))?;
        pages.resize(count, Page([0; 4096]));
        let address = pages.as_mut_ptr().expose_provenance();
        lock(&self.live).insert(address, pages);
        Ok(address)
    }

    /// Frees the allocation that begins here.
    pub(crate) fn free(&self, address: usize) -> Result<()> {
        match lock(&self.live).remove(&address) {
            Some(_) => Ok(()),
            None => Err(invalid!("no pinned allocation begins at {address:#x}")),
        }
    }

    /// Whether an address is pinned.
    pub(crate) fn holds(&self, address: usize) -> bool {
        let live = lock(&self.live);
        live.range(..=address).next_back().is_some_and(|(&base, pages)| address - base < size_of_val(pages.as_slice()))
    }
}
