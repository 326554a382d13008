//! Device memory: allocations with gaps between them, at addresses that are never used again.

mod bytes;
mod heap;
pub(crate) mod layout;
mod region;

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub(crate) use bytes::Word;
pub(crate) use heap::{HEAP, Heap};
pub(crate) use region::{Region, atomic_zeros};

use layout::{DEVICE, STRETCH};

/// Alignment of allocations in bytes.
const ALIGN: u64 = 512;
/// Least distance between allocations in bytes, so that small overruns hit nothing.
const GAP: u64 = 64 << 10;

/// Why an operation on device memory failed. Nothing has changed then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// An allocation of no bytes.
    #[error("an allocation of 0 bytes")]
    Empty,
    /// There is no memory for it.
    #[error("no memory for {bytes} bytes")]
    OutOfMemory {
        /// How many were asked for.
        bytes: u64,
    },
    /// No allocation begins here.
    #[error("no allocation begins at {address:#x}")]
    NoAllocation {
        /// The address.
        address: u64,
    },
    /// The range isn't inside one allocation.
    #[error("{bytes} bytes from {address:#x} on are not inside an allocation")]
    OutOfBounds {
        /// Where the range begins.
        address: u64,
        /// Its size in bytes.
        bytes: u64,
    },
}

/// Allocations, by address.
#[derive(Debug, Default)]
struct Table {
    live: Vec<Arc<Region>>,
    /// Ranges that were allocated once.
    freed: Vec<(u64, u64)>,
    next: u64,
}

/// The memory of a device.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    table: Mutex<Table>,
    /// The device's number, which decides where its addresses are.
    number: u16,
}

/// The allocations that a launch sees.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    pub(crate) live: Vec<Arc<Region>>,
    pub(crate) freed: Vec<(u64, u64)>,
}

impl Memory {
    pub(crate) fn numbered(number: u16) -> Self {
        Self { number, ..Self::default() }
    }

    /// The addresses that it may have.
    pub(crate) fn addresses(&self) -> Range<u64> {
        let start = DEVICE + u64::from(self.number) * STRETCH;
        start..start + STRETCH
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn allocate(
        &self,
        bytes: u64,
        name: Option<String>,
        constant: bool,
    ) -> Result<Arc<Region>, MemoryError> {
        if bytes == 0 {
            return Err(MemoryError::Empty);
        }
        let mut table = self.table();
        let addresses = self.addresses();
        let base = table.next.max(addresses.start);
        let end = base.checked_add(bytes).filter(|end| addresses.contains(end));
        let end = end.ok_or(MemoryError::OutOfMemory { bytes })?;
        let region = Region::new(base, bytes, name, constant).ok_or(MemoryError::OutOfMemory { bytes })?;
        let region = Arc::new(region);
        table.next = (end + GAP).next_multiple_of(ALIGN);
        table.live.push(Arc::clone(&region));
        Ok(region)
    }

    pub(crate) fn free(&self, address: u64) -> Result<(), MemoryError> {
        let mut table = self.table();
        let position = table
            .live
            .binary_search_by_key(&address, |region| region.base)
            .map_err(|_| MemoryError::NoAllocation { address })?;
        let region = table.live.remove(position);
        table.freed.push((region.base, region.bytes));
        Ok(())
    }

    pub(crate) fn find(&self, address: u64, bytes: u64) -> Result<(Arc<Region>, u64), MemoryError> {
        let table = self.table();
        match find(&table.live, address) {
            Some(index) if table.live[index].holds(address - table.live[index].base, bytes) => {
                let region = &table.live[index];
                Ok((Arc::clone(region), address - region.base))
            }
            _ => Err(MemoryError::OutOfBounds { address, bytes }),
        }
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        let table = self.table();
        Snapshot { live: table.live.clone(), freed: table.freed.clone() }
    }
}

/// The last region that begins at or before the address.
#[inline]
fn find(live: &[Arc<Region>], address: u64) -> Option<usize> {
    live.partition_point(|region| region.base <= address).checked_sub(1)
}

impl Snapshot {
    /// The region that holds the range; `hint` is where the last one was.
    #[inline]
    pub(crate) fn locate(&self, address: u64, bytes: u64, hint: &mut usize) -> Option<(usize, u64)> {
        if let Some(region) = self.live.get(*hint) {
            let at = address.wrapping_sub(region.base);
            if region.holds(at, bytes) {
                return Some((*hint, at));
            }
        }
        let index = find(&self.live, address)?;
        let at = address - self.live[index].base;
        if !self.live[index].holds(at, bytes) {
            return None;
        }
        *hint = index;
        Some((index, at))
    }
}
