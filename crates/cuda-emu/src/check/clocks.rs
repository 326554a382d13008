//! Vector clocks of a block's warps.

use super::shadow::Accessor;

/// What each warp knows of the epochs of the others.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clocks {
    warps: usize,
    known: Vec<u32>,
    /// The epoch of each warp before which its own lanes are ordered.
    met: Vec<u32>,
}

impl Clocks {
    pub(crate) fn reset(&mut self, warps: usize) {
        self.warps = warps;
        self.known.clear();
        self.known.resize(warps * warps, 0);
        for warp in 0..warps {
            self.known[warp * warps + warp] = 1;
        }
        self.met.clear();
        self.met.resize(warps, 1);
    }

    /// The epoch of a warp before which its lanes are ordered among themselves.
    pub(crate) fn met(&self, warp: usize) -> u32 {
        self.met[warp]
    }

    /// The epochs of others that `warp` has seen the end of: all those below.
    pub(crate) fn row(&self, warp: usize) -> &[u32] {
        &self.known[warp * self.warps..(warp + 1) * self.warps]
    }

    /// The first thread of a warp of a block, which accesses without atomics.
    #[inline(always)]
    pub(crate) fn accessor(&self, block: u32, warp: u32, informed: bool) -> Accessor<'_> {
        let (clock, met) = (self.row(warp as usize), self.met(warp as usize));
        Accessor { block, thread: 32 * warp, clock, met, atomic: false, informed }
    }

    /// Ends the warp's epoch: others may be told of it, which its lanes haven't been.
    pub(crate) fn advance(&mut self, warp: usize) {
        self.known[warp * self.warps + warp] += 1;
    }

    /// Ends the warp's epoch, since its lanes have met.
    pub(crate) fn meet(&mut self, warp: usize) {
        self.advance(warp);
        self.met[warp] = self.known[warp * self.warps + warp];
    }

    /// The warp learns what stands in `clock`.
    pub(crate) fn join(&mut self, warp: usize, clock: &[u32]) {
        for (known, &other) in self.known[warp * self.warps..(warp + 1) * self.warps].iter_mut().zip(clock) {
            *known = (*known).max(other);
        }
        if let Some(&own) = clock.get(warp) {
            self.met[warp] = self.met[warp].max(own);
        }
    }
}

/// Keeps what either knows.
pub(crate) fn merge(known: &mut Vec<u32>, clock: &[u32]) {
    known.resize(clock.len(), 0);
    for (known, &own) in known.iter_mut().zip(clock) {
        *known = (*known).max(own);
    }
}
