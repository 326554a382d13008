//! An allocation of device memory.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

/// Memory that blocks on many threads read and write at once. All accesses are atomic and relaxed, so that a kernel's
/// race is a race of the kernel and not of this program.
#[derive(Debug)]
pub(crate) struct Region {
    /// Address of the first byte.
    pub(crate) base: u64,
    /// Size in bytes.
    pub(crate) bytes: u64,
    /// The variable that lives here.
    pub(crate) name: Option<String>,
    /// Whether kernels may only read.
    pub(crate) constant: bool,
    words: Box<[AtomicU64]>,
    /// A bit for each byte that something has written.
    written: Box<[AtomicU8]>,
    /// Set when a launch without that check may have written anything.
    untracked: AtomicBool,
}

/// Zeros, which the system hands out when they are first touched.
pub(crate) fn atomic_zeros(length: usize) -> Box<[AtomicU64]> {
    let words = vec![0_u64; length].into_boxed_slice();
    // SAFETY: `AtomicU64` has the layout of `u64`.
    unsafe { Box::from_raw(Box::into_raw(words) as *mut [AtomicU64]) }
}

/// The same, unless there is no memory.
fn try_zeros(length: usize) -> Option<Box<[AtomicU64]>> {
    Vec::<u64>::new().try_reserve_exact(length).ok()?;
    Some(atomic_zeros(length))
}

/// An accessor of a word of one size.
macro_rules! atomic {
    ($name:ident, $t:ty) => {
        #[doc = "The word at this offset, which must be aligned and inside."]
        #[inline(always)]
        pub(crate) fn $name(&self, at: u64) -> &$t {
            const SIZE: u64 = size_of::<$t>() as u64;
            assert!(at.is_multiple_of(SIZE) && at <= self.bytes && self.bytes - at >= SIZE, "checked by the caller");
            // SAFETY: 1. the word lies inside the slice, which is at least `bytes` long; 2. it is aligned, since the
            // slice is aligned to 8 and `at` to the size; 3. all accesses, of whatever size, are atomic.
            unsafe { &*self.words.as_ptr().cast::<u8>().add(at as usize).cast::<$t>() }
        }
    };
}

impl Region {
    /// A region of zeros that nothing has written; `None` when there is no memory.
    pub(crate) fn new(base: u64, bytes: u64, name: Option<String>, constant: bool) -> Option<Self> {
        let words = try_zeros(usize::try_from(bytes.div_ceil(8)).ok()?)?;
        let written = vec![0_u8; words.len()].into_boxed_slice();
        // SAFETY: `AtomicU8` has the layout of `u8`.
        let written = unsafe { Box::from_raw(Box::into_raw(written) as *mut [AtomicU8]) };
        Some(Self { base, bytes, name, constant, words, written, untracked: AtomicBool::new(false) })
    }

    atomic!(atomic_u8, AtomicU8);
    atomic!(atomic_u16, AtomicU16);
    atomic!(atomic_u32, AtomicU32);
    atomic!(atomic_u64, AtomicU64);

    /// Whether `bytes` bytes from `at` on lie inside.
    #[inline(always)]
    pub(crate) fn holds(&self, at: u64, bytes: u64) -> bool {
        at <= self.bytes && self.bytes - at >= bytes
    }

    /// Copies out; the range lies inside.
    pub(crate) fn read(&self, at: u64, into: &mut [u8]) {
        for (i, byte) in into.iter_mut().enumerate() {
            *byte = self.atomic_u8(at + i as u64).load(Ordering::Relaxed);
        }
    }

    /// Copies in; the range lies inside.
    pub(crate) fn write(&self, at: u64, from: &[u8]) {
        for (i, &byte) in from.iter().enumerate() {
            self.atomic_u8(at + i as u64).store(byte, Ordering::Relaxed);
        }
        self.mark(at, from.len() as u64);
    }

    /// Notes that bytes have been written.
    #[inline]
    pub(crate) fn mark(&self, at: u64, bytes: u64) {
        let mut at = at;
        let end = at + bytes;
        while at < end {
            let stop = (at / 8 + 1) * 8;
            let bits = mask(at, stop.min(end));
            let cell = &self.written[(at / 8) as usize];
            if cell.load(Ordering::Relaxed) & bits != bits {
                cell.fetch_or(bits, Ordering::Relaxed);
            }
            at = stop;
        }
    }

    /// Whether something has written all of these bytes.
    #[inline]
    pub(crate) fn is_written(&self, at: u64, bytes: u64) -> bool {
        let mut at = at;
        let end = at + bytes;
        while at < end {
            let stop = (at / 8 + 1) * 8;
            let bits = mask(at, stop.min(end));
            if self.written[(at / 8) as usize].load(Ordering::Relaxed) & bits != bits {
                return self.untracked.load(Ordering::Relaxed);
            }
            at = stop;
        }
        true
    }

    /// From now on all of it counts as unwritten.
    pub(crate) fn forget(&self) {
        for cell in &self.written {
            cell.store(0, Ordering::Relaxed);
        }
    }

    /// From now on nothing here counts as unwritten.
    pub(crate) fn stop_tracking(&self) {
        self.untracked.store(true, Ordering::Relaxed);
    }
}

/// Bits of the bytes from `at` to `end`, which lie in one group of eight.
fn mask(at: u64, end: u64) -> u8 {
    let count = (end - at) as u32;
    (((1_u32 << count) - 1) << (at % 8)) as u8
}
