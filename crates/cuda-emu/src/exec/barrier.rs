//! Barriers of a block.

use super::env::{Env, Place};
use super::step::{lanes, split};
use super::warp::{Activation, Group, State, Warp};
use crate::check::merge;
use crate::fault::{Fault, FaultKind};
use crate::lanes::{LANES, NARROW, NONE, read_lane, write_lane};
use crate::program::{Barrier, Reduction};

/// Barriers that a block has, that of the cluster included.
const BARRIERS: u32 = Barrier::CLUSTER + 1;

/// What has come to one barrier.
#[derive(Clone, Debug, Default)]
struct Cell {
    /// Whether anyone has come.
    used: bool,
    /// Threads that it needs, when that was said.
    threads: Option<u32>,
    /// Lanes that have come.
    lanes: u32,
    /// Threads that have come, a whole warp counting as 32.
    arrived: u32,
    /// Lanes whose predicate was true, and all lanes that gave one.
    yes: u32,
    asked: u32,
    clock: Vec<u32>,
    /// Length of the longest chain that has come.
    chain: u64,
}

/// The barriers of a block.
#[derive(Clone, Debug)]
pub(super) struct Barriers {
    cells: Vec<Cell>,
}

impl Default for Barriers {
    fn default() -> Self {
        Self { cells: vec![Cell::default(); BARRIERS as usize] }
    }
}

impl Warp {
    /// Sends the lanes of `mask` past the barrier, to wait for the block if it waits. The number must be one for all.
    pub(super) fn arrive(
        &self,
        env: &Env<'_>,
        activation: &mut Activation,
        group: &mut Group,
        barrier: &Barrier,
        mask: u32,
        place: Place,
    ) -> Result<(), Box<Fault>> {
        let first = mask.trailing_zeros() as usize;
        let value = |row: u32, lane: usize| {
            if row == NONE { 0 } else { read_lane(&activation.file, row, NARROW, lane) as u32 }
        };
        let (id, threads) = (value(barrier.id, first), value(barrier.threads, first));
        for lane in lanes(mask) {
            let (id, threads) = (value(barrier.id, lane), value(barrier.threads, lane));
            let uniform = id == value(barrier.id, first) && threads == value(barrier.threads, first);
            if id >= Barrier::NAMED + u32::from(barrier.cluster) || !threads.is_multiple_of(LANES as u32) || !uniform {
                return Err(env.fault(FaultKind::BadBarrier { id, threads }, place, lane));
            }
        }
        if barrier.threads != NONE && threads == 0 {
            return Err(env.fault(FaultKind::BadBarrier { id, threads }, place, first));
        }
        split(activation, group, mask);
        group.pc += 1;
        if barrier.waits {
            group.state = State::AtBarrier { id, reduce: barrier.reduce };
        }
        Ok(())
    }
}

impl Barriers {
    /// Lanes of a warp have arrived.
    pub(super) fn arrive(
        &mut self,
        env: &mut Env<'_>,
        warp: &Warp,
        activation: usize,
        barrier: &Barrier,
        mask: u32,
        place: Place,
    ) -> Result<(), Box<Fault>> {
        let Some(activation) = &warp.activations[activation] else { return Ok(()) };
        let first = mask.trailing_zeros() as usize;
        let id = read_lane(&activation.file, barrier.id, NARROW, first) as u32;
        let threads =
            (barrier.threads != NONE).then(|| read_lane(&activation.file, barrier.threads, NARROW, first) as u32);
        env.counters.barriers += 1;
        env.clocks.advance(warp.index as usize);
        let cell = &mut self.cells[id as usize];
        if cell.used && cell.threads != threads {
            let threads = threads.unwrap_or(0);
            return Err(env.fault(FaultKind::BadBarrier { id, threads }, place, first));
        }
        cell.used = true;
        cell.threads = threads;
        cell.lanes += mask.count_ones();
        cell.arrived += if mask == warp.live { LANES as u32 } else { mask.count_ones() };
        if let Some(reduce) = barrier.reduce {
            let row = activation.file[reduce.source as usize] as u32;
            let votes = if reduce.negated { !row } else { row };
            cell.yes += (votes & mask).count_ones();
            cell.asked += mask.count_ones();
        }
        cell.chain = cell.chain.max(warp.chain.length);
        let clock = env.clocks.row(warp.index as usize);
        merge(&mut cell.clock, clock);
        Ok(())
    }

    /// Opens every barrier to which all have come; tells whether there was one.
    pub(super) fn open(&mut self, env: &mut Env<'_>, warps: &mut [Warp]) -> bool {
        let mut any = false;
        let live: u32 = warps.iter().map(|warp| warp.live.count_ones()).sum();
        for (id, cell) in self.cells.iter_mut().enumerate() {
            let complete = match cell.threads {
                Some(threads) => cell.arrived >= threads,
                None => cell.lanes >= live,
            };
            if !cell.used || !complete {
                continue;
            }
            any = true;
            for warp in &mut *warps {
                release(env, warp, id as u32, cell);
            }
            *cell = Cell { clock: std::mem::take(&mut cell.clock), ..Cell::default() };
            cell.clock.fill(0);
        }
        any
    }
}

fn release(env: &mut Env<'_>, warp: &mut Warp, id: u32, cell: &Cell) {
    let mut waited = false;
    for activation in warp.activations.iter_mut().flatten() {
        let file = &mut activation.file;
        for group in &mut activation.groups {
            let State::AtBarrier { id: at, reduce } = group.state else { continue };
            if at != id {
                continue;
            }
            waited = true;
            group.state = State::Ready;
            let Some(reduce) = reduce else { continue };
            if cell.chain > 0 {
                activation.chain.set(reduce.d, group.mask == warp.live, cell.chain);
            }
            let (words, value) = match reduce.kind {
                Reduction::Count => (NARROW, cell.yes.into()),
                Reduction::All => (1, u64::from(cell.yes == cell.asked)),
                Reduction::Any => (1, u64::from(cell.yes > 0)),
            };
            for lane in lanes(group.mask) {
                write_lane(file, reduce.d, words, lane, value);
            }
        }
    }
    if waited {
        warp.chain.past = warp.chain.past.max(cell.chain);
        env.clocks.join(warp.index as usize, &cell.clock);
    }
}
