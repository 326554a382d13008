//! Records of the last accesses to each word.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::memory::atomic_zeros;

/// Who accesses now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Accessor<'c> {
    /// Index of the block, along x first.
    pub(crate) block: u32,
    /// Index of the thread in its block.
    pub(crate) thread: u32,
    /// The clock of its warp.
    pub(crate) clock: &'c [u32],
    /// The epoch of its warp before which the warp's lanes are ordered.
    pub(crate) met: u32,
    /// Whether it is atomic, or strong enough to race with atomics.
    pub(crate) atomic: bool,
    /// Whether the block has received a message from other blocks, as far as anyone knows.
    pub(crate) informed: bool,
}

/// An access that nothing orders before this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Conflict {
    pub(crate) block: u32,
    pub(crate) thread: u32,
    pub(crate) write: bool,
}

/// An access in 64 bits; zero is none. From the top: block (20 bits), epoch of the warp (19), thread (10), fences of
/// the block (9), bytes (4), whether it was atomic, whether others read in the same interval. Larger numbers wrap.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record(pub(super) u64);

const FENCES: u32 = 511;

impl Record {
    /// Bits of an epoch.
    pub(super) const EPOCHS: u32 = 0x7_ffff;

    pub(super) fn is_none(self) -> bool {
        self.0 == 0
    }

    /// The same of another lane of the warp.
    #[inline(always)]
    pub(super) fn of_lane(self, lane: usize) -> Self {
        Self(self.0 & !(31 << 15) | (lane as u64) << 15)
    }

    /// The same, when others have read as well.
    #[inline(always)]
    pub(super) fn with_others(self) -> Self {
        Self(self.0 | 1)
    }

    /// Whether it is of the block and the thread of the other one.
    #[inline(always)]
    pub(super) fn is_of(self, other: Self) -> bool {
        const BOTH: u64 = 0xf_ffff << 44 | 0x3ff << 15;
        (self.0 ^ other.0) & BOTH == 0
    }

    pub(super) fn new(by: &Accessor<'_>, fences: u32, bytes: u8) -> Self {
        let epoch = u64::from(by.clock[by.thread as usize / 32]);
        Self(
            u64::from(by.block & 0xf_ffff) << 44
                | (epoch & u64::from(Self::EPOCHS)) << 25
                | u64::from(by.thread & 0x3ff) << 15
                | u64::from(fences & FENCES) << 6
                | u64::from(bytes) << 2
                | u64::from(by.atomic) << 1,
        )
    }

    pub(super) fn block(self) -> u32 {
        (self.0 >> 44) as u32
    }

    pub(super) fn epoch(self) -> u32 {
        (self.0 >> 25) as u32 & Self::EPOCHS
    }

    pub(super) fn thread(self) -> u32 {
        (self.0 >> 15) as u32 & 0x3ff
    }

    fn fences(self) -> u32 {
        (self.0 >> 6) as u32 & FENCES
    }

    pub(super) fn bytes(self) -> u8 {
        (self.0 >> 2) as u8 & 15
    }

    pub(super) fn is_atomic(self) -> bool {
        self.0 >> 1 & 1 != 0
    }

    pub(super) fn is_shared(self) -> bool {
        self.0 & 1 != 0
    }

    /// Whether it comes before whatever `by` does now. `fences` tells how many fences a block has made.
    fn is_ordered_before(self, by: &Accessor<'_>, fences: impl Fn(u32) -> u32) -> bool {
        if self.block() != by.block & 0xf_ffff {
            return by.informed && fences(self.block()) & FENCES != self.fences();
        }
        if self.thread() == by.thread {
            return true;
        }
        let warp = self.thread() / 32;
        let known = if warp == by.thread / 32 { by.met } else { by.clock.get(warp as usize).copied().unwrap_or(0) };
        known & Self::EPOCHS > self.epoch()
    }

    fn conflicts(self, by: &Accessor<'_>, bytes: u8, fences: impl Fn(u32) -> u32) -> bool {
        if self.0 == 0 || self.bytes() & bytes == 0 || self.is_atomic() && by.atomic {
            return false;
        }
        if self.is_shared() && self.block() == by.block & 0xf_ffff && self.thread() == by.thread {
            // Others have read since the interval began, and this thread is still in it.
            return by.clock[by.thread as usize / 32] & Self::EPOCHS == self.epoch();
        }
        !self.is_ordered_before(by, fences)
    }

    fn conflict(self, write: bool) -> Conflict {
        Conflict { block: self.block(), thread: self.thread(), write }
    }

    /// The record after a read that comes on top of it. That others have read as well is remembered for the bytes that
    /// both read, and only while nothing orders the two.
    fn read_on_top(self, by: &Accessor<'_>, own: u32, bytes: u8, fences: impl Fn(u32) -> u32) -> Self {
        let next = Self::new(by, own, bytes);
        let common = self.bytes() & bytes;
        if self.0 == 0 || self.is_atomic() != by.atomic {
            return next;
        }
        if self.block() == next.block() && self.thread() == by.thread {
            return match (self.epoch() == next.epoch(), self.is_shared()) {
                (true, true) if common != 0 => self,
                (true, true) | (false, _) => next,
                (true, false) => Self(next.0 | u64::from(self.bytes()) << 2),
            };
        }
        if common == 0 || self.is_ordered_before(by, fences) {
            return next;
        }
        Self::new(by, own, common).with_others()
    }
}

/// Words of an access: index and bytes of each.
fn words(at: u64, bytes: u64) -> impl Iterator<Item = (usize, u8)> {
    (at / 4..(at + bytes).div_ceil(4)).map(move |word| {
        let first = at.max(word * 4) - word * 4;
        let last = (at + bytes).min(word * 4 + 4) - word * 4;
        (word as usize, (((1_u16 << (last - first)) - 1) << first) as u8)
    })
}

/// Shared memory of one block.
#[derive(Debug, Default)]
pub(crate) struct SharedShadow {
    pub(super) writes: Vec<u64>,
    pub(super) reads: Vec<u64>,
    pub(super) written: Vec<u8>,
}

impl SharedShadow {
    pub(crate) fn reset(&mut self, bytes: usize) {
        let words = bytes.div_ceil(4);
        for cells in [&mut self.writes, &mut self.reads] {
            cells.clear();
            cells.resize(words, 0);
        }
        self.written.clear();
        self.written.resize(4 * words, 0);
    }

    pub(crate) fn mark(&mut self, at: u64, bytes: u64) {
        self.written[at as usize..(at + bytes) as usize].fill(1);
    }

    pub(crate) fn is_written(&self, at: u64, bytes: u64) -> bool {
        self.written[at as usize..(at + bytes) as usize].iter().all(|&written| written != 0)
    }

    /// Notes a read; a conflict when a write isn't ordered before it.
    pub(crate) fn read(&mut self, by: &Accessor<'_>, at: u64, bytes: u64) -> Option<Conflict> {
        let by = Accessor { block: 0, ..*by };
        for (word, mask) in words(at, bytes) {
            let write = Record(self.writes[word]);
            if write.conflicts(&by, mask, |_| 0) {
                return Some(write.conflict(true));
            }
            self.reads[word] = Record(self.reads[word]).read_on_top(&by, 0, mask, |_| 0).0;
        }
        None
    }

    /// Notes a write; `same` says that it changes nothing, which may be done by many.
    pub(crate) fn write(&mut self, by: &Accessor<'_>, at: u64, bytes: u64, same: bool) -> Option<Conflict> {
        let by = Accessor { block: 0, ..*by };
        for (word, mask) in words(at, bytes) {
            let (write, read) = (Record(self.writes[word]), Record(self.reads[word]));
            if !same && write.conflicts(&by, mask, |_| 0) {
                return Some(write.conflict(true));
            }
            if !same && read.conflicts(&by, mask, |_| 0) {
                return Some(read.conflict(false));
            }
            self.writes[word] = Record::new(&by, 0, mask).0;
        }
        None
    }
}

/// Global memory during one launch.
#[derive(Debug)]
pub(crate) struct GlobalShadow {
    regions: Vec<OnceLock<Cells>>,
    /// Fences that each block has made.
    fences: Vec<AtomicU32>,
}

#[derive(Debug)]
pub(super) struct Cells {
    writes: Box<[AtomicU64]>,
    reads: Box<[AtomicU64]>,
}

impl Cells {
    #[inline(always)]
    pub(super) fn write(&self, word: usize) -> Record {
        Record(self.writes[word].load(Ordering::Relaxed))
    }

    #[inline(always)]
    pub(super) fn read(&self, word: usize) -> Record {
        Record(self.reads[word].load(Ordering::Relaxed))
    }

    #[inline(always)]
    pub(super) fn set_read(&self, word: usize, record: Record) {
        self.reads[word].store(record.0, Ordering::Relaxed);
    }

    /// Puts a record in the place of `old`, if that still stands there.
    #[inline(always)]
    pub(super) fn replace_write(&self, word: usize, old: Record, record: Record) -> bool {
        self.writes[word].compare_exchange(old.0, record.0, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}

impl GlobalShadow {
    pub(crate) fn new(regions: usize, blocks: usize) -> Self {
        Self {
            regions: (0..regions).map(|_| OnceLock::new()).collect(),
            fences: (0..blocks).map(|_| AtomicU32::new(0)).collect(),
        }
    }

    pub(super) fn cells(&self, region: usize, bytes: u64) -> &Cells {
        self.regions[region].get_or_init(|| {
            let words = bytes.div_ceil(4) as usize;
            Cells { writes: atomic_zeros(words), reads: atomic_zeros(words) }
        })
    }

    pub(super) fn fences(&self, block: u32) -> u32 {
        // Numbers of blocks wrap in records: beyond 2^20 blocks any of them may be meant.
        self.fences.get(block as usize).map_or(0, |fences| fences.load(Ordering::Relaxed))
    }

    /// A fence by this block that reaches beyond it.
    pub(crate) fn fence(&self, block: u32) {
        if let Some(fences) = self.fences.get(block as usize) {
            fences.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn read(&self, by: &Accessor<'_>, region: usize, size: u64, at: u64, bytes: u64) -> Option<Conflict> {
        let cells = self.cells(region, size);
        let own = self.fences(by.block);
        for (word, mask) in words(at, bytes) {
            let write = cells.write(word);
            if write.conflicts(by, mask, |block| self.fences(block)) {
                return Some(write.conflict(true));
            }
            let read = cells.read(word).read_on_top(by, own, mask, |block| self.fences(block));
            cells.set_read(word, read);
        }
        None
    }

    #[allow(clippy::too_many_arguments)]
    pub(crate) fn write(
        &self,
        by: &Accessor<'_>,
        region: usize,
        size: u64,
        at: u64,
        bytes: u64,
        same: bool,
    ) -> Option<Conflict> {
        let cells = self.cells(region, size);
        let own = self.fences(by.block);
        for (word, mask) in words(at, bytes) {
            let write = Record(cells.writes[word].swap(Record::new(by, own, mask).0, Ordering::Relaxed));
            if !same && write.conflicts(by, mask, |block| self.fences(block)) {
                return Some(write.conflict(true));
            }
            let read = cells.read(word);
            if !same && read.conflicts(by, mask, |block| self.fences(block)) {
                return Some(read.conflict(false));
            }
        }
        None
    }
}
