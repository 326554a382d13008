//! The common case of the checks: whole words, accessed without atomics by lanes of one warp, while everything that
//! stands in the records is ordered before. What isn't so is left to the general way, which gives the same records.

use super::shadow::{Accessor, GlobalShadow, Record, SharedShadow};

/// All bytes of a word.
const WHOLE: u8 = 15;
/// All bytes of a word are marked.
const MARKED: [u8; 4] = [1; 4];

/// A warp that accesses whole words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WarpAccess<'c> {
    by: Accessor<'c>,
    /// The record of its first lane.
    base: Record,
}

/// Number of words of an access that the common case covers; none if it isn't of whole words.
pub(crate) fn whole_words(bytes: u64, atomic: bool) -> usize {
    if bytes.is_multiple_of(4) && !atomic { bytes as usize / 4 } else { 0 }
}

impl<'c> WarpAccess<'c> {
    /// Of shared memory. `by` is the warp's first thread.
    pub(crate) fn shared(by: Accessor<'c>) -> Self {
        let by = Accessor { block: 0, ..by };
        Self { by, base: Record::new(&by, 0, WHOLE) }
    }

    /// Of global memory.
    pub(crate) fn global(by: Accessor<'c>, shadow: &GlobalShadow) -> Self {
        Self { by, base: Record::new(&by, shadow.fences(by.block), WHOLE) }
    }

    fn own(&self, lane: usize) -> Record {
        self.base.of_lane(lane)
    }

    /// Whether this block made the access and it comes before what the warp does now, whichever lane does it.
    #[inline(always)]
    fn follows(&self, record: Record) -> bool {
        if record.is_none() {
            return true;
        }
        let warp = record.thread() / 32;
        let known = if warp == self.by.thread / 32 {
            self.by.met
        } else {
            self.by.clock.get(warp as usize).copied().unwrap_or(0)
        };
        record.block() == self.base.block() && known & Record::EPOCHS > record.epoch()
    }

    /// The record after a read, if this is the common case.
    #[inline(always)]
    fn after_read(&self, write: Record, read: Record, lane: usize) -> Option<Record> {
        let own = self.own(lane);
        if !self.follows(write) && !write.is_of(own) {
            return None;
        }
        if self.follows(read) {
            return Some(own);
        }
        // Whether a message of another block orders its read is asked elsewhere.
        let foreign = read.block() != own.block() && self.by.informed;
        if read.is_atomic() || read.bytes() != WHOLE || foreign {
            return None;
        }
        if read.is_of(own) {
            return Some(if read.epoch() == own.epoch() { read } else { own });
        }
        // Others have read it at the same time, as they do when all read one word.
        Some(own.with_others())
    }

    /// The record after a write, if this is the common case.
    #[inline(always)]
    fn after_write(&self, write: Record, read: Record, lane: usize) -> Option<Record> {
        let own = self.own(lane);
        let after = |record: Record| self.follows(record) || record.is_of(own) && !record.is_shared();
        (after(write) && after(read)).then_some(own)
    }
}

impl SharedShadow {
    /// Notes a lane's read of `count` words from `word` on, if this is the common case; `unwritten` says that words which
    /// nothing has written are none.
    #[inline(always)]
    pub(crate) fn read_words(
        &mut self,
        by: &WarpAccess<'_>,
        lane: usize,
        (word, count): (usize, usize),
        unwritten: bool,
    ) -> bool {
        for word in word..word + count {
            if unwritten && self.written[4 * word..4 * word + 4] != MARKED {
                return false;
            }
            match by.after_read(Record(self.writes[word]), Record(self.reads[word]), lane) {
                Some(record) => self.reads[word] = record.0,
                None => return false,
            }
        }
        count > 0
    }

    /// Notes a lane's write, likewise.
    #[inline(always)]
    pub(crate) fn write_words(&mut self, by: &WarpAccess<'_>, lane: usize, (word, count): (usize, usize)) -> bool {
        for word in word..word + count {
            match by.after_write(Record(self.writes[word]), Record(self.reads[word]), lane) {
                Some(record) => self.writes[word] = record.0,
                None => return false,
            }
            self.written[4 * word..4 * word + 4].copy_from_slice(&MARKED);
        }
        count > 0
    }
}

impl GlobalShadow {
    /// Notes a lane's read in a region, likewise.
    #[inline(always)]
    pub(crate) fn read_words(
        &self,
        by: &WarpAccess<'_>,
        lane: usize,
        (region, size): (usize, u64),
        (word, count): (usize, usize),
    ) -> bool {
        let cells = self.cells(region, size);
        for word in word..word + count {
            match by.after_read(cells.write(word), cells.read(word), lane) {
                Some(record) => cells.set_read(word, record),
                None => return false,
            }
        }
        count > 0
    }

    /// Notes a lane's write in a region, likewise.
    #[inline(always)]
    pub(crate) fn write_words(
        &self,
        by: &WarpAccess<'_>,
        lane: usize,
        (region, size): (usize, u64),
        (word, count): (usize, usize),
    ) -> bool {
        let cells = self.cells(region, size);
        for word in word..word + count {
            let (write, read) = (cells.write(word), cells.read(word));
            match by.after_write(write, read, lane) {
                // Another block may have come between: then the general way sees its record.
                Some(record) if cells.replace_write(word, write, record) => {}
                _ => return false,
            }
        }
        count > 0
    }
}
