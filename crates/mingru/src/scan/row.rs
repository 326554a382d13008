//! The inputs of one step.
use crate::{
    Storage,
    lanes::{self, LANES},
};

/// Some units of one step of one row.
#[derive(Clone, Copy)]
pub(super) struct Row<'a, S> {
    /// From the first unit's hidden entry to the end of the operand; gate and proj entries lie H and 2H further.
    combined: &'a [S],
    /// From the first unit to the end of the operand.
    x: &'a [S],
    keep: f32,
    /// H.
    hidden: usize,
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
    /// The units from `first` on of step number `step` (of all rows together), `hidden` being H.
    #[inline(always)]
    pub(super) fn new(combined: &'a [S], x: &'a [S], keep: &[f32], step: usize, hidden: usize, first: usize) -> Self {
        let (combined, x) = (&combined[step * 3 * hidden + first..], &x[step * hidden + first..]);
        Self { combined, x, keep: keep[step], hidden }
    }

    /// The block at unit `j`, all of whose units are the row's.
    #[inline(always)]
    pub(super) fn block(&self, j: usize) -> Block<'a, S> {
        Block {
            hidden: lanes::block(self.combined, j),
            gate: lanes::block(self.combined, self.hidden + j),
            proj: lanes::block(self.combined, 2 * self.hidden + j),
            x: lanes::block(self.x, j),
            keep: self.keep,
        }
    }

    /// The block at unit `j`, the last of whose units aren't the row's: their values are anything.
    #[inline(always)]
    pub(super) fn tail(self, j: usize, room: &'a mut [[S; LANES]; 4]) -> Block<'a, S> {
        let [hidden, gate, proj, x] = room;
        Block {
            hidden: lanes::tail(self.combined, j, hidden),
            gate: lanes::tail(self.combined, self.hidden + j, gate),
            proj: lanes::tail(self.combined, 2 * self.hidden + j, proj),
            x: lanes::tail(self.x, j, x),
            keep: self.keep,
        }
    }
}
