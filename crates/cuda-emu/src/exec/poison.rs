//! Values that were read from local memory before anything wrote them.
//!
//! To read them is no fault yet: compilers copy what pads a structure, and read ahead what they throw away later. Values
//! are followed from register to register; it is a fault when one of them decides a branch or an address. One that is
//! stored leaves the memory as unwritten as it was. Instructions that aren't followed make the values good again: faults
//! can be missed, not invented.

use super::env::{Env, Place};
use super::step::lanes;
use super::warp::Activation;
use crate::fault::{Fault, FaultKind};
use crate::lanes::{Args, NONE};
use crate::program::{Access, Inst, Op};

/// Registers with such values, by row.
#[derive(Clone, Debug, Default)]
pub(super) struct Poison {
    rows: Vec<Row>,
}

#[derive(Clone, Copy, Debug)]
struct Row {
    row: u32,
    lanes: u32,
    /// Size of the access that read the value, in bytes.
    bytes: u64,
}

impl Poison {
    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.rows.clear();
    }

    /// Lanes of a row with such values, and the size of the access.
    pub(super) fn of(&self, row: u32) -> (u32, u64) {
        self.rows.iter().find(|known| known.row == row).map_or((0, 0), |known| (known.lanes, known.bytes))
    }

    /// Lanes of a row get new values: those of `poisoned` such ones, the others of `mask` good ones.
    pub(super) fn set(&mut self, row: u32, mask: u32, (poisoned, bytes): (u32, u64)) {
        match self.rows.iter_mut().find(|known| known.row == row) {
            Some(known) => {
                known.lanes = known.lanes & !mask | poisoned & mask;
                known.bytes = known.bytes.max(bytes);
            }
            None if poisoned & mask != 0 => self.rows.push(Row { row, lanes: poisoned & mask, bytes }),
            None => {}
        }
        self.rows.retain(|known| known.lanes != 0);
    }

    /// Follows the values through a computation.
    fn compute(&mut self, args: &Args, mask: u32) {
        let sources = [args.a, args.b, args.c, args.x].map(|row| if row == NONE { (0, 0) } else { self.of(row) });
        let joined = sources.iter().fold((0, 0), |all, one| (all.0 | one.0, all.1.max(one.1)));
        for row in [args.d, args.e] {
            if row != NONE {
                self.set(row, mask, joined);
            }
        }
    }
}

impl Activation {
    /// Before an instruction, when there are such values. `all` are the lanes whose guard is looked at.
    #[cold]
    pub(super) fn follow(
        &mut self,
        env: &Env<'_>,
        inst: &Inst,
        (all, mask): (u32, u32),
        place: Place,
    ) -> Result<(), Box<Fault>> {
        if inst.guard != NONE {
            self.decides(env, inst.guard, all, place)?;
        }
        match &inst.op {
            Op::Compute(_, args) => self.poison.compute(args, mask),
            Op::Load(access) => {
                self.decides(env, access.address.row, mask, place)?;
                for &(row, _) in &access.elements {
                    self.poison.set(row, mask, (0, 0));
                }
            }
            Op::Store(access) => self.decides(env, access.address.row, mask, place)?,
            Op::Switch { index, .. } => self.decides(env, *index, mask, place)?,
            Op::Branch(_) | Op::Return | Op::Exit | Op::Fence { .. } | Op::Nop | Op::Yield => {}
            Op::Barrier(barrier) if barrier.reduce.is_none() => {}
            // Of a call only memory is passed on.
            Op::Call(_) => {}
            _ => self.poison.clear(),
        }
        Ok(())
    }

    fn decides(&self, env: &Env<'_>, row: u32, mask: u32, place: Place) -> Result<(), Box<Fault>> {
        let (lanes_of_row, bytes) = self.poison.of(row);
        match lanes(lanes_of_row & mask).next() {
            Some(lane) => Err(env.fault(FaultKind::Uninitialised { bytes }, place, lane)),
            None => Ok(()),
        }
    }

    /// Lanes of an access all of whose registers have such values.
    pub(super) fn poisoned(&self, access: &Access) -> u32 {
        if self.poison.is_empty() {
            return 0;
        }
        access.elements.iter().fold(u32::MAX, |all, &(row, _)| all & self.poison.of(row).0)
    }
}
