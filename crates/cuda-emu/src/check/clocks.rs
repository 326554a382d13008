//! Vector clocks of a block's warps.

/// What each warp knows of the epochs of the others.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clocks {
    warps: usize,
    known: Vec<u32>,
}

impl Clocks {
    pub(crate) fn reset(&mut self, warps: usize) {
        self.warps = warps;
        self.known.clear();
        self.known.resize(warps * warps, 0);
        for warp in 0..warps {
            self.known[warp * warps + warp] = 1;
        }
    }

    /// The epochs of others that `warp` has seen the end of: all those below.
    pub(crate) fn row(&self, warp: usize) -> &[u32] {
        &self.known[warp * self.warps..(warp + 1) * self.warps]
    }

    /// Ends the warp's epoch.
    pub(crate) fn advance(&mut self, warp: usize) {
        self.known[warp * self.warps + warp] += 1;
    }

    /// The warp learns what stands in `clock`.
    pub(crate) fn join(&mut self, warp: usize, clock: &[u32]) {
        for (known, &other) in self.known[warp * self.warps..(warp + 1) * self.warps].iter_mut().zip(clock) {
            *known = (*known).max(other);
        }
    }
}
