//! The inputs of one step.
use crate::{
    Storage,
    lanes::{self, LANES},
};

/// Some units of one step of one row.
#[derive(Clone, Copy)]
pub(super) struct Row<'a, S> {
    pub(super) hidden: &'a [S],
    pub(super) gate: &'a [S],
    pub(super) proj: &'a [S],
    pub(super) x: &'a [S],
    pub(super) keep: f32,
}

/// One block of a row.
#[derive(Clone, Copy)]
pub(super) struct Block<'a, S> {
    pub(super) hidden: &'a [S; LANES],
    pub(super) gate: &'a [S; LANES],
    pub(super) proj: &'a [S; LANES],
    pub(super) x: &'a [S; LANES],
    pub(super) keep: f32,
}

impl<'a, S: Storage> Row<'a, S> {
    /// Units `first..first + width` of step number `step` (of all rows together), `hidden` being H.
    #[inline(always)]
    pub(super) fn new(
        combined: &'a [S],
        x: &'a [S],
        keep: &[f32],
        step: usize,
        hidden: usize,
        first: usize,
        width: usize,
    ) -> Self {
        let combined = &combined[step * 3 * hidden..][..3 * hidden];
        Self {
            hidden: &combined[first..][..width],
            gate: &combined[hidden + first..][..width],
            proj: &combined[2 * hidden + first..][..width],
            x: &x[step * hidden + first..][..width],
            keep: keep[step],
        }
    }

    /// The whole block at unit `j`.
    #[inline(always)]
    pub(super) fn block(&self, j: usize) -> Block<'a, S> {
        let [hidden, gate, proj, x] = [self.hidden, self.gate, self.proj, self.x].map(|v| lanes::block(v, j));
        Block { hidden, gate, proj, x, keep: self.keep }
    }

    /// The units from `j` to the end, fewer than a block, as the arrays of a [`Block`].
    #[inline(always)]
    pub(super) fn tail(&self, j: usize) -> [[S; LANES]; 4] {
        [self.hidden, self.gate, self.proj, self.x].map(|v| lanes::tail(v, j))
    }
}

impl<'a, S> Block<'a, S> {
    /// The block of a [`Row::tail`].
    #[inline(always)]
    pub(super) fn of([hidden, gate, proj, x]: &'a [[S; LANES]; 4], keep: f32) -> Self {
        Self { hidden, gate, proj, x, keep }
    }
}
