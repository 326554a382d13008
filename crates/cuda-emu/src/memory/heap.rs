//! Memory that kernels allocate with `malloc`.

use std::sync::atomic::{AtomicU64, Ordering};

use super::Region;

/// Size of the heap in bytes: CUDA's default.
pub(crate) const HEAP: u64 = 8 << 20;
/// Alignment of what is allocated, in bytes.
const ALIGN: u64 = 16;

/// A part of device memory that is given out from its start to its end. What is freed isn't given out again before
/// everything has been freed and a launch has ended, so that an address names one allocation during a launch.
#[derive(Debug)]
pub(crate) struct Heap {
    pub(crate) base: u64,
    next: AtomicU64,
    live: AtomicU64,
}

impl Heap {
    pub(crate) fn new(base: u64) -> Self {
        Self { base, next: AtomicU64::new(0), live: AtomicU64::new(0) }
    }

    /// The address of so many bytes, or 0.
    pub(crate) fn allocate(&self, bytes: u64) -> u64 {
        let size = bytes.max(1).checked_next_multiple_of(ALIGN);
        let place = |next: u64| next.checked_add(size?).filter(|&end| end <= HEAP);
        match self.next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, place) {
            Ok(offset) => {
                self.live.fetch_add(1, Ordering::Relaxed);
                self.base + offset
            }
            Err(_) => 0,
        }
    }

    /// Frees one allocation; false for an address that isn't in use.
    pub(crate) fn free(&self, address: u64) -> bool {
        let inside = (self.base..self.base + self.next.load(Ordering::Relaxed)).contains(&address);
        inside
            && address.is_multiple_of(ALIGN)
            && self.live.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |live| live.checked_sub(1)).is_ok()
    }

    /// After a launch: begins anew if nothing is in use.
    pub(crate) fn settle(&self, region: &Region) {
        if self.live.load(Ordering::Relaxed) == 0 && self.next.swap(0, Ordering::Relaxed) != 0 {
            region.forget();
        }
    }
}
