//! Local memory.

use super::chain::Units;
use crate::lanes::LANES;

/// Local memory of a warp's lanes: equal stretches, one behind the other.
#[derive(Debug, Default)]
pub(super) struct Local {
    pub(super) stride: u64,
    words: Vec<u64>,
    /// Whether it is noted which bytes have been written, and which have.
    tracks: bool,
    written: Vec<bool>,
    /// Lengths of the chains that its bytes end, of all lanes together.
    pub(super) chain: Units,
}

impl Local {
    pub(super) fn track(&mut self, tracks: bool) {
        self.tracks = tracks;
    }

    /// Makes room for so many bytes a lane.
    pub(super) fn reserve(&mut self, bytes: u64) {
        if bytes <= self.stride {
            return;
        }
        let stride = bytes.next_multiple_of(64).max(self.stride * 2);
        let (old, new) = (self.stride as usize, stride as usize);
        self.words = spread(&self.words, old / 8, new / 8);
        if self.tracks {
            self.written = spread(&self.written, old, new);
        }
        self.stride = stride;
    }

    pub(super) fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.words)
    }

    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        bytemuck::cast_slice_mut(&mut self.words)
    }

    /// From now on nothing has written the bytes from `start` to `end` of any lane.
    pub(super) fn forget(&mut self, start: u64, end: u64) {
        self.chain.forget(start, end);
        if self.tracks && start < end {
            // Memory of an earlier launch may not have been tracked.
            self.written.resize(self.stride as usize * LANES, false);
            for lane in 0..LANES {
                let base = lane * self.stride as usize;
                self.written[base + start as usize..base + end as usize].fill(false);
            }
        }
    }

    /// Notes whether bytes have been written; `at` counts through all lanes.
    pub(super) fn mark(&mut self, at: usize, bytes: usize, written: bool) {
        if self.tracks {
            self.written[at..at + bytes].fill(written);
        }
    }

    /// Whether any of the bytes has been written. Not all: structures are read with what pads them.
    pub(super) fn is_written(&self, at: usize, bytes: usize) -> bool {
        !self.tracks || self.written[at..at + bytes].contains(&true)
    }

    /// Copies bytes, with whether they have been written.
    pub(super) fn copy(&mut self, from: usize, to: usize, bytes: usize) {
        self.bytes_mut().copy_within(from..from + bytes, to);
        if self.tracks {
            self.written.copy_within(from..from + bytes, to);
        }
    }

    /// Writes bytes.
    pub(super) fn write(&mut self, at: usize, from: &[u8]) {
        self.bytes_mut()[at..at + from.len()].copy_from_slice(from);
        self.mark(at, from.len(), true);
    }
}

/// Stretches of `old` elements with room for `new` ones.
fn spread<T: Copy + Default>(stretches: &[T], old: usize, new: usize) -> Vec<T> {
    let mut spread = vec![T::default(); new * LANES];
    if old > 0 {
        for (from, to) in stretches.chunks_exact(old).zip(spread.chunks_exact_mut(new)) {
            to[..old].copy_from_slice(from);
        }
    }
    spread
}
